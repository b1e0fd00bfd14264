r"""A small service that selects departures delayed by 15 minutes or more, and adds their destinations.

It reads ``airports`` to the end, then ``flights.departed`` as it grows, and writes ``flights.delayed``. Unreadable
records are skipped and counted. After its standard input is closed, the service reads to the end of the topic, prints
its counts as a line of JSON, and exits.

    python examples/flights/delayed_flights.py < /dev/null \
        --bootstrap-servers 127.0.0.1:9092 --registry http://127.0.0.1:8081
"""

from __future__ import annotations

import os
import select
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson
from confluent_kafka import Consumer, Message, TopicPartition

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the modules of ``examples/`` can then be imported

from contractlog.clients import Registry
from contractlog.compatibility.errors import ContractlogError, Unreachable
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.kafka_client import quiet_config

from flights.event_writer import EventWriter, ValueFormat, create_producer
from flights.events import Event
from flights.faults import AVRO_FAULTS, SEED, FaultRate
from flights.topics import AIRCRAFT, AIRPORTS, DELAYED, DEPARTED, SERIALIZER_CONFIG, read_schema_text

MIN_DELAY: Final = 15  #: minutes
LAG_RANGE: Final = (1_000, 30_000)  #: milliseconds between a departure and the record derived from it
COPIED_FIELDS: Final = ("origin", "dest", "carrier", "flight", "tailnum", "scheduled_at", "departed_at")
BATCH_SIZE: Final = 5_000


@dataclass
class Counts:
    """The service's counts of records."""

    read: int = 0
    unreadable: int = 0
    written: int = 0
    without_airport: int = 0  #: records written whose airport is not in the list


class DelayedFlights:
    """The service, which writes a record for each delayed departure that it reads."""

    def __init__(self, bootstrap_servers: str, registry: Registry, *, with_damage: bool = False) -> None:
        self.counts = Counts()
        self._consumer = Consumer(
            quiet_config(bootstrap_servers, **{"group.id": "flights-delayed", "enable.auto.commit": False})
        )
        self._key_deserializer = AvroDeserializer(registry, read_schema_text(f"{DEPARTED}-key"))
        self._value_deserializer = AvroDeserializer(
            registry, read_schema_text(f"{DEPARTED}-value")
        )  # records of any version, as version 1
        self._airport_deserializer = AvroDeserializer(registry, read_schema_text(f"{AIRPORTS}-value"))
        text = read_schema_text(f"{DELAYED}-value")
        self._format = ValueFormat.of_avro(AvroSerializer(registry, text, conf=SERIALIZER_CONFIG), text)
        self.writer = EventWriter(
            create_producer(bootstrap_servers),
            DELAYED,
            AvroSerializer(registry, read_schema_text(f"{DELAYED}-key"), conf=SERIALIZER_CONFIG),
            FaultRate(DELAYED, AVRO_FAULTS) if with_damage else None,
            registry.version(f"{AIRCRAFT}-value", "latest").schema_id,
        )
        self._airports_by_key: dict[bytes, dict[str, Any]] = {}
        self._airports_by_code: dict[str, dict[str, Any]] = {}

    def run_until_caught_up(self) -> None:
        """Read the airports, then the departures until standard input is closed and all are read."""
        self._read(AIRPORTS, self._handle_airport, until_closed=False)
        self._airports_by_code = {airport["faa"]: airport for airport in self._airports_by_key.values()}
        self._read(DEPARTED, self._handle_departure, until_closed=True)
        self.writer.finish()
        self._consumer.close()

    def _read(self, topic: str, handle: Any, *, until_closed: bool) -> None:
        partitions = self._consumer.list_topics(topic, timeout=10).topics[topic].partitions
        self._consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        ends = None if until_closed else self._find_ends(topic, list(partitions))
        while ends is None or not self._has_reached(ends):
            if ends is None and _is_closed(sys.stdin.fileno()):
                ends = self._find_ends(topic, list(partitions))
            for message in self._consumer.consume(BATCH_SIZE, 0.2):
                if message.error() is None:
                    handle(message)

    def _find_ends(self, topic: str, partitions: list[int]) -> list[TopicPartition]:
        ends = []
        for number in partitions:
            _, end = self._consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=10)
            ends.append(TopicPartition(topic, number, end))
        return ends

    def _has_reached(self, ends: list[TopicPartition]) -> bool:
        positions = self._consumer.position(ends)
        return all(
            position.offset >= end.offset or end.offset == 0 for position, end in zip(positions, ends, strict=True)
        )

    def _handle_airport(self, message: Message) -> None:
        key, value = message.key() or b"", message.value()
        if value is None:
            self._airports_by_key.pop(key, None)
        else:
            self._airports_by_key[key] = self._airport_deserializer(
                value, SerializationContext(AIRPORTS, MessageField.VALUE)
            )

    def _handle_departure(self, message: Message) -> None:
        self.counts.read += 1
        try:
            departure = self._value_deserializer(message.value(), SerializationContext(DEPARTED, MessageField.VALUE))
            if departure is None or departure["dep_delay"] is None or departure["dep_delay"] < MIN_DELAY:
                return
            key = self._key_deserializer(message.key(), SerializationContext(DEPARTED, MessageField.KEY))
        except Unreachable:
            raise
        except ContractlogError:
            self.counts.unreadable += 1
            return
        self.writer.write(Event(_choose_event_time(message), key, self._join_airport(departure)), self._format)
        self.counts.written += 1

    def _join_airport(self, departure: dict[str, Any]) -> dict[str, Any]:
        airport = self._airports_by_code.get(departure["dest"])
        self.counts.without_airport += airport is None
        return {
            **{name: departure[name] for name in COPIED_FIELDS},
            "dest_name": airport and airport["name"],
            "dest_place": airport and {"lat": airport["place"]["lat"], "lon": airport["place"]["lon"]},
            "delay_minutes": departure["dep_delay"],
        }


def _choose_event_time(message: Message) -> datetime:
    """Return the time of the source record plus a random lag, which is the same in every run."""
    random = Random((message.offset() or 0) << 20 | (message.partition() or 0) << 12 | SEED)  # noqa: S311
    return datetime.fromtimestamp(message.timestamp()[1] / 1000, UTC) + timedelta(
        milliseconds=random.randint(*LAG_RANGE)
    )


def _is_closed(descriptor: int) -> bool:
    readable, _, _ = select.select([descriptor], [], [], 0)
    return bool(readable) and not os.read(descriptor, 1_024)


def _parse_arguments() -> Namespace:
    parser = ArgumentParser(description="Derive flights.delayed from flights.departed and airports.")
    parser.add_argument("--bootstrap-servers", required=True)
    parser.add_argument("--registry", required=True)
    parser.add_argument("--damage", action="store_true", help="damage 1 in 2,000 of the records written")
    return parser.parse_args()


def main() -> int:
    """Run the service until standard input is closed."""
    arguments = _parse_arguments()
    try:
        with Registry(arguments.registry) as registry:
            service = DelayedFlights(arguments.bootstrap_servers, registry, with_damage=arguments.damage)
            service.run_until_caught_up()
    except KeyboardInterrupt:
        return 130
    except ContractlogError as error:
        print(f"delayed: {error}", file=sys.stderr)
        return 3 if isinstance(error, Unreachable) else 2
    planted = [asdict(planted_record) for planted_record in service.writer.planted]
    print(orjson.dumps({**asdict(service.counts), "planted": planted}).decode(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
