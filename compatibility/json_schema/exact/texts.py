"""Search for a text that matches some patterns and not others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from contractlog.compatibility.json_schema.exact.automata import MAX_CONFIGURATIONS, Automaton
from contractlog.compatibility.json_schema.exact.characters import LAST

__all__ = ["Answer", "find_text"]

_MAX_VISITS: Final = 1_000_000  #: states that a search may visit; each takes less than a microsecond
_TRANSITION: Final = 8  #: what a transition itself costs, in visits


class Answer(Enum):
    """Result in place of a text."""

    NONE = "there is no such text"
    UNKNOWN = "nobody knows"


@dataclass(frozen=True, slots=True)
class _Here:
    """Search state: states of each automaton, length up to its limit, current prefix of an excluded text."""

    states: tuple[frozenset[int], ...]
    length: int
    avoided: str | None


@lru_cache(maxsize=1_024)
def find_text(
    patterns: tuple[tuple[Automaton, bool], ...], least: int, most: int | None, avoided: frozenset[str]
) -> tuple[str | Answer, int]:
    """Return the shortest text of an allowed length that satisfies the patterns and is not in ``avoided``.

    The number beside it is that of the states visited in the search.

    Each automaton has a flag: True if the text must match it, False if it must not. The search ends with
    ``Answer.UNKNOWN`` after a number of configurations, or of visits: classes of thousands of characters make each
    configuration expensive.
    """
    if most is not None and least > most:
        return Answer.NONE, 0
    limit = least if most is None else most + 1
    prefixes = {text[:end] for text in avoided for end in range(len(text) + 1)} if len(avoided) < 200 else None  # noqa: PLR2004
    if prefixes is None:
        return Answer.UNKNOWN, 0
    characters = _representatives([one for one, _ in patterns], prefixes)
    begin = _Here(tuple(one.closure({0}, start=True) for one, _ in patterns), 0, "" if avoided else None)
    waiting, seen = deque([(begin, "")]), {begin}
    visits = 0
    while waiting:
        here, text = waiting.popleft()
        if here.length >= least and here.avoided not in avoided and _met(patterns, here, start=not text):
            return text, visits
        if (most is not None and len(text) >= most) or _lost(patterns, here):
            continue
        for character in characters:
            there = _Here(
                tuple(one.step(states, character) for (one, _), states in zip(patterns, here.states, strict=True)),
                min(here.length + 1, limit),
                _longer(here.avoided, chr(character), prefixes),
            )
            visits += _TRANSITION + sum(map(len, here.states)) + sum(map(len, there.states))
            if visits > _MAX_VISITS:
                return Answer.UNKNOWN, visits
            if there not in seen:
                if len(seen) >= MAX_CONFIGURATIONS:
                    return Answer.UNKNOWN, visits
                seen.add(there)
                waiting.append((there, text + chr(character)))
    return Answer.NONE, visits


def _longer(avoided: str | None, character: str, prefixes: set[str]) -> str | None:
    longer = None if avoided is None else avoided + character
    return longer if longer in prefixes else None


def _met(patterns: Sequence[tuple[Automaton, bool]], here: _Here, *, start: bool) -> bool:
    """Return True if a text that ends here satisfies all patterns."""
    return all(
        one.found(states, start=start) is wanted for (one, wanted), states in zip(patterns, here.states, strict=True)
    )


def _lost(patterns: Sequence[tuple[Automaton, bool]], here: _Here) -> bool:
    """Return True if a pattern that must not match has already been found."""
    return any(1 in states and not wanted for (_, wanted), states in zip(patterns, here.states, strict=True))


def _representatives(automata: Iterable[Automaton], prefixes: Iterable[str]) -> list[int]:
    """Return one character for each class of characters that all automata treat alike."""
    singles = {ord(text[-1]) for text in prefixes if text}
    cuts = {0, 0xD800, 0xE000} | {edge for code in singles for edge in (code, code + 1)}
    for one in automata:
        for moves in one.moves:
            for ranges, _ in moves:
                cuts |= {edge for low, high in ranges for edge in (low, high + 1)}
    return [_nicest(low, high) for low, high in _between(sorted(cut for cut in cuts if cut <= LAST)) if low != 0xD800]  # noqa: PLR2004


def _between(cuts: list[int]) -> Iterator[tuple[int, int]]:
    for position, low in enumerate(cuts):
        yield low, (cuts[position + 1] if position + 1 < len(cuts) else LAST + 1) - 1


def _nicest(low: int, high: int) -> int:
    return next((code for code in map(ord, "aA0zZ9-_ .!") if low <= code <= high), max(low, min(high, 0x21)))
