"""Hostile records result in a value, or in an error with topic and reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import DecodeError
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.schema_ids import header_schema_id_serializer

TREE = """{"type": "record", "name": "Tree", "fields": [
    {"name": "value", "type": ["null", "int", "string"]},
    {"name": "leaves", "type": {"type": "array", "items": "Tree"}}]}"""
OBJECT = '{"title": "Tree", "type": "object", "properties": {"value": {"type": ["integer", "null"]}}}'
VALUE: Any = {"value": 5, "leaves": [{"value": "x", "leaves": []}]}
BODIES = st.one_of(st.binary(max_size=40), st.just(b""))


@pytest.fixture(scope="module")
def sides() -> Iterator[tuple[dict[str, Any], list[bytes], list[Any]]]:
    """A deserializer of each format, real records, and headers that name a schema."""
    app = create_app(Settings(database_url="sqlite://"))
    with Registry(app=app) as client:
        records, headers = [], []
        for serializer, value, options in (
            (AvroSerializer(client, TREE), VALUE, {}),
            (JSONSerializer(OBJECT, client), {"value": 5}, {}),
            (AvroSerializer(client, TREE, schema_id_serializer=header_schema_id_serializer), VALUE, {"headers": []}),
        ):
            context = SerializationContext("avro" if value is VALUE else "json", MessageField.VALUE, **options)
            records.append(serializer(value, context))
            headers += context.headers or []
        yield {"avro": AvroDeserializer(client), "json": JSONDeserializer(None, None, client)}, records, headers
    app.state.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_record_ends_in_a_value_or_in_an_error_with_its_topic(sides: Any, data: st.DataObject) -> None:
    deserializers, records, headers = sides
    topic = data.draw(st.sampled_from(["avro", "json"]))
    record = bytearray(data.draw(st.one_of(BODIES, st.sampled_from(records))))
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(record)))
        record[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    values = [value for _, value in headers] + [b"", b"\x01", b"\x01" + bytes(16), b"\x00" * 5, "text", None]
    named = st.tuples(st.sampled_from(["__value_schema_id", "__key_schema_id", "other"]), st.sampled_from(values))
    given_headers = data.draw(st.one_of(st.none(), st.lists(st.one_of(named, st.sampled_from(headers)), max_size=3)))
    kind = data.draw(st.sampled_from([bytes, bytearray, memoryview]))
    context = SerializationContext(topic, data.draw(st.sampled_from(list(MessageField))), given_headers)
    error = refusal(deserializers[topic], kind(bytes(record)), context)
    if error is not None:
        assert isinstance(error.outcome, Outcome)
        assert error.topic == topic
        assert error.reason
        assert len(str(error)) < 3_000


def refusal(deserializer: Any, record: Any, context: SerializationContext) -> DecodeError | None:
    try:
        deserializer(record, context)
    except DecodeError as error:
        return error
    return None


@pytest.mark.parametrize("topic", ["avro", "json"])
def test_real_records_are_read_in_every_kind_of_bytes(sides: Any, topic: str) -> None:
    deserializers, records, _ = sides
    record = records[topic == "json"]
    context = SerializationContext(topic)
    assert deserializers[topic](record, context) == deserializers[topic](memoryview(record), context)
    assert deserializers[topic](bytearray(record), context)["value"] == 5
