"""The rule step of the demo: a rule of a contract in a serializer, in a dead letter queue, and in CI."""

from __future__ import annotations

import time
from typing import Final

from ci_step import CIStep
from confluent_kafka import Consumer, Message, TopicPartition

from contractlog.clients import Registry
from contractlog.compatibility.errors import Unreachable
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.errors import RuleFailed
from contractlog.serdes.kafka_client import quiet_config
from contractlog.serdes.rules import RuleOverride, RuleRegistry

from demo_environment import DemoEnvironment
from flights.event_writer import EventWriter, ValueFormat, create_producer
from flights.events import parse_departure
from flights.faults import Fault, FaultPlan, Planted
from flights.topics import DEPARTED, DEPARTED_DLQ, SERIALIZER_CONFIG, read_schema_text
from interruption import INTERRUPTION_GUARD

__all__ = ["RuleStep"]

VERSION: Final = 2
DLQ_TIMEOUT_SECONDS: Final = 30.0
DEPARTURE_WITHOUT_DISTANCE: Final = parse_departure({
    "time_hour": "2013-12-31T18:00:00Z", "minute": "30", "dep_delay": "3", "year": "2013", "month": "12", "day": "31",
    "carrier": "UA", "flight": "1545", "origin": "EWR", "dest": "IAH", "tailnum": "N14228",
    "distance": "0", "arr_delay": "7", "air_time": "227",
})  # fmt: skip
#: The record is written as it is; a serializer that does not run the rule has let it pass.
RULE_NOT_RUN: Final = Fault("rule not run", "value", Outcome.RULE_BROKEN, lambda _, record: record.value)


class RuleStep:
    """A record that breaks a rule, from two producers, and a schema change that breaks the rule itself."""

    def __init__(self, environment: DemoEnvironment, ci_step: CIStep) -> None:
        self._output, self._ci_step = environment.output, ci_step
        self._bootstrap_servers, self._registry_url = environment.broker.bootstrap_servers, environment.registry_url

    def run(self) -> list[Planted]:
        """Return the record of the producer that does not run the rule."""
        with Registry(self._registry_url) as registry:
            self._reject_record(registry)
            planted = self._bypass_rule(registry)
        self._ci_step.reject_renamed_field()
        return planted

    def _reject_record(self, registry: Registry) -> None:
        rule_conf = {"producer": create_producer(self._bootstrap_servers), "dlq.auto.flush": True}
        serialize = AvroSerializer(registry, self._text, conf=SERIALIZER_CONFIG, rule_conf=rule_conf)
        serialize_key = _create_key_serializer(registry)
        serialize_key(DEPARTURE_WITHOUT_DISTANCE.key, SerializationContext(DEPARTED, MessageField.KEY))
        try:
            serialize(DEPARTURE_WITHOUT_DISTANCE.value, SerializationContext(DEPARTED, MessageField.VALUE))
        except RuleFailed as error:
            self._output.print_indented(f"the serializer rejects a departure with distance 0: {error}")
        message = _read_first_record(self._bootstrap_servers, DEPARTED_DLQ)
        self._output.print_indented(f"{DEPARTED_DLQ} received the departure, with the headers")
        for name, value in message.headers() or ():
            self._output.print_indented(f"  {name}: {value.decode() if isinstance(value, bytes) else value}")

    def _bypass_rule(self, registry: Registry) -> list[Planted]:
        rule_registry = RuleRegistry()
        rule_registry.register_override(RuleOverride("CEL", disabled=True))
        serialize = AvroSerializer(registry, self._text, conf=SERIALIZER_CONFIG, rule_registry=rule_registry)
        writer = EventWriter(
            create_producer(self._bootstrap_servers),
            DEPARTED,
            _create_key_serializer(registry),
            FaultPlan(f"{DEPARTED} rule", 1, (RULE_NOT_RUN,)),
        )
        writer.write(DEPARTURE_WITHOUT_DISTANCE, ValueFormat.of_avro(serialize, self._text))
        writer.finish()
        for record in writer.planted:
            self._output.print_indented(
                f"a producer that runs no rules writes the same departure: {record.topic} partition "
                f"{record.partition} offset {record.offset}; the audit has to find it"
            )
        return writer.planted

    @property
    def _text(self) -> str:
        return read_schema_text(f"{DEPARTED}-value", VERSION)


def _create_key_serializer(registry: Registry) -> AvroSerializer:
    return AvroSerializer(registry, read_schema_text(f"{DEPARTED}-key"), conf=SERIALIZER_CONFIG)


def _read_first_record(bootstrap_servers: str, topic: str) -> Message:
    """Return the first record of a topic with one partition.

    Raises:
        Unreachable: there is none.
    """
    consumer = Consumer(quiet_config(bootstrap_servers, **{"group.id": "demo-dlq"}))
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        deadline = time.monotonic() + DLQ_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            with INTERRUPTION_GUARD:
                message = consumer.poll(0.5)
            if message is not None and message.error() is None:
                return message
        raise Unreachable(f"{topic} has no record")
    finally:
        consumer.close()
