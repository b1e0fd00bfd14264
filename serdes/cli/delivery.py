"""Delivery of records to a broker; only those that it acknowledged are counted."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from contractlog.clients.cli.broker import Brokers
from contractlog.clients.cli.output import count_noun
from contractlog.compatibility.errors import UsageError
from contractlog.serdes.cli.record_encoder import ProducerRecord
from contractlog.serdes.kafka_client import (
    ClientErrors,
    client_config,
    convert_kafka_error,
    fetch_partitions,
    make_client,
)

__all__ = ["Delivery"]

_DEFAULTS: Final[Mapping[str, Any]] = {
    "enable.idempotence": True,
    "linger.ms": 20,
    "message.timeout.ms": 30_000,  # how long a record may wait for its acknowledgement
    "message.max.bytes": 1_000_000_000,  # the topic decides
}
_FIXED_PROPERTIES: Final[Mapping[str, Any]] = {"acks": "all"}
_FORBIDDEN_PROPERTIES: Final = frozenset(
    {"acks", "request.required.acks", "delivery.report.only.error", "transactional.id"}
)
_FINISH_SECONDS: Final = 10.0  # seconds for records in flight after an interruption
_TICK: Final = 0.2


class Delivery:
    """Sender of records that counts acknowledgements.

    Args:
        brokers: the cluster.
        topic: the topic of the records; it has to exist.
        progress: whether to show a progress line on stderr.
    """

    def __init__(self, brokers: Brokers, topic: str, *, progress: bool) -> None:
        for name in _FORBIDDEN_PROPERTIES & brokers.properties.keys():
            raise UsageError(
                f"--broker-config: `{name}` is not accepted: contractlog waits until all replicas acknowledge each "
                "record. Remove the line."
            )
        reasons = ClientErrors()
        self.producer = make_client(
            Producer, {**_DEFAULTS, **client_config(brokers, **_FIXED_PROPERTIES, **reasons.config)}
        )
        fetch_partitions(self.producer, topic, brokers, reasons)
        self.acknowledged = 0
        self._topic = topic
        self._failure: tuple[KafkaError, str] | None = None  #: of a record, and its description
        self._progress = progress
        self._shown_at = 0.0

    def send(self, record: ProducerRecord) -> None:
        """Pass a record to the Kafka client.

        Raises:
            ContractlogError: this record, or an earlier one, cannot be delivered.
        """
        more: dict[str, Any] = {"on_delivery": partial(self._record_event, record.origin)}
        if record.timestamp is not None:
            more["timestamp"] = record.timestamp
        if record.headers:
            more["headers"] = record.headers
        while True:
            try:
                self.producer.produce(self._topic, value=record.value, key=record.key, **more)
                break
            except BufferError:  # the queue is full: give the broker time
                self.producer.poll(_TICK)
            except KafkaException as error:
                raise convert_kafka_error(error.args[0], self._describe(record.origin, record.value)) from None
        self.producer.poll(0)
        self._show_progress()
        self._raise_failure()

    def finish(self, *, interrupted: bool = False) -> None:
        """Wait until every record is acknowledged; after an interruption, drop those that take too long.

        Raises:
            ContractlogError: a record cannot be delivered.
        """
        until = time.monotonic() + _FINISH_SECONDS
        while len(self.producer) and not (interrupted and time.monotonic() > until):
            self.producer.flush(_TICK)
            self._show_progress()
        if len(self.producer):
            self.producer.purge()
            self.producer.flush(_TICK)
        elif not interrupted:
            self._raise_failure()

    def end_progress(self) -> None:
        """Clear the progress line."""
        if self._progress and self._shown_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _record_event(self, origin: str, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.acknowledged += 1
        elif self._failure is None:
            self._failure = error, self._describe(origin, message.value())

    def _describe(self, origin: str, value: bytes | None) -> str:
        """Return the topic and a record for an error."""
        return f"topic {self._topic}, a record with a value of {len(value or b''):,} bytes{origin}"

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise convert_kafka_error(*self._failure)

    def _show_progress(self) -> None:
        if self._progress and time.monotonic() - self._shown_at > _TICK:
            self._shown_at = time.monotonic()
            sys.stderr.write(f"\r{count_noun(self.acknowledged, 'record')} acknowledged")
            sys.stderr.flush()
