"""Counts, shares, durations and sizes as text for people."""

from __future__ import annotations

from typing import Final

__all__ = ["format_bytes", "format_count", "format_duration", "format_share", "format_significant", "format_time_left"]

_HUNDREDTH_OF_A_PERCENT: Final = 0.0001
_DURATIONS: Final = ((86_400_000, "days"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_MINUTE: Final = 60
_HOUR: Final = 3600
_BYTES: Final = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def format_count(number: int) -> str:
    """Write a whole number with its thousands separated.

    >>> format_count(336776)
    '336,776'
    """
    return f"{number:,}"


def format_significant(number: float) -> str:
    """Write a number with three significant digits.

    >>> format_significant(0.08204), format_significant(12.345), format_significant(100.0)
    ('0.082', '12.3', '100')
    """
    text = f"{number:.3g}"
    return text if "e" not in text else f"{number:.0f}"


def format_share(part: int, whole: int) -> str:
    """Write a share with its counts.

    >>> format_share(276, 336776), format_share(0, 0), format_share(1, 10**9)
    ('276 of 336,776 (0.082 %)', '0 of 0', '1 of 1,000,000,000 (under 0.01 %)')
    >>> format_share(336622, 336776), format_share(336775, 336776), format_share(2, 2)
    ('336,622 of 336,776 (99.95 %)', '336,775 of 336,776 (over 99.99 %)', '2 of 2 (100 %)')
    """
    counts = f"{format_count(part)} of {format_count(whole)}"
    if whole == 0:
        return counts
    if 0 < part / whole < _HUNDREDTH_OF_A_PERCENT:
        return f"{counts} (under 0.01 %)"
    if 1 - _HUNDREDTH_OF_A_PERCENT < part / whole < 1:
        return f"{counts} (over 99.99 %)"
    if 0.99 < part / whole < 1:  # noqa: PLR2004 - close to 100 %, the missing share matters
        return f"{counts} ({100 * part / whole:.2f} %)"
    return f"{counts} ({format_significant(round(100 * part / whole, 3))} %)"


def format_duration(milliseconds: float) -> str:
    """Write a duration in its largest fitting unit.

    >>> format_duration(1_500), format_duration(90_000_000), format_duration(5)
    ('1.5 s', '1.0 days', '5 ms')
    """
    for scale, unit in _DURATIONS:
        if milliseconds >= scale:
            return f"{milliseconds / scale:.1f} {unit}"
    return f"{milliseconds:.0f} ms"


def format_time_left(seconds: float) -> str:
    """Write a duration that is counted down, in its two largest units.

    >>> format_time_left(20.4), format_time_left(70), format_time_left(7_380)
    ('20 s', '1 min 10 s', '2 h 3 min')
    """
    whole = round(seconds)
    if whole >= _HOUR:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{whole // _MINUTE} min {whole % _MINUTE} s" if whole >= _MINUTE else f"{whole} s"


def format_bytes(number: float) -> str:
    """Write a size in decimal units.

    >>> format_bytes(1), format_bytes(74), format_bytes(5_120), format_bytes(45_200_000)
    ('1 byte', '74 bytes', '5.12 kB', '45.2 MB')
    """
    for scale, unit in _BYTES:
        if number >= scale:
            return f"{format_significant(number / scale)} {unit}"
    return f"{number:.0f} {'byte' if round(number) == 1 else 'bytes'}"
