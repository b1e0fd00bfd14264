"""Satisfiability of constraints on strings: lengths, patterns and excluded values, with automata."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from contractlog.compatibility.json_schema.exact.automata import MAX_CODE, MAX_CONFIGURATIONS, Automaton
from contractlog.compatibility.json_schema.exact.constraints import (
    MatchesPattern,
    MaxSize,
    MinSize,
    SignedConstraint,
    ValueIn,
)
from contractlog.compatibility.json_schema.exact.regex_compiler import compile_pattern

__all__ = ["build_string", "is_unsatisfiable", "size_limits"]


def is_unsatisfiable(signed_constraints: list[SignedConstraint], charge: Callable[[Hashable, int], None]) -> bool:
    """Return True if certainly no string satisfies the constraints."""
    return build_string(signed_constraints, charge) is NoString.NONE


def build_string(
    signed_constraints: list[SignedConstraint], charge: Callable[[Hashable, int], None] | None = None
) -> str | NoString:
    """Return a string that satisfies all supported constraints; ``NONE`` if they contradict.

    ``charge`` is called with each search of a string and the number of states that it visited.
    """
    min_length, max_length = size_limits(signed_constraints)
    if max_length is not None and min_length > max_length:
        return NoString.NONE
    excluded = frozenset(
        text for constraint, positive in signed_constraints if isinstance(constraint, ValueIn) and not positive
        for kind, text in constraint.keys if kind == "string"
    )  # fmt: skip
    patterns = [
        (constraint.text, positive)
        for constraint, positive in signed_constraints
        if isinstance(constraint, MatchesPattern)
    ]
    supported = tuple(
        (compiled, positive) for text, positive in sorted(patterns) if (compiled := compile_pattern(text))
    )
    if not supported:
        return _string_of_length(min_length, max_length, excluded)
    search = (supported, min_length, max_length, excluded)
    text, visits = find_string(*search)
    if charge is not None:
        charge(search, visits)
    return text


def size_limits(signed_constraints: list[SignedConstraint]) -> tuple[int, int | None]:
    """Return the minimum and maximum size that the constraints allow."""
    min_size, max_size = 0, None
    for constraint, positive in signed_constraints:
        if isinstance(constraint, MinSize) and positive:
            min_size = max(min_size, constraint.size)
        elif isinstance(constraint, MaxSize) and not positive:
            min_size = max(min_size, constraint.size + 1)
        elif isinstance(constraint, (MinSize, MaxSize)):
            limit = constraint.size if positive else constraint.size - 1
            max_size = limit if max_size is None else min(max_size, limit)
    return min_size, max_size


def _string_of_length(min_length: int, max_length: int | None, excluded: frozenset[str]) -> str | NoString:
    """Return a string that satisfies limits on its length only."""
    if min_length > _MAX_LENGTH:
        return NoString.UNKNOWN
    if max_length == 0:
        return NoString.NONE if "" in excluded else ""
    length = max(min_length, 0 if min_length or "" not in excluded else 1)
    for number in range(len(excluded) + 1):
        text = _numbered_string(number, length)
        if text not in excluded and (max_length is None or len(text) <= max_length):
            return text
    return NoString.UNKNOWN


def _numbered_string(number: int, length: int) -> str:
    """Return a string of the given length, a different one for each number."""
    if not length:
        return "" if not number else "a" * number
    return (chr(ord("a") + number % 26) * length) if number < 26 else "a" * (length - 1) + chr(0x4E00 + number)  # noqa: PLR2004


_MAX_LENGTH = 10_000


_MAX_VISITS: Final = 1_000_000  #: states that a search may visit; each takes less than a microsecond
_TRANSITION: Final = 8  #: what a transition itself costs, in visits


class NoString(Enum):
    """Result in place of a string."""

    NONE = "there is no such text"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _SearchState:
    """Search state: states of each automaton, length up to its limit, current prefix of an excluded text."""

    states: tuple[frozenset[int], ...]
    length: int
    excluded_prefix: str | None


@lru_cache(maxsize=1_024)
def find_string(
    patterns: tuple[tuple[Automaton, bool], ...], min_length: int, max_length: int | None, excluded: frozenset[str]
) -> tuple[str | NoString, int]:
    """Return the shortest text of an allowed length that satisfies the patterns and is not excluded.

    The number beside it is that of the states visited in the search.

    Each automaton has a flag: True if the text must match it, False if it must not. The search ends with
    ``NoString.UNKNOWN`` after a number of configurations, or of visits: classes of thousands of characters
    make each configuration expensive.
    """
    if max_length is not None and min_length > max_length:
        return NoString.NONE, 0
    limit = min_length if max_length is None else max_length + 1
    prefixes = {text[:end] for text in excluded for end in range(len(text) + 1)} if len(excluded) < 200 else None  # noqa: PLR2004
    if prefixes is None:
        return NoString.UNKNOWN, 0
    characters = _representatives([automaton for automaton, _ in patterns], prefixes)
    start_state = _SearchState(
        tuple(automaton.closure({0}, start=True) for automaton, _ in patterns), 0, "" if excluded else None
    )
    pending, visited = deque([(start_state, "")]), {start_state}
    visits = 0
    while pending:
        state, text = pending.popleft()
        if (
            state.length >= min_length
            and state.excluded_prefix not in excluded
            and _satisfies_all(patterns, state, start=not text)
        ):
            return text, visits
        if (max_length is not None and len(text) >= max_length) or _has_excluded_match(patterns, state):
            continue
        for character in characters:
            next_state = _SearchState(
                tuple(
                    automaton.step(states, character)
                    for (automaton, _), states in zip(patterns, state.states, strict=True)
                ),
                min(state.length + 1, limit),
                _extend_prefix(state.excluded_prefix, chr(character), prefixes),
            )
            visits += _TRANSITION + sum(map(len, state.states)) + sum(map(len, next_state.states))
            if visits > _MAX_VISITS:
                return NoString.UNKNOWN, visits
            if next_state not in visited:
                if len(visited) >= MAX_CONFIGURATIONS:
                    return NoString.UNKNOWN, visits
                visited.add(next_state)
                pending.append((next_state, text + chr(character)))
    return NoString.NONE, visits


def _extend_prefix(prefix: str | None, character: str, prefixes: set[str]) -> str | None:
    longer = None if prefix is None else prefix + character
    return longer if longer in prefixes else None


def _satisfies_all(patterns: Sequence[tuple[Automaton, bool]], state: _SearchState, *, start: bool) -> bool:
    """Return True if a string that ends here satisfies all patterns."""
    return all(
        automaton.accepts(states, start=start) is positive
        for (automaton, positive), states in zip(patterns, state.states, strict=True)
    )


def _has_excluded_match(patterns: Sequence[tuple[Automaton, bool]], state: _SearchState) -> bool:
    """Return True if a pattern that must not match has already been found."""
    return any(1 in states and not positive for (_, positive), states in zip(patterns, state.states, strict=True))


def _representatives(automata: Iterable[Automaton], prefixes: Iterable[str]) -> list[int]:
    """Return one character for each class of characters that all automata treat alike."""
    singles = {ord(text[-1]) for text in prefixes if text}
    cuts = {0, 0xD800, 0xE000} | {edge for code in singles for edge in (code, code + 1)}
    for automaton in automata:
        for transitions in automaton.transitions:
            for ranges, _ in transitions:
                cuts |= {edge for low, high in ranges for edge in (low, high + 1)}
    return [_pick(low, high) for low, high in _split(sorted(cut for cut in cuts if cut <= MAX_CODE)) if low != 0xD800]  # noqa: PLR2004


def _split(cuts: list[int]) -> Iterator[tuple[int, int]]:
    for position, low in enumerate(cuts):
        yield low, (cuts[position + 1] if position + 1 < len(cuts) else MAX_CODE + 1) - 1


def _pick(low: int, high: int) -> int:
    return next((code for code in map(ord, "aA0zZ9-_ .!") if low <= code <= high), max(low, min(high, 0x21)))
