"""Hostile schemas, and a child process that meets each of them in a process of its own.

    python tests/support/hostile.py NAME…

writes for each one a JSON line: what happened, and the megabytes of all. What hangs has DIED after two minutes of
processor time.
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

_HARD_SECONDS = 120  #: of processor time; what takes all the steps of its calls takes less than ten
_HARD_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class Hostile:
    """A schema and a variant of it; both are made in the child, since some are large."""

    text: Callable[[], Any]
    variant: Callable[[], Any]
    type: SchemaType = SchemaType.AVRO
    referenced: Mapping[str, Any] = field(default_factory=dict)
    policies: tuple[Policy, ...] = (Policy.STRICT,)

    def texts(self) -> tuple[str, str]:
        """The two texts; made outside of what is measured."""
        return written(self.text()), written(self.variant())


def record(name: str, *fields: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields], **more}


def written(schema: Any) -> str:
    return schema if isinstance(schema, str) else json.dumps(schema)


def avro(text: Callable[[str], Any], **more: Any) -> Hostile:
    """A schema made around a type, and the same around a wider one."""
    return Hostile(lambda: text("int"), lambda: text("long"), **more)


def json_schema(text: Callable[[str], Any]) -> Hostile:
    """A schema made around a type, and the same around a wider one, under every policy."""
    return Hostile(lambda: text("integer"), lambda: text("number"), SchemaType.JSON, policies=tuple(Policy))


def deep(kind: str, levels: int) -> Any:
    inner: Any = kind
    for _ in range(levels):
        inner = {"type": "array", "items": inner}
    return inner


def graph(kind: str, levels: int = 18) -> Any:
    """Each level names the one before it twice: written out it is 2ⁿ."""
    first = record("L0", ("x", kind))
    rest = [record(f"L{i}", ("a", f"L{i - 1}"), ("b", f"L{i - 1}")) for i in range(1, levels)]
    return [first, *rest]


def look_alikes(kind: str) -> Any:
    """A union of records of one name in many namespaces, each of which may be meant."""
    return [record(f"n{i}.R", ("x", kind), ("next", ["null", f"n{max(i - 1, 0)}.R"])) for i in range(300)]


def nested_one_of(kind: str, width: int, depth: int) -> Any:
    if depth == 0:
        return {"type": kind}
    branches = [
        {"type": "object", "properties": {f"p{depth}_{i}": nested_one_of(kind, width, depth - 1)}} for i in range(width)
    ]
    return {"oneOf": branches}


def shared_one_of(kind: str, width: int, depth: int) -> Any:
    """The same, written with references, so that it is small."""
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
    """Records that all name each other."""
    names = [f"M{i}" for i in range(count)]
    return [record(name, ("x", kind), *((other.lower(), ["null", other]) for other in names)) for name in names]


def nested_text(levels: int, close: str = "") -> str:
    return '{"type":"array","items":' * levels + '"int"' + close * levels


HOSTILE: dict[str, Hostile] = {
    # Avro
    "900 levels of arrays": avro(lambda kind: deep(kind, 900)),
    "60 levels of arrays": avro(lambda kind: deep(kind, 60)),
    "1 MB of nesting": Hostile(lambda: nested_text(43_000, "}"), lambda: nested_text(43_000, "}")),
    "1 MB of open brackets": Hostile(lambda: "[" * 1_000_000, lambda: "[" * 999_999),
    "1 MB of quotes": Hostile(lambda: '"' * 1_000_000, lambda: '"' * 999_999),
    "1 MB of escapes": Hostile(lambda: '"' + "\\" * 1_000_000, lambda: '"' + "\\" * 999_999),
    "1 MB of open comments": Hostile(lambda: "/*" * 500_000, lambda: "//" * 500_000),
    "an enum of 100,000 symbols": avro(
        lambda _: {"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(100_000)]}
    ),
    "an enum of 50,000 symbols": Hostile(
        lambda: {"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(50_000)]},
        lambda: {"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(25_000, 49_000)]},
    ),
    "a record of 50,000 fields": avro(lambda kind: record("R", *((f"f{i}", kind) for i in range(50_000)))),
    "a record of 20,000 fields": avro(lambda kind: record("R", *((f"f{i}", kind) for i in range(20_000)))),
    "a union of 8,000 records": avro(lambda kind: [record(f"R{i}", ("x", kind)) for i in range(8_000)]),
    "a union of 1,000 records": avro(lambda kind: [record(f"R{i}", ("x", kind)) for i in range(1_000)]),
    "a union of 1,000 records of one name": avro(lambda kind: [record(f"n{i}.R", ("x", kind)) for i in range(1_000)]),
    "a union of 300 records of one name that lead on": avro(look_alikes),
    "22 MB of resolved text": avro(graph),
    "25 records that all name each other": avro(lambda kind: mutual(kind, 25)),
    "a number of 5,000 digits": Hostile(
        lambda: '{"type":"int","x":' + "9" * 5_000 + "}", lambda: '{"type":"int","x":1e' + "9" * 20 + "}"
    ),
    "a default nested as deep as its type": avro(
        lambda kind: {
            "type": "record",
            "name": "R",
            "fields": [{"name": "f", "type": deep(kind, 50), "default": json.loads("[" * 50 + "]" * 50)}],
        }
    ),
    "defaults that fill each other": avro(
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
    "JSON: 250 levels": json_schema(lambda kind: json.loads('{"not":' * 250 + f'{{"type":"{kind}"}}' + "}" * 250)),
    "JSON: 60 levels of properties": json_schema(
        lambda kind: json.loads('{"properties":{"a":' * 60 + f'{{"type":"{kind}"}}' + "}}" * 60)
    ),
    "JSON: 60 levels of not": json_schema(lambda kind: json.loads('{"not":' * 60 + f'{{"type":"{kind}"}}' + "}" * 60)),
    "JSON: 5,000 properties": json_schema(
        lambda kind: {"type": "object", "properties": {f"p{i}": {"type": kind} for i in range(5_000)}},
    ),
    "JSON: 5,000 properties closed": json_schema(
        lambda kind: {
            "properties": {f"p{i}": {"type": kind} for i in range(5_000)},
            "required": [f"p{i}" for i in range(5_000)],
            "additionalProperties": False,
        },
    ),
    "JSON: 500 of 5,000 properties": json_schema(
        lambda kind: {
            "type": "object",
            "properties": {f"p{i}": {"type": kind if i % 10 == 9 else "string"} for i in range(5_000)},
        }
    ),
    "JSON: 1,000 levels": json_schema(lambda kind: '{"not":' * 1_000 + f'{{"type":"{kind}"}}' + "}" * 1_000),
    "JSON: 3,000 arrays that differ": json_schema(
        lambda kind: {"uniqueItems": True, "enum": [[[kind, i], [i]] for i in range(3_000)]}
    ),
    "JSON: an enum of 100,000": json_schema(lambda kind: {"enum": [f"{kind}{i}" for i in range(100_000)]}),
    "JSON: nested oneOf of width 6 and depth 6, by reference": json_schema(lambda kind: shared_one_of(kind, 6, 6)),
    "JSON: nested oneOf of width 6 and depth 4": json_schema(lambda kind: nested_one_of(kind, 6, 4)),
    "JSON: nested oneOf of width 6 and depth 6": json_schema(lambda kind: nested_one_of(kind, 6, 6)),
    "JSON: oneOf of 100 objects": json_schema(
        lambda kind: {
            "oneOf": [
                {"type": "object", "properties": {f"p{i}_{j}": {"type": kind} for j in range(12)}} for i in range(100)
            ]
        },
    ),
    "JSON: oneOf of 1,000 types": json_schema(
        lambda kind: {"oneOf": [{"type": kind, "minimum": i} for i in range(1_000)]},
    ),
    "JSON: a fan-out of 16 references": json_schema(lambda kind: ref_fan_out(kind, 16)),
    "JSON: a fan-out of 60 references": json_schema(lambda kind: ref_fan_out(kind, 60)),
    "JSON: a fan-out of 60 references in oneOf": json_schema(lambda kind: ref_fan_out(kind, 60, "oneOf")),
    "JSON: a cycle of 500 references": json_schema(lambda kind: ref_cycle(kind, 500)),
    "JSON: a reference to itself": json_schema(
        lambda kind: {"definitions": {"a": {"$ref": "#/definitions/a"}, "k": {"type": kind}}, "$ref": "#/definitions/a"}
    ),
    "JSON: a chain of 3,000 references": json_schema(
        lambda kind: {
            "definitions": {
                **{f"d{i}": {"$ref": f"#/definitions/d{i + 1}"} for i in range(3_000)},
                "d3000": {"type": kind},
            },
            "$ref": "#/definitions/d0",
        },
    ),
    "JSON: an exponential pattern": json_schema(
        lambda kind: {"patternProperties": {"^(a+)+$": {"type": kind}}, "properties": {"a" * 5_000 + "!": {}}}
    ),
    "JSON: nested counted repetition": json_schema(
        lambda kind: {
            "patternProperties": {"(((a{0,99}){0,99}){0,99}){0,99}": {"type": kind}},
            "properties": {"aaaa": {}},
        }
    ),
    "JSON: 1,000 patterns over 1,000 names": json_schema(
        lambda kind: {
            "patternProperties": {f"^q{i}": {"type": kind} for i in range(1_000)},
            "properties": {f"p{kind}{i}": {} for i in range(1_000)},
        },
    ),
    "JSON: an integer of 5,000 digits": json_schema(lambda _: '{"maximum":' + "9" * 5_000 + "}"),
    "JSON: an exponent beyond all": json_schema(lambda kind: f'{{"type":"{kind}","maximum":1e999999999}}'),
    "JSON: a reference to a URL": json_schema(lambda _: {"$ref": "http://127.0.0.1:9/never"}),
    "JSON: a reference to a file": json_schema(lambda _: {"$ref": "file:///etc/passwd"}),
    "JSON: 1 MB of nesting": json_schema(lambda _: '{"not":' * 140_000),
    "JSON: 1 MB of quotes": json_schema(lambda _: '"' * 1_000_000),
}


class Meeting:
    """A schema is parsed, written, and compared with itself and its variant."""

    def __init__(self, hostile: Hostile) -> None:
        self.hostile = hostile
        self.referenced = {name: written(one) for name, one in hostile.referenced.items()}

    def parsed(self, text: str, *, strict: bool = True) -> ParsedSchema:
        return parse_schema(SchemaDraft(text, self.hostile.type), self.referenced, strict=strict)

    def judged(self, schema: ParsedSchema, earlier: ParsedSchema, policy: Policy) -> tuple[str, ...]:
        """The first checks that break, in both directions."""
        found = set[str]()
        for level in (Level.BACKWARD, Level.FORWARD):
            verdict = check_compatibility(schema, [ParsedVersion(1, earlier)], level, policy=policy)
            found.update(finding.check for finding in verdict.findings)
        return tuple(sorted(found))

    def outcome(self) -> str:
        """Say what came of it."""
        text, other = self.hostile.texts()
        try:
            schema = self.parsed(text)
        except InvalidSchema as refusal:
            return f"{self._refused(text)}: {refusal.message}"
        again = self.parsed(schema.canonical, strict=False)
        if (again.canonical, again.normalized) != (schema.canonical, schema.normalized):
            return "canonical text is not canonical"
        variant = self.parsed(other)
        said = []
        for policy in self.hostile.policies:
            if own := self.judged(schema, again, policy):
                return f"not compatible with itself under {policy}: {own[0]}"
            said.append(",".join(self.judged(schema, variant, policy)) or "compatible")
        return "accepted; variant: " + " / ".join(dict.fromkeys(said))

    def _refused(self, text: str) -> str:
        try:
            self.parsed(text, strict=False)
        except InvalidSchema:
            return "refused"
        return "refused when new"


def meet(name: str) -> dict[str, Any]:
    """Meet a schema in a process of its own, so that its memory is its own, and so is its death."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (_HARD_SECONDS, _HARD_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_HARD_BYTES, _HARD_BYTES))
        meeting = Meeting(HOSTILE[name])
        try:
            said = meeting.outcome()
        except BaseException as problem:  # noqa: BLE001 - that is what is looked for
            said = f"UNTYPED {type(problem).__name__}: {str(problem)[:200]}"
        os.write(writing, json.dumps({"outcome": said[:2_000]}).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode() or '{"outcome": "DIED"}'
    _, _, used = os.wait4(child, 0)
    return {"name": name, **json.loads(said), "megabytes": used.ru_maxrss // 1024}


if __name__ == "__main__":
    for each in sys.argv[1:] or HOSTILE:
        print(json.dumps(meet(each)), flush=True)  # noqa: T201 - read by the test
