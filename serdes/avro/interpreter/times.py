"""Logical types of dates, times of day and timestamps.

A datetime without a zone is local time, as everywhere in Python; fractions below the schema's unit are cut off. Dates
and timestamps that Python cannot represent (outside the years 1 to 9999, which real systems write for "never") stay
raw numbers.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from contractlog.serdes.avro.interpreter.codecs import LENIENT_HINT, Codec
from contractlog.serdes.avro.interpreter.decimal_and_uuid import LogicalCodec, rule_failure
from contractlog.serdes.avro.interpreter.failure import describe_value

__all__ = ["DAY_RANGE", "EPOCH_DAY", "DateCodec", "LocalTimestampCodec", "NanosCodec", "TimeCodec", "TimestampCodec"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 -- local timestamps have no zone
EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
DAY_RANGE: Final = (1 - EPOCH_DAY, date.max.toordinal() - EPOCH_DAY)  #: days of the years 1 to 9999
_MICROSECOND_DELTA: Final = timedelta(microseconds=1)
_SECONDS_PER_DAY: Final = 86_400
_MILLIS_PER_DAY: Final = 86_400_000
_MICROS_PER_MILLI: Final = 1_000  #: microseconds
_NANOS_PER_MICRO: Final = 1_000  #: in a microsecond
_MICROS_PER_SECOND: Final = 1_000_000


class DateCodec(LogicalCodec):
    """A date, as the number of days since 1970-01-01."""

    expected = "a date"
    accepts = "date or int"

    def to_logical(self, raw: Any) -> date | Any:
        """Return the date if its year is within 1 to 9999, else the raw number."""
        try:
            return date.fromordinal(raw + EPOCH_DAY)
        except (ValueError, OverflowError):
            return raw

    def to_raw(self, value: Any) -> Any:
        """Return the number of days of a date, an ISO text or a datetime at midnight; other times of day fail."""
        if isinstance(value, str):
            try:
                value = date.fromisoformat(value)
            except ValueError:
                raise rule_failure(f"{describe_value(value)} is not a date") from None
        if isinstance(value, datetime) and value.time() != time.min:
            raise rule_failure(f"{value} is not a date, because it has a time of day{LENIENT_HINT}")
        return self.to_raw_leniently(value)

    def to_raw_leniently(self, value: Any) -> Any:
        """Return the number of days, ignoring any time of day."""
        return value.toordinal() - EPOCH_DAY if isinstance(value, date) else value

    def fits(self, value: Any) -> bool:
        """Return whether the value is a date without a time of day, or a raw number."""
        return (isinstance(value, date) and not isinstance(value, datetime)) or self.raw.fits(value)


class TimeCodec(LogicalCodec):
    """A time of day, as milliseconds or microseconds since midnight."""

    expected = "a time of day"
    accepts = "time or int"

    def __init__(self, raw: Codec, per_second: int) -> None:
        super().__init__(raw)
        self.per_second = per_second
        self._unit = _MICROS_PER_SECOND // per_second
        self._day = _SECONDS_PER_DAY * per_second

    def to_logical(self, raw: Any) -> time:
        """Return the time of day."""
        self._check_range(raw)
        seconds, micros = divmod(raw * self._unit, _MICROS_PER_SECOND)
        return time(seconds // 3600, seconds // 60 % 60, seconds % 60, micros)

    def to_raw(self, value: Any) -> Any:
        """Return the number of units since midnight; fractions below the unit are dropped."""
        if isinstance(value, time):
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return (seconds * _MICROS_PER_SECOND + value.microsecond) // self._unit
        if self.raw.fits(value):
            self._check_range(value)
        return value

    def fits(self, value: Any) -> bool:
        """Return whether the value is a time of day or a raw number."""
        return isinstance(value, time) or self.raw.fits(value)

    def _check_range(self, raw: int) -> None:
        if not 0 <= raw < self._day:
            raise rule_failure(f"{describe_value(raw)} is not a time of day")


class TimestampCodec(LogicalCodec):
    """A point in time, as milliseconds or microseconds since 1970-01-01 UTC."""

    expected = "a timestamp"
    accepts = "datetime or int"
    epoch = _EPOCH

    def __init__(self, raw: Codec, per_second: int) -> None:
        super().__init__(raw)
        self.per_second = per_second
        self._unit = _MICROS_PER_SECOND // per_second

    def to_logical(self, raw: Any) -> datetime | Any:
        """Return the datetime if its year is within 1 to 9999, else the raw number."""
        try:
            return self.epoch + timedelta(microseconds=raw * self._unit)
        except OverflowError:
            return raw

    def to_raw(self, value: Any) -> Any:
        """Return the number of units since 1970; fractions below the unit are dropped."""
        if type(value) is datetime and value.tzinfo is UTC and self.epoch is _EPOCH:
            since = value - _EPOCH
            if self._unit == _MICROS_PER_MILLI:
                return since.days * _MILLIS_PER_DAY + since.seconds * 1000 + since.microseconds // _MICROS_PER_MILLI
            return (since.days * _SECONDS_PER_DAY + since.seconds) * _MICROS_PER_SECOND + since.microseconds
        if not isinstance(value, datetime):
            return value
        return (self._with_zone(value) - self.epoch) // _MICROSECOND_DELTA // self._unit

    def fits(self, value: Any) -> bool:
        """Return whether the value is a datetime or a raw number."""
        return isinstance(value, datetime) or self.raw.fits(value)

    def _with_zone(self, value: datetime) -> datetime:
        try:
            return value if value.tzinfo is not None else value.astimezone(UTC)
        except (OverflowError, ValueError):
            raise rule_failure(f"{value} is beyond the years 1 to 9999 in UTC") from None


class LocalTimestampCodec(TimestampCodec):
    """A local date and time of day; a zone, if given, is dropped."""

    epoch = _LOCAL_EPOCH

    def _with_zone(self, value: datetime) -> datetime:
        return value.replace(tzinfo=None)


class NanosCodec(TimestampCodec):
    """A timestamp in nanoseconds since 1970, read as the raw number: Python has no type for it."""

    expected = "a timestamp"
    accepts = "datetime, or int of nanoseconds,"

    def __init__(self, raw: Codec, *, local: bool) -> None:
        super().__init__(raw, _MICROS_PER_SECOND)
        self._micros = (
            LocalTimestampCodec(raw, _MICROS_PER_SECOND) if local else TimestampCodec(raw, _MICROS_PER_SECOND)
        )

    def to_logical(self, raw: Any) -> Any:
        """Return the number of nanoseconds."""
        return raw

    def to_raw(self, value: Any) -> Any:
        """Return the number of nanoseconds since 1970."""
        return self._micros.to_raw(value) * _NANOS_PER_MICRO if isinstance(value, datetime) else value
