"""Programs that name their sources in headers have traced edges after an audit of a real broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Message, Producer
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.provenance import ORIGIN_HEADER, provenance_headers

from support.kafka import Kafka

pytestmark = [pytest.mark.integration, pytest.mark.spark]

START = 1_700_000_000_000
RECORDS = 60
ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
PRIVATE = "PRIVATE-4711"


def consume(kafka: Kafka, topic: str, records: int) -> list[Message]:
    """Return the messages of a topic."""
    group = {"group.id": uuid4().hex, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, **group})
    consumer.subscribe([topic])
    messages: list[Message] = []
    while len(messages) < records:
        messages += consumer.consume(records - len(messages), timeout=60)
    consumer.close()
    return messages


def run_pipeline(kafka: Kafka, registry: Registry, source: str, target: str) -> None:
    """Filter a topic, as a user's program does, with contractlog's serializers and headers."""
    serializer, deserializer = AvroSerializer(registry, ORDER), AvroDeserializer(registry)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for message in consume(kafka, source, RECORDS):
        value = deserializer(message.value(), SerializationContext(source, MessageField.VALUE))
        if value["id"] % 2:
            producer.produce(
                target,
                value=serializer(value, SerializationContext(target, MessageField.VALUE)),
                headers=provenance_headers(message, job="odd-orders", headers=message.headers()),
                timestamp=message.timestamp()[1] + 2_000,
            )
    producer.flush(60)


def test_a_source_named_by_our_headers_and_one_of_dead_letters_are_traced(
    kafka: Kafka, registry_url: str, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orders, odd, dead = (kafka.create_topic(partitions=partitions) for partitions in (3, 1, 1))
    with Registry(registry_url) as registry:
        serializer = AvroSerializer(registry, ORDER)
        kafka.produce(
            orders,
            [
                {
                    "value": serializer({"id": number}, SerializationContext(orders, MessageField.VALUE)),
                    "partition": number % 3,
                    "timestamp": START + 1000 * number,
                    "headers": [("customer", PRIVATE)],
                }
                for number in range(RECORDS)
            ],
        )
        run_pipeline(kafka, registry, orders, odd)
    failed = {"topic": orders, "partition": "2", "offset": "7", "connector.name": "sink", "exception.message": PRIVATE}
    headers = [(f"__connect.errors.{name}", value) for name, value in failed.items()]
    kafka.produce(dead, [{"value": b"bad", "headers": [*headers, (ORIGIN_HEADER, PRIVATE)]}])
    out, state = tmp_path / "audit", tmp_path / "audit" / "state"
    servers = ["--bootstrap-servers", kafka.bootstrap_servers]
    assert main(["audit", orders, odd, dead, *servers, "--registry", registry_url, "--out", str(out)]) in {0, 1}
    report = json.loads((out / "report.json").read_text())
    edges = {edge["to"]["topic"]: edge for edge in report["lineage"]}
    assert edges.keys() == {odd, dead}
    assert all(edge["from"] == {"topic": orders, "field": ""} for edge in edges.values())
    assert (edges[odd]["job"], edges[odd]["support"], edges[odd]["evidence"]) == ("odd-orders", RECORDS // 2, "traced")
    assert edges[odd]["lag_ms"] == pytest.approx(2000, rel=0.016)
    check_example(kafka, edges[odd])
    assert (edges[dead]["job"], edges[dead]["example"]["from"]) == ("sink", {"partition": 2, "offset": 7})
    notes = [note for part in report["topics"] if part["topic"] == dead for note in part["notes"]]
    assert "1 provenance header is not in the format." in notes
    capsys.readouterr()
    assert main(["lineage", odd, "--state", str(state)]) == 0
    text = capsys.readouterr().out
    example = edges[odd]["example"]
    position = f"{example['from']['partition']}/{example['from']['offset']} -> 0/{example['to']['offset']}"
    assert f"<- {orders}  {RECORDS // 2} records  job odd-orders  lag 2.0 s  {position}" in text
    assert "traced in headers of records" in (out / "report.html").read_text()
    written = [path.read_bytes() for path in state.rglob("*") if path.is_file()]
    assert not any(PRIVATE.encode() in content for content in [*written, (out / "report.json").read_bytes()])


def check_example(kafka: Kafka, edge: dict[str, Any]) -> None:
    """Compare the values of both records of an example in the log."""
    ends = [(edge[end]["topic"], edge["example"][end]) for end in ("from", "to")]
    values = []
    for topic, position in ends:
        size = RECORDS if topic == edge["from"]["topic"] else edge["support"]
        values += [
            message.value()
            for message in consume(kafka, topic, size)
            if (message.partition(), message.offset()) == (position["partition"], position["offset"])
        ]
    source, target = values
    assert source == target or source[5:] == target[5:]  # the ids of their schemas may differ
