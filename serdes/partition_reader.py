"""Reader of a topic, partition by partition, up to the end that the log had when reading began."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from contractlog.clients.cli.broker import Brokers
from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.serdes.fetch_limits import RecordQuota, limit_fetches
from contractlog.serdes.kafka_client import (
    RESPONSE_SECONDS,
    UNAVAILABLE_ERRORS,
    ClientErrors,
    client_config,
    convert_kafka_error,
    fetch_partitions,
    make_client,
)

__all__ = ["TopicReader"]

_BATCH: Final = 500
_BATCH_BYTES: Final = 8 * 2**20
_TICK: Final = 0.2
_DEFAULTS: Final[Mapping[str, Any]] = {"isolation.level": "read_committed"}
_OWNED: Final[Mapping[str, Any]] = {
    "group.id": "contractlog-consume",  # librdkafka requires one; nothing joins or commits
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "earliest",
    "allow.auto.create.topics": False,
}
_STALLED: Final = 30.0  # seconds without a record before the broker counts as unreachable


class TopicReader:
    """A topic, open for reading; only committed records, unless the properties say otherwise."""

    def __init__(self, brokers: Brokers, topic: str) -> None:
        self._topic = topic
        reasons = ClientErrors()
        config = limit_fetches(client_config(brokers, **_OWNED, **reasons.config))
        self._consumer = make_client(Consumer, {**_DEFAULTS, **config})
        try:
            self.partitions = fetch_partitions(self._consumer, topic, brokers, reasons)
        except BaseException:
            self._consumer.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._consumer.close()

    def range(self, partition: int) -> tuple[int, int]:
        """Return the first available offset and the end (exclusive): the last stable offset.

        Raises:
            UsageError: the topic has no such partition.
        """
        if partition not in self.partitions:
            raise UsageError(f"topic `{self._topic}` has {len(self.partitions)} partitions, and no {partition}")
        try:
            low, high = self._consumer.get_watermark_offsets(
                TopicPartition(self._topic, partition), timeout=RESPONSE_SECONDS, cached=False
            )
        except KafkaException as error:
            raise convert_kafka_error(error.args[0], f"topic {self._topic}") from None
        return low, high

    def read(self, partition: int, start: int, end: int, limit: int | None = None) -> Iterator[Message]:
        """Yield at most ``limit`` records from ``start`` to ``end``.

        The range is complete when the position has reached the end: its last offsets may hold no record.
        """
        if start >= end or limit == 0:
            return
        self._consumer.assign([TopicPartition(self._topic, partition, start)])
        position, remaining, moved, quota = start, limit, time.monotonic(), RecordQuota(_BATCH, _BATCH_BYTES)
        while position < end:
            before = position
            batch_size = min(quota.records, end - position, _BATCH if remaining is None else remaining)
            messages = self._consumer.consume(batch_size, _TICK)
            quota.update(messages)
            for message in messages:
                if message.error() is not None:
                    position = max(position, self._position_after(message))
                    continue
                position = int(message.offset() or 0) + 1
                if position > end:
                    return
                yield message
                remaining = None if remaining is None else remaining - 1
                if remaining == 0:
                    return
            if position > before:
                moved = time.monotonic()
            elif time.monotonic() - moved > _STALLED:
                raise Unreachable(
                    f"topic {self._topic}: partition {partition} has been silent for {_STALLED:.0f} seconds"
                )

    def follow(self, starts: Mapping[int, int], stopped: Callable[[], bool]) -> Iterator[list[Message]]:
        """Yield the new records of partitions as they arrive; an empty list after a pause.

        While no broker can be reached, it waits.

        Args:
            starts: the first offset of each partition.
            stopped: returns True to end; it is called several times a second.
        """
        self._consumer.assign([TopicPartition(self._topic, partition, start) for partition, start in starts.items()])
        quota = RecordQuota(_BATCH, _BATCH_BYTES)
        while not stopped():
            records: list[Message] = []
            messages = self._consumer.consume(quota.records, _TICK)
            quota.update(messages)
            for message in messages:
                error = message.error()
                if error is None:
                    records.append(message)
                elif error.code() not in UNAVAILABLE_ERRORS:
                    self._position_after(message)
            yield records

    def _position_after(self, event: Message) -> int:
        """Return the position after an event that is not a record: the end of the committed records."""
        error = event.error()
        if error is None or error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 -- the client's own code
            return int(event.offset() or 0)
        if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:  # no group is used, so no permission is needed
            return 0
        raise convert_kafka_error(error, f"topic {self._topic}")
