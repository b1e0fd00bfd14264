"""Compatibility checks: long histories, one cold pair, and inputs that were once slow, in one run.

    python benchmarks/compatibility.py [--versions 1000] [--repeats 5] [--only first,patterns,defaults]

Prints processor time, the best of the repeats: for histories in units of one ``json.loads`` of the candidate's text,
for the pair as a ratio to the parser and checker of the ``avro`` package, and in seconds where a bound is in seconds.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import avro.compatibility
import avro.schema

from contractlog.compatibility.avro.fast_check import is_readable
from contractlog.compatibility.avro.parser import parse_avro
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import compare_schemas as check_pair
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.json_schema.schema_format import get_tree
from contractlog.compatibility.level import Level
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

FIRST_VERSIONS = 300
DEFAULT_CHARACTERS = 1_000_000
LISTS = {"type": "array", "items": "int"}
FURTHER = 20  #: different candidates, over which the cost of a further one is averaged
GROUPS, FIELDS = 20, 10  #: 200 leaf fields in 20 records, as in a schema to which teams add in turn
KINDS: list[Any] = [
    "string", "long", "double", "boolean", "int", {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "array", "items": "string"}, {"type": "map", "values": "long"}, "bytes", "float",
]  # fmt: skip


def avro_version(number: int) -> str:
    """Return a version; each adds an optional field to one of the records, and drops the oldest added."""
    added = [(one, one % GROUPS) for one in range(max(1, number - 19), number + 1)]
    return json.dumps(
        {
            "type": "record",
            "name": "Order",
            "namespace": "com.example",
            "fields": [{"name": f"group_{group}", "type": avro_group(group, added)} for group in range(GROUPS)],
        }
    )


def avro_group(group: int, added: list[tuple[int, int]]) -> dict[str, Any]:
    """Return a group: one of the inner records."""
    fields = [
        {"name": f"field_{group}_{field}", "type": KINDS[(group + field) % len(KINDS)], "doc": f"field {field}"}
        for field in range(FIELDS)
    ]
    fields += [
        {"name": f"added_{one}", "type": ["null", "string"], "default": None} for one, where in added if where == group
    ]
    return {"type": "record", "name": f"Group{group}", "fields": fields}


def flat_version(number: int) -> str:
    """Return a version of a flat record with 200 fields."""
    fields = [{"name": f"field_{field}", "type": KINDS[field % len(KINDS)]} for field in range(GROUPS * FIELDS)]
    fields += [
        {"name": f"added_{one}", "type": ["null", "string"], "default": None}
        for one in range(max(1, number - 19), number + 1)
    ]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


def json_version(number: int) -> str:
    """Return a version of a closed JSON schema of 200 properties.

    Each version widens one property, some add an optional one.
    """
    properties: dict[str, Any] = {}
    for index in range(GROUPS * FIELDS):
        widened = (number + index) // (GROUPS * FIELDS)
        kinds = [
            {"type": "string", "maxLength": 100 + widened},
            {"type": "integer", "minimum": -widened},
            {"type": "array", "items": {"type": "string"}, "maxItems": 10 + widened},
            {"type": "number", "maximum": 1000 + widened},
        ]
        properties[f"field_{index}"] = kinds[index % len(kinds)]
    properties |= {f"added_{one}": {"type": "string"} for one in range(number // 50)}
    required = [f"field_{index}" for index in range(0, GROUPS * FIELDS, 4)]
    return json.dumps({"type": "object", "properties": properties, "required": required, "additionalProperties": False})


def order(*more: dict[str, Any]) -> str:
    """Return a record of 25 fields as in practice."""
    optional = ["null", "string"]
    address = {
        "type": "record",
        "name": "Address",
        "fields": [
            {"name": "street", "type": "string"},
            {"name": "city", "type": "string"},
            {"name": "zip", "type": optional, "default": None},
        ],
    }
    line = {
        "type": "record",
        "name": "Line",
        "fields": [
            {"name": "sku", "type": "string"},
            {"name": "quantity", "type": "int"},
            {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        ],
    }
    types: dict[str, Any] = {
        "order_id": "string",
        "customer": "long",
        "placed_at": {"type": "long", "logicalType": "timestamp-millis"},
        "status": {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID", "SENT", "BACK"]},
        "channel": "string",
        "total": "double",
        "gift": "boolean",
        "items": "int",
        "address": address,
        "billing": ["null", "Address"],
        "lines": {"type": "array", "items": line},
        "tags": {"type": "map", "values": "string"},
        "weight": "float",
        "digest": {"type": "fixed", "name": "Digest", "size": 16},
        **{f"note_{number}": optional for number in range(6)},
        **{f"code_{number}": "string" for number in range(5)},
    }
    fields = [
        {"name": name, "type": kind, **({"default": None} if isinstance(kind, list) else {})}
        for name, kind in types.items()
    ]
    assert len(fields) == 25  # noqa: PLR2004 - the size that is promised
    return json.dumps({"type": "record", "name": "Order", "namespace": "com.example", "fields": [*fields, *more]})


def best(repeats: int, work: Callable[[], object], times: int = 1) -> float:
    """Return microseconds of processor time, the best of some runs."""
    taken = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        for _ in range(times):
            work()
        taken.append((time.process_time() - start) / times)
    return min(taken) * 1e6


def parsed(text: str, kind: SchemaType) -> ParsedSchema:
    """Parse a version, including the tree of a JSON schema, which is otherwise made on first use."""
    made = parse_schema(SchemaDraft(text, kind))
    if kind is SchemaType.JSON:
        get_tree(made)
    return made


def history(name: str, make: Callable[[int], str], kind: SchemaType, versions: int, repeats: int) -> None:
    """Check candidates against all versions, and print the time.

    The work that is done once per schema, candidate or version, is reported separately: parsing it, and interning it.
    """
    text = make(versions + 1)
    unit = best(repeats, partial(json.loads, text), 20)
    start = time.process_time()
    earlier = [ParsedVersion(number, parsed(make(number), kind)) for number in range(1, versions + 1)]
    parsing = (time.process_time() - start) / versions * 1e6
    candidate, *further = (parsed(make(versions + more), kind) for more in range(1, FURTHER + 2))
    cold, next_one, again, interning = [], [], [], []

    def judged(memo: Memo, *candidates: ParsedSchema) -> float:
        gc.collect()
        for one in candidates:
            ParsedVersion(0, one).shape(memo)
        start = time.process_time()
        verdicts = [check_compatibility(one, earlier, Level.BACKWARD_TRANSITIVE, memo=memo) for one in candidates]
        taken = (time.process_time() - start) * 1e6
        assert all(verdict.compatible for verdict in verdicts)
        return taken / len(candidates)

    for _ in range(repeats):
        memo = Memo()
        start = time.process_time()
        for one in earlier:
            one.shape(memo)
        interning.append((time.process_time() - start) / versions * 1e6)
        cold.append(judged(memo, candidate))
        next_one.append(judged(memo, *further))
        again.append(judged(memo, *[candidate] * FURTHER))
    print(f"{name}: {len(text):,} characters, one json.loads is {unit:.0f} us, {versions} versions")
    print(f"  once per schema: parsing {parsing / unit:.1f}, interning {interning[0] / unit:.1f} units")
    print(f"  history interned, memo cold   {min(cold) / unit:8.1f} units  ({min(cold) / 1000:.2f} ms)")
    print(f"  a further, other candidate    {min(next_one) / unit:8.1f} units  ({min(next_one) / 1000:.2f} ms)")
    print(f"  the same candidate again      {min(again) / unit:8.1f} units  ({min(again) / 1000:.2f} ms)")


def pair(repeats: int) -> None:
    """Check one pair from its texts, and compare with the avro package."""
    writer, reader = order(), order({"name": "added", "type": ["null", "string"], "default": None})

    def ours() -> None:
        new, old = parsed(reader, SchemaType.AVRO), parse_schema(SchemaDraft(writer), strict=False)
        assert check_compatibility(new, [ParsedVersion(1, old)], Level.BACKWARD).compatible

    def without_texts() -> None:
        new, old = (parse_avro(text, {}, strict=text is reader)[0] for text in (reader, writer))
        assert is_readable(new, old)

    def theirs() -> None:
        checker = avro.compatibility.ReaderWriterCompatibilityChecker()
        result = checker.get_compatibility(avro.schema.parse(reader), avro.schema.parse(writer))
        assert result.compatibility is avro.compatibility.SchemaCompatibilityType.compatible

    mine, bare, other = (best(repeats, work, 50) for work in (ours, without_texts, theirs))
    print(f"one pair of 25 fields, everything cold: the avro package takes {other:.0f} us")
    print(f"  parser and checker                {bare:6.0f} us  {other / bare:.1f}x")
    print(f"  and both texts, which it has not  {mine:6.0f} us  {other / mine:.1f}x")


def first_check(repeats: int) -> None:
    """Check a candidate against 300 stored JSON versions of 200 properties, none of them parsed before."""
    texts = [json_version(number) for number in range(1, FIRST_VERSIONS + 1)]
    candidate = json_version(FIRST_VERSIONS + 1)

    def check() -> None:
        drafts = [SchemaDraft(text, SchemaType.JSON) for text in texts]
        stored = [ParsedVersion(number, parse_schema(draft, strict=False)) for number, draft in enumerate(drafts, 1)]
        verdict = check_compatibility(
            parse_schema(SchemaDraft(candidate, SchemaType.JSON)), stored, Level.BACKWARD_TRANSITIVE, memo=Memo()
        )
        assert verdict.compatible

    taken = best(repeats, check) / 1e6
    print(f"first transitive check, {FIRST_VERSIONS} JSON versions of 200 properties: {taken:.2f} s (bound 0.8)")


def pattern_properties(repeats: int) -> None:
    """Check 300 new properties against growing numbers of pattern properties."""
    for count in (128, 256, 257, 512):
        patterns = {f"^x{number}_": {"type": "string"} for number in range(count)}
        writer = {"type": "object", "additionalProperties": False, "patternProperties": patterns}
        reader = {**writer, "properties": {f"new{number}": {"type": "string"} for number in range(300)}}
        new, old = (parsed(json.dumps(schema), SchemaType.JSON) for schema in (reader, writer))
        taken = best(repeats, lambda new=new, old=old: list(check_pair(new, old))) / 1e6  # type: ignore[misc]
        print(f"{count} pattern properties against 300 new properties: {taken:.3f} s")


def huge_defaults(repeats: int) -> None:
    """Reject defaults of a megabyte."""
    for name, kind, item in (("integers", "int", "0"), ("strings", "string", '"a"'), ("lists", LISTS, "[]")):
        items = ",".join([item] * (DEFAULT_CHARACTERS // (len(item) + 1)))
        field = f'{{"name":"a","type":{{"type":"array","items":{json.dumps(kind)}}},"default":[{items}]}}'
        text = f'{{"type":"record","name":"R","fields":[{field}]}}'

        def refuse(text: str = text) -> None:
            try:
                parse_schema(SchemaDraft(text))
            except InvalidSchema:
                return
            raise AssertionError

        taken = best(repeats, refuse) / 1e6
        print(f"a default of a megabyte of {name} is refused after {taken:.2f} s (bound 0.5)")


PARTS = {"first": first_check, "patterns": pattern_properties, "defaults": huge_defaults}


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help=f"some of {','.join(PARTS)}, instead of everything")
    arguments = parser.parse_args()
    print(f"python {' '.join(sys.argv)}")
    for name in arguments.only.split(",") if arguments.only else PARTS:
        PARTS[name](arguments.repeats)
    if arguments.only:
        return
    for name, make, kind in (
        ("Avro, 200 fields in 20 records", avro_version, SchemaType.AVRO),
        ("Avro, 200 fields side by side", flat_version, SchemaType.AVRO),
        ("JSON, 200 properties", json_version, SchemaType.JSON),
    ):
        history(name, make, kind, arguments.versions, arguments.repeats)
    pair(arguments.repeats)


if __name__ == "__main__":
    main()
