"""Bytes and values of valid data without recursion equal those of fastavro."""

from __future__ import annotations

import io
from typing import Any

import fastavro
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter

from support.avro_codecs import decode, encode, parse
from support.avro_strategies import schemas, values

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def written_by_fastavro(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def read_by_fastavro(schema: Any, body: bytes) -> Any:
    return fastavro.schemaless_reader(io.BytesIO(body), fastavro.parse_schema(schema), None)


@FEW
@given(st.data())
def test_bytes_are_those_of_fastavro_and_so_are_the_values_read(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(values(schema))
    body = encode(schema, value)
    assert body == written_by_fastavro(schema, value)
    assert decode(schema, body) == read_by_fastavro(schema, body)


@FEW
@given(st.data())
def test_values_are_unchanged_except_numbers_in_unions(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(values(schema))
    again = decode(schema, encode(schema, value))
    assert encode(schema, again) == encode(schema, value)


@FEW
@given(st.data())
def test_a_schema_read_as_itself_through_resolution_gives_the_same_value(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(values(schema))
    writer, wider = parse(schema), parse({**schema, "fields": [*schema["fields"], NEW]})
    body = AvroWriter(writer).encode(value)
    assert AvroReader(writer, wider).decode(body) == AvroReader(writer).decode(body) | {"new": {"a": [1]}}


NEW = {"name": "new", "type": {"type": "map", "values": {"type": "array", "items": "int"}}, "default": {"a": [1]}}


def test_a_schema_that_is_bytes_has_bare_bodies() -> None:
    assert encode("bytes", b"raw") == b"raw"
    assert decode("bytes", b"raw") == b"raw"
    assert decode("bytes", b"") == b""
