"""Limits of consumers by bytes, which small compressed input cannot exceed by much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from contractlog.serdes.fetch_limits import RecordQuota, limit_fetches, record_size


@pytest.fixture(scope="module")
def messages() -> Iterator[Sequence[Message]]:
    """Records that went through a broker in this process: one without anything, and one with a key and headers."""
    producer = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "ignored", "log_level": 0})
    producer.produce("t", None, partition=0)
    producer.produce("t", b"v" * 1_000, b"k" * 500, partition=0, headers=[("name", b"h" * 96), ("none", None)])
    assert producer.flush(120) == 0
    [node] = producer.list_topics(timeout=60).brokers.values()
    properties = {"bootstrap.servers": f"{node.host}:{node.port}", "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = Consumer(limit_fetches(properties))
    consumer.assign([TopicPartition("t", 0, 0)])
    received: list[Message] = []
    while len(received) < 2:
        received += consumer.consume(2, 1.0)
    yield received
    consumer.close()
    producer.close()


def test_the_size_of_a_record_has_key_value_and_headers(messages: Sequence[Message]) -> None:
    assert [record_size(message) for message in messages] == [0, 1_000 + 500 + 4 + 96 + 4]


def test_few_large_records_are_taken_at_a_time_and_many_small_ones(messages: Sequence[Message]) -> None:
    quota = RecordQuota(500, 16_040)
    assert quota.records == 100
    quota.update([messages[1]] * 3)
    assert quota.records == 10
    quota.update([])
    assert quota.records == 10
    quota.update([messages[0]])
    assert quota.records == 500
    tight = RecordQuota(500, 1)
    tight.update(messages)
    assert tight.records == 1


def test_responses_are_small_unless_the_user_sets_a_limit() -> None:
    limits = limit_fetches({})
    assert limits["fetch.message.max.bytes"] <= limits["message.max.bytes"] <= limits["fetch.max.bytes"] <= 256 * 1024
    assert limit_fetches({"fetch.message.max.bytes": 5})["fetch.message.max.bytes"] == 5
    assert limit_fetches({"queued.max.messages.kbytes": 5})["queued.max.messages.kbytes"] == 5


@pytest.mark.parametrize(
    "properties",
    [{"message.max.bytes": 10_000_000}, {"fetch.max.bytes": 10_000_000}, {"max.partition.fetch.bytes": 10_000_000}],
)
def test_limits_of_the_user_are_valid_together_with_the_others(properties: dict[str, int]) -> None:
    base = {"bootstrap.servers": "127.0.0.1:9", "group.id": "g", "log_level": 0}
    Consumer(limit_fetches({**base, **properties})).close()
