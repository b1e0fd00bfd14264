"""Counts and shares as text for people."""

from __future__ import annotations

from typing import Final

__all__ = ["format_count", "format_share", "format_significant"]

_HUNDREDTH_OF_A_PERCENT: Final = 0.0001


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
