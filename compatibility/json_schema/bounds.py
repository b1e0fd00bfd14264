"""Differences of keywords with a single value: limits, and keywords that are present or absent."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from contractlog.compatibility.json_schema.pairs import Difference
from contractlog.compatibility.json_text import figure

__all__ = ["appeared", "largest", "plain", "smallest"]

_LONGEST: Final = 30

Differences = Iterator[Difference]


def largest(kind: str, word: str, before: Decimal | None, after: Decimal | None) -> Differences:
    """Compare an upper limit, which may be removed or increased."""
    return _limit(kind, word, before, after)


def smallest(kind: str, word: str, before: Decimal | None, after: Decimal | None) -> Differences:
    """Compare a lower limit, which may be removed or decreased."""
    return _limit(kind, word, before, after)


def _limit(kind: str, word: str, before: Decimal | None, after: Decimal | None) -> Differences:
    if before is None or after is None:
        yield from appeared(kind, word, plain(before), plain(after))
    elif before != after:
        change = "INCREASED" if after > before else "DECREASED"
        yield Difference(f"{kind}_{change}", (word,), (word,), (word,), plain(before), plain(after))


def appeared(kind: str, word: str, before: str, after: str) -> Differences:
    """Report a keyword that one side lacks; an empty string stands for an absent keyword."""
    if after and not before:
        yield Difference(f"{kind}_ADDED", (word,), reader=(word,), after=after)
    elif before and not after:
        yield Difference(f"{kind}_REMOVED", (word,), writer=(word,), before=before)


def plain(number: Decimal | None) -> str:
    """Format a limit for people; empty for None."""
    if number is None:
        return ""
    written = f"{number:f}" if abs(number.adjusted()) < _LONGEST else figure(number)
    return written if len(written) <= 2 * _LONGEST else figure(number)
