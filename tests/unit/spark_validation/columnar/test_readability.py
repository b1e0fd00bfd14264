"""Records read with another schema: many at once, and each as the deserializer does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.serdes.avro.limits import Limits
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.errors import EncodeError, ReaderMismatch, SerializationError
from contractlog.spark_validation.columnar.avro_readability import AvroReadability
from contractlog.spark_validation.columnar.column_validation import make_validator
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.read_failures import ReadFailures
from contractlog.spark_validation.columnar.readability import Readability, make_readability

from support.archives import create_schema
from support.avro_codecs import encode, parse, record
from support.avro_values import NoFiniteValueError, ValueGenerator
from support.avro_versions import RichSchemas, create_version
from support.columnar import MANY

LIMITS = ValidationLimits()
RELAXED = Limits(strict_booleans=False)
Cause = tuple[str, str, str]


def join_bodies(bodies: Sequence[bytes]) -> tuple[Any, Any, Any]:
    """Return the bytes of a column, with the start and end of each body."""
    ends = np.cumsum([len(body) for body in bodies], dtype=np.int64)
    return np.frombuffer(b"".join(bodies), np.uint8), ends - [len(body) for body in bodies], ends


def list_causes(unreadable: ReadFailures) -> list[Cause | None]:
    """Return code, field and reason of each record; None if it can be read."""
    causes = [(cause.code, cause.field, cause.reason) for cause in unreadable.table]
    return [None if index < 0 else causes[index] for index in unreadable.causes.tolist()]


def read_bodies(readability: Readability, bodies: Sequence[bytes], *, conforming: bool = True) -> list[Cause | None]:
    """Read conforming bodies."""
    return list_causes(readability.read(*join_bodies(bodies), np.full(len(bodies), conforming)))


def read_with_decoder(
    writer: ParsedSchema, reader: ParsedSchema, bodies: Sequence[bytes], limits: Limits = RELAXED
) -> list[Cause | None]:
    """Read each body with the deserializer's decoder."""
    decoder = AvroReader(writer, reader, limits=limits)

    def read(body: bytes) -> Cause | None:
        try:
            decoder.decode(body)
        except ReaderMismatch as error:
            return ("READER_MISMATCH", error.field, error.reason)
        except SerializationError as error:
            return ("" if error.outcome is None else error.outcome.name, error.field, "")
        return None

    return [read(body) for body in bodies]


def read_order(writer: Any, reader: Any, *values: Any) -> list[Cause | None]:
    """Read values of one schema with another."""
    pair = make_readability(parse(writer), parse(reader), {})
    return read_bodies(pair, [encode(writer, value) for value in values])


def random_pair(random: Random) -> tuple[ParsedSchema, ParsedSchema, list[bytes]] | None:
    """Return two versions of a random schema, and bodies of the first that conform; None if there are none."""
    versions = [RichSchemas(random).schemas()]
    for _ in range(random.randint(1, 3)):
        versions.append(create_version(versions[-1], random)[0])
    if random.random() < 0.5:
        versions.reverse()
    if len(versions[0]) > 1:
        return None
    try:
        writer, reader = (parse_schema(SchemaDraft(json.dumps(texts[-1]))) for texts in (versions[0], versions[-1]))
        values = ValueGenerator(writer.root, random)
        encoder = AvroWriter(writer)
        bodies = [encoder.encode(values.pair()[0]) for _ in range(20)]
    except (InvalidSchema, NoFiniteValueError, EncodeError):
        return None
    validator = make_validator(create_schema(1, json.dumps(versions[0][-1])))
    outcomes = validator.validate(*join_bodies(bodies), columns=False)
    conforming = [body for body, code in zip(bodies, outcomes.codes.tolist(), strict=True) if not code]
    return writer, reader, conforming


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**40))
def test_each_record_is_read_as_the_decoder_does(seed: int) -> None:
    pair = random_pair(Random(seed))  # noqa: S311 - no secret
    if pair is None:
        return
    writer, reader, bodies = pair
    expected = read_with_decoder(writer, reader, bodies)
    for scalar_rows in (0, MANY):
        assert read_bodies(AvroReadability(writer, reader, LIMITS, scalar_rows=scalar_rows), bodies) == expected
    assert read_bodies(AvroReadability(writer, reader, LIMITS), bodies, conforming=False) == expected


@pytest.mark.parametrize("limit", [0, 5, 10, 50, 100, 109, 110, 199, 200, 300])
@pytest.mark.parametrize("fields", [[], [("k", "boolean")]], ids=["no bytes", "bytes"])
def test_items_of_defaults_are_counted_as_the_decoder_does(fields: list[Any], limit: int) -> None:
    def schema(*news: Any) -> Any:
        inner = record(*news, name="Inner")
        item = record(*fields, ("inner", inner), ("maybe", ["null", inner["name"]]) if fields else ("n", "null"), *news)
        return {"type": "array", "items": item}

    writer = parse(schema())
    reader = parse(schema(("z", {"type": "array", "items": "int"}, [0] * 5), ("text", "string", "x" * 80)))
    item = {"k": True, "inner": {}, "maybe": {}} if fields else {"inner": {}, "n": None}
    bodies = [encode(schema(), [item] * size) for size in (0, 1, 2, 5, 7, 20)]
    expected = [
        cause and cause[0]
        for cause in read_with_decoder(writer, reader, bodies, Limits(max_empty_items=limit, strict_booleans=False))
    ]
    for scalar_rows in (0, MANY):
        readability = AvroReadability(writer, reader, ValidationLimits(items=limit), scalar_rows=scalar_rows)
        assert [cause and cause[0] for cause in read_bodies(readability, bodies)] == expected


def test_a_branch_or_symbol_matters_only_if_a_record_has_it() -> None:
    colors = {"type": "enum", "name": "Color", "symbols": ["RED", "GREEN", "BLUE"]}
    writer = record(("note", ["null", "string"]), ("color", colors))
    reader = record(("note", "string"), ("color", {**colors, "symbols": ["BLUE", "RED"]}))
    causes = read_order(
        writer,
        reader,
        {"note": "a", "color": "RED"},
        {"note": None, "color": "GREEN"},
        {"note": "b", "color": "GREEN"},
        {"note": "c", "color": "BLUE"},
    )
    missing = "the reader's enum Color has neither the symbol GREEN nor a default"
    assert causes == [
        None,
        ("READER_MISMATCH", "note", "null was written, and cannot be read as string"),
        ("READER_MISMATCH", "color", missing),
        None,
    ]
    with_default = record(("note", ["string", "null"]), ("color", {**colors, "symbols": ["RED"], "default": "RED"}))
    assert read_order(writer, with_default, {"note": None, "color": "BLUE"}) == [None]


def test_a_field_without_default_fails_where_its_record_is() -> None:
    line = record(("sku", "string"), name="Line")
    writer = record(("lines", {"type": "array", "items": line}))
    reader = record(("lines", {"type": "array", "items": record(("sku", "string"), ("price", "long"), name="Line")}))
    causes = read_order(writer, reader, {"lines": []}, {"lines": [{"sku": "a"}, {"sku": "b"}]})
    reason = "the writer has no field price, and the reader gives it no default"
    assert causes == [None, ("READER_MISMATCH", "lines[].price", reason)]
    pair = make_readability(parse(writer), parse(reader), {})
    assert pair.locate(encode(writer, {"lines": [{"sku": "a"}]})) == "lines[0].price"


def test_values_decide_where_the_schemas_do_not() -> None:
    writer = record(("data", "bytes"), ("id", "string"))
    reader = record(("data", "string"), ("id", {"type": "string", "logicalType": "uuid"}))
    uuid = "12345678-1234-1234-1234-123456789abc"
    causes = read_order(
        writer, reader, {"data": b"text", "id": uuid}, {"data": b"\xff", "id": uuid}, {"data": b"", "id": "no uuid"}
    )
    assert causes == [None, ("BAD_UTF8", "data", ""), ("LOGICAL_TYPE", "id", "")]


def test_bodies_of_the_schema_bytes_have_no_length() -> None:
    assert read_bodies(make_readability(parse("bytes"), parse("bytes"), {}), [b"", b"\xff\xff"]) == [None, None]
    causes = read_bodies(make_readability(parse("bytes"), parse("string"), {}), [b"text", b"\xff"])
    assert causes == [None, ("BAD_UTF8", "", "")]


def test_a_recursive_schema_fails_at_any_depth() -> None:
    def node(value: Any) -> dict[str, Any]:
        return record(("value", value), ("next", ["null", "Node"]), name="Node")

    value = {"value": 1, "next": {"value": "x", "next": None}}
    causes = read_order(node(["int", "string"]), node("int"), value, {"value": 1, "next": None})
    assert causes == [("READER_MISMATCH", "next.value", "string was written, and cannot be read as int"), None]


def test_records_of_another_schema_type_cannot_be_read() -> None:
    written = parse_schema(SchemaDraft("{}", SchemaType.JSON))
    (cause,) = read_bodies(make_readability(written, parse("string"), {}), [b"{}"])
    assert cause == ("SCHEMA_TYPE_CHANGED", "", "JSON was written, and the new schema is AVRO")


@pytest.mark.parametrize("conforming", [True, False])
def test_documents_are_validated_against_the_new_schema(*, conforming: bool) -> None:
    new = {"properties": {"lines": {"items": {"required": ["sku"]}}, "total": {"minimum": 0}}}
    written, proposed = (parse_schema(SchemaDraft(json.dumps(each), SchemaType.JSON)) for each in ({}, new))
    pair = make_readability(written, proposed, {})
    bodies = [b'{"total": 1}', b'{"total": -1}', b'{"lines": [{"sku": 1}, {}]}']
    assert read_bodies(pair, bodies, conforming=conforming) == [
        None,
        ("SCHEMA_VIOLATION", "total", ""),
        ("SCHEMA_VIOLATION", "lines[]", ""),
    ]
    unreadable = pair.read(*join_bodies(bodies), np.full(3, conforming))
    assert [cause.pointer for cause in unreadable.table] == [
        "/properties/total/minimum",
        "/properties/lines/items/required",
    ]
    assert (pair.locate(bodies[2]), pair.locate(b"no JSON")) == ("lines[1]", "")


def test_the_path_of_an_example_has_no_keys_of_maps_and_no_names_that_a_schema_lacks() -> None:
    writer, reader = (record(("m", {"type": "map", "values": kind})) for kind in ("string", "int"))
    pair = make_readability(parse(writer), parse(reader), {})
    assert pair.locate(encode(writer, {"m": {"SECRET": "a"}})) == "m{}"
    new = {"properties": {"open": {"additionalProperties": {"type": "integer"}}}}
    written, proposed = (parse_schema(SchemaDraft(json.dumps(each), SchemaType.JSON)) for each in ({}, new))
    assert make_readability(written, proposed, {}).locate(b'{"open": {"SECRET": "x"}}') == "open.name(6)"
