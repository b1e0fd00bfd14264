"""Resolution of JSON Pointers in a JSON schema to the enclosing schemas and their keywords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.mending.edits import Source, Spot

__all__ = ["Level", "levels"]

_MAPS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies", "dependentRequired"}
)
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS: Final = frozenset(
    {"items", "additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems", "contains"}
    | {"propertyNames", "not", "if", "then", "else"}
)
_DEEPEST: Final = 3


@dataclass(frozen=True, slots=True)
class Level:
    """Two corresponding schemas, and the pointer tokens within them that a finding is about."""

    mine: Spot
    theirs: Spot
    tails: tuple[tuple[str, ...], ...]  #: an empty tail stands for the whole schema


def levels(mine: Source, at: str, theirs: Source, there: str) -> list[Level]:
    """Return the pairs of schemas that a finding may be about, innermost first.

    If one side lacks something, its pointer ends at the enclosing schema.

    >>> one, other = Source('{"properties": {"a": {"maximum": 1}}}'), Source('{"properties": {"a": {}}}')
    >>> [level.tails for level in levels(one, "/properties/a/maximum", other, "/properties/a")]
    [(('maximum',),), (('properties', 'a'),)]
    """
    ours, known = _chain(mine, at), _chain(theirs, there)
    depth = min(len(ours), len(known))
    found = [
        Level(ours[index][0], known[index][0], tuple({ours[index][1]: None, known[index][1]: None}))
        for index in reversed(range(depth))
    ]
    if len(ours) != len(known) and depth < max(len(ours), len(known)) - 1:
        found.insert(0, Level(ours[-1][0], known[-1][0], ((),)))  # the pointers lead into different parts of the texts
    return [_meant(level, innermost=index == 0) for index, level in enumerate(found[:_DEEPEST])]


def _meant(level: Level, *, innermost: bool) -> Level:
    """Drop empty tails if there are others, and for all levels but the innermost."""
    words = tuple(tail for tail in level.tails if tail)
    return Level(level.mine, level.theirs, words or (((),) if innermost else ()))


def _chain(source: Source, pointer: str) -> list[tuple[Spot, tuple[str, ...]]]:
    """Return the schemas along a pointer, each with the tokens that follow it."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    found: list[tuple[Spot, tuple[str, ...]]] = []
    here: Spot | None = source.root
    while here is not None:
        tail, there = _step(here, parts)
        parts = parts[len(tail) :]
        found.append((here, tail))
        here = there
    return found


def _step(spot: Spot, parts: list[str]) -> tuple[tuple[str, ...], Spot | None]:
    """Return the tokens from a schema to the next one, and that schema; None if there is none."""
    if not parts or not spot.is_object:
        return tuple(parts), None
    word = parts[0]
    value = spot.member(word)
    if value is None:
        return tuple(parts), None
    if word in _SCHEMAS and not value.is_list:
        return (word,), value
    if len(parts) > 1 and word in _MAPS:
        return tuple(parts[:2]), value.member(parts[1])
    if len(parts) > 1 and word in _LISTS | _SCHEMAS and value.is_list and parts[1].isdecimal():
        index = int(parts[1])
        return tuple(parts[:2]), value.values[index] if index < len(value.values) else None
    return tuple(parts), None
