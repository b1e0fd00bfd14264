"""Ranges of topics, with the mock broker of librdkafka."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from contractlog.spark_validation.sources.kafka import read_range
from contractlog.spark_validation.sources.kafka_reader import BATCH_BYTES, _group_messages
from contractlog.spark_validation.sources.records import OffsetRange

_NAMES = (f"topic-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def broker() -> Iterator[Producer]:
    """Start a broker in this process; it lives as long as the producer that started it."""
    producer = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "ignored", "log_level": 0})
    yield producer
    producer.close()


def read_offsets(broker: Producer, offsets: OffsetRange, **settings: int) -> list[list[int]]:
    """Return the offsets of a range, by batch."""
    [node] = broker.list_topics(timeout=60).brokers.values()
    batches = read_range(f"{node.host}:{node.port}", offsets, **settings)
    return [batch.column("offset").to_pylist() for batch in batches]


def fill(broker: Producer, records: int) -> str:
    """Write records to a new topic; return its name."""
    topic = next(_NAMES)
    for number in range(records):
        broker.produce(topic, b"%d" % number, partition=0)
    assert broker.flush(120) == 0
    return topic


@pytest.mark.parametrize(("start", "end"), [(0, 9), (0, 4), (4, 9), (3, 4), (4, 4)])
def test_a_range_is_its_records_up_to_the_end_and_none_after_it(broker: Producer, start: int, end: int) -> None:
    read = read_offsets(broker, OffsetRange(fill(broker, 9), 0, start, end))
    assert [offset for batch in read for offset in batch] == list(range(start, end))


def test_a_batch_has_at_most_as_many_records_as_asked_for(broker: Producer) -> None:
    assert read_offsets(broker, OffsetRange(fill(broker, 5), 0, 0, 5), batch=2) == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize("part", ["key", "value", "headers"])
def test_batches_of_large_records_are_bounded_by_bytes(broker: Producer, part: str) -> None:
    topic, size = next(_NAMES), 900_000
    content: Any = b"x" * size if part != "headers" else [("name", b"x" * size)]
    broker.produce(topic, partition=0, **{part: content})
    assert broker.flush(120) == 0
    [node] = broker.list_topics(timeout=60).brokers.values()
    consumer = Consumer({"bootstrap.servers": f"{node.host}:{node.port}", "group.id": "g"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    message = consumer.poll(60)
    assert message is not None
    batches = list(_group_messages([message] * 100, OffsetRange(topic, 0, 0, 100), 1_000))
    consumer.close()
    assert sum(batch.num_rows for batch in batches) == 100
    assert max(batch.num_rows for batch in batches) == BATCH_BYTES // size + 1
