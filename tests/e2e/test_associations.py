"""The official Python client associates topics with subjects, and its serializers use them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.common.schema_registry_client import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
)
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext

from contractlog.serdes.wire import decode_frame

pytestmark = pytest.mark.e2e

ORDER = '{"type":"record","name":"Order","fields":[{"name":"total","type":"long"}]}'


@pytest.fixture
def client(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url, "timeout": 60}) as client:
        yield client


def bond(topic: str, **members: object) -> AssociationCreateOrUpdateRequest:
    info = AssociationCreateOrUpdateInfo(association_type="value", **members)  # type: ignore[arg-type]
    return AssociationCreateOrUpdateRequest(
        resource_name=topic,
        resource_namespace="lkc-1",
        resource_id=f"id-{topic}",
        resource_type="topic",
        associations=[info],
    )


def test_a_topic_is_bound_asked_for_and_let_go(client: SchemaRegistryClient) -> None:
    made = client.create_association(bond("payments", schema=Schema(ORDER, "AVRO")))
    assert made.resource_id == "id-payments"
    assert [one.lifecycle for one in made.associations or ()] == ["STRONG"]
    (found,) = client.get_associations_by_resource_name("payments", "-", "topic", ["value"], 0, -1)
    assert found.subject == ":.lkc-1:payments-value"
    with pytest.raises(SchemaRegistryError) as refused:
        client.delete_subject(":.lkc-1:payments-value")
    assert refused.value.error_code == 40904
    client.delete_associations("id-payments", "topic", ["value"], cascade_lifecycle=True)
    assert client.get_associations_by_resource_name("payments", "lkc-1", "topic", ["value"], 0, -1) == []
    assert ":.lkc-1:payments-value" not in client.get_subjects()


def test_serializers_write_what_the_topic_is_bound_to(client: SchemaRegistryClient) -> None:
    registered = client.register_schema("shared-orders", Schema(ORDER, "AVRO"))
    client.create_association(bond("orders", subject="shared-orders"))
    serializer = AvroSerializer(client, ORDER, conf={"auto.register.schemas": False})
    context = SerializationContext("orders", MessageField.VALUE)
    record = serializer({"total": 7}, context)
    assert decode_frame(record)[0] == registered
    assert AvroDeserializer(client, ORDER)(record, context) == {"total": 7}
    assert "orders-value" not in client.get_subjects()
