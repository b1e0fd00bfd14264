"""Random contracts of every version of ODCS, and the official JSON Schema."""

from __future__ import annotations

import json
from importlib.resources import files
from random import Random
from typing import Any, Final

import jsonschema_rs

from contractlog.contracts.odcs.specification import BLOCKS, SERVERS, VERSIONS, WORDS

__all__ = ["ContractGenerator", "official_validator"]

_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "text": ("a", "b c", "", "2026-01-01", "yes", "線\n路"),
    "flag": (True, False),
    "number": (1, 2.5, -3),
    "integer": (3, -1),
    "natural": (0, 4),
    "count": (1, 384),
    "positive": (0.5, 2),
    "scalar": ("x", 1, True, None),
    "any": (1, "x", None, [1, {"a": {}}], {"a": {"b": []}}),
    "object": ({}, {"k": 1}),
    "id": ("id-1",),
    "port": (1, 9092),
    "interval": ([1, 2],),
    "names": (["a"], ["a", "b"]),
    "reference": ("a.b", "schema/a/properties/b"),
    "sftpLocation": ("sftp://a",),
    "format": ("csv", "json"),
    "delimiter": ("array",),
}
_MAX_DEPTH: Final = 5


def official_validator() -> jsonschema_rs.Draft201909Validator:
    """Return the validator of the official JSON Schema of the release that is installed, 3.2.0."""
    text = files("open_data_contract_standard").joinpath("schema.json").read_text("utf-8")
    return jsonschema_rs.Draft201909Validator(json.loads(text), offline=True)


class ContractGenerator:
    """Makes contracts of one version."""

    def __init__(self, random: Random, version: str = "v3.2.0") -> None:
        self.random = random
        self.version = version
        self.minor = VERSIONS[version]

    def contract(self) -> dict[str, Any]:
        """Make a valid contract with a schema object."""
        contract = self.block("contract", 0) | {"apiVersion": self.version, "kind": "DataContract"}
        return contract | {"schema": [self.block("schemaObject", 1)]}

    def damage(self, contract: dict[str, Any]) -> None:
        """Remove or replace a member, or add one, anywhere outside of custom properties."""
        locations: list[tuple[Any, Any]] = []
        _list_locations(contract, locations)
        holder, key = self.random.choice(locations)
        action = self.random.random()
        if action < 0.3 and isinstance(holder, dict):
            del holder[key]
        elif action < 0.7:
            holder[key] = self.random.choice([1, "x", None, [], {}, True, -1, 2.5, ["a"], [{}]])
        elif isinstance(holder, dict):
            holder[self.random.choice(["extra", "deprecated", "id", "logicalTypes", "metric", "context"])] = "x"

    def block(self, kind: str, depth: int) -> dict[str, Any]:
        """Make an object of a block."""
        members = {**BLOCKS[kind].members}
        block: dict[str, Any] = {}
        if kind == "server":
            block["type"] = self.word("serverType")
            members |= SERVERS[block["type"]]
        for name, member in members.items():
            certain = member.required or name in ("logicalType", "status") or (kind == "support" and name == "url")
            nested = name in ("properties", "items", "map", "quality", "logicalTypeOptions")
            if (
                member.since <= self.minor
                and not nested
                and (certain or self.random.random() < 0.15 + (depth == 0) / 2)
            ):
                block.setdefault(name, self.value(member.kind, depth + 1))
        if kind == "schemaObject":
            block["properties"] = [self.block("property", depth + 1) for _ in range(self.random.randint(0, 3))]
        if kind in ("property", "item"):
            self._add_inner(block, depth)
        if kind in ("property", "schemaObject") and self.random.random() < 0.4:
            block["quality"] = [self._rule()]
        if block.get("type") == "athena":
            block["stagingDir"] = "a"
        return block

    def word(self, kind: str) -> str:
        """Return a word that the version has."""
        return self.random.choice([word for word, since in WORDS[kind].items() if since <= self.minor])

    def value(self, kind: str, depth: int) -> Any:  # noqa: PLR0911 - one line for each kind
        """Make a value of a kind."""
        if kind == "team":
            kind = "teamObject" if self.minor and self.random.random() < 0.7 else "[member]"
        if kind.startswith("["):
            number = 0 if depth > _MAX_DEPTH else self.random.choice([0, 1, 1, 2])
            if kind == "[enumValue]":
                return [{"value": index} for index in range(number + 1)]
            return [self.value(kind[1:-1], depth) for _ in range(number)]
        kind = self.random.choice(kind.split("|"))
        if kind in BLOCKS:
            return self.block(kind, depth)
        if kind in WORDS:
            return self.word(kind)
        if kind in ("exclusive", "exclusiveText"):
            return self.random.choice([True, False] if not self.minor else [2] if kind == "exclusive" else ["a"])
        if kind == "duckdbSchema":
            return "a" if self.minor else 1
        return self.random.choice(_VALUES[kind])

    def _add_inner(self, block: dict[str, Any], depth: int) -> None:
        kind = block["logicalType"]
        if kind == "map":
            key = {"logicalType": "string"}
            block["map"] = {"key": key, "value": key if depth > _MAX_DEPTH else self.block("item", depth + 1)}
        elif kind == "object" and depth < _MAX_DEPTH:
            block["properties"] = [self.block("property", depth + 1) for _ in range(self.random.randint(0, 2))]
        elif kind == "array" and depth < _MAX_DEPTH:
            block["items"] = self.block("item", depth + 1)
        options = f"options:{'timestamp' if kind == 'time' else kind}"
        if options in BLOCKS and (kind == "vector" or self.random.random() < 0.3):
            block["logicalTypeOptions"] = self.block(options, 1)

    def _rule(self) -> dict[str, Any]:
        kind = self.random.choice(["library", "sql", "custom", "text"])
        rule: dict[str, Any] = {"type": kind, "name": "r", "severity": "warning"}
        if kind == "library":
            rule["metric" if self.minor else "rule"] = self.word("metric")
        if kind == "sql":
            rule["query"] = "SELECT 1"
        if kind == "custom":
            rule |= {"engine": "e", "implementation": self.random.choice(["a", {"b": 1}])}
        if kind in ("library", "sql"):
            operator = self.word("operator")
            rule[operator] = [1, 2] if operator.endswith("Between") else 1
        return rule


def _list_locations(value: Any, locations: list[tuple[Any, Any]]) -> None:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        if key != "customProperties":
            locations.append((value, key))
            _list_locations(value[key], locations)
