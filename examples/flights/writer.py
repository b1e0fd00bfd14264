"""Writer of events: serializes, damages where planned, sends, and counts acknowledged records."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

from confluent_kafka import KafkaError, Message, Producer
from interruption import HELD

from contractlog.compatibility.errors import Unreachable
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.kafka_client import quiet_config

from flights.avro_spans import field_spans
from flights.data import Event
from flights.faults import HEADER, Fault, Plan, Planted, Rate, Record

__all__ = ["Format", "Writer", "producer"]

FLUSH_WITHIN: Final = 60.0
POLL_EVERY: Final = 500
TICK: Final = 0.2  #: seconds by which an interruption may be delayed

Serializer: TypeAlias = Callable[[Any, SerializationContext], bytes | None]


@dataclass(frozen=True, slots=True)
class Format:
    """The encoding of values of one schema version."""

    serialize: Serializer
    avro: Mapping[str, Any] | None = None  #: the schema of an Avro value, by which its fields are located

    @classmethod
    def of_avro(cls, serialize: Serializer, text: str) -> Format:
        """Return the format of an Avro schema."""
        return cls(serialize, json.loads(text))


def producer(bootstrap_servers: str) -> Producer:
    """Return a producer that neither loses nor duplicates records, and does not log."""
    settings = {"enable.idempotence": True, "linger.ms": 20, "compression.type": "zstd"}
    return Producer(quiet_config(bootstrap_servers, **settings, partitioner="murmur2_random"))


@dataclass
class Writer:
    """Writer of events to one topic."""

    producer: Producer
    topic: str
    key: Serializer
    plan: Plan | Rate | None = None
    foreign_id: int = 0  #: the id of another subject's schema, for damage
    acknowledged: int = 0
    planted: list[Planted] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._key_context = SerializationContext(self.topic, MessageField.KEY)
        self._value_context = SerializationContext(self.topic, MessageField.VALUE)
        self._sent = 0

    def write(self, event: Event, form: Format) -> None:
        """Send one event, timestamped with the time at which it happened.

        Raises:
            Unreachable: the broker rejected an earlier record.
        """
        key = self.key(event.key, self._key_context)
        value = None if event.value is None else form.serialize(event.value, self._value_context)
        fault = self.plan.fault(self._sent) if self.plan else None
        acknowledge = self._acknowledge
        if fault and self.plan and key is not None and value is not None:
            key, value = fault.apply(self.plan.random, self._record(key, value, event, form))
            acknowledge = partial(self._note, fault)
        self._send(key, value, event.timestamp, acknowledge)
        self._sent += 1

    def finish(self) -> None:
        """Wait until the broker has acknowledged everything.

        Raises:
            Unreachable: it did not acknowledge all records.
        """
        deadline = time.monotonic() + FLUSH_WITHIN
        while len(self.producer) and time.monotonic() < deadline:
            with HELD:
                self.producer.flush(TICK)
        if len(self.producer) or self.acknowledged < self._sent:
            raise Unreachable(
                f"the broker acknowledged {self.acknowledged:,} of {self._sent:,} records of {self.topic}"
            )

    def _record(self, key: bytes, value: bytes, event: Event, form: Format) -> Record:
        spans = field_spans(form.avro, value[HEADER:]) if form.avro else None
        return Record(key, value, event.value or {}, spans, self.foreign_id)

    def _send(self, key: bytes | None, value: bytes | None, timestamp: int, acknowledge: Callable[..., None]) -> None:
        while True:
            try:
                self.producer.produce(self.topic, value=value, key=key, timestamp=timestamp, on_delivery=acknowledge)
            except BufferError:  # the queue is full: give the broker time
                self._poll(TICK)
            else:
                break
        if self._sent % POLL_EVERY == 0:
            self._poll(0)

    def _poll(self, seconds: float) -> None:
        """Process acknowledgements; meanwhile only they may raise."""
        with HELD:
            self.producer.poll(seconds)

    def _acknowledge(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise Unreachable(f"the broker refused a record of {message.topic()}: {error}")
        self.acknowledged += 1

    def _note(self, fault: Fault, error: KafkaError | None, message: Message) -> None:
        self._acknowledge(error, message)
        place = self.topic, int(message.partition() or 0), int(message.offset() or 0)
        self.planted.append(Planted(*place, fault.part, fault.kind, fault.outcome.name))
