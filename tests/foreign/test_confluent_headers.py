"""Records with schema guids in headers, written by Confluent's serializers, conform in an audit."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from contractlog.clients import Registry
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.expectations.expectation_builder import ExpectationBuilder
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.sources.source import ArchiveSource

from support.archives import ORDER, Record, write_topic

pytestmark = pytest.mark.e2e


def test_guids_in_headers_of_both_parts_are_read(registry_url: str, tmp_path: Path) -> None:
    conf = {"schema.id.serializer": header_schema_id_serializer}
    records = []
    with SchemaRegistryClient({"url": registry_url}) as client:
        keys = AvroSerializer(client, '"string"', conf=conf)
        values = AvroSerializer(client, ORDER, conf=conf)
        for at in range(200):
            headers: list[tuple[str, bytes]] = []
            key = keys(str(at), SerializationContext("orders", MessageField.KEY, headers))
            value = values({"total": at, "note": "n"}, SerializationContext("orders", MessageField.VALUE, headers))
            records.append(Record(at, key=key, value=value, headers=headers))
    write_topic(tmp_path, "orders", records)
    source = ArchiveSource(tmp_path)
    (whole,) = source.plan(())
    with Registry(registry_url) as registry:
        state = audit_range(source, whole, ExpectationBuilder(registry, source, [whole]).build())
    counts = {key.part: cell.counts for key, cell in state.cells.items()}
    assert counts == {"key": {Outcome.CONFORMS: 200}, "value": {Outcome.CONFORMS: 200}}
