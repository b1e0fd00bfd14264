"""Publication of the events of 2013 (departures, weather, airports, aircraft) with our serializers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from contractlog.clients import Registry
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.json_schema import JSONSerializer

from flights import data
from flights.data import Event
from flights.faults import AVRO, JSON, SEED, Plan
from flights.topics import AIRCRAFT, AIRPORTS, DEPARTED, READY_MADE, WEATHER, schema_text
from flights.writer import Format, Serializer, Writer, producer
from talk import Talk

__all__ = ["Publication"]

SECOND_VERSION_SINCE: Final = datetime(2013, 7, 1, tzinfo=UTC)
NOT_IN_VERSION_1: Final = frozenset({"arr_delay", "air_time"})
CLOSED: Final = {AIRPORTS: 25, AIRCRAFT: 40}  #: entries that tombstones delete at the end of the year
YEAR_ENDS: Final = datetime(2013, 12, 31, tzinfo=UTC)


class Publication:
    """Everything that one run publishes; ``writers`` has the counts and the planted damage."""

    def __init__(self, bootstrap_servers: str, registry: Registry, talk: Talk, limit: int | None = None) -> None:
        self._registry, self._talk, self._limit = registry, talk, limit
        self._producer = producer(bootstrap_servers)
        self._foreign_id = registry.version(f"{AIRCRAFT}-value", "latest").schema_id
        self._departures = data.departures(limit)
        self.writers: list[Writer] = []

    def tables(self) -> None:
        """Publish airports and aircraft: all of them, then tombstones for those that closed.

        The last record is an entry again: it begins a new segment, and only earlier segments are compacted. For that it
        must
        come in a batch of its own, as must the tombstones.
        """
        visited = {event.value["dest"] for event in self._departures if event.value}
        for topic, events in ((AIRPORTS, data.airports()), (AIRCRAFT, data.aircraft())):
            gone = Random(f"{SEED} {topic}").sample([e for e in events if e.key not in visited], CLOSED[topic])  # noqa: S311
            tombstones = [Event(YEAR_ENDS, event.key, None) for event in gone]
            last = next(event for event in events if event not in gone)
            roll = Event(YEAR_ENDS + timedelta(hours=1), last.key, last.value)
            form = self._avro(f"{topic}-value")
            writer = self._writer(topic, self._avro(f"{topic}-key").serialize)
            for part in (events, tombstones, [roll]):
                self._write(writer, part, form)

    def weather(self) -> None:
        """Publish the observations, as JSON."""
        events = data.observations(self._limit)
        text = schema_text(f"{WEATHER}-value")
        form = Format(JSONSerializer(text, self._registry, conf=READY_MADE))
        plan = Plan(WEATHER, len(events), JSON)
        self._write(self._writer(WEATHER, self._avro(f"{WEATHER}-key").serialize, plan), events, form)

    def departures(self) -> None:
        """Publish the departures; from 1 July on, in the second version of their schema."""
        events = self._departures
        plan = Plan(DEPARTED, len(events), AVRO)
        writer = self._writer(DEPARTED, self._avro(f"{DEPARTED}-key").serialize, plan)
        before = [_without_arrival(event) for event in events if event.at < SECOND_VERSION_SINCE]
        since = events[len(before) :]
        with self._talk.progress(f"publishing {DEPARTED}", len(events)) as progress:
            for version, part in ((1, before), (2, since)):
                form = self._avro(f"{DEPARTED}-value", version)
                for span in progress.each(part):
                    for index in span:
                        writer.write(part[index], form)
            writer.finish()

    def _write(self, writer: Writer, events: Sequence[Event], form: Format) -> None:
        with self._talk.progress(f"publishing {writer.topic}", len(events)) as progress:
            for span in progress.each(events):
                for index in span:
                    writer.write(events[index], form)
            writer.finish()

    def _writer(self, topic: str, key: Serializer, plan: Plan | None = None) -> Writer:
        writer = Writer(self._producer, topic, key, plan, self._foreign_id)
        self.writers.append(writer)
        return writer

    def _avro(self, subject: str, version: int = 1) -> Format:
        text = schema_text(subject, version)
        return Format.of_avro(AvroSerializer(self._registry, text, conf=READY_MADE), text)


def _without_arrival(event: Event) -> Event:
    value = {name: known for name, known in (event.value or {}).items() if name not in NOT_IN_VERSION_1}
    return event._replace(value=value)
