"""Reader of ranges of Kafka topics: one consumer for many, which fetches small ones together."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

import pyarrow as pa
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError, Message, TopicPartition

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.serdes.fetch_limits import PARTITION_BYTES, RecordQuota, limit_fetches, record_size
from contractlog.serdes.kafka_client import ClientErrors, make_client, quiet_config
from contractlog.spark_validation.sources.kafka_errors import (
    MISSING_TOPIC_CODES,
    error_code,
    raise_if_denied,
    send_request,
    unreachable_error,
)
from contractlog.spark_validation.sources.kafka_settings import NO_SETTINGS, KafkaSettings
from contractlog.spark_validation.sources.records import RECORDS, TIMES, OffsetRange

__all__ = ["KafkaRangeReader", "group_small_ranges"]

BATCH_RECORDS: Final = 20_000  #: records per batch, at most
BATCH_BYTES: Final = 16 * 2**20  #: bytes of keys, values and headers per batch, about
GROUP_BYTES: Final = 32 * 2**20  #: bytes of the records of ranges that are fetched together
MAX_MESSAGES: Final = 10_000  #: records requested from the client per call
CALL_BYTES: Final = 8 * 2**20  #: bytes of these records, about
WAIT: Final = 0.1  #: seconds that a call may wait for the last records, and therefore short
#: seconds without progress: a broker that was killed, or a new leader of its partitions, needs some of them
PROGRESS_TIMEOUT_SECONDS: Final = 120.0
SMALL_RANGE: Final = 5_000  #: offsets; a range of at most so many is fetched together with others
GROUP_OFFSETS: Final = 20_000
GROUP_RANGES: Final = 500
SMALL_PARTITION_BYTES: Final = 16 * 1024  #: of a partition in a response if all ranges are small, compressed

_DEFAULTS: Final[KafkaSettings] = {
    "isolation.level": "read_committed",
    "queued.min.messages": 200_000,
}
#: If all ranges are small: less of what follows them in the log is fetched in vain.
_SMALL_DEFAULTS: Final[KafkaSettings] = {"queued.min.messages": GROUP_OFFSETS}
_REQUIRED_SETTINGS: Final[KafkaSettings] = {
    "group.id": "contractlog-audit",  # the client requires one; nothing joins or commits
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
}
_DELETED_CODES: Final = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})  # noqa: SLF001 - librdkafka's


class KafkaRangeReader:
    """Reader of the committed records of ranges.

    It has one consumer, which is created by the first read. A context manager; not for use by several threads.

    Args:
        bootstrap: the broker, ``host:port``.
        ranges: the ranges that will be read, in this order; small ones are then fetched together.
        settings: additional librdkafka settings, for TLS and credentials.
        batch: maximum number of records per batch.
        timeout_seconds: seconds without progress after which reading fails.
    """

    def __init__(
        self,
        bootstrap: str,
        ranges: Sequence[OffsetRange] = (),
        *,
        settings: KafkaSettings = NO_SETTINGS,
        batch: int = BATCH_RECORDS,
        timeout_seconds: float = PROGRESS_TIMEOUT_SECONDS,
    ) -> None:
        self._bootstrap = bootstrap
        self._batch = batch
        self._timeout_seconds = timeout_seconds
        self._errors = ClientErrors()
        groups = list(group_small_ranges(ranges))
        self._groups = {offsets: group for group in groups for offsets in group}
        small = all(len(offsets) <= SMALL_RANGE for offsets in ranges) and bool(ranges)
        defaults = {**_DEFAULTS, **_SMALL_DEFAULTS} if small else _DEFAULTS
        self._config = {
            **quiet_config(bootstrap),
            **defaults,
            **limit_fetches(settings, SMALL_PARTITION_BYTES if small else PARTITION_BYTES),
            **_REQUIRED_SETTINGS,
            **self._errors.config,
        }
        self.duplicates: Mapping[str, int] = {}  #: Kafka has each offset once
        self._fetched: dict[OffsetRange, list[Message]] = {}
        self._consumer: Consumer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the consumer; reading again opens another."""
        self._fetched.clear()
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def read(self, offsets: OffsetRange) -> Iterator[pa.RecordBatch]:
        """Yield the committed records of a range in batches of ``RECORDS``, in order of offset.

        Offsets that are not (or no longer) in the log are skipped.

        Raises:
            Unreachable: the broker stopped responding before the end of the range was reached.
            UsageError: the topic no longer exists.
            BrokerDenied: the user may not read the topic.
        """
        if not len(offsets):
            return
        if self._consumer is None:
            self._consumer = make_client(Consumer, self._config)
        consumer = self._consumer
        try:
            if offsets in self._groups:
                self._fetch_group(consumer, self._groups[offsets])
            fetched = self._fetched.pop(offsets, None)
            if fetched is not None:
                yield from _group_messages(fetched, offsets, self._batch)
                return
            messages = (message for _, message in self._consume(consumer, [offsets]))
            yield from _group_messages(messages, offsets, self._batch)
        except Unreachable:
            self._errors.check_credentials(consumer)
            raise

    def _fetch_group(self, consumer: Consumer, group: Sequence[OffsetRange]) -> None:
        """Fetch the records of small ranges, those that fit into memory; the others are then read singly."""
        for offsets in group:
            self._groups.pop(offsets, None)
        messages: defaultdict[OffsetRange, list[Message]] = defaultdict(list)
        size = 0
        for offsets, message in self._consume(consumer, group):
            messages[offsets].append(message)
            size += record_size(message)
            if size > GROUP_BYTES:
                return
        self._fetched = {offsets: messages[offsets] for offsets in group}

    def _consume(self, consumer: Consumer, ranges: Sequence[OffsetRange]) -> Iterator[tuple[OffsetRange, Message]]:
        """Yield the records of ranges of different partitions; end when the positions have passed their ends."""
        unread, quota = _UnreadRanges(ranges), RecordQuota(MAX_MESSAGES, CALL_BYTES)
        consumer.assign(unread.assignment())
        last_step, error = time.monotonic(), None
        try:
            while unread.ranges:
                progress = False
                messages = consumer.consume(min(quota.records, unread.count()), WAIT)
                quota.update(messages)
                for message in messages:
                    offsets = unread.find(message)
                    if message.error() is not None:
                        error = message.error()
                        progress |= self._handle_event(consumer, unread, offsets, message)
                    elif offsets is not None and unread.is_new(offsets, message):
                        position = (message.offset() or 0) + 1
                        progress |= _advance(consumer, unread, offsets, position)
                        if position <= offsets.end:
                            yield offsets, message
                if progress:
                    last_step = time.monotonic()
                elif time.monotonic() - last_step > self._timeout_seconds:
                    doing = f" for {unread.describe()} (waited {self._timeout_seconds:g} seconds)"
                    raise unreachable_error(self._bootstrap, error, doing)
        finally:
            consumer.resume([TopicPartition(*offsets.key) for offsets in ranges])  # the client remembers pauses
            consumer.unassign()  # nothing that follows the ranges is fetched meanwhile

    def _handle_event(
        self, consumer: Consumer, unread: _UnreadRanges, offsets: OffsetRange | None, event: Message
    ) -> bool:
        """Handle a message that is an event or error instead of a record; return true if there was progress."""
        code = error_code(event.error())
        if code != KafkaError.GROUP_AUTHORIZATION_FAILED:  # no group is used, so no permission is needed
            raise_if_denied(self._bootstrap, event.error(), f" `{event.topic()}`" if event.topic() else "")
        if offsets is None:
            return False
        if code == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own codes have an underscore
            return _advance(consumer, unread, offsets, int(event.offset() or 0))
        if code in MISSING_TOPIC_CODES:
            raise UsageError(f"the topic `{offsets.topic}` no longer exists at {self._bootstrap}", topic=offsets.topic)
        if code not in _DELETED_CODES:
            return False
        partition = TopicPartition(*offsets.key)  # deleted by retention: continue where the log now begins
        low, _ = send_request(
            self._bootstrap, lambda: consumer.get_watermark_offsets(partition, timeout=self._timeout_seconds)
        )
        progress = _advance(consumer, unread, offsets, int(low))
        if offsets.key in unread.ranges:
            consumer.assign(unread.assignment())  # an error has stopped the partition
        return progress


class _UnreadRanges:
    """Ranges of different partitions that are being read, with the position in each."""

    def __init__(self, ranges: Iterable[OffsetRange]) -> None:
        self.ranges = {offsets.key: offsets for offsets in ranges}
        self._positions = {key: offsets.start for key, offsets in self.ranges.items()}

    def count(self) -> int:
        """Return the number of offsets that are still to be read."""
        return sum(offsets.end - self._positions[key] for key, offsets in self.ranges.items())

    def assignment(self) -> list[TopicPartition]:
        """Return the partitions to read, each with its position."""
        return [TopicPartition(*key, self._positions[key]) for key in self.ranges]

    def find(self, message: Message) -> OffsetRange | None:
        """Return the range of a message's partition, if it is not complete."""
        return self.ranges.get((message.topic() or "", message.partition() or 0))

    def is_new(self, offsets: OffsetRange, message: Message) -> bool:
        """Return false for a record that was fetched twice, after partitions were assigned again."""
        return (message.offset() or 0) >= self._positions[offsets.key]

    def advance(self, offsets: OffsetRange, position: int) -> bool:
        """Set the position in a range, unless it goes back; return whether it has moved."""
        if position <= self._positions[offsets.key]:
            return False
        self._positions[offsets.key] = position
        if position >= offsets.end:
            del self.ranges[offsets.key]
        return True

    def describe(self) -> str:
        """Return the position of the first range."""
        first = next(iter(self.ranges.values()))
        return f"`{first.topic}` partition {first.partition} at offset {self._positions[first.key]}"


def _advance(consumer: Consumer, unread: _UnreadRanges, offsets: OffsetRange, position: int) -> bool:
    """Set the position in a range; nothing more is fetched of its partition when it is complete."""
    moved = unread.advance(offsets, position)
    if unread.ranges and offsets.key not in unread.ranges:
        consumer.pause([TopicPartition(*offsets.key)])
    return moved


def group_small_ranges(ranges: Iterable[OffsetRange]) -> Iterator[tuple[OffsetRange, ...]]:
    """Yield groups of consecutive small ranges, each of another partition, whose records fit into memory."""
    group: dict[tuple[str, int], OffsetRange] = {}
    size = 0
    for offsets in ranges:
        if not 0 < len(offsets) <= SMALL_RANGE:
            continue
        if offsets.key in group or size + len(offsets) > GROUP_OFFSETS or len(group) == GROUP_RANGES:
            yield tuple(group.values())
            group, size = {}, 0
        group[offsets.key] = offsets
        size += len(offsets)
    if group:
        yield tuple(group.values())


def _group_messages(messages: Iterable[Message], offsets: OffsetRange, size: int) -> Iterator[pa.RecordBatch]:
    pending: list[Message] = []
    pending_bytes = 0
    for message in messages:
        pending.append(message)
        pending_bytes += record_size(message)
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
