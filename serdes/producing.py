"""Delivery of records from lines of input; only those that the broker acknowledged are counted."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import FrameType, TracebackType
from typing import Any, Final, Self, TextIO

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from contractlog.clients.cli.broker import Brokers
from contractlog.clients.cli.output import count
from contractlog.compatibility.errors import UsageError
from contractlog.serdes.broker import Reasons, configuration, failed, make_client, partitions
from contractlog.serdes.lines import Record

__all__ = ["Delivery", "Interruption", "lines"]

_DEFAULTS: Final[Mapping[str, Any]] = {
    "enable.idempotence": True,
    "linger.ms": 20,
    "message.timeout.ms": 30_000,  # how long a record may wait for its acknowledgement
}
_OWNED: Final[Mapping[str, Any]] = {"acks": "all"}
_REFUSED: Final = frozenset({"acks", "request.required.acks", "delivery.report.only.error", "transactional.id"})
_SETTLING: Final = 10.0  # seconds for records in flight after an interruption
_TICK: Final = 0.2


class Interruption:
    """Context in which SIGINT and SIGTERM end the reading of input, and nothing else."""

    def __init__(self) -> None:
        self.happened = False
        self._reading = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def read(self, readline: Callable[[], str]) -> str:
        """Return the next line, or an empty string after an interruption, also while waiting."""
        self._reading = True
        try:
            return "" if self.happened else readline()
        except _Stopped:
            return ""
        finally:
            self._reading = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.happened = True
        if self._reading:
            self._reading = False
            raise _Stopped


class _Stopped(BaseException):
    """Ends a blocking read; never raised out of this module."""


def lines(source: TextIO, interruption: Interruption) -> Iterator[tuple[int, str]]:
    """Yield the non-blank lines with their numbers, until the end or an interruption.

    Raises:
        UsageError: a line is not UTF-8; to detect it, the source must be opened with ``errors="surrogateescape"``.
    """
    number = 0
    while line := interruption.read(source.readline):
        number += 1
        try:
            line.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"line {number} is no UTF-8 (column {error.start + 1})") from None
        if line.strip():
            yield number, line


class Delivery:
    """Sender of records that counts acknowledgements.

    Args:
        brokers: the cluster.
        topic: the topic of the records; it has to exist.
        progress: whether to show a progress line on stderr.
    """

    def __init__(self, brokers: Brokers, topic: str, *, progress: bool) -> None:
        for name in _REFUSED & brokers.properties.keys():
            raise UsageError(
                f"--broker-config: `{name}` is not accepted by `produce`, which waits until all replicas acknowledge "
                "each record. Remove the line."
            )
        reasons = Reasons()
        self.producer = make_client(Producer, {**_DEFAULTS, **configuration(brokers, **_OWNED, **reasons.config)})
        partitions(self.producer, topic, brokers, reasons)
        self.acknowledged = 0
        self._topic = topic
        self._failure: KafkaError | None = None
        self._progress = progress
        self._shown = 0.0

    def send(self, record: Record) -> None:
        """Pass a record to the Kafka client.

        Raises:
            ContractlogError: this record, or an earlier one, cannot be delivered.
        """
        more: dict[str, Any] = {} if record.timestamp is None else {"timestamp": record.timestamp}
        if record.headers:
            more["headers"] = record.headers
        while True:
            try:
                self.producer.produce(self._topic, value=record.value, key=record.key, on_delivery=self._note, **more)
                break
            except BufferError:  # the queue is full: give the broker time
                self.producer.poll(_TICK)
            except KafkaException as error:
                raise failed(error.args[0], f"topic {self._topic}") from None
        self.producer.poll(0)
        self._show()
        self._raise()

    def settle(self, *, interrupted: bool = False) -> None:
        """Wait until every record is acknowledged; after an interruption, drop those that take too long.

        Raises:
            ContractlogError: a record cannot be delivered.
        """
        until = time.monotonic() + _SETTLING
        while len(self.producer) and not (interrupted and time.monotonic() > until):
            self.producer.flush(_TICK)
            self._show()
        if len(self.producer):
            self.producer.purge()
            self.producer.flush(_TICK)
        elif not interrupted:
            self._raise()

    def end_progress(self) -> None:
        """Clear the progress line."""
        if self._progress and self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _note(self, error: KafkaError | None, message: Message) -> None:
        del message
        if error is None:
            self.acknowledged += 1
        elif self._failure is None:
            self._failure = error

    def _raise(self) -> None:
        if self._failure is not None:
            raise failed(self._failure, f"topic {self._topic}")

    def _show(self) -> None:
        if self._progress and time.monotonic() - self._shown > _TICK:
            self._shown = time.monotonic()
            sys.stderr.write(f"\r{count(self.acknowledged, 'record')} acknowledged")
            sys.stderr.flush()
