"""Validation of columns: frames, many schemas, nulls, slices, hostile records."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.column_validation import Validator, make_validator, validate_column
from contractlog.spark_validation.columnar.limits import ValidationLimits

from support.columnar import (
    collect_columns,
    create_validator,
    encode,
    encode_frame,
    encode_text,
    encode_varint,
    list_outcomes,
    validate_bodies,
)
from support.deadlines import hang_guard

LONG, TEXT, DOCUMENT, UNKNOWN = 1, 2, 3, 99


@pytest.fixture(scope="module")
def known() -> Mapping[int, Validator]:
    schemas = {
        LONG: ('{"type": "record", "name": "A", "fields": [{"name": "id", "type": "long"}]}', SchemaType.AVRO),
        TEXT: ('{"type": "record", "name": "B", "fields": [{"name": "id", "type": "string"}]}', SchemaType.AVRO),
        DOCUMENT: ('{"properties": {"id": {"type": "integer"}}, "required": ["id"]}', SchemaType.JSON),
    }
    return {
        schema_id: make_validator(RegisteredSchema(SchemaId(schema_id), schema, kind))
        for schema_id, (schema, kind) in schemas.items()
    }


RECORDS: list[tuple[bytes | None, str, int]] = [
    (encode_frame(encode_varint(5), LONG), "CONFORMS", LONG),
    (None, "TOMBSTONE", 0),
    (encode_frame(encode_text("x"), TEXT), "CONFORMS", TEXT),
    (b"", "NOT_FRAMED", 0),
    (b"\0\0\0\0", "NOT_FRAMED", 0),
    (b"\1" + encode_frame(b"\2", LONG)[1:], "NOT_FRAMED", 0),
    (encode_frame(b'{"id": 7}', DOCUMENT), "CONFORMS", DOCUMENT),
    (encode_frame(b"\2", UNKNOWN), "UNKNOWN_SCHEMA_ID", UNKNOWN),
    (encode_frame(b"\2", 0), "UNKNOWN_SCHEMA_ID", 0),
    (encode_frame(b"\2", 2**32 - 1), "UNKNOWN_SCHEMA_ID", 2**32 - 1),
    (encode_frame(b"", LONG), "TRUNCATED", LONG),
    (encode_frame(b'{"id": "7"}', DOCUMENT), "SCHEMA_VIOLATION", DOCUMENT),
    (encode_frame(encode_varint(-3), LONG), "CONFORMS", LONG),
]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()], ids=str)
def test_each_record_gets_the_first_outcome_that_holds(kind: pa.DataType, known: Mapping[int, Validator]) -> None:
    checked = validate_column(pa.array([record for record, _, _ in RECORDS], kind), known, None, columns=True)
    assert [Outcome(code).name for code in checked.codes] == [outcome for _, outcome, _ in RECORDS]
    assert checked.schema_ids.tolist() == [schema_id for _, _, schema_id in RECORDS]
    assert (checked.codes.dtype, checked.schema_ids.dtype, checked.paths.dtype) == (np.uint8, np.int64, np.int32)
    violating = [row for row, (_, outcome, _) in enumerate(RECORDS) if Outcome[outcome].violating]
    assert sorted(checked.details) == violating
    assert all(checked.details.values())
    assert collect_columns(checked.columns) == {
        ("id", "int64"): [(0, 5), (6, 7), (12, -3)],
        ("id", "string"): [(2, "x")],
    }


def test_ids_of_other_subjects_are_told_apart_and_their_bodies_not_read(known: Mapping[int, Validator]) -> None:
    column = pa.array([record for record, _, _ in RECORDS], pa.binary())
    checked = validate_column(column, known, frozenset({TEXT}), columns=True)
    expected = ["WRONG_SUBJECT" if schema_id in {LONG, DOCUMENT} else outcome for _, outcome, schema_id in RECORDS]
    assert [Outcome(code).name for code in checked.codes] == expected
    assert collect_columns(checked.columns) == {("id", "string"): [(2, "x")]}


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()], ids=str)
def test_a_slice_is_judged_as_its_rows_are(kind: pa.DataType, known: Mapping[int, Validator]) -> None:
    column = pa.array([record for record, _, _ in RECORDS], kind)
    whole = validate_column(column, known, None, columns=True)
    for start in range(len(RECORDS)):
        part = validate_column(column[start:], known, None, columns=True)
        assert part.codes.tolist() == whole.codes.tolist()[start:]
        assert list_outcomes(part) == list_outcomes(whole)[start:]
        assert part.details == {row - start: said for row, said in whole.details.items() if row >= start}
        assert collect_columns(part.columns) == {
            key: rest
            for key, found in collect_columns(whole.columns).items()
            if (rest := [(row - start, value) for row, value in found if row >= start])
        }


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()], ids=str)
def test_nothing_and_nulls_alone_are_columns_too(kind: pa.DataType, known: Mapping[int, Validator]) -> None:
    for column in (pa.array([], kind), pa.nulls(3, kind), pa.array([b"", b""], kind)[2:]):
        checked = validate_column(column, known, None, columns=True)
        assert checked.codes.tolist() == [Outcome.TOMBSTONE] * len(column)
        assert (checked.path_table, checked.details, checked.columns) == ([], {}, [])


def test_a_column_of_texts_is_refused(known: Mapping[int, Validator]) -> None:
    with pytest.raises(TypeError, match="binary or large_binary"):
        validate_column(pa.array(["x"]), known, None, columns=False)  # type: ignore[arg-type]


def test_fields_are_named_and_typed_alike_in_avro_and_json() -> None:
    avro = {
        "type": "record",
        "name": "Trip",
        "fields": [
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {
                "name": "legs",
                "type": {
                    "type": "array",
                    "items": {"type": "record", "name": "Leg", "fields": [{"name": "carrier", "type": "string"}]},
                },
            },
            {"name": "tags", "type": {"type": "map", "values": ["null", "long"]}},
            {"name": "late", "type": ["null", "boolean"]},
        ],
    }
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
            "at": {"type": "string", "format": "date-time"},
            "legs": {"items": {"properties": {"carrier": {"type": "string"}}}},
            "tags": {"additionalProperties": {"type": ["integer", "null"]}},
            "late": {"type": ["boolean", "null"]},
        },
    }
    validators = {
        1: make_validator(RegisteredSchema(SchemaId(1), json.dumps(avro))),
        2: make_validator(RegisteredSchema(SchemaId(2), json.dumps(document), SchemaType.JSON)),
    }
    legs = [{"carrier": "AA"}, {"carrier": "UA"}]
    record = {"at": 1_357_016_400_000, "legs": legs, "tags": {"gate": (1, 4), "none": (0, None)}, "late": (1, True)}
    body = b'{"at": "2013-01-01T06:00:00+01:00", "legs": [{"carrier": "AA"}, {"carrier": "UA"}],'
    body += b' "tags": {"gate": 4, "none": null}, "late": true}'
    column = pa.array([encode_frame(encode(avro, record), 1), encode_frame(body, 2)], pa.binary())
    checked = validate_column(column, validators, None, columns=True)
    assert collect_columns(checked.columns) == {
        ("at", "timestamp[us, tz=UTC]"): [(0, 1_357_016_400_000_000), (1, 1_357_016_400_000_000)],
        ("late", "bool"): [(0, True), (1, True)],
        ("legs[].carrier", "string"): [(0, "AA"), (0, "UA"), (1, "AA"), (1, "UA")],
        ("tags{}", "int64"): [(0, 4), (1, 4)],
        ("tags{}", "null"): [(0, None), (1, None)],
    }


def test_named_types_of_other_subjects_are_resolved() -> None:
    leg = '{"type": "record", "name": "Leg", "fields": [{"name": "carrier", "type": "string"}]}'
    trip = '{"type": "record", "name": "Trip", "fields": [{"name": "leg", "type": "Leg"}]}'
    validator = make_validator(RegisteredSchema(SchemaId(1), trip), {"Leg": leg})
    checked = validate_column(
        pa.array([encode_frame(encode_text("AA"), 1), encode_frame(encode_text(b"\xff"), 1)]),
        {1: validator},
        None,
        columns=True,
    )
    assert list_outcomes(checked) == [("CONFORMS", "", ""), ("BAD_UTF8", "Leg#/fields/0/type", "leg.carrier")]


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ("no schema", SchemaType.AVRO),
        ('{"type": "recrod"}', SchemaType.AVRO),
        ("{", SchemaType.JSON),
        ('{"$ref": "file:///etc/passwd"}', SchemaType.JSON),
        ('{"$ref": "http://127.0.0.1:9/x.json"}', SchemaType.JSON),
        ('{"type": 3}', SchemaType.JSON),
        ('{"pattern": "(((a{0,99}){0,99}){0,99}){0,99}"}', SchemaType.JSON),
        ("{}", SchemaType.PROTOBUF),
    ],
)
def test_unusable_schemas_are_rejected(schema: str, kind: SchemaType) -> None:
    with pytest.raises(InvalidSchema):
        make_validator(RegisteredSchema(SchemaId(1), schema, kind))


def test_timestamps_that_microseconds_cannot_hold_are_no_values_of_a_column() -> None:
    validator = create_validator({"type": "long", "logicalType": "timestamp-millis"})
    checked = validate_bodies(
        [encode_varint(2**62), encode_varint(1), encode_varint(-(2**63))], validator, columns=True
    )
    assert not checked.codes.any()
    assert collect_columns(checked.columns) == {("", "timestamp[us, tz=UTC]"): [(1, 1000)]}


def test_a_recursive_field_is_a_column_where_it_is_first_met() -> None:
    node = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "value", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
    }
    checked = validate_bodies([b"\x02\x02\x04\x02\x06\x00"], create_validator(node), columns=True)
    assert collect_columns(checked.columns) == {("value", "int64"): [(0, 1)]}


HOSTILE_NODE = {
    "type": "record",
    "name": "T",
    "fields": [{"name": "left", "type": ["null", "T"]}, {"name": "right", "type": ["null", "T"]}],
}
HOSTILE: list[tuple[str, Any, bytes]] = [
    ("a list without end", HOSTILE_NODE, b"\x02" * 100_000),
    (
        "arrays in arrays",
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": {"type": "array", "items": "R"}}]},
        b"\x02" * 100_000,
    ),
    (
        "a record within itself",
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": "R"}, {"name": "b", "type": "R"}]},
        b"",
    ),
    ("a billion nulls, often", {"type": "array", "items": "null"}, encode_varint(10**9) * 1000),
    ("blocks of one", {"type": "array", "items": "long"}, b"\x02\x02" * 4000),
    ("blocks of one null", {"type": "array", "items": "null"}, b"\x02" * 4000),
    ("a count of 2^62", {"type": "map", "values": "null"}, encode_varint(2**62)),
    ("a large fixed", {"type": "fixed", "name": "F", "size": 2**31 - 9}, b"x"),
    (
        "many large fixed",
        {"type": "array", "items": {"type": "fixed", "name": "F", "size": 2**31 - 9}},
        encode_varint(3) + b"xxxx",
    ),
    (
        "a decimal of a million digits",
        {"type": "bytes", "logicalType": "decimal", "precision": 1_000_000_000},
        encode_text(b"\x7f" * 500_000),
    ),
    ("a long decimal", {"type": "bytes", "logicalType": "decimal", "precision": 50}, encode_text(b"\x7f" * 500_000)),
]


@pytest.mark.parametrize(("schema", "body"), [case[1:] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
def test_hostile_records_end(schema: Any, body: bytes) -> None:
    for scalar_rows in (0, 12):
        with hang_guard():
            validate_bodies([body] * 13, create_validator(schema, scalar_rows=scalar_rows), columns=True)


def test_a_schema_that_doubles_at_every_level_costs_no_more_than_its_data() -> None:
    schema: Any = {"type": "record", "name": "G0", "fields": [{"name": "x", "type": "long"}]}
    for level in range(1, 21):
        fields = [{"name": "a", "type": schema}, {"name": "b", "type": f"G{level - 1}"}]
        schema = {"type": "record", "name": f"G{level}", "fields": fields}
    validator = create_validator(schema, ValidationLimits(paths=100))
    checked = validate_bodies([b"\x02" * 300] * 20, validator, columns=True)
    assert set(checked.codes.tolist()) == {Outcome.TRUNCATED}


def test_random_bytes_never_raise() -> None:
    random = Random(3)  # noqa: S311
    maker = [HOSTILE_NODE, *(schema for _, schema, _ in HOSTILE[:6])]
    bodies = [random.randbytes(random.randrange(60)) for _ in range(500)]
    for schema in maker:
        codes = validate_bodies(bodies, create_validator(schema), columns=True).codes
        assert codes.max() <= Outcome.LOGICAL_TYPE


def test_a_depth_beyond_the_interpreters_stack_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="depth"):
        ValidationLimits(depth=10_000)


def test_columnar_validation_needs_no_spark() -> None:
    program = "import sys, contractlog.spark_validation.columnar.column_validation; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_schema_that_is_just_bytes_is_written_without_a_length() -> None:
    known = {1: make_validator(RegisteredSchema(SchemaId(1), '"bytes"', SchemaType.AVRO))}
    bodies = pa.array([encode_frame(b"", 1), encode_frame(b"\xff\xfe", 1), None], pa.binary())
    checked = validate_column(bodies, known, None, columns=True)
    assert [Outcome(code).name for code in checked.codes] == ["CONFORMS", "CONFORMS", "TOMBSTONE"]
    assert collect_columns(checked.columns) == {("", "binary"): [(0, b""), (1, b"\xff\xfe")]}
