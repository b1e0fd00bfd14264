"""Confluent's Python client and serializers, unchanged, against ``contractlog serve``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import pytest
from confluent_kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    ConfigCompatibilityLevel,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

pytestmark = pytest.mark.e2e

_numbers = count()


def order(*fields: dict[str, Any], name: str = "Order") -> str:
    first = {"name": "id", "type": "long"}
    return json.dumps({"type": "record", "name": name, "namespace": "acme", "fields": [first, *fields]})


NOTE = {"name": "note", "type": ["null", "string"], "default": None}
TOTAL = {"name": "total", "type": "double"}


@pytest.fixture
def client(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url, "timeout": 60}) as client:
        yield client


@pytest.fixture
def topic() -> str:
    """A topic that no other test has."""
    return f"official-{next(_numbers)}-{uuid4().hex[:8]}"


@pytest.fixture
def subject(topic: str) -> str:
    return f"{topic}-value"


def refused(kind: type[Exception], code: int) -> Any:
    return pytest.raises(kind, match=str(code))


def test_a_schema_is_registered_found_and_counted(client: SchemaRegistryClient, subject: str) -> None:
    text = order(name="Counted")  # no other subject has it
    schema_id = client.register_schema(subject, Schema(text, "AVRO"))
    client.clear_caches()
    assert client.register_schema(subject, Schema(text, "AVRO")) == schema_id
    client.clear_caches()

    found = client.get_schema(schema_id)
    assert (json.loads(found.schema_str or ""), found.schema_type) == (json.loads(text), "AVRO")
    client.clear_caches()
    known = client.lookup_schema(subject, Schema(text, "AVRO"))
    assert (known.schema_id, known.subject, known.version) == (schema_id, subject, 1)
    assert UUID(known.guid or "")
    client.clear_caches()
    assert client.get_schema_by_guid(known.guid or "").schema_str == found.schema_str
    assert client.get_latest_version(subject).schema_id == schema_id
    assert client.get_version(subject, 1).schema_id == schema_id
    assert client.get_versions(subject) == [1]
    assert subject in client.get_subjects()
    assert client.get_subjects(subject_prefix=subject) == [subject]
    assert client.get_subjects_by_schema_id(schema_id) == [subject]
    assert [(use.subject, use.version) for use in client.get_schema_versions(schema_id)] == [(subject, 1)]
    assert set(client.get_schema_types()) >= {"AVRO", "JSON"}
    assert "." in client.get_contexts()


def test_the_full_answer_of_a_registration_is_read(client: SchemaRegistryClient, subject: str) -> None:
    first = client.register_schema_full_response(subject, Schema(order(), "AVRO"))
    second = client.register_schema_full_response(subject, Schema(order(NOTE), "AVRO"), normalize_schemas=True)
    assert (first.version, second.version) == (1, 2)
    assert second.schema_id != first.schema_id
    assert second.guid != first.guid


def test_the_level_is_kept_and_asked(client: SchemaRegistryClient, subject: str) -> None:
    client.register_schema(subject, Schema(order(), "AVRO"))
    bad, good = Schema(order(TOTAL), "AVRO"), Schema(order(NOTE), "AVRO")
    assert client.get_compatibility() == "BACKWARD"
    with refused(SchemaRegistryError, 40408):
        client.get_compatibility(subject)
    assert client.test_compatibility(subject, good)
    assert not client.test_compatibility(subject, bad, verbose=True)
    assert not client.test_compatibility(subject, bad, version=1)
    assert not client.test_compatibility_all_versions(subject, bad)
    with pytest.raises(SchemaRegistryError) as caught:
        client.register_schema(subject, bad)
    assert (caught.value.http_status_code, caught.value.error_code) == (409, 40901)
    assert f'incompatible with an earlier schema for subject "{subject}", details: [' in caught.value.error_message

    client.set_compatibility(subject, "NONE")
    assert client.get_compatibility(subject) == "NONE"
    assert client.test_compatibility(subject, bad)
    client.register_schema(subject, bad)
    client.set_config(subject, ServerConfig(compatibility=ConfigCompatibilityLevel.FULL))
    assert client.get_config(subject).compatibility_level == ConfigCompatibilityLevel.FULL
    client.delete_config(subject)
    with refused(SchemaRegistryError, 40408):
        client.get_config(subject)
    assert client.get_config().compatibility_level == ConfigCompatibilityLevel.BACKWARD


def test_references_are_stored_and_guarded(client: SchemaRegistryClient, subject: str) -> None:
    leaned_on = f"{subject}-address"
    address = json.dumps({"type": "record", "name": "Address", "namespace": "acme", "fields": []})
    client.register_schema(leaned_on, Schema(address, "AVRO"))
    text = order({"name": "to", "type": "acme.Address"})
    schema_id = client.register_schema(subject, Schema(text, "AVRO", [SchemaReference("acme.Address", leaned_on, 1)]))
    assert client.get_referenced_by(leaned_on, 1) == [schema_id]
    client.clear_caches()
    (reference,) = client.get_schema(schema_id).references or []
    assert (reference.name, reference.subject, reference.version) == ("acme.Address", leaned_on, 1)
    with refused(SchemaRegistryError, 42206):
        client.delete_version(leaned_on, 1)


def test_versions_and_subjects_are_deleted_softly_and_for_good(client: SchemaRegistryClient, subject: str) -> None:
    first = client.register_schema(subject, Schema(order(), "AVRO"))
    client.register_schema(subject, Schema(order(NOTE), "AVRO"))
    assert client.delete_version(subject, 1) == 1
    assert client.get_versions(subject) == [2]
    assert client.get_versions(subject, deleted=True) == [1, 2]
    assert client.get_version(subject, 1, deleted=True).schema_id == first
    client.clear_caches()
    assert client.get_schema(first).schema_str
    assert client.delete_version(subject, 1, permanent=True) == 1
    assert client.delete_subject(subject) == [2]
    assert subject not in client.get_subjects()
    assert subject in client.get_subjects(deleted=True)
    assert client.delete_subject(subject, permanent=True) == [2]
    assert subject not in client.get_subjects(deleted=True)


def test_modes_are_set_and_shown(client: SchemaRegistryClient, subject: str) -> None:
    assert client.get_global_mode() == "READWRITE"
    with refused(SchemaRegistryError, 40409):
        client.get_mode(subject)
    client.update_mode(subject, "READONLY")
    assert client.get_mode(subject) == "READONLY"
    with refused(SchemaRegistryError, 42205):
        client.register_schema(subject, Schema(order(), "AVRO"))
    client.delete_mode(subject)
    client.register_schema(subject, Schema(order(), "AVRO"))


@pytest.mark.parametrize("suffix", ["a/b", "ü €", "100%", "a:b:c", "?#&+"])
def test_a_subject_of_any_letters_is_one_subject(client: SchemaRegistryClient, topic: str, suffix: str) -> None:
    subject = f"{topic} {suffix}"
    schema_id = client.register_schema(subject, Schema('"string"', "AVRO"))
    assert client.get_latest_version(subject).subject == subject
    assert client.get_subjects_by_schema_id(schema_id) != []
    assert subject in client.get_subjects()


def test_a_context_counts_its_own_ids(client: SchemaRegistryClient, topic: str) -> None:
    context = f".{topic}"
    subject = f":{context}:orders-value"
    assert client.register_schema(subject, Schema(order(), "AVRO")) == 1
    client.clear_caches()
    assert client.get_schema(1, subject_name=subject).schema_str
    assert context in client.get_contexts()
    assert client.get_latest_version(subject).subject == subject


@pytest.mark.parametrize(
    ("ask", "status", "code"),
    [
        (lambda client, subject: client.get_latest_version(subject), 404, 40401),
        (lambda client, subject: client.get_versions(subject), 404, 40401),
        (lambda client, subject: client.get_version(subject, 3), 404, 40401),
        (lambda client, subject: client.lookup_schema(subject, Schema('"int"', "AVRO")), 404, 40401),
        (lambda client, subject: client.delete_subject(subject), 404, 40401),
        (lambda client, subject: client.get_schema(2_000_000_000), 404, 40403),
        (lambda client, subject: client.get_schema_by_guid(str(uuid4())), 404, 40403),
        (lambda client, subject: client.register_schema(subject, Schema("{", "AVRO")), 422, 42201),
        (lambda client, subject: client.register_schema(subject, Schema('{"type": "nope"}', "AVRO")), 422, 42201),
        (lambda client, subject: client.set_compatibility(subject, "SIDEWAYS"), 422, 42203),
        (lambda client, subject: client.update_mode(subject, "SOMETIMES"), 422, 42204),
    ],
)
def test_errors_have_the_codes_of_the_reference(
    client: SchemaRegistryClient, subject: str, ask: Any, status: int, code: int
) -> None:
    with pytest.raises(SchemaRegistryError) as caught:
        ask(client, subject)
    assert (caught.value.http_status_code, caught.value.error_code) == (status, code)


def test_serializers_ask_for_associations_first_and_there_are_none(client: SchemaRegistryClient, topic: str) -> None:
    assert client.get_associations_by_resource_name(topic, "-", "topic", ["value"]) == []


def test_avro_records_go_out_and_come_back(client: SchemaRegistryClient, topic: str) -> None:
    context = SerializationContext(topic, MessageField.VALUE)
    data = AvroSerializer(client, order())({"id": 7}, context)
    assert data is not None
    schema_id = client.get_latest_version(f"{topic}-value").schema_id
    assert data[:5] == b"\x00" + schema_id.to_bytes(4, "big")
    assert AvroDeserializer(client)(data, context) == {"id": 7}
    assert AvroDeserializer(client, order(NOTE))(data, context) == {"id": 7, "note": None}


def test_an_avro_producer_of_an_incompatible_change_is_refused(client: SchemaRegistryClient, topic: str) -> None:
    context = SerializationContext(topic, MessageField.VALUE)
    AvroSerializer(client, order())({"id": 7}, context)
    with pytest.raises(SchemaRegistryError, match="40901"):
        AvroSerializer(client, order(TOTAL))({"id": 7, "total": 1.5}, context)


def test_an_avro_producer_may_use_the_newest_version(client: SchemaRegistryClient, topic: str) -> None:
    context = SerializationContext(topic, MessageField.KEY)
    client.register_schema(f"{topic}-key", Schema(order(), "AVRO"))
    latest = client.register_schema(f"{topic}-key", Schema(order(NOTE), "AVRO"))
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    data = AvroSerializer(client, order(), conf=conf)({"id": 7, "note": "x"}, context)
    assert data is not None
    assert int.from_bytes(data[1:5], "big") == latest
    assert AvroDeserializer(client)(data, context) == {"id": 7, "note": "x"}


def test_json_records_go_out_and_come_back(client: SchemaRegistryClient, topic: str) -> None:
    context = SerializationContext(topic, MessageField.VALUE)
    text = json.dumps({"type": "object", "title": "Order", "properties": {"id": {"type": "integer"}}})
    data = JSONSerializer(text, client)({"id": 7}, context)
    assert data is not None
    assert JSONDeserializer(text, schema_registry_client=client)(data, context) == {"id": 7}
    assert client.get_latest_version(f"{topic}-value").schema.schema_type == "JSON"


def test_the_asynchronous_client_works_too(registry_url: str, subject: str) -> None:
    async def journey() -> tuple[int, int, list[int]]:
        async with AsyncSchemaRegistryClient({"url": registry_url, "timeout": 60}) as client:
            schema_id = await client.register_schema(subject, Schema(order(), "AVRO"))
            latest = await client.get_latest_version(subject)
            assert not await client.test_compatibility(subject, Schema(order(TOTAL), "AVRO"))
            return schema_id, latest.schema_id, await client.get_versions(subject)

    registered, latest, versions = asyncio.run(journey())
    assert registered == latest
    assert versions == [1]
