"""Satisfiability of demands on strings: lengths, patterns and excluded values, with automata."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from contractlog.compatibility.json_schema.exact.demands import Literal, MatchesPattern, MaxSize, MinSize, ValueIn
from contractlog.compatibility.json_schema.exact.regex_parser import compile_pattern
from contractlog.compatibility.json_schema.exact.string_search import StringSearchOutcome, find_string

__all__ = ["build_string", "is_unsatisfiable"]


def is_unsatisfiable(literals: list[Literal], charge: Callable[[Hashable, int], None]) -> bool:
    """Return True if certainly no string satisfies the demands."""
    return build_string(literals, charge) is StringSearchOutcome.NONE


def build_string(
    literals: list[Literal], charge: Callable[[Hashable, int], None] | None = None
) -> str | StringSearchOutcome:
    """Return a string that satisfies all supported demands, or ``Answer.NONE`` if they contradict.

    ``charge`` is called with each search of a text and the number of states that it visited.
    """
    min_length, max_length = size_limits(literals)
    if max_length is not None and min_length > max_length:
        return StringSearchOutcome.NONE
    excluded = frozenset(
        text for demand, wanted in literals if isinstance(demand, ValueIn) and not wanted
        for kind, text in demand.keys if kind == "string"
    )  # fmt: skip
    patterns = [(demand.text, wanted) for demand, wanted in literals if isinstance(demand, MatchesPattern)]
    supported = tuple((compiled, wanted) for text, wanted in sorted(patterns) if (compiled := compile_pattern(text)))
    if not supported:
        return _string_of_length(min_length, max_length, excluded)
    search = (supported, min_length, max_length, excluded)
    found, visits = find_string(*search)
    if charge is not None:
        charge(search, visits)
    return found


def size_limits(literals: list[Literal]) -> tuple[int, int | None]:
    """Return the minimum and maximum size that the demands allow."""
    min_size, max_size = 0, None
    for demand, wanted in literals:
        if isinstance(demand, MinSize) and wanted:
            min_size = max(min_size, demand.size)
        elif isinstance(demand, MaxSize) and not wanted:
            min_size = max(min_size, demand.size + 1)
        elif isinstance(demand, (MinSize, MaxSize)):
            limit = demand.size if wanted else demand.size - 1
            max_size = limit if max_size is None else min(max_size, limit)
    return min_size, max_size


def _string_of_length(min_length: int, max_length: int | None, excluded: frozenset[str]) -> str | StringSearchOutcome:
    """Return a string that satisfies limits on its length only."""
    if min_length > _MAX_LENGTH:
        return StringSearchOutcome.UNKNOWN
    if max_length == 0:
        return StringSearchOutcome.NONE if "" in excluded else ""
    length = max(min_length, 0 if min_length or "" not in excluded else 1)
    for number in range(len(excluded) + 1):
        text = _numbered_string(number, length)
        if text not in excluded and (max_length is None or len(text) <= max_length):
            return text
    return StringSearchOutcome.UNKNOWN


def _numbered_string(number: int, length: int) -> str:
    """Return a text of the given length, a different one for each number."""
    if not length:
        return "" if not number else "a" * number
    return (chr(ord("a") + number % 26) * length) if number < 26 else "a" * (length - 1) + chr(0x4E00 + number)  # noqa: PLR2004


_MAX_LENGTH = 10_000
