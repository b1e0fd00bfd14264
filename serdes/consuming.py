"""Records of a topic, partition by partition, up to the end that the log had when reading began."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.serdes.broker import PATIENCE, failed, partitions, quiet

__all__ = ["Log"]

_BATCH: Final = 500
_TICK: Final = 0.2
_STALLED: Final = 30.0  # seconds without a record before the broker counts as gone


class Log:
    """A topic, open for reading; committed records only."""

    def __init__(self, servers: str, topic: str, properties: Mapping[str, Any] | None = None) -> None:
        self._topic = topic
        self._consumer = Consumer(
            quiet(
                servers,
                **{
                    "group.id": f"contractlog-consume-{os.getpid()}",
                    **(properties or {}),
                    "enable.auto.commit": False,
                    "enable.partition.eof": True,
                    "isolation.level": "read_committed",
                    "auto.offset.reset": "earliest",
                    "allow.auto.create.topics": False,
                },
            )
        )
        try:
            self.partitions = partitions(self._consumer, topic, servers)
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
        """Return the first offset that is kept and the end (exclusive): the last stable offset.

        Raises:
            UsageError: the topic has no such partition.
        """
        if partition not in self.partitions:
            raise UsageError(f"topic `{self._topic}` has {len(self.partitions)} partitions, and no {partition}")
        try:
            low, high = self._consumer.get_watermark_offsets(
                TopicPartition(self._topic, partition), timeout=PATIENCE, cached=False
            )
        except KafkaException as error:
            raise failed(error.args[0], f"topic {self._topic}") from None
        return low, high

    def read(self, partition: int, start: int, end: int, limit: int | None = None) -> Iterator[Message]:
        """Yield the records from an offset to an end, at most so many.

        The range is over when the position has reached the end: its last offsets may hold no record.
        """
        if start >= end or limit == 0:
            return
        self._consumer.assign([TopicPartition(self._topic, partition, start)])
        position, wanted, moved = start, limit, time.monotonic()
        while position < end:
            before = position
            most = min(_BATCH, end - position, _BATCH if wanted is None else wanted)
            for message in self._consumer.consume(most, _TICK):
                if message.error() is not None:
                    position = max(position, self._after(message))
                    continue
                position = int(message.offset() or 0) + 1
                if position > end:
                    return
                yield message
                wanted = None if wanted is None else wanted - 1
                if wanted == 0:
                    return
            if position > before:
                moved = time.monotonic()
            elif time.monotonic() - moved > _STALLED:
                raise Unreachable(f"topic {self._topic}: partition {partition} is silent since {_STALLED:.0f} seconds")

    def _after(self, event: Message) -> int:
        """Return the position after something that is no record: the end of what is committed."""
        error = event.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 -- the client's own code
            raise failed(error, f"topic {self._topic}")
        return int(event.offset() or 0)
