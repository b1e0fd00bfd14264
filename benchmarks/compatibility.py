"""Speed of compatibility checks: long histories, an uncached pair of schemas, and worst cases.

    python benchmarks/compatibility.py [--versions 1000] [--repeats 5] [--only first,patterns,defaults]

Prints processor time, the best of the repeats: for histories in units of one ``json.loads`` of the candidate's text,
for the pair as a ratio to the parser and checker of the ``avro`` package, and otherwise in seconds.
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
FURTHER_CANDIDATES = 20  #: candidates over which the time of a further candidate is averaged
GROUPS, FIELDS = 20, 10  #: 200 leaf fields in 20 records, as in a schema to which teams add in turn
FIELD_TYPES: list[Any] = [
    "string", "long", "double", "boolean", "int", {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "array", "items": "string"}, {"type": "map", "values": "long"}, "bytes", "float",
]  # fmt: skip


def create_avro_version(number: int) -> str:
    """Return a version; each adds an optional field to a record and removes the oldest added one."""
    added = [(version, version % GROUPS) for version in range(max(1, number - 19), number + 1)]
    return json.dumps(
        {
            "type": "record",
            "name": "Order",
            "namespace": "com.example",
            "fields": [{"name": f"group_{group}", "type": create_avro_group(group, added)} for group in range(GROUPS)],
        }
    )


def create_avro_group(group: int, added: list[tuple[int, int]]) -> dict[str, Any]:
    """Return an inner record."""
    fields = [
        {
            "name": f"field_{group}_{field}",
            "type": FIELD_TYPES[(group + field) % len(FIELD_TYPES)],
            "doc": f"field {field}",
        }
        for field in range(FIELDS)
    ]
    fields += [
        {"name": f"added_{version}", "type": ["null", "string"], "default": None}
        for version, group_of_version in added
        if group_of_version == group
    ]
    return {"type": "record", "name": f"Group{group}", "fields": fields}


def create_flat_version(number: int) -> str:
    """Return a version of a flat record with 200 fields."""
    fields = [
        {"name": f"field_{field}", "type": FIELD_TYPES[field % len(FIELD_TYPES)]} for field in range(GROUPS * FIELDS)
    ]
    fields += [
        {"name": f"added_{version}", "type": ["null", "string"], "default": None}
        for version in range(max(1, number - 19), number + 1)
    ]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


def create_json_version(number: int) -> str:
    """Return a version of a closed JSON schema of 200 properties.

    Each version widens one property, some add an optional one.
    """
    properties: dict[str, Any] = {}
    for index in range(GROUPS * FIELDS):
        widened = (number + index) // (GROUPS * FIELDS)
        property_schemas = [
            {"type": "string", "maxLength": 100 + widened},
            {"type": "integer", "minimum": -widened},
            {"type": "array", "items": {"type": "string"}, "maxItems": 10 + widened},
            {"type": "number", "maximum": 1000 + widened},
        ]
        properties[f"field_{index}"] = property_schemas[index % len(property_schemas)]
    properties |= {f"added_{index}": {"type": "string"} for index in range(number // 50)}
    required = [f"field_{index}" for index in range(0, GROUPS * FIELDS, 4)]
    return json.dumps({"type": "object", "properties": properties, "required": required, "additionalProperties": False})


def create_order(*more: dict[str, Any]) -> str:
    """Return a realistic record of 25 fields."""
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
    assert len(fields) == 25  # noqa: PLR2004 - the size that is printed below
    return json.dumps({"type": "record", "name": "Order", "namespace": "com.example", "fields": [*fields, *more]})


def measure_best(repeats: int, work: Callable[[], object], times: int = 1) -> float:
    """Return microseconds of processor time, the best of some runs."""
    taken = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        for _ in range(times):
            work()
        taken.append((time.process_time() - start) / times)
    return min(taken) * 1e6


def parse_version(text: str, kind: SchemaType) -> ParsedSchema:
    """Parse a version, and build the tree of a JSON schema, which is otherwise built on first use."""
    schema = parse_schema(SchemaDraft(text, kind))
    if kind is SchemaType.JSON:
        get_tree(schema)
    return schema


def measure_history(name: str, make: Callable[[int], str], kind: SchemaType, versions: int, repeats: int) -> None:
    """Check candidates against all versions, and print the time.

    Parsing and interning, which are done once per schema, are reported separately.
    """
    text = make(versions + 1)
    unit = measure_best(repeats, partial(json.loads, text), 20)
    start = time.process_time()
    earlier_versions = [ParsedVersion(number, parse_version(make(number), kind)) for number in range(1, versions + 1)]
    parsing = (time.process_time() - start) / versions * 1e6
    candidate, *further_candidates = (
        parse_version(make(versions + more), kind) for more in range(1, FURTHER_CANDIDATES + 2)
    )
    cold, further, repeated, interning = [], [], [], []

    def measure_check(memo: Memo, *candidates: ParsedSchema) -> float:
        gc.collect()
        for candidate in candidates:
            ParsedVersion(0, candidate).shape(memo)
        start = time.process_time()
        verdicts = [
            check_compatibility(candidate, earlier_versions, Level.BACKWARD_TRANSITIVE, memo=memo)
            for candidate in candidates
        ]
        taken = (time.process_time() - start) * 1e6
        assert all(verdict.compatible for verdict in verdicts)
        return taken / len(candidates)

    for _ in range(repeats):
        memo = Memo()
        start = time.process_time()
        for version in earlier_versions:
            version.shape(memo)
        interning.append((time.process_time() - start) / versions * 1e6)
        cold.append(measure_check(memo, candidate))
        further.append(measure_check(memo, *further_candidates))
        repeated.append(measure_check(memo, *[candidate] * FURTHER_CANDIDATES))
    print(f"{name}: {len(text):,} characters, one json.loads is {unit:.0f} us, {versions} versions")
    print(f"  once per schema: parsing {parsing / unit:.1f}, interning {interning[0] / unit:.1f} units")
    print(f"  history interned, memo cold   {min(cold) / unit:8.1f} units  ({min(cold) / 1000:.2f} ms)")
    print(f"  a further candidate           {min(further) / unit:8.1f} units  ({min(further) / 1000:.2f} ms)")
    print(f"  the same candidate again      {min(repeated) / unit:8.1f} units  ({min(repeated) / 1000:.2f} ms)")


def measure_pair(repeats: int) -> None:
    """Check one pair of texts, and compare the time with that of the avro package."""
    writer, reader = create_order(), create_order({"name": "added", "type": ["null", "string"], "default": None})

    def ours() -> None:
        reader_schema, writer_schema = (
            parse_version(reader, SchemaType.AVRO),
            parse_schema(SchemaDraft(writer), strict=False),
        )
        assert check_compatibility(reader_schema, [ParsedVersion(1, writer_schema)], Level.BACKWARD).compatible

    def without_texts() -> None:
        reader_schema, writer_schema = (parse_avro(text, {}, strict=text is reader)[0] for text in (reader, writer))
        assert is_readable(reader_schema, writer_schema)

    def theirs() -> None:
        checker = avro.compatibility.ReaderWriterCompatibilityChecker()
        result = checker.get_compatibility(avro.schema.parse(reader), avro.schema.parse(writer))
        assert result.compatibility is avro.compatibility.SchemaCompatibilityType.compatible

    our_time, parser_time, avro_time = (measure_best(repeats, work, 50) for work in (ours, without_texts, theirs))
    print(f"one pair of 25 fields, nothing cached: the avro package takes {avro_time:.0f} us")
    print(f"  parser and checker                {parser_time:6.0f} us  {avro_time / parser_time:.1f}x")
    print(f"  and canonical forms, unlike avro  {our_time:6.0f} us  {avro_time / our_time:.1f}x")


def measure_first_check(repeats: int) -> None:
    """Check a candidate against 300 stored JSON versions of 200 properties, none of them parsed yet."""
    texts = [create_json_version(number) for number in range(1, FIRST_VERSIONS + 1)]
    candidate = create_json_version(FIRST_VERSIONS + 1)

    def check() -> None:
        drafts = [SchemaDraft(text, SchemaType.JSON) for text in texts]
        stored = [ParsedVersion(number, parse_schema(draft, strict=False)) for number, draft in enumerate(drafts, 1)]
        verdict = check_compatibility(
            parse_schema(SchemaDraft(candidate, SchemaType.JSON)), stored, Level.BACKWARD_TRANSITIVE, memo=Memo()
        )
        assert verdict.compatible

    seconds = measure_best(repeats, check) / 1e6
    print(f"first transitive check, {FIRST_VERSIONS} JSON versions of 200 properties: {seconds:.2f} s (bound 0.8)")


def measure_pattern_properties(repeats: int) -> None:
    """Check 300 new properties against growing numbers of pattern properties."""
    for count in (128, 256, 257, 512):
        patterns = {f"^x{number}_": {"type": "string"} for number in range(count)}
        writer = {"type": "object", "additionalProperties": False, "patternProperties": patterns}
        reader = {**writer, "properties": {f"new{number}": {"type": "string"} for number in range(300)}}
        schemas = [parse_version(json.dumps(schema), SchemaType.JSON) for schema in (reader, writer)]

        def check(schemas: list[ParsedSchema] = schemas) -> None:
            list(check_pair(*schemas))

        seconds = measure_best(repeats, check) / 1e6
        print(f"{count} pattern properties against 300 new properties: {seconds:.3f} s")


def measure_huge_defaults(repeats: int) -> None:
    """Reject defaults of a megabyte."""
    for name, kind, item in (("integers", "int", "0"), ("strings", "string", '"a"'), ("lists", LISTS, "[]")):
        items = ",".join([item] * (DEFAULT_CHARACTERS // (len(item) + 1)))
        field = f'{{"name":"a","type":{{"type":"array","items":{json.dumps(kind)}}},"default":[{items}]}}'
        text = f'{{"type":"record","name":"R","fields":[{field}]}}'

        def expect_rejection(text: str = text) -> None:
            try:
                parse_schema(SchemaDraft(text))
            except InvalidSchema:
                return
            raise AssertionError

        seconds = measure_best(repeats, expect_rejection) / 1e6
        print(f"a default of a megabyte of {name} is rejected after {seconds:.2f} s (bound 0.5)")


PARTS = {"first": measure_first_check, "patterns": measure_pattern_properties, "defaults": measure_huge_defaults}


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
        ("Avro, 200 fields in 20 records", create_avro_version, SchemaType.AVRO),
        ("Avro, 200 fields side by side", create_flat_version, SchemaType.AVRO),
        ("JSON, 200 properties", create_json_version, SchemaType.JSON),
    ):
        measure_history(name, make, kind, arguments.versions, arguments.repeats)
    measure_pair(arguments.repeats)


if __name__ == "__main__":
    main()
