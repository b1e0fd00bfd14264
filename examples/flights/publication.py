"""Publication of the events of 2013 with contractlog's serializers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from contractlog.clients import Registry
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.json_schema import JSONSerializer

from flights.event_writer import EventWriter, Serializer, ValueFormat, create_producer
from flights.events import Event, read_aircraft, read_airports, read_departures, read_observations
from flights.faults import AVRO_FAULTS, JSON_FAULTS, SEED, FaultPlan
from flights.topics import AIRCRAFT, AIRPORTS, DEPARTED, SERIALIZER_CONFIG, WEATHER, read_schema_text
from terminal_output import TerminalOutput

__all__ = ["Publication"]

SECOND_VERSION_START: Final = datetime(2013, 7, 1, tzinfo=UTC)
SECOND_VERSION_FIELDS: Final = frozenset({"arr_delay", "air_time"})
TOMBSTONE_COUNTS: Final = {AIRPORTS: 25, AIRCRAFT: 40}  #: entries that tombstones delete at the end of the year
END_OF_YEAR: Final = datetime(2013, 12, 31, tzinfo=UTC)


class Publication:
    """The records that a run publishes; ``writers`` has their counts and the planted damage."""

    def __init__(
        self, bootstrap_servers: str, registry: Registry, output: TerminalOutput, limit: int | None = None
    ) -> None:
        self._registry, self._output, self._limit = registry, output, limit
        self._producer = create_producer(bootstrap_servers)
        self._foreign_schema_id = registry.version(f"{AIRCRAFT}-value", "latest").schema_id
        self._departures = read_departures(limit)
        self.writers: list[EventWriter] = []

    def publish_tables(self) -> None:
        """Publish all airports and aircraft, and then tombstones for some of them.

        The last record is an entry again: it starts a new segment, and only earlier segments are compacted. For
        this, the last record and the tombstones must be in batches of their own.
        """
        destinations = {event.value["dest"] for event in self._departures if event.value}
        for topic, events in ((AIRPORTS, read_airports()), (AIRCRAFT, read_aircraft())):
            random = Random(f"{SEED} {topic}")  # noqa: S311  # the same tombstones in every run
            unused = [event for event in events if event.key not in destinations]
            deleted = random.sample(unused, TOMBSTONE_COUNTS[topic])
            tombstones = [Event(END_OF_YEAR, event.key, None) for event in deleted]
            last = next(event for event in events if event not in deleted)
            last_event = Event(END_OF_YEAR + timedelta(hours=1), last.key, last.value)
            value_format = self._create_avro_format(f"{topic}-value")
            writer = self._create_writer(topic, self._create_avro_format(f"{topic}-key").serialize)
            for batch in (events, tombstones, [last_event]):
                self._write_events(writer, batch, value_format)

    def publish_weather(self) -> None:
        """Publish the observations, as JSON."""
        events = read_observations(self._limit)
        text = read_schema_text(f"{WEATHER}-value")
        value_format = ValueFormat(JSONSerializer(text, self._registry, conf=SERIALIZER_CONFIG))
        plan = FaultPlan(WEATHER, len(events), JSON_FAULTS)
        self._write_events(
            self._create_writer(WEATHER, self._create_avro_format(f"{WEATHER}-key").serialize, plan),
            events,
            value_format,
        )

    def publish_departures(self) -> None:
        """Publish the departures; from 1 July on, in the second version of their schema."""
        events = self._departures
        plan = FaultPlan(DEPARTED, len(events), AVRO_FAULTS)
        writer = self._create_writer(DEPARTED, self._create_avro_format(f"{DEPARTED}-key").serialize, plan)
        first_version_events = [
            _remove_second_version_fields(event) for event in events if event.at < SECOND_VERSION_START
        ]
        second_version_events = events[len(first_version_events) :]
        with self._output.start_progress(f"publishing {DEPARTED}", len(events)) as progress:
            for version, batch in ((1, first_version_events), (2, second_version_events)):
                value_format = self._create_avro_format(f"{DEPARTED}-value", version)
                for indices in progress.iterate_slices(batch):
                    for index in indices:
                        writer.write(batch[index], value_format)
            writer.finish()

    def _write_events(self, writer: EventWriter, events: Sequence[Event], value_format: ValueFormat) -> None:
        with self._output.start_progress(f"publishing {writer.topic}", len(events)) as progress:
            for indices in progress.iterate_slices(events):
                for index in indices:
                    writer.write(events[index], value_format)
            writer.finish()

    def _create_writer(self, topic: str, key: Serializer, plan: FaultPlan | None = None) -> EventWriter:
        writer = EventWriter(self._producer, topic, key, plan, self._foreign_schema_id)
        self.writers.append(writer)
        return writer

    def _create_avro_format(self, subject: str, version: int = 1) -> ValueFormat:
        text = read_schema_text(subject, version)
        return ValueFormat.of_avro(AvroSerializer(self._registry, text, conf=SERIALIZER_CONFIG), text)


def _remove_second_version_fields(event: Event) -> Event:
    value = {
        name: field_value for name, field_value in (event.value or {}).items() if name not in SECOND_VERSION_FIELDS
    }
    return event._replace(value=value)
