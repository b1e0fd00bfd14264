"""Kafka topics: their offset ranges, and a range as Arrow batches, read committed, without Spark.

The end of a range is fixed at planning: the last stable offset. A range is complete when the consumer's position has
passed its end, not when its last record has arrived: compaction, aborted records and transaction markers leave gaps
anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    IsolationLevel,
    KafkaError,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.serdes.kafka_client import ClientErrors, fetch_topics, make_client, quiet_config
from contractlog.spark_validation.sources.kafka_connection import (
    MISSING_TOPIC_CODES,
    NO_SETTINGS,
    KafkaSettings,
    error_code,
    raise_if_denied,
    retry_without_leader,
    send_request,
    unreachable_error,
)
from contractlog.spark_validation.sources.records import RECORDS, SPAN, TIMES, OffsetRange, split_ranges

__all__ = ["plan_ranges", "read_range"]

BATCH_RECORDS: Final = 20_000  #: records per batch, at most
BATCH_BYTES: Final = 64 * 2**20
MAX_MESSAGES: Final = 10_000  #: records requested from the client per call
WAIT: Final = 0.2  #: seconds that a call may wait for the last records, and therefore short
PROGRESS_TIMEOUT_SECONDS: Final = 30.0  #: seconds without progress in a range

_DEFAULTS: Final[KafkaSettings] = {
    "isolation.level": "read_committed",
    "queued.min.messages": 200_000,
    "fetch.message.max.bytes": 8 * 2**20,
}
_REQUIRED_SETTINGS: Final[KafkaSettings] = {
    "group.id": "contractlog-audit",  # the client requires one; nothing joins or commits
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
}
_DELETED_CODES: Final = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})  # noqa: SLF001 - librdkafka's
REQUEST_TIMEOUT_SECONDS: Final = 10.0  #: seconds for the answer to a request


def read_range(
    bootstrap: str,
    offsets: OffsetRange,
    *,
    settings: KafkaSettings = NO_SETTINGS,
    batch: int = BATCH_RECORDS,
    timeout_seconds: float = PROGRESS_TIMEOUT_SECONDS,
) -> Iterator[pa.RecordBatch]:
    """Yield the committed records of a range in batches of ``RECORDS``, in order of offset.

    Offsets that are not (or no longer) in the log are skipped. It fails after ``timeout_seconds`` without
    progress.

    Raises:
        Unreachable: the broker stopped responding before the end of the range was reached.
        UsageError: the topic no longer exists.
        BrokerDenied: the user may not read the topic.
    """
    if not len(offsets):
        return
    reasons = ClientErrors()
    config = {**quiet_config(bootstrap), **_DEFAULTS, **settings, **_REQUIRED_SETTINGS, **reasons.config}
    consumer = make_client(Consumer, config)
    try:
        yield from _group_messages(_consume_messages(consumer, bootstrap, offsets, timeout_seconds), offsets, batch)
    except Unreachable:
        reasons.check_credentials(consumer)
        raise
    finally:
        consumer.close()


def _consume_messages(
    consumer: Consumer, bootstrap: str, offsets: OffsetRange, timeout_seconds: float
) -> Iterator[Message]:
    """Yield the records of the range; end when the position has passed it."""
    consumer.assign([TopicPartition(offsets.topic, offsets.partition, offsets.start)])
    position, last_step, error = offsets.start, time.monotonic(), None
    while position < offsets.end:
        before = position
        for message in consumer.consume(min(MAX_MESSAGES, offsets.end - position), WAIT):
            error = message.error()
            if error is not None:
                position = _position_after_event(
                    consumer, bootstrap, offsets, message, position=position, timeout_seconds=timeout_seconds
                )
                continue
            position = int(message.offset() or 0) + 1
            if position <= offsets.end:
                yield message
        if position > before:
            last_step = time.monotonic()
        elif time.monotonic() - last_step > timeout_seconds:
            doing = f" for `{offsets.topic}` partition {offsets.partition} at offset {position}"
            raise unreachable_error(bootstrap, error, f"{doing} (waited {timeout_seconds:g} seconds)")


def _position_after_event(
    consumer: Consumer, bootstrap: str, offsets: OffsetRange, event: Message, *, position: int, timeout_seconds: float
) -> int:
    """Return the position after a message that is an event or error instead of a record."""
    code = error_code(event.error())
    if code != KafkaError.GROUP_AUTHORIZATION_FAILED:  # no group is used, so no permission is needed
        raise_if_denied(bootstrap, event.error(), f" `{offsets.topic}`")
    if code == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own codes have an underscore
        return max(position, int(event.offset() or 0))
    if code in _DELETED_CODES:  # deleted by retention: continue where the log now begins
        partition = TopicPartition(offsets.topic, offsets.partition)
        low, _ = send_request(bootstrap, lambda: consumer.get_watermark_offsets(partition, timeout=timeout_seconds))
        position = max(int(low), position)
        if position < offsets.end:
            consumer.assign([TopicPartition(offsets.topic, offsets.partition, position)])
    if code in MISSING_TOPIC_CODES:
        raise UsageError(f"the topic `{offsets.topic}` no longer exists at {bootstrap}", topic=offsets.topic)
    return position


def _group_messages(messages: Iterable[Message], offsets: OffsetRange, size: int) -> Iterator[pa.RecordBatch]:
    pending: list[Message] = []
    pending_bytes = 0
    for message in messages:
        pending.append(message)
        pending_bytes += len(message)
        if len(pending) >= size or pending_bytes >= BATCH_BYTES:
            yield _make_batch(pending, offsets)
            pending, pending_bytes = [], 0
    if pending:
        yield _make_batch(pending, offsets)


def _make_batch(messages: Sequence[Message], offsets: OffsetRange) -> pa.RecordBatch:
    count = len(messages)
    stamps = [message.timestamp() for message in messages]
    times = [at if kind != TIMESTAMP_NOT_AVAILABLE and at in TIMES else None for kind, at in stamps]
    columns: dict[str, pa.Array[Any]] = {
        "key": pa.array([message.key() for message in messages], pa.binary()),
        "value": pa.array([message.value() for message in messages], pa.binary()),
        "topic": pa.repeat(pa.scalar(offsets.topic), count),
        "partition": pa.repeat(pa.scalar(offsets.partition, pa.int32()), count),
        "offset": pa.array([message.offset() for message in messages], pa.int64()),
        "timestamp": pa.array(times, pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC")),
        "timestampType": pa.array([kind - 1 for kind, _ in stamps], pa.int32()),
        "headers": _make_headers([message.headers() for message in messages]),
    }
    return pa.record_batch([columns[name] for name in RECORDS.names], schema=RECORDS)


def _make_headers(headers: Sequence[Any]) -> pa.Array[Any]:
    kind = RECORDS.field("headers").type
    rows: list[Any] = [
        record_headers and [{"key": key, "value": value} for key, value in record_headers] for record_headers in headers
    ]
    column: pa.Array[Any] = pa.array(rows, kind) if any(rows) else pa.nulls(len(rows), kind)
    return column


def plan_ranges(
    bootstrap: str,
    topics: Sequence[str] = (),
    *,
    settings: KafkaSettings = NO_SETTINGS,
    span: int = SPAN,
    timeout_seconds: float = REQUEST_TIMEOUT_SECONDS,
) -> list[OffsetRange]:
    """Return the ranges that contain all current records of topics, up to the last stable offset.

    Args:
        bootstrap: the broker, ``host:port``.
        topics: topic names; if empty, all that do not start with ``_``.
        settings: additional librdkafka settings, for TLS and credentials.
        span: maximum number of offsets per range; a partition without offsets gives one empty range.
        timeout_seconds: timeout of requests in seconds.

    Raises:
        UsageError: a topic does not exist, or the broker rejects the credentials.
        BrokerDenied: the user may not see or read a topic.
        Unreachable: the broker does not respond, or a partition has no leader.
    """
    reasons = ClientErrors()
    admin = make_client(AdminClient, {**quiet_config(bootstrap), **settings, **reasons.config})
    metadata = send_request(bootstrap, lambda: fetch_topics(admin, reasons, timeout_seconds))
    partitions = _partitions(metadata, bootstrap, topics, secured=bool(settings))
    starts = _list_offsets(admin, bootstrap, partitions, OffsetSpec.earliest(), timeout_seconds)  # type: ignore[no-untyped-call]
    ends = _list_offsets(admin, bootstrap, partitions, OffsetSpec.latest(), timeout_seconds)  # type: ignore[no-untyped-call]
    return list(split_ranges((OffsetRange(*at, starts[at], max(starts[at], ends[at])) for at in partitions), span))


def _partitions(
    metadata: Mapping[str, Any], bootstrap: str, topics: Sequence[str], *, secured: bool
) -> list[tuple[str, int]]:
    names = list(dict.fromkeys(topics)) or sorted(name for name in metadata if not name.startswith("_"))
    for name in names:
        if name not in metadata or (error_code(metadata[name].error) in MISSING_TOPIC_CODES):
            visible = ", or this user may not see it" if secured else ""
            raise UsageError(f"the topic `{name}` does not exist at {bootstrap}{visible}", topic=name)
    return [(name, partition) for name in names for partition in sorted(metadata[name].partitions)]


def _list_offsets(
    admin: AdminClient, bootstrap: str, partitions: Iterable[tuple[str, int]], at: OffsetSpec, timeout_seconds: float
) -> dict[tuple[str, int], int]:
    requests = {TopicPartition(topic, partition): at for topic, partition in partitions}
    if not requests:
        return {}

    def ask() -> dict[tuple[str, int], int]:
        answers = admin.list_offsets(
            requests, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=timeout_seconds
        )
        return {
            (partition.topic, partition.partition): response.result().offset for partition, response in answers.items()
        }

    return send_request(bootstrap, lambda: retry_without_leader(ask, timeout_seconds))
