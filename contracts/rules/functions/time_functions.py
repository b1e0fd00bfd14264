"""Timestamps and durations of rule expressions: parsing, text, and parts in a time zone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from fractions import Fraction
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from contractlog.contracts.rules.rule_errors import RuleEvaluationError

__all__ = [
    "DURATION_PARTS",
    "TIMESTAMP_PARTS",
    "format_duration",
    "format_timestamp",
    "parse_duration",
    "parse_timestamp",
    "timestamp_from_epoch",
    "timestamp_part",
    "to_epoch_seconds",
]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)
_TIMESTAMP: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)
_DURATION: Final = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+|[+-]?0", re.ASCII)
_DURATION_PART: Final = re.compile(r"(\d*\.?\d*)(ns|us|µs|ms|s|m|h)", re.ASCII)
_OFFSET: Final = re.compile(r"([+-]?)(\d{2}):(\d{2})", re.ASCII)
_MICROSECONDS: Final[dict[str, int | Fraction]] = {
    "ns": Fraction(1, 1000), "us": 1, "µs": 1, "ms": 1000, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6,
}  # fmt: skip
_PRECISIONS: Final = (0, 3, 6, 9)
_MICROSECOND_DIGITS: Final = 6
_MAX_LENGTH: Final = 100
_SUNDAY: Final = 7

TIMESTAMP_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda time: time.year,
    "getMonth": lambda time: time.month - 1,
    "getDate": lambda time: time.day,
    "getDayOfMonth": lambda time: time.day - 1,
    "getDayOfWeek": lambda time: time.isoweekday() % _SUNDAY,
    "getDayOfYear": lambda time: time.timetuple().tm_yday - 1,
    "getHours": lambda time: time.hour,
    "getMinutes": lambda time: time.minute,
    "getSeconds": lambda time: time.second,
    "getMilliseconds": lambda time: time.microsecond // 1000,
}
"""Parts of a timestamp; months and days of the year, the month and the week count from 0, a date from 1."""

DURATION_PARTS: Final[dict[str, timedelta]] = {
    "getHours": timedelta(hours=1),
    "getMinutes": timedelta(minutes=1),
    "getSeconds": _SECOND,
    "getMilliseconds": timedelta(milliseconds=1),
}
"""Units into which a whole duration is converted."""


def parse_timestamp(text: str) -> datetime:
    """Parse a time of RFC 3339, such as ``2026-11-27T12:00:00Z``; digits below a microsecond are cut off."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise RuleEvaluationError(f"A text of {len(text)} characters is not a time such as 2026-11-27T12:00:00Z.")
    day, clock, fraction, zone = match.groups()
    micros = (fraction or "")[:_MICROSECOND_DIGITS].ljust(_MICROSECOND_DIGITS, "0")
    return datetime.fromisoformat(f"{day}T{clock}.{micros}{'+00:00' if zone in 'Zz' else zone}")


def timestamp_from_epoch(value: int, precision: int = 0) -> datetime:
    """Return the time of a number since 1970 with 0, 3, 6 or 9 decimals of a second."""
    if precision not in _PRECISIONS:
        raise RuleEvaluationError("The precision of a time is none of 0 (seconds), 3 (milli), 6 (micro) and 9 (nano).")
    return _EPOCH + timedelta(microseconds=value * 10**6 // 10**precision)


def format_timestamp(time: datetime) -> str:
    """Return a time in UTC, with three or six decimals if it has a fraction of a second."""
    utc = time if time.tzinfo is None else time.astimezone(UTC)
    text = f"{utc.year:04d}-{utc.month:02d}-{utc.day:02d}T{utc.hour:02d}:{utc.minute:02d}:{utc.second:02d}"
    if utc.microsecond:
        millis, rest = divmod(utc.microsecond, 1000)
        text += f".{utc.microsecond:06d}" if rest else f".{millis:03d}"
    return text + "Z"


def to_epoch_seconds(time: datetime) -> int:
    """Return the whole seconds since 1970."""
    return (time - _EPOCH) // _SECOND


def parse_duration(text: str) -> timedelta:
    """Parse a duration such as ``1h30m`` or ``-1.5s``; digits below a microsecond are cut off."""
    if len(text) > _MAX_LENGTH or not _DURATION.fullmatch(text):
        raise RuleEvaluationError(f"A text of {len(text)} characters is not a duration such as 1h30m or 1.5s.")
    micros = sum((Fraction(number.strip(".") if number[0] != "." else f"0{number}") * _MICROSECONDS[unit]
                  for number, unit in _DURATION_PART.findall(text)), Fraction(0))  # fmt: skip
    return timedelta(microseconds=-int(micros) if text.startswith("-") else int(micros))


def format_duration(duration: timedelta) -> str:
    """Return a duration in seconds: ``90s``, ``1.5s``."""
    micros = duration // timedelta(microseconds=1)
    seconds, rest = divmod(abs(micros), 10**6)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{'-' if micros < 0 else ''}{seconds}{fraction}s"


def timestamp_part(name: str) -> Callable[..., int]:
    """Return the function for a part of a timestamp or, where there is one, of a duration."""
    part = TIMESTAMP_PARTS[name]
    unit = DURATION_PARTS.get(name)

    def read_part(value: datetime | timedelta, zone: str | None = None) -> int:
        if isinstance(value, timedelta):
            if unit is None or zone is not None:
                raise RuleEvaluationError(f"A duration has no {name}().")
            return -(-value // unit) if value < timedelta(0) else value // unit
        if zone is not None:
            return part(value.astimezone(_find_zone(zone)))
        return part(value if value.tzinfo is None else value.astimezone(UTC))

    return read_part


@lru_cache(maxsize=256)
def _find_zone(name: str) -> tzinfo:
    """Return a zone by offset, ``+02:00``, or by its name in the IANA database of this system."""
    match = _OFFSET.fullmatch(name)
    if match is not None:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-offset if match[1] == "-" else offset)
    if len(name) > _MAX_LENGTH:
        raise RuleEvaluationError("The name of the time zone is too long.")
    try:
        return ZoneInfo(name)
    except (ValueError, LookupError, OSError):
        raise RuleEvaluationError(
            f"A text of {len(name)} characters is no time zone such as Europe/Zurich or +02:00."
        ) from None
