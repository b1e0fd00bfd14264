"""Reader and writer of a ``_schemas`` topic, to its end and then as it grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Final, Self

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from contractlog.clients.cli.broker import Brokers
from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.registry.transfer.import_parsers import LATEST_TIME
from contractlog.registry.transfer.topic_records import LogRecord
from contractlog.serdes.kafka_client import (
    RESPONSE_SECONDS,
    ClientErrors,
    client_config,
    convert_kafka_error,
    fetch_topics,
    make_client,
)
from contractlog.serdes.partition_reader import TopicReader

__all__ = ["SchemasTopic", "write_topic"]

_FLUSH_SECONDS: Final = 120.0
_MAX_RECORD: Final = 100 * 1024 * 1024  #: the broker decides which sizes it accepts
_PENDING: Final = 10_000


class SchemasTopic:
    """A ``_schemas`` topic, open for reading; each ``records`` continues where the previous one ended."""

    def __init__(self, brokers: Brokers, name: str) -> None:
        self._log = TopicReader(brokers, name)
        self.position = 0
        if len(self._log.partitions) != 1:
            self._log.__exit__(None, None, None)
            raise UsageError(f"topic `{name}` has {len(self._log.partitions)} partitions; a registry's topic has one")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._log.__exit__(kind, error, traceback)

    def records(self, report_progress: Callable[[int, int], None] = lambda _done, _all: None) -> Iterator[LogRecord]:
        """Yield the records from the position to the current end of the log."""
        low, end = self._log.range(0)
        self.position = max(self.position, low)
        start = self.position
        for message in self._log.read(0, start, end):
            yield _make_record(message)
            report_progress(int(message.offset() or 0) - start, end - start)
        self.position = end


def _make_record(message: Message) -> LogRecord:
    key, value = message.key(), message.value()
    return LogRecord(
        offset=int(message.offset() or 0),
        timestamp=min(max(int(message.timestamp()[1]), 0), LATEST_TIME),
        key=_encode(key),
        value=_encode(value),
        headed=bool(message.headers()),
    )


def _encode(value: bytes | str | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def write_topic(brokers: Brokers, name: str, records: Iterable[tuple[bytes, bytes, int]], *, replication: int) -> int:
    """Write records (key, value, time) to a topic, which must be empty or is created.

    Raises:
        UsageError: the topic has records or several partitions.
        Unreachable: the broker does not accept all of them.
    """
    _prepare_topic(brokers, name, replication)
    failures: list[KafkaError] = []

    def collect_failure(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            failures.append(error)

    ours = {"enable.idempotence": True, "message.max.bytes": _MAX_RECORD}
    producer = make_client(Producer, client_config(brokers, **ours))
    count = 0
    for key, value, timestamp in records:
        count += 1
        while len(producer) > _PENDING:
            producer.poll(0.1)
        producer.produce(name, value, key, partition=0, timestamp=timestamp, on_delivery=collect_failure)
        producer.poll(0)
    waiting = producer.flush(_FLUSH_SECONDS)
    if failures:
        raise convert_kafka_error(failures[0], f"topic {name}: {len(failures)} of {count} records were not written")
    if waiting:
        raise Unreachable(f"topic {name}: the broker did not take {waiting} of {count} records in time")
    return count


def _prepare_topic(brokers: Brokers, name: str, replication: int) -> None:
    reasons = ClientErrors()
    admin = make_client(AdminClient, client_config(brokers, **reasons.config))
    try:
        topics = fetch_topics(admin, reasons)
        if name not in topics:
            new = NewTopic(name, num_partitions=1, replication_factor=replication, config={"cleanup.policy": "compact"})
            for future in admin.create_topics([new], operation_timeout=RESPONSE_SECONDS).values():
                future.result()
            return
    except KafkaException as error:
        raise convert_kafka_error(error.args[0], f"topic {name}") from None
    _require_empty(brokers, name)


def _require_empty(brokers: Brokers, name: str) -> None:
    with SchemasTopic(brokers, name) as topic:
        if next(iter(topic.records()), None) is not None:
            raise UsageError(f"topic `{name}` holds records already; an export needs a topic of its own")
