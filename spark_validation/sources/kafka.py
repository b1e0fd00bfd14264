"""Records of Kafka topics by offset ranges, read committed, as Arrow batches; plain functions that need no Spark.

The ends of the ranges are fixed once, at the last stable offset. A range is read to its end when the position has
passed it, not when its last record has come: compaction, aborted records and transaction markers leave gaps anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import pyarrow as pa
from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.spark_validation.sources.records import RECORDS, SPAN, OffsetRange, split

__all__ = ["OffsetRange", "plan_ranges", "read_range"]

BATCH: Final = 20_000  #: records handed over at once, at most
BATCH_BYTES: Final = 64 * 2**20
AT_ONCE: Final = 10_000  #: records asked of the client at once
WAIT: Final = 0.2  #: seconds; what a call may wait for the last records, so it is short
PLAN_PATIENCE: Final = 10.0
READ_PATIENCE: Final = 60.0
TIMES: Final = range(
    -62_135_596_800_000, 253_402_300_800_000
)  #: milliseconds of the years 1 to 9999; others mean nothing

A = TypeVar("A")
Settings = Mapping[str, Any]
_NONE: Final[Settings] = {}
_GONE: Final = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})  # noqa: SLF001 - librdkafka's
_NO_TOPIC: Final = frozenset({KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART})  # noqa: SLF001 - own codes


def plan_ranges(
    bootstrap: str,
    topics: Sequence[str] = (),
    *,
    settings: Settings = _NONE,
    span: int = SPAN,
    patience: float = PLAN_PATIENCE,
) -> list[OffsetRange]:
    """Return the ranges that hold all records of topics, from the first to the last stable offset, as they are now.

    Args:
        bootstrap: the broker, ``host:port``.
        topics: none named means all that do not start with ``_``.
        settings: more of librdkafka's settings, for TLS and credentials.
        span: offsets per range at most; a partition without offsets gives one empty range.
        patience: seconds to wait for an answer.

    Raises:
        UsageError: a topic does not exist.
        Unreachable: the broker does not answer, or a partition has no leader.
    """
    admin = AdminClient({**_connection(bootstrap), **settings})
    partitions = _partitions(admin, bootstrap, topics, patience)
    starts = _offsets(admin, bootstrap, partitions, OffsetSpec.earliest(), patience)  # type: ignore[no-untyped-call]
    ends = _offsets(admin, bootstrap, partitions, OffsetSpec.latest(), patience)  # type: ignore[no-untyped-call]
    return list(split((OffsetRange(*at, starts[at], max(starts[at], ends[at])) for at in partitions), span))


def read_range(
    bootstrap: str,
    offsets: OffsetRange,
    *,
    settings: Settings = _NONE,
    batch: int = BATCH,
    patience: float = READ_PATIENCE,
) -> Iterator[pa.RecordBatch]:
    """Yield the committed records of a range in batches of ``RECORDS``, in order of their offsets.

    Offsets that the log does not hold (any more) are passed over. It never waits for longer than ``patience`` seconds
    without getting on.

    Raises:
        Unreachable: the broker stopped answering before the end of the range was reached.
        UsageError: the topic is gone.
    """
    if not len(offsets):
        return
    consumer = Consumer(
        {
            **_connection(bootstrap),
            "group.id": "contractlog-audit",  # asked for by the client; nothing joins or commits
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "queued.min.messages": 200_000,
            "fetch.message.max.bytes": 8 * 2**20,
            **settings,
        }
    )
    try:
        yield from _batches(_messages(consumer, bootstrap, offsets, patience), offsets, batch)
    finally:
        consumer.close()


def _connection(bootstrap: str) -> dict[str, Any]:
    # what the client has to say about connections reaches people as one sentence, when it matters
    return {"bootstrap.servers": bootstrap, "log_level": 0, "error_cb": _ignore}


def _ignore(_: object) -> None:
    """Swallow."""


# --- planning


def _partitions(admin: AdminClient, bootstrap: str, topics: Sequence[str], patience: float) -> list[tuple[str, int]]:
    found = _answer(bootstrap, lambda: admin.list_topics(timeout=patience)).topics
    names = list(dict.fromkeys(topics)) or sorted(name for name in found if not name.startswith("_"))
    for name in names:
        if name not in found or (_code(found[name].error) in _NO_TOPIC):
            raise UsageError(f"the topic `{name}` does not exist at {bootstrap}", topic=name)
    return [(name, partition) for name in names for partition in sorted(found[name].partitions)]


def _offsets(
    admin: AdminClient, bootstrap: str, partitions: Iterable[tuple[str, int]], at: OffsetSpec, patience: float
) -> dict[tuple[str, int], int]:
    asked = {TopicPartition(topic, partition): at for topic, partition in partitions}
    if not asked:
        return {}
    answers = _answer(
        bootstrap,
        lambda: admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=patience),
    )
    return {
        (place.topic, place.partition): _answer(bootstrap, answer.result).offset for place, answer in answers.items()
    }


def _answer(bootstrap: str, ask: Callable[[], A]) -> A:
    try:
        return ask()
    except KafkaException as error:
        raise _unreachable(bootstrap, error.args[0]) from error


def _unreachable(bootstrap: str, error: KafkaError | None, doing: str = "") -> Unreachable:
    reason = f": {error.str()}" if error is not None else ""
    return Unreachable(f"the broker at {bootstrap} does not answer{doing}{reason}", bootstrap=bootstrap)


def _code(error: KafkaError | None) -> int | None:
    return None if error is None else error.code()


# --- reading


def _messages(consumer: Consumer, bootstrap: str, offsets: OffsetRange, patience: float) -> Iterator[Message]:
    """Yield the records of the range; end when the position has passed it."""
    consumer.assign([TopicPartition(offsets.topic, offsets.partition, offsets.start)])
    position, last_step, error = offsets.start, time.monotonic(), None
    while position < offsets.end:
        before = position
        for message in consumer.consume(min(AT_ONCE, offsets.end - position), WAIT):
            error = message.error()
            if error is not None:
                position = _after_event(consumer, bootstrap, offsets, message, position=position, patience=patience)
                continue
            position = int(message.offset() or 0) + 1
            if position <= offsets.end:
                yield message
        if position > before:
            last_step = time.monotonic()
        elif time.monotonic() - last_step > patience:
            doing = f" for `{offsets.topic}` partition {offsets.partition} at offset {position}"
            raise _unreachable(bootstrap, error, f"{doing} (waited {patience:g} seconds)")


def _after_event(
    consumer: Consumer, bootstrap: str, offsets: OffsetRange, event: Message, *, position: int, patience: float
) -> int:
    """Return the position after something that is no record."""
    code = _code(event.error())
    if code == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own codes are spelled so
        return max(position, int(event.offset() or 0))
    if code in _GONE:  # retention was quicker than we: go on where the log begins now
        place = TopicPartition(offsets.topic, offsets.partition)
        low, _ = _answer(bootstrap, lambda: consumer.get_watermark_offsets(place, timeout=patience))
        position = max(int(low), position)
        if position < offsets.end:
            consumer.assign([TopicPartition(offsets.topic, offsets.partition, position)])
    if code in _NO_TOPIC:
        raise UsageError(f"the topic `{offsets.topic}` is gone from {bootstrap}", topic=offsets.topic)
    return position


def _batches(messages: Iterable[Message], offsets: OffsetRange, size: int) -> Iterator[pa.RecordBatch]:
    held: list[Message] = []
    held_bytes = 0
    for message in messages:
        held.append(message)
        held_bytes += len(message)
        if len(held) >= size or held_bytes >= BATCH_BYTES:
            yield _batch(held, offsets)
            held, held_bytes = [], 0
    if held:
        yield _batch(held, offsets)


def _batch(messages: Sequence[Message], offsets: OffsetRange) -> pa.RecordBatch:
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
        "headers": _headers([message.headers() for message in messages]),
    }
    return pa.record_batch([columns[name] for name in RECORDS.names], schema=RECORDS)


def _headers(headers: Sequence[Any]) -> pa.Array[Any]:
    kind = RECORDS.field("headers").type
    rows: list[Any] = [one and [{"key": key, "value": value} for key, value in one] for one in headers]
    column: pa.Array[Any] = pa.array(rows, kind) if any(rows) else pa.nulls(len(rows), kind)
    return column
