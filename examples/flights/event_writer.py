"""Writer of events, which serializes, damages some as planned, sends, and counts acknowledged records."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

from confluent_kafka import KafkaError, Message, Producer

from contractlog.compatibility.errors import Unreachable
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.kafka_client import quiet_config

from flights.avro_spans import find_field_spans
from flights.events import Event
from flights.faults import HEADER_LENGTH, Fault, FaultPlan, FaultRate, Planted, Record
from interruption import INTERRUPTION_GUARD

__all__ = ["EventWriter", "ValueFormat", "create_producer"]

FLUSH_TIMEOUT_SECONDS: Final = 60.0
RECORDS_PER_POLL: Final = 500
POLL_SECONDS: Final = 0.2  #: seconds by which an interruption may be delayed

Serializer: TypeAlias = Callable[[Any, SerializationContext], bytes | None]


@dataclass(frozen=True, slots=True)
class ValueFormat:
    """The encoding of values of one schema version."""

    serialize: Serializer
    avro_schema: Mapping[str, Any] | None = None  #: the schema of an Avro value, by which its fields are located

    @classmethod
    def of_avro(cls, serialize: Serializer, text: str) -> ValueFormat:
        """Return the format of an Avro schema."""
        return cls(serialize, json.loads(text))


def create_producer(bootstrap_servers: str) -> Producer:
    """Return a producer that neither loses nor duplicates records, and does not log."""
    settings = {"enable.idempotence": True, "linger.ms": 20, "compression.type": "zstd"}
    return Producer(quiet_config(bootstrap_servers, **settings, partitioner="murmur2_random"))


@dataclass
class EventWriter:
    """Writer of events to one topic."""

    producer: Producer
    topic: str
    key_serializer: Serializer
    fault_plan: FaultPlan | FaultRate | None = None
    foreign_id: int = 0  #: the id of another subject's schema, for damage
    acknowledged_count: int = 0
    planted: list[Planted] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._key_context = SerializationContext(self.topic, MessageField.KEY)
        self._value_context = SerializationContext(self.topic, MessageField.VALUE)
        self._sent_count = 0

    def write(self, event: Event, value_format: ValueFormat) -> None:
        """Send one event, timestamped with the time at which it happened.

        Raises:
            Unreachable: the broker rejected an earlier record.
        """
        key = self.key_serializer(event.key, self._key_context)
        value = None if event.value is None else value_format.serialize(event.value, self._value_context)
        fault = self.fault_plan.choose_fault(self._sent_count) if self.fault_plan else None
        acknowledge = self._acknowledge
        if fault and self.fault_plan and key is not None and value is not None:
            key, value = fault.apply(self.fault_plan.random, self._record(key, value, event, value_format))
            acknowledge = partial(self._acknowledge_damaged, fault)
        self._send(key, value, event.timestamp, acknowledge)
        self._sent_count += 1

    def finish(self) -> None:
        """Wait until the broker has acknowledged everything.

        Raises:
            Unreachable: it did not acknowledge all records.
        """
        deadline = time.monotonic() + FLUSH_TIMEOUT_SECONDS
        while len(self.producer) and time.monotonic() < deadline:
            with INTERRUPTION_GUARD:
                self.producer.flush(POLL_SECONDS)
        if len(self.producer) or self.acknowledged_count < self._sent_count:
            raise Unreachable(
                f"the broker acknowledged {self.acknowledged_count:,} of {self._sent_count:,} records of {self.topic}"
            )

    def _record(self, key: bytes, value: bytes, event: Event, value_format: ValueFormat) -> Record:
        spans = find_field_spans(value_format.avro_schema, value[HEADER_LENGTH:]) if value_format.avro_schema else None
        return Record(key, value, event.value or {}, spans, self.foreign_id)

    def _send(self, key: bytes | None, value: bytes | None, timestamp: int, acknowledge: Callable[..., None]) -> None:
        while True:
            try:
                self.producer.produce(self.topic, value=value, key=key, timestamp=timestamp, on_delivery=acknowledge)
            except BufferError:  # the queue is full: give the broker time
                self._poll(POLL_SECONDS)
            else:
                break
        if self._sent_count % RECORDS_PER_POLL == 0:
            self._poll(0)

    def _poll(self, seconds: float) -> None:
        """Process acknowledgements, and defer interruptions meanwhile."""
        with INTERRUPTION_GUARD:
            self.producer.poll(seconds)

    def _acknowledge(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise Unreachable(f"the broker rejected a record of {message.topic()}: {error}")
        self.acknowledged_count += 1

    def _acknowledge_damaged(self, fault: Fault, error: KafkaError | None, message: Message) -> None:
        self._acknowledge(error, message)
        position = self.topic, int(message.partition() or 0), int(message.offset() or 0)
        self.planted.append(Planted(*position, fault.part, fault.kind, fault.outcome.name))
