"""Ranges of a real broker contain every committed record once, and end after gaps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition
from pyspark.sql import SparkSession

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.spark_validation.sources import kafka as source
from contractlog.spark_validation.sources.kafka import plan_ranges
from contractlog.spark_validation.sources.kafka_reader import KafkaRangeReader
from contractlog.spark_validation.sources.records import RECORDS, OffsetRange
from contractlog.spark_validation.sources.selection import Selection, plan_selection
from contractlog.spark_validation.sources.source import KafkaSource
from contractlog.spark_validation.sources.spark_data_source import KafkaDataSource

from support.kafka import Kafka

pytestmark = pytest.mark.integration


def read(kafka: Kafka, ranges: Sequence[OffsetRange], **settings: Any) -> pa.Table:
    """Read ranges one after the other."""
    batches = [batch for one in ranges for batch in source.read_range(kafka.bootstrap_servers, one, **settings)]
    return pa.Table.from_batches(batches, schema=RECORDS)


def transactions(kafka: Kafka, topic: str, steps: Sequence[tuple[str, int]]) -> Producer:
    """Write numbers of records, each lot in a transaction that is committed, aborted or left open."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": f"tx-{topic}"})
    producer.init_transactions(30)
    for end, records in steps:
        producer.begin_transaction()
        for number in range(records):
            producer.produce(topic, value=f"{end} {number}".encode(), key=b"k")
        producer.flush(120)
        if end == "commit":
            producer.commit_transaction(30)
        elif end == "abort":
            producer.abort_transaction(30)
    return producer


def test_all_columns_come_as_they_were_sent(kafka: Kafka) -> None:
    topic = kafka.create_topic()
    headers = [("trace", b"1"), ("trace", None), ("empty", b"")]
    kafka.produce(
        topic,
        [
            {"key": b"a", "value": b"1", "timestamp": 1_357_000_000_123, "headers": headers},
            {"key": None, "value": None, "timestamp": 1_357_000_001_000},
        ],
    )
    first, second = read(kafka, plan_ranges(kafka.bootstrap_servers, [topic])).to_pylist()
    assert (first["topic"], first["partition"], first["offset"], first["timestampType"]) == (topic, 0, 0, 0)
    assert (first["key"], first["value"]) == (b"a", b"1")
    assert first["timestamp"].timestamp() == pytest.approx(1_357_000_000.123)
    assert first["headers"] == [{"key": key, "value": value} for key, value in headers]
    assert (second["key"], second["value"], second["headers"]) == (None, None, None)


def test_aborted_records_and_markers_are_passed_over_and_the_end_is_the_last_stable_offset(kafka: Kafka) -> None:
    topic = kafka.create_topic()
    producer = transactions(kafka, topic, [("commit", 10), ("abort", 10), ("commit", 10), ("open", 5)])
    kafka.produce(topic, [{"value": b"after"}] * 3)
    ranges = plan_ranges(kafka.bootstrap_servers, [topic])
    assert ranges == [OffsetRange(topic, 0, 0, 33)]
    expected = [*range(10), *range(22, 32)]
    assert read(kafka, ranges).column("offset").to_pylist() == expected
    cut = plan_ranges(kafka.bootstrap_servers, [topic], span=4)  # also inside the aborted transaction
    assert len(cut) == 9
    assert read(kafka, cut).column("offset").to_pylist() == expected
    producer.abort_transaction(30)
    assert plan_ranges(kafka.bootstrap_servers, [topic])[0].end == 42
    assert read(kafka, [OffsetRange(topic, 0, 33, 42)]).num_rows == 3  # the plain ones, between open and abort


def test_the_cleanup_policy_explains_absent_offsets(kafka: Kafka) -> None:
    topics = [kafka.create_topic(config={"cleanup.policy": policy}) for policy in ("delete", "compact,delete")]
    reasons = KafkaSource(kafka.bootstrap_servers).explain_absent([*topics, "no-such-topic"])
    assert [(topic, reasons[topic].split(",")[0]) for topic in reasons] == [
        (topics[0], "the topic is not compacted"),
        (topics[1], "the topic is compacted"),
    ]
    assert KafkaSource(kafka.bootstrap_servers).explain_absent([]) == {}


def test_a_range_without_any_record_ends_at_once(kafka: Kafka) -> None:
    topic = kafka.create_topic(partitions=2)
    ranges = plan_ranges(kafka.bootstrap_servers, [topic])
    assert ranges == [OffsetRange(topic, 0, 0, 0), OffsetRange(topic, 1, 0, 0)]
    assert read(kafka, ranges).num_rows == 0
    transactions(kafka, topic, [("abort", 3)])
    assert read(kafka, plan_ranges(kafka.bootstrap_servers, [topic])).num_rows == 0


def test_offsets_that_expired_after_planning_are_absent_not_fatal(kafka: Kafka) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, [{"value": b"%d" % number} for number in range(100)])
    ranges = plan_ranges(kafka.bootstrap_servers, [topic], span=30)
    for future in kafka.admin.delete_records([TopicPartition(topic, 0, 45)]).values():
        future.result()
    assert read(kafka, ranges).column("offset").to_pylist() == list(range(45, 100))


def test_batches_are_bounded(kafka: Kafka) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, [{"value": b"x"}] * 25)
    (whole,) = plan_ranges(kafka.bootstrap_servers, [topic])
    sizes = [batch.num_rows for batch in source.read_range(kafka.bootstrap_servers, whole, batch=10)]
    assert sizes == [10, 10, 5]


def test_no_topics_named_means_all_but_internal_ones(kafka: Kafka) -> None:
    topic, internal = kafka.create_topic(), kafka.create_topic(f"_{time.monotonic_ns()}")
    found = {one.topic for one in plan_ranges(kafka.bootstrap_servers)}
    assert topic in found
    assert internal not in found
    assert {one.topic for one in plan_ranges(kafka.bootstrap_servers, [internal])} == {internal}


def test_small_ranges_are_fetched_together_each_with_its_own_records(kafka: Kafka) -> None:
    topics = [kafka.create_topic(partitions=2) for _ in range(3)]
    for topic in topics:
        transactions(kafka, topic, [("commit", 4), ("abort", 2)])
        kafka.produce(topic, [{"value": f"{topic} {at}".encode(), "partition": at % 2} for at in range(20)])
    ranges = plan_ranges(kafka.bootstrap_servers, topics, span=7)
    one_by_one = [read(kafka, [offsets]).to_pylist() for offsets in ranges]
    with KafkaRangeReader(kafka.bootstrap_servers, ranges) as reader:
        together = [[row for batch in reader.read(offsets) for row in batch.to_pylist()] for offsets in ranges]
        again = [row for batch in reader.read(ranges[0]) for row in batch.to_pylist()]
    assert together == one_by_one
    assert again == one_by_one[0]
    assert sum(map(len, together)) == 3 * 24


def test_the_reader_goes_on_where_the_log_now_begins(kafka: Kafka) -> None:
    topics = [kafka.create_topic() for _ in range(3)]
    for topic in topics:
        kafka.produce(topic, [{"value": b"x"}] * 50)
    ranges = plan_ranges(kafka.bootstrap_servers, topics)
    for future in kafka.admin.delete_records([TopicPartition(topics[1], 0, 45)]).values():
        future.result()
    with KafkaRangeReader(kafka.bootstrap_servers, ranges) as reader:
        sizes = [sum(batch.num_rows for batch in reader.read(offsets)) for offsets in ranges]
    assert sizes == [50, 5, 50]


def test_times_select_offsets_and_globs_select_topics(kafka: Kafka) -> None:
    prefix = kafka.create_topic()
    names = [kafka.create_topic(f"{prefix}-{letter}") for letter in "ab"]
    for name in names:
        kafka.produce(name, [{"value": b"x", "timestamp": 1_357_000_000_000 + at * 1_000} for at in range(10)])
    selection = Selection((f"{prefix}-*",), (names[1],), since=1_357_000_003_000, until=1_357_000_007_000)
    cluster = KafkaSource(kafka.bootstrap_servers)
    assert plan_selection(cluster, selection, span=100) == [OffsetRange(names[0], 0, 3, 7)]
    late = Selection((names[0],), since=1_357_000_999_000)
    assert plan_selection(cluster, late, span=100) == [OffsetRange(names[0], 0, 10, 10)]
    with pytest.raises(UsageError, match=f"`{names[0]}c` does not exist at .*; nearest: `{names[0]}`"):
        plan_selection(cluster, Selection((f"{names[0]}c",)), span=100)


def test_a_topic_that_does_not_exist_is_named(kafka: Kafka) -> None:
    with pytest.raises(UsageError, match="`no-such-topic` does not exist"):
        plan_ranges(kafka.bootstrap_servers, ["no-such-topic"])


def test_a_broker_that_is_not_there_ends_the_wait() -> None:
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1 does not respond"):
        plan_ranges("127.0.0.1:1", ["t"], timeout_seconds=1)
    with pytest.raises(Unreachable, match="`t` partition 0 at offset 3"):
        list(source.read_range("127.0.0.1:1", OffsetRange("t", 0, 3, 9), timeout_seconds=1))


def test_an_end_beyond_the_log_ends_the_wait(kafka: Kafka) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, [{"value": b"x"}] * 5)
    with pytest.raises(Unreachable, match="at offset 5"):
        list(source.read_range(kafka.bootstrap_servers, OffsetRange(topic, 0, 0, 9), timeout_seconds=5))


@pytest.mark.spark
def test_spark_reads_topics_by_the_data_source(kafka: Kafka, spark: SparkSession) -> None:
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, [{"key": b"%d" % at, "value": b"v", "partition": at % 2} for at in range(50)])
    spark.dataSource.register(KafkaDataSource)
    frame = (
        spark.read.format("contractlog_kafka")
        .option("kafka.bootstrap.servers", kafka.bootstrap_servers)
        .option("subscribe", topic)
        .option("maxRecordsPerPartition", "10")
        .load()
    )
    assert frame.rdd.getNumPartitions() == 6
    # Spark's order would take two more jobs.
    rows = sorted(frame.collect(), key=lambda row: (row.partition, row.offset))
    assert [(row.partition, row.offset) for row in rows] == [(part, at) for part in range(2) for at in range(25)]
    assert {bytes(row.value) for row in rows} == {b"v"}
