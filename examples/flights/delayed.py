"""A small service that derives departures delayed by 15 minutes or more, with their destinations.

It reads ``airports`` to its end, then ``flights.departed`` as it grows, and writes ``flights.delayed``. Records that it
cannot read are skipped and counted. It ends when its standard input closes, once it has caught up, and prints its
counts as one line of JSON.

    python examples/flights/delayed.py --bootstrap-servers 127.0.0.1:9092 --registry http://127.0.0.1:8081 < /dev/null
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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a script then finds the modules of ``examples/``

from contractlog.clients import Registry
from contractlog.compatibility.errors import ContractlogError, Unreachable
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.kafka_client import quiet_config

from flights.data import Event
from flights.faults import AVRO, SEED, Rate
from flights.topics import AIRCRAFT, AIRPORTS, DELAYED, DEPARTED, READY_MADE, schema_text
from flights.writer import Format, Writer, producer

LATE_FROM: Final = 15  #: minutes
LAG: Final = (1_000, 30_000)  #: milliseconds between a departure and the record derived from it
PASSED_ON: Final = ("origin", "dest", "carrier", "flight", "tailnum", "scheduled_at", "departed_at")
BATCH: Final = 5_000


@dataclass
class Counts:
    """The service's counts of records."""

    read: int = 0
    unreadable: int = 0
    written: int = 0
    without_place: int = 0  #: of those written, the ones whose airport is not in the list


class DelayedFlights:
    """The service: reads one record, writes none or one."""

    def __init__(self, bootstrap_servers: str, registry: Registry, *, damaging: bool = False) -> None:
        self.counts = Counts()
        self._consumer = Consumer(
            quiet_config(bootstrap_servers, **{"group.id": "flights-delayed", "enable.auto.commit": False})
        )
        self._key = AvroDeserializer(registry, schema_text(f"{DEPARTED}-key"))
        self._value = AvroDeserializer(
            registry, schema_text(f"{DEPARTED}-value")
        )  # records of any version, as version 1
        self._airport = AvroDeserializer(registry, schema_text(f"{AIRPORTS}-value"))
        text = schema_text(f"{DELAYED}-value")
        self._format = Format.of_avro(AvroSerializer(registry, text, conf=READY_MADE), text)
        self.writer = Writer(
            producer(bootstrap_servers),
            DELAYED,
            AvroSerializer(registry, schema_text(f"{DELAYED}-key"), conf=READY_MADE),
            Rate(DELAYED, AVRO) if damaging else None,
            registry.version(f"{AIRCRAFT}-value", "latest").schema_id,
        )
        self._airports: dict[bytes, dict[str, Any]] = {}
        self._by_code: dict[str, dict[str, Any]] = {}

    def run(self) -> None:
        """Read the airports, then the departures until standard input is closed and all are read."""
        self._read(AIRPORTS, self._learn, until_closed=False)
        self._by_code = {airport["faa"]: airport for airport in self._airports.values()}
        self._read(DEPARTED, self._derive, until_closed=True)
        self.writer.finish()
        self._consumer.close()

    def _read(self, topic: str, handle: Any, *, until_closed: bool) -> None:
        partitions = self._consumer.list_topics(topic, timeout=10).topics[topic].partitions
        self._consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        ends = None if until_closed else self._ends(topic, list(partitions))
        while ends is None or not self._reached(ends):
            if ends is None and _closed(sys.stdin.fileno()):
                ends = self._ends(topic, list(partitions))
            for message in self._consumer.consume(BATCH, 0.2):
                if message.error() is None:
                    handle(message)

    def _ends(self, topic: str, partitions: list[int]) -> list[TopicPartition]:
        ends = []
        for number in partitions:
            _, end = self._consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=10)
            ends.append(TopicPartition(topic, number, end))
        return ends

    def _reached(self, ends: list[TopicPartition]) -> bool:
        positions = self._consumer.position(ends)
        return all(at.offset >= end.offset or end.offset == 0 for at, end in zip(positions, ends, strict=True))

    def _learn(self, message: Message) -> None:
        key, value = message.key() or b"", message.value()
        if value is None:
            self._airports.pop(key, None)
        else:
            self._airports[key] = self._airport(value, SerializationContext(AIRPORTS, MessageField.VALUE))

    def _derive(self, message: Message) -> None:
        self.counts.read += 1
        try:
            departure = self._value(message.value(), SerializationContext(DEPARTED, MessageField.VALUE))
            if departure is None or departure["dep_delay"] is None or departure["dep_delay"] < LATE_FROM:
                return
            key = self._key(message.key(), SerializationContext(DEPARTED, MessageField.KEY))
        except Unreachable:
            raise
        except ContractlogError:
            self.counts.unreadable += 1
            return
        self.writer.write(Event(_derived_at(message), key, self._with_place(departure)), self._format)
        self.counts.written += 1

    def _with_place(self, departure: dict[str, Any]) -> dict[str, Any]:
        airport = self._by_code.get(departure["dest"])
        self.counts.without_place += airport is None
        return {
            **{name: departure[name] for name in PASSED_ON},
            "dest_name": airport and airport["name"],
            "dest_place": airport and {"lat": airport["place"]["lat"], "lon": airport["place"]["lon"]},
            "delay_minutes": departure["dep_delay"],
        }


def _derived_at(message: Message) -> datetime:
    """Return the time of the source record plus a lag that is the same in every run."""
    random = Random((message.offset() or 0) << 20 | (message.partition() or 0) << 12 | SEED)  # noqa: S311
    return datetime.fromtimestamp(message.timestamp()[1] / 1000, UTC) + timedelta(milliseconds=random.randint(*LAG))


def _closed(descriptor: int) -> bool:
    readable, _, _ = select.select([descriptor], [], [], 0)
    return bool(readable) and not os.read(descriptor, 1_024)


def _arguments() -> Namespace:
    parser = ArgumentParser(description="Derive flights.delayed from flights.departed and airports.")
    parser.add_argument("--bootstrap-servers", required=True)
    parser.add_argument("--registry", required=True)
    parser.add_argument("--damage", action="store_true", help="damage 1 in 2,000 of the records written")
    return parser.parse_args()


def main() -> int:
    """Run the service until standard input is closed."""
    arguments = _arguments()
    try:
        with Registry(arguments.registry) as registry:
            service = DelayedFlights(arguments.bootstrap_servers, registry, damaging=arguments.damage)
            service.run()
    except KeyboardInterrupt:
        return 130
    except ContractlogError as error:
        print(f"delayed: {error}", file=sys.stderr)
        return 3 if isinstance(error, Unreachable) else 2
    planted = [asdict(one) for one in service.writer.planted]
    print(orjson.dumps({**asdict(service.counts), "planted": planted}).decode(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
