"""Formatting of numbers, shares, times and outcome codes for people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from contractlog.contracts.observed.outcomes import Outcome

__all__ = ["MEANINGS", "count", "day", "moment", "percent", "plural", "share", "significant"]

_HUNDREDTH_OF_A_PERCENT: Final = 0.0001

MEANINGS: Final[Mapping[str, str]] = {
    Outcome.NOT_FRAMED.name: "no schema id before the body, and no id or guid in a header",
    Outcome.UNKNOWN_SCHEMA_ID.name: "the registry does not know the schema id",
    Outcome.WRONG_SUBJECT.name: "the schema id belongs to a subject that the topic's strategy does not allow",
    Outcome.TRUNCATED.name: "the bytes end early",
    Outcome.BAD_VARINT.name: "a number is longer than its type allows",
    Outcome.INT_OUT_OF_RANGE.name: "an int holds more than 32 bits",
    Outcome.BAD_LENGTH.name: "a length is negative or over the limit",
    Outcome.BAD_UTF8.name: "a string is not UTF-8",
    Outcome.BAD_ENUM_INDEX.name: "an enum index names no symbol",
    Outcome.BAD_UNION_INDEX.name: "a union index names no branch",
    Outcome.BAD_BOOLEAN.name: "a boolean is neither 0 nor 1",
    Outcome.TOO_DEEP.name: "the value is nested deeper than the limit",
    Outcome.TOO_MANY_ITEMS.name: "an array or map holds more items than the limit",
    Outcome.TRAILING_BYTES.name: "the value decodes, and bytes are left over",
    Outcome.LOGICAL_TYPE.name: "the value decodes, but breaks the rule of its logical type",
    Outcome.NOT_JSON.name: "the bytes are not JSON",
    Outcome.SCHEMA_VIOLATION.name: "the JSON is not what the schema admits",
    Outcome.RULE_BROKEN.name: "the value breaks a rule of its contract",
}


def count(number: int) -> str:
    """Write a whole number with its thousands separated.

    >>> count(336776)
    '336,776'
    """
    return f"{number:,}"


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """Write a counted noun.

    >>> plural(1, "record"), plural(2112, "record")
    ('1 record', '2,112 records')
    """
    return f"{count(number)} {noun if number == 1 else nouns or noun + 's'}"


def significant(number: float) -> str:
    """Write a number with three significant digits.

    >>> significant(0.08204), significant(12.345), significant(100.0)
    ('0.082', '12.3', '100')
    """
    text = f"{number:.3g}"
    return text if "e" not in text else f"{number:.0f}"


def share(part: int, whole: int) -> str:
    """Write a share with its counts.

    >>> share(276, 336776), share(0, 0), share(1, 10**9)
    ('276 of 336,776 (0.082 %)', '0 of 0', '1 of 1,000,000,000 (under 0.01 %)')
    >>> share(336622, 336776), share(336775, 336776), share(2, 2)
    ('336,622 of 336,776 (99.95 %)', '336,775 of 336,776 (over 99.99 %)', '2 of 2 (100 %)')
    """
    counts = f"{count(part)} of {count(whole)}"
    if whole == 0:
        return counts
    if 0 < part / whole < _HUNDREDTH_OF_A_PERCENT:
        return f"{counts} (under 0.01 %)"
    if 1 - _HUNDREDTH_OF_A_PERCENT < part / whole < 1:
        return f"{counts} (over 99.99 %)"
    if 0.99 < part / whole < 1:  # noqa: PLR2004 - close to 100 %, the missing share matters
        return f"{counts} ({100 * part / whole:.2f} %)"
    return f"{counts} ({significant(round(100 * part / whole, 3))} %)"


def percent(part: float) -> str:
    """Write a share alone, with as many digits as it has.

    >>> percent(0.999), percent(1.0), percent(0.99999)
    ('99.9 %', '100 %', '99.999 %')
    """
    return f"{round(100 * part, 9):.10g} %"


def moment(iso: str) -> str:
    """Write a UTC time for people.

    >>> moment("2013-07-01T04:12:30Z")
    '1 July 2013 04:12 UTC'
    """
    try:
        at = datetime.fromisoformat(iso).astimezone(UTC)
    except ValueError:
        return iso or "no time"
    return f"{at.day} {at:%B %Y %H:%M} UTC"


def day(iso: str) -> str:
    """Write a UTC day for people.

    >>> day("2013-07-01"), day("")
    ('1 July 2013', 'no time')
    """
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return iso or "no time"
    return f"{at.day} {at:%B %Y}"
