"""Hostile schemas, and a check of each of them in a separate process.

    python tests/support/hostile_schemas.py NAME…

prints a JSON line for each schema: its outcome and the megabytes used. A check that hangs has DIED after two minutes
of processor time.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

_HARD_SECONDS = 120  #: of processor time; a check that uses all its steps takes less than ten
_HARD_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class Hostile:
    """A schema and a variant of it, which are created in the child process, since some are large."""

    text: Callable[[], Any]
    variant: Callable[[], Any]
    type: SchemaType = SchemaType.AVRO
    referenced: Mapping[str, Any] = field(default_factory=dict)
    policies: tuple[Policy, ...] = (Policy.STRICT,)

    def texts(self) -> tuple[str, str]:
        """Return the two texts, which are created before the measurement."""
        return format_schema(self.text()), format_schema(self.variant())


def record(name: str, *fields: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields], **more}


def format_schema(schema: Any) -> str:
    return schema if isinstance(schema, str) else json.dumps(schema)


def create_avro_case(text: Callable[[str], Any], **more: Any) -> Hostile:
    """Create a case from a schema that contains a type, and a variant with a wider type."""
    return Hostile(lambda: text("int"), lambda: text("long"), **more)


def create_json_case(text: Callable[[str], Any]) -> Hostile:
    """Create a case from a schema that contains a type, and a variant, under every policy."""
    return Hostile(lambda: text("integer"), lambda: text("number"), SchemaType.JSON, policies=tuple(Policy))


def nest_arrays(kind: str, levels: int) -> Any:
    inner: Any = kind
    for _ in range(levels):
        inner = {"type": "array", "items": inner}
    return inner


def graph(kind: str, levels: int = 18) -> Any:
    """Create records that reference the previous one twice, so that the inlined size is 2ⁿ."""
    first = record("L0", ("x", kind))
    rest = [record(f"L{i}", ("a", f"L{i - 1}"), ("b", f"L{i - 1}")) for i in range(1, levels)]
    return [first, *rest]


def look_alikes(kind: str) -> Any:
    """Create a union of records of the same name in many namespaces."""
    return [record(f"n{i}.R", ("x", kind), ("next", ["null", f"n{max(i - 1, 0)}.R"])) for i in range(300)]


def nested_one_of(kind: str, width: int, depth: int) -> Any:
    if depth == 0:
        return {"type": kind}
    branches = [
        {"type": "object", "properties": {f"p{depth}_{i}": nested_one_of(kind, width, depth - 1)}} for i in range(width)
    ]
    return {"oneOf": branches}


def shared_one_of(kind: str, width: int, depth: int) -> Any:
    """Create the same schema with references, so that its text is small."""
    levels = {
        f"d{level}": {
            "oneOf": [
                {"type": "object", "properties": {f"p{i}": {"$ref": f"#/definitions/d{level - 1}"}}}
                for i in range(width)
            ]
        }
        for level in range(1, depth + 1)
    }
    return {"definitions": {"d0": {"type": kind}, **levels}, "$ref": f"#/definitions/d{depth}"}


def ref_fan_out(kind: str, levels: int, word: str = "allOf") -> Any:
    definitions = {
        f"d{i}": {word: [{"$ref": f"#/definitions/d{i + 1}"}, {"$ref": f"#/definitions/d{i + 1}"}]}
        for i in range(levels)
    }
    return {"definitions": {**definitions, f"d{levels}": {"type": kind}}, "$ref": "#/definitions/d0"}


def ref_cycle(kind: str, length: int) -> Any:
    definitions = {
        f"d{i}": {"type": "object", "properties": {"next": {"$ref": f"#/definitions/d{(i + 1) % length}"}, "v": {}}}
        for i in range(length)
    }
    definitions["d0"]["properties"]["v"] = {"type": kind}  # type: ignore[index]
    return {"definitions": definitions, "$ref": "#/definitions/d0"}


def mutual(kind: str, count: int) -> Any:
    """Create records that all reference each other."""
    names = [f"M{i}" for i in range(count)]
    return [record(name, ("x", kind), *((other.lower(), ["null", other]) for other in names)) for name in names]


def nested_text(levels: int, close: str = "") -> str:
    return '{"type":"array","items":' * levels + '"int"' + close * levels


HOSTILE: dict[str, Hostile] = {
    # Avro
    "900 levels of arrays": create_avro_case(lambda kind: nest_arrays(kind, 900)),
    "60 levels of arrays": create_avro_case(lambda kind: nest_arrays(kind, 60)),
    "1 MB of nesting": Hostile(lambda: nested_text(43_000, "}"), lambda: nested_text(43_000, "}")),
    "1 MB of open brackets": Hostile(lambda: "[" * 1_000_000, lambda: "[" * 999_999),
    "1 MB of quotes": Hostile(lambda: '"' * 1_000_000, lambda: '"' * 999_999),
    "1 MB of escapes": Hostile(lambda: '"' + "\\" * 1_000_000, lambda: '"' + "\\" * 999_999),
    "1 MB of open comments": Hostile(lambda: "/*" * 500_000, lambda: "//" * 500_000),
    "an enum of 100,000 symbols": create_avro_case(
        lambda _: {"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(100_000)]}
    ),
    "an enum of 50,000 symbols": Hostile(
        lambda: {"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(50_000)]},
        lambda: {"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(25_000, 49_000)]},
    ),
    "a record of 50,000 fields": create_avro_case(lambda kind: record("R", *((f"f{i}", kind) for i in range(50_000)))),
    "a record of 20,000 fields": create_avro_case(lambda kind: record("R", *((f"f{i}", kind) for i in range(20_000)))),
    "a union of 8,000 records": create_avro_case(lambda kind: [record(f"R{i}", ("x", kind)) for i in range(8_000)]),
    "a union of 1,000 records": create_avro_case(lambda kind: [record(f"R{i}", ("x", kind)) for i in range(1_000)]),
    "a union of 1,000 records of one name": create_avro_case(
        lambda kind: [record(f"n{i}.R", ("x", kind)) for i in range(1_000)]
    ),
    "a union of 300 records of one name that lead on": create_avro_case(look_alikes),
    "22 MB of resolved text": create_avro_case(graph),
    "25 records that all name each other": create_avro_case(lambda kind: mutual(kind, 25)),
    "a number of 5,000 digits": Hostile(
        lambda: '{"type":"int","x":' + "9" * 5_000 + "}", lambda: '{"type":"int","x":1e' + "9" * 20 + "}"
    ),
    "a default nested as deep as its type": create_avro_case(
        lambda kind: {
            "type": "record",
            "name": "R",
            "fields": [{"name": "f", "type": nest_arrays(kind, 50), "default": json.loads("[" * 50 + "]" * 50)}],
        }
    ),
    "defaults that fill each other": create_avro_case(
        lambda _: [
            {
                "type": "record",
                "name": name,
                "fields": [{"name": field, "type": ["A", "B"], "default": {}} for field in "xyz"],
            }
            for name in "AB"
        ]
    ),
    "a fan-out of 99 references": Hostile(
        lambda: record("Top", ("a", "L98"), ("b", "L98")),
        lambda: record("Top", ("a", "L98"), ("b", ["null", "L98"])),
        referenced={level["name"]: level for level in graph("int", 99)},
    ),
    "10 MB of references": Hostile(
        lambda: record("Top", ("a", "r0")),
        lambda: record("Top", ("b", "r1")),
        referenced={f"r{i}": record(f"r{i}", ("x", "int"), doc="x" * 99_000) for i in range(100)},
    ),
    # JSON Schema
    "JSON: 250 levels": create_json_case(lambda kind: json.loads('{"not":' * 250 + f'{{"type":"{kind}"}}' + "}" * 250)),
    "JSON: 60 levels of properties": create_json_case(
        lambda kind: json.loads('{"properties":{"a":' * 60 + f'{{"type":"{kind}"}}' + "}}" * 60)
    ),
    "JSON: 60 levels of not": create_json_case(
        lambda kind: json.loads('{"not":' * 60 + f'{{"type":"{kind}"}}' + "}" * 60)
    ),
    "JSON: 5,000 properties": create_json_case(
        lambda kind: {"type": "object", "properties": {f"p{i}": {"type": kind} for i in range(5_000)}},
    ),
    "JSON: 5,000 properties closed": create_json_case(
        lambda kind: {
            "properties": {f"p{i}": {"type": kind} for i in range(5_000)},
            "required": [f"p{i}" for i in range(5_000)],
            "additionalProperties": False,
        },
    ),
    "JSON: 500 of 5,000 properties": create_json_case(
        lambda kind: {
            "type": "object",
            "properties": {f"p{i}": {"type": kind if i % 10 == 9 else "string"} for i in range(5_000)},
        }
    ),
    "JSON: 1,000 levels": create_json_case(lambda kind: '{"not":' * 1_000 + f'{{"type":"{kind}"}}' + "}" * 1_000),
    "JSON: 3,000 arrays that differ": create_json_case(
        lambda kind: {"uniqueItems": True, "enum": [[[kind, i], [i]] for i in range(3_000)]}
    ),
    "JSON: an enum of 100,000": create_json_case(lambda kind: {"enum": [f"{kind}{i}" for i in range(100_000)]}),
    "JSON: nested oneOf of width 6 and depth 6, by reference": create_json_case(lambda kind: shared_one_of(kind, 6, 6)),
    "JSON: nested oneOf of width 6 and depth 4": create_json_case(lambda kind: nested_one_of(kind, 6, 4)),
    "JSON: nested oneOf of width 6 and depth 6": create_json_case(lambda kind: nested_one_of(kind, 6, 6)),
    "JSON: oneOf of 100 objects": create_json_case(
        lambda kind: {
            "oneOf": [
                {"type": "object", "properties": {f"p{i}_{j}": {"type": kind} for j in range(12)}} for i in range(100)
            ]
        },
    ),
    "JSON: oneOf of 1,000 types": create_json_case(
        lambda kind: {"oneOf": [{"type": kind, "minimum": i} for i in range(1_000)]},
    ),
    "JSON: a fan-out of 16 references": create_json_case(lambda kind: ref_fan_out(kind, 16)),
    "JSON: a fan-out of 60 references": create_json_case(lambda kind: ref_fan_out(kind, 60)),
    "JSON: a fan-out of 60 references in oneOf": create_json_case(lambda kind: ref_fan_out(kind, 60, "oneOf")),
    "JSON: a cycle of 500 references": create_json_case(lambda kind: ref_cycle(kind, 500)),
    "JSON: a reference to itself": create_json_case(
        lambda kind: {"definitions": {"a": {"$ref": "#/definitions/a"}, "k": {"type": kind}}, "$ref": "#/definitions/a"}
    ),
    "JSON: a chain of 3,000 references": create_json_case(
        lambda kind: {
            "definitions": {
                **{f"d{i}": {"$ref": f"#/definitions/d{i + 1}"} for i in range(3_000)},
                "d3000": {"type": kind},
            },
            "$ref": "#/definitions/d0",
        },
    ),
    "JSON: an exponential pattern": create_json_case(
        lambda kind: {"patternProperties": {"^(a+)+$": {"type": kind}}, "properties": {"a" * 5_000 + "!": {}}}
    ),
    "JSON: nested counted repetition": create_json_case(
        lambda kind: {
            "patternProperties": {"(((a{0,99}){0,99}){0,99}){0,99}": {"type": kind}},
            "properties": {"aaaa": {}},
        }
    ),
    "JSON: 1,000 patterns over 1,000 names": create_json_case(
        lambda kind: {
            "patternProperties": {f"^q{i}": {"type": kind} for i in range(1_000)},
            "properties": {f"p{kind}{i}": {} for i in range(1_000)},
        },
    ),
    "JSON: an integer of 5,000 digits": create_json_case(lambda _: '{"maximum":' + "9" * 5_000 + "}"),
    "JSON: an exponent beyond all": create_json_case(lambda kind: f'{{"type":"{kind}","maximum":1e999999999}}'),
    "JSON: a reference to a URL": create_json_case(lambda _: {"$ref": "http://127.0.0.1:9/never"}),
    "JSON: a reference to a file": create_json_case(lambda _: {"$ref": "file:///etc/passwd"}),
    "JSON: 1 MB of nesting": create_json_case(lambda _: '{"not":' * 140_000),
    "JSON: 1 MB of quotes": create_json_case(lambda _: '"' * 1_000_000),
}


class HostileCheck:
    """A check that parses and writes a schema, and compares it with itself and its variant."""

    def __init__(self, hostile: Hostile) -> None:
        self.hostile = hostile
        self.referenced = {name: format_schema(dependency) for name, dependency in hostile.referenced.items()}

    def parse(self, text: str, *, strict: bool = True) -> ParsedSchema:
        return parse_schema(SchemaDraft(text, self.hostile.type), self.referenced, strict=strict)

    def find_broken_checks(self, schema: ParsedSchema, earlier: ParsedSchema, policy: Policy) -> tuple[str, ...]:
        """Return the checks with findings, in both directions."""
        checks = set[str]()
        for level in (Level.BACKWARD, Level.FORWARD):
            verdict = check_compatibility(schema, [ParsedVersion(1, earlier)], level, policy=policy)
            checks.update(finding.check for finding in verdict.findings)
        return tuple(sorted(checks))

    def run(self) -> str:
        """Run the check and return its outcome."""
        text, other = self.hostile.texts()
        try:
            schema = self.parse(text)
        except InvalidSchema as refusal:
            return f"{self._describe_rejection(text)}: {refusal.message}"
        again = self.parse(schema.canonical, strict=False)
        if (again.canonical, again.normalized) != (schema.canonical, schema.normalized):
            return "canonical text is not canonical"
        variant = self.parse(other)
        verdicts = []
        for policy in self.hostile.policies:
            if own := self.find_broken_checks(schema, again, policy):
                return f"not compatible with itself under {policy}: {own[0]}"
            verdicts.append(",".join(self.find_broken_checks(schema, variant, policy)) or "compatible")
        return "accepted; variant: " + " / ".join(dict.fromkeys(verdicts))

    def _describe_rejection(self, text: str) -> str:
        try:
            self.parse(text, strict=False)
        except InvalidSchema:
            return "refused"
        return "refused when new"


def check_in_child_process(name: str) -> dict[str, Any]:
    """Check a schema in a child process, which may die, and whose memory is measured."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (_HARD_SECONDS, _HARD_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_HARD_BYTES, _HARD_BYTES))
        check = HostileCheck(HOSTILE[name])
        try:
            outcome = check.run()
        except BaseException as problem:  # noqa: BLE001 - any other exception is a defect
            outcome = f"UNTYPED {type(problem).__name__}: {str(problem)[:200]}"
        os.write(writing, json.dumps({"outcome": outcome[:2_000]}).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        outcome = pipe.read().decode() or '{"outcome": "DIED"}'
    _, _, used = os.wait4(child, 0)
    return {"name": name, **json.loads(outcome), "megabytes": used.ru_maxrss // 1024}


if __name__ == "__main__":
    for each in sys.argv[1:] or HOSTILE:
        print(json.dumps(check_in_child_process(each)), flush=True)  # noqa: T201 - read by the test
