"""Ids before the body and guids in headers, with contractlog's and confluent-kafka's functions."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import schema_registry as theirs
from confluent_kafka.schema_registry.common.serde import SchemaId
from confluent_kafka.serialization import MessageField as TheirField
from confluent_kafka.serialization import SerializationContext as TheirContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes import MessageField, SerializationContext, schema_ids
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import BadFrame, DecodeError, SerializationError
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.schema_ids import FrameId, split_head

if TYPE_CHECKING:
    from contractlog.clients import Registry

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]}'
VALUE = SerializationContext("orders")


def headed(headers: Any, field: MessageField = MessageField.VALUE) -> SerializationContext:
    return SerializationContext("orders", field, headers)


@pytest.mark.parametrize("module", [schema_ids, theirs])
def test_a_guid_goes_into_the_header_and_is_read_from_it(registry: Registry, module: Any) -> None:
    """Defect 1 of the reference's client: bodies of fewer than five bytes could not be read back."""
    serializer = AvroSerializer(registry, ORDER, schema_id_serializer=module.header_schema_id_serializer)
    for headers in ([("trace", b"1")], {"trace": b"1"}):
        context = headed(headers)
        assert serializer({"n": 1}, context) == b"\2"
        guid = dict(headers)["__value_schema_id"]
        assert (len(guid), guid[0]) == (17, 1)
        assert AvroDeserializer(registry)(b"\2", context) == {"n": 1}
        deserializer = AvroDeserializer(registry, schema_id_deserializer=module.dual_schema_id_deserializer)
        assert deserializer(b"\2", context) == {"n": 1}


def test_keys_have_their_own_header(registry: Registry) -> None:
    serializer = AvroSerializer(registry, '"string"', schema_id_serializer=schema_ids.header_schema_id_serializer)
    headers: list[tuple[str, Any]] = []
    assert serializer("a", headed(headers, MessageField.KEY)) == b"\2a"
    assert [name for name, _ in headers] == ["__key_schema_id"]
    assert AvroDeserializer(registry)(b"\2a", headed(headers, MessageField.KEY)) == "a"
    with pytest.raises(BadFrame):
        AvroDeserializer(registry)(b"\2a", headed(headers))


def test_a_header_that_came_along_is_replaced(registry: Registry) -> None:
    """Who forwards a record with its headers would otherwise name two schemas."""
    headers = [("__value_schema_id", b"\1" + bytes(16)), ("a", b"b")]
    serializer = JSONSerializer("{}", registry, schema_id_serializer=schema_ids.header_schema_id_serializer)
    written = serializer({"n": 1}, headed(headers))
    assert [name for name, _ in headers] == ["a", "__value_schema_id"]
    assert JSONDeserializer(None, schema_registry_client=registry)(written, headed(headers)) == {"n": 1}


def test_the_last_header_of_several_counts_and_goes_before_the_prefix(registry: Registry) -> None:
    one = registry.register("orders-value", SchemaDraft('"int"'))
    registry.register("others", SchemaDraft('"string"'))
    heads = [("__value_schema_id", b"\1" + bytes(16)), ("__value_schema_id", b"\0" + one.schema_id.to_bytes(4))]
    assert AvroDeserializer(registry)(b"\2", headed(heads)) == 1
    with pytest.raises(DecodeError) as caught:
        AvroDeserializer(registry)(b"\0\0\0\0\2\2a", headed(heads[:1]))
    assert caught.value.outcome is Outcome.UNKNOWN_SCHEMA_ID
    prefixed = AvroDeserializer(registry, schema_id_deserializer=theirs.prefix_schema_id_deserializer)
    assert prefixed(b"\0\0\0\0\2\2a", headed(heads)) == "a"


def test_a_guid_may_stand_before_the_body(registry: Registry) -> None:
    guid = registry.register("orders-value", SchemaDraft('"int"')).guid
    assert guid is not None
    framed = b"\1" + bytes.fromhex(guid.replace("-", "")) + b"\2"
    assert AvroDeserializer(registry)(framed, VALUE) == 1
    assert AvroDeserializer(registry)(framed, VALUE) == 1


@pytest.mark.parametrize("context", [None, SerializationContext("orders"), headed(())])
def test_headers_that_cannot_be_written_are_told(registry: Registry, context: Any) -> None:
    serializer = AvroSerializer(
        registry,
        ORDER,
        subject_name_strategy_type="RECORD",
        schema_id_serializer=schema_ids.header_schema_id_serializer,
    )
    with pytest.raises(SerializationError, match="headers"):
        serializer({"n": 1}, context)


def test_a_registry_without_guids_is_told_before_the_first_record(registry: Registry) -> None:
    from dataclasses import replace

    class Older:
        def __getattr__(self, name: str) -> Any:
            return getattr(registry, name)

        def register(self, *args: Any, **kwargs: Any) -> Any:
            return replace(registry.register(*args, **kwargs), guid=None)

    serializer = AvroSerializer(Older(), ORDER, schema_id_serializer=schema_ids.header_schema_id_serializer)
    with pytest.raises(SerializationError, match="no guid"):
        serializer.prepare("orders")
    assert AvroSerializer(Older(), ORDER)({"n": 1}, VALUE) == b"\0\0\0\0\1\2"


def test_own_functions_are_called_with_id_and_guid(registry: Registry) -> None:
    seen: list[Any] = []

    def put(payload: bytes, ctx: Any, schema_id: Any) -> bytes:
        seen.append((ctx.topic, schema_id.schema_type, schema_id.id, schema_id.guid))
        return payload + schema_id.id_to_bytes()

    def take(payload: bytes, ctx: Any, schema_id: Any) -> Any:
        schema_id.from_bytes(io.BytesIO(payload[-5:]))
        return io.BytesIO(payload[:-5])

    written = AvroSerializer(registry, ORDER, schema_id_serializer=put)({"n": 1}, VALUE)
    assert written == b"\2\0\0\0\0\1"
    [(topic, kind, schema_id, guid)] = seen
    assert (topic, kind, schema_id, str(guid)) == ("orders", "AVRO", 1, registry.schema_by_guid(str(guid)).guid)
    deserializer = AvroDeserializer(registry, schema_id_deserializer=take)
    for _ in range(2):
        assert deserializer(written, VALUE) == {"n": 1}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1), st.uuids(), st.binary())
def test_ids_are_the_bytes_that_the_reference_makes(number: int, guid: Any, rest: bytes) -> None:
    ours, others = FrameId("AVRO", number, guid), SchemaId("AVRO", number, str(guid))
    for head in (ours.id_to_bytes(), ours.guid_to_bytes()):
        assert head in (others.id_to_bytes(), others.guid_to_bytes())
        assert split_head(head + rest) == (head, len(head))
        taken, reference = FrameId("AVRO"), SchemaId("AVRO")
        stream, other = io.BytesIO(head + rest), io.BytesIO(head + rest)
        assert taken.from_bytes(stream).read() == reference.from_bytes(other).read() == rest
        assert (taken.id, taken.guid) == (reference.id, reference.guid)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=20))
def test_unframed_bytes_raise_an_error(data: bytes) -> None:
    if (data[:1] == b"\0" and len(data) >= 5) or (data[:1] == b"\1" and len(data) >= 17):
        assert split_head(data)[0] == data[: split_head(data)[1]]
    else:
        with pytest.raises(BadFrame):
            split_head(data)


def test_contexts_of_the_reference_are_taken(registry: Registry) -> None:
    headers: list[Any] = []
    context = TheirContext("orders", TheirField.VALUE, headers)
    serializer = AvroSerializer(registry, ORDER, schema_id_serializer=theirs.header_schema_id_serializer)
    deserializer = AvroDeserializer(registry)
    assert deserializer(serializer({"n": 1}, context), context) == {"n": 1}
    plain = TheirContext("orders", TheirField.KEY)
    assert deserializer(AvroSerializer(registry, ORDER)({"n": 1}, plain), plain) == {"n": 1}
    assert registry.subjects() == ["orders-key", "orders-value"]
