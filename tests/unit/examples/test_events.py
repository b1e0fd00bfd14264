from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from flights import events
from flights.events import Event

NEW_YORK = ZoneInfo("America/New_York")


@pytest.fixture(scope="module")
def departures() -> list[Event]:
    return events.read_departures()


def _value(event: Event) -> dict[str, object]:
    assert event.value is not None
    return event.value


def test_all_departures_are_there(departures: list[Event]) -> None:
    assert len(departures) == 336_776


def test_real_gaps_stay_gaps(departures: list[Event]) -> None:
    gaps = {name: sum(_value(event)[name] is None for event in departures) for name in _value(departures[0])}
    assert {name: number for name, number in gaps.items() if number} == {
        "departed_at": 8_255,
        "dep_delay": 8_255,
        "tailnum": 2_512,
        "arr_delay": 9_430,
        "air_time": 9_430,
    }


def test_destinations_that_are_not_in_the_list_stay(departures: list[Event]) -> None:
    known = {event.key for event in events.read_airports()}
    assert sum(_value(event)["dest"] not in known for event in departures) == 7_602


def test_departures_come_in_the_order_in_which_they_happened(departures: list[Event]) -> None:
    times = [event.at for event in departures]
    assert times == sorted(times)
    assert times[0] == datetime(2013, 1, 1, 10, 17, tzinfo=UTC)


def test_a_flight_without_departure_has_its_scheduled_time(departures: list[Event]) -> None:
    assert all(event.at == (_value(event)["departed_at"] or _value(event)["scheduled_at"]) for event in departures)


def test_the_time_of_departure_is_the_clock_time_also_at_midnight_and_when_the_clocks_change() -> None:
    """Laws of the data that ``departures`` leans on: scheduled time plus delay is the local clock time, always."""
    off = midnights = 0
    for row in events._read_rows("flights.csv.zip"):
        if row["dep_time"] in events.MISSING_VALUES:
            continue
        local = events.parse_departure(row).at.astimezone(NEW_YORK)
        off += local.hour * 100 + local.minute != int(row["dep_time"]) % 2400
        midnights += row["dep_time"] == "2400"
    assert (off, midnights) == (0, 29)


def test_a_key_names_one_departure(departures: list[Event]) -> None:
    named = {
        (e.key["carrier"], e.key["flight"], e.key["origin"], e.key["day"], _value(e)["scheduled_at"])
        for e in departures
    }
    assert len(named) == len(departures)


def test_the_other_files_are_whole() -> None:
    assert (len(events.read_observations()), len(events.read_airports()), len(events.read_aircraft())) == (
        26_115,
        1_458,
        3_322,
    )


def test_gusts_are_mostly_missing() -> None:
    gusts = [_value(event)["wind"]["gust"] for event in events.read_observations()]  # type: ignore[index]
    assert sum(gust is None for gust in gusts) == 20_778


def test_a_limit_spreads_over_the_year(departures: list[Event]) -> None:
    few = events.sample_evenly(departures, 100)
    assert len(few) == 100
    assert {event.at.month for event in few} == set(range(1, 13))
