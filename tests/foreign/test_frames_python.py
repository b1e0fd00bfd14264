"""Exchange of frames with Confluent's Python client, in both directions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry import header_schema_id_serializer as their_header_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirAvroDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirAvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirJSONDeserializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer as TheirJSONSerializer
from confluent_kafka.serialization import MessageField as TheirField
from confluent_kafka.serialization import SerializationContext as TheirContext

from contractlog.clients import Registry
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.schema_ids import header_schema_id_serializer

from support.exchange_cases import AVRO, EVOLVED, JSON, Case

pytestmark = pytest.mark.e2e
LATEST = {"auto.register.schemas": False, "use.latest.version": True}


@pytest.fixture
def ours(registry_url: str) -> Iterator[Registry]:
    with Registry(registry_url) as client:
        yield client


@pytest.fixture
def theirs(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url}) as client:
        yield client


def own(topic: str, field: MessageField = MessageField.VALUE, headers: Any = None) -> SerializationContext:
    return SerializationContext(topic, field, headers)


def their(topic: str, field: TheirField = TheirField.VALUE, headers: Any = None) -> TheirContext:
    return TheirContext(topic, field, headers)


@pytest.mark.parametrize("case", AVRO, ids=str)
@pytest.mark.parametrize("part", [MessageField.KEY, MessageField.VALUE])
def test_avro_goes_both_ways_in_the_same_bytes(
    ours: Registry, theirs: SchemaRegistryClient, case: Case, part: MessageField
) -> None:
    topic = f"avro-{case}"
    context, other = own(topic, part), their(topic, TheirField(part.value))
    write, write_theirs = AvroSerializer(ours, case.schema), TheirAvroSerializer(theirs, case.schema)
    read, read_theirs = AvroDeserializer(ours), TheirAvroDeserializer(theirs)
    for value in case.values:
        frame = write(value, context)
        assert frame == write_theirs(value, other)
        assert read(frame, context) == value
        if len(frame or b"") > 5:  # the reference reads nothing shorter
            assert read_theirs(frame, other) == value


@pytest.mark.parametrize("case", JSON, ids=str)
def test_json_goes_both_ways(ours: Registry, theirs: SchemaRegistryClient, case: Case) -> None:
    topic = f"json-{case}"
    write, write_theirs = JSONSerializer(case.schema, ours), TheirJSONSerializer(case.schema, theirs)
    read = JSONDeserializer(None, schema_registry_client=ours)
    read_theirs = TheirJSONDeserializer(None, schema_registry_client=theirs)
    for value in case.values:
        frame, frame_theirs = write(value, own(topic)), write_theirs(value, their(topic))
        assert frame is not None
        assert frame[:5] == frame_theirs[:5]
        for each in (frame, frame_theirs):
            assert read(each, own(topic)) == read_theirs(each, their(topic)) == value


@pytest.mark.parametrize("part", [MessageField.KEY, MessageField.VALUE])
def test_ids_in_headers_go_both_ways(ours: Registry, theirs: SchemaRegistryClient, part: MessageField) -> None:
    conf, conf_theirs = (
        {"schema.id.serializer": one} for one in (header_schema_id_serializer, their_header_serializer)
    )
    json_case = JSON[0]
    pairs = [
        (
            AvroSerializer(ours, EVOLVED.schema, conf=conf),
            TheirAvroSerializer(theirs, EVOLVED.schema, conf=conf_theirs),
        ),
        (
            JSONSerializer(json_case.schema, ours, conf=conf),
            TheirJSONSerializer(json_case.schema, theirs, conf=conf_theirs),
        ),
    ]
    readers = [
        (AvroDeserializer(ours), TheirAvroDeserializer(theirs)),
        (
            JSONDeserializer(None, schema_registry_client=ours),
            TheirJSONDeserializer(None, schema_registry_client=theirs),
        ),
    ]
    for case, topic, written, read in zip((EVOLVED, json_case), ("h-avro", "h-json"), pairs, readers, strict=True):
        for value in case.values:
            mine, other = own(topic, part, []), their(topic, TheirField(part.value), [])
            bodies = written[0](value, mine), written[1](value, other)
            assert mine.headers == other.headers
            assert [name for name, _ in other.headers] == [f"__{part.value}_schema_id"]
            for body in bodies:
                assert read[0](body, own(topic, part, other.headers)) == value
                if len(body or b"") > 5:  # the reference reads nothing shorter
                    assert read[1](body, their(topic, TheirField(part.value), mine.headers)) == value


def test_records_of_both_makers_are_read_as_the_latest_version(ours: Registry, theirs: SchemaRegistryClient) -> None:
    written = [AvroSerializer(ours, EVOLVED.schema)(value, own("evolved")) for value in EVOLVED.values]
    other = TheirAvroSerializer(theirs, EVOLVED.schema)
    assert written == [other(value, their("evolved")) for value in EVOLVED.values]
    ours.register("evolved-value", SchemaDraft(EVOLVED.later, SchemaType.AVRO))
    conf = {"use.latest.version": True}
    read, read_theirs = AvroDeserializer(ours, conf=conf), TheirAvroDeserializer(theirs, conf=conf)
    by_text, by_text_theirs = AvroDeserializer(ours, EVOLVED.later), TheirAvroDeserializer(theirs, EVOLVED.later)
    for frame, expected in zip(written, EVOLVED.read_later, strict=True):
        assert read(frame, own("evolved")) == read_theirs(frame, their("evolved")) == expected
        assert by_text(frame, own("evolved")) == by_text_theirs(frame, their("evolved")) == expected
    newest, newest_theirs = AvroSerializer(ours, conf=LATEST), TheirAvroSerializer(theirs, conf=LATEST)
    for value in EVOLVED.read_later:
        assert newest(value, own("evolved")) == newest_theirs(value, their("evolved"))


def test_two_named_records_of_a_union_come_with_their_names(ours: Registry, theirs: SchemaRegistryClient) -> None:
    case = next(case for case in AVRO if case.name == "parties")
    frame = AvroSerializer(ours, case.schema)(case.values[0], own("named"))
    read = AvroDeserializer(ours, return_record_name=True)(frame, own("named"))
    other = TheirAvroDeserializer(theirs, return_record_name=True)(frame, their("named"))
    assert read == other == {"paid_by": ("acme.Transfer", {"iban": "DE1"})}


def test_json_is_written_in_the_latest_version(ours: Registry, theirs: SchemaRegistryClient) -> None:
    first = json.dumps({"title": "J", "type": "object", "properties": {"id": {"type": "integer"}}})
    second = json.dumps({"title": "J", "type": "object", "properties": {"id": {"type": "number"}}})
    for text in (first, second):
        ours.register("newest-value", SchemaDraft(text, SchemaType.JSON))
    write, write_theirs = JSONSerializer(None, ours, conf=LATEST), TheirJSONSerializer(None, theirs, conf=LATEST)
    frame, frame_theirs = write({"id": 1.5}, own("newest")), write_theirs({"id": 1.5}, their("newest"))
    assert (frame or b"")[:5] == frame_theirs[:5]
    read = JSONDeserializer(None, schema_registry_client=ours, conf={"use.latest.version": True})
    assert read(frame_theirs, own("newest")) == {"id": 1.5}
