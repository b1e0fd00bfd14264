"""Satisfiability of demands on strings: lengths, patterns and excluded values, with automata."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from contractlog.compatibility.json_schema.exact.demands import AtLeast, AtMost, Literal, Pattern, Values
from contractlog.compatibility.json_schema.exact.patterns import automaton
from contractlog.compatibility.json_schema.exact.texts import Answer, find_text

__all__ = ["none_left", "text_for"]


def none_left(literals: list[Literal], charge: Callable[[Hashable, int], None]) -> bool:
    """Return True if certainly no string satisfies the demands."""
    return text_for(literals, charge) is Answer.NONE


def text_for(literals: list[Literal], charge: Callable[[Hashable, int], None] | None = None) -> str | Answer:
    """Return a string that satisfies all supported demands, or ``Answer.NONE`` if they contradict.

    ``charge`` is called with each search of a text and the number of states that it visited.
    """
    least, most = lengths(literals)
    if most is not None and least > most:
        return Answer.NONE
    avoided = frozenset(
        text for demand, wanted in literals if isinstance(demand, Values) and not wanted
        for kind, text in demand.keys if kind == "string"
    )  # fmt: skip
    patterns = [(demand.text, wanted) for demand, wanted in literals if isinstance(demand, Pattern)]
    understood = tuple((made, wanted) for text, wanted in sorted(patterns) if (made := automaton(text)))
    if not understood:
        return _filled(least, most, avoided)
    search = (understood, least, most, avoided)
    found, visits = find_text(*search)
    if charge is not None:
        charge(search, visits)
    return found


def lengths(literals: list[Literal]) -> tuple[int, int | None]:
    """Return the minimum and maximum size that the demands allow."""
    least, most = 0, None
    for demand, wanted in literals:
        if isinstance(demand, AtLeast) and wanted:
            least = max(least, demand.size)
        elif isinstance(demand, AtMost) and not wanted:
            least = max(least, demand.size + 1)
        elif isinstance(demand, (AtLeast, AtMost)):
            limit = demand.size if wanted else demand.size - 1
            most = limit if most is None else min(most, limit)
    return least, most


def _filled(least: int, most: int | None, avoided: frozenset[str]) -> str | Answer:
    """Return a string that satisfies limits on its length only."""
    if least > _LONGEST:
        return Answer.UNKNOWN
    if most == 0:
        return Answer.NONE if "" in avoided else ""
    length = max(least, 0 if least or "" not in avoided else 1)
    for number in range(len(avoided) + 1):
        text = _numbered(number, length)
        if text not in avoided and (most is None or len(text) <= most):
            return text
    return Answer.UNKNOWN


def _numbered(number: int, length: int) -> str:
    """Return a text of the given length, a different one for each number."""
    if not length:
        return "" if not number else "a" * number
    return (chr(ord("a") + number % 26) * length) if number < 26 else "a" * (length - 1) + chr(0x4E00 + number)  # noqa: PLR2004


_LONGEST = 10_000
