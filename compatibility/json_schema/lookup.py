"""Equivalence of JSON schemas that differ only in whether their references are inlined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.parse import JsonSchema
from contractlog.compatibility.json_schema.resolve import Here, Target, Texts
from contractlog.compatibility.json_text import pointer
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["MAX_PAIRS", "equivalent"]

MAX_PAIRS: Final = 200_000  #: maximum number of compared pairs of positions
_NAMED: Final = frozenset({"properties", "patternProperties", "dependencies", "dependentSchemas"})  #: name -> schema
_DATA: Final = frozenset({"enum", "const", "default", "examples"})  #: keywords in which a ``$ref`` is plain data
_DEFINITIONS: Final = frozenset({"definitions", "$defs"})  #: compared at their uses
_OF_A_TEXT: Final = _DEFINITIONS | {"$schema", "$id", "id"}  #: dropped when a referenced schema is inlined
_MOVING: Final = frozenset({"$dynamicRef", "$recursiveRef"})  #: their target depends on where they occur
_REF_STANDS_ALONE: Final = frozenset({"draft-04", "draft-06", "draft-07"})
Pair = tuple["_Place", "_Place"]


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Return True if both have the same references and text, or one has all references inlined.

    An inlined schema replaces the ``$ref``, or is among the schema's own definitions.

    Raises:
        InvalidSchema: there is too much to compare.
    """
    one, other = set(first.references), set(second.references)
    if one == other:
        return first.normalized == second.normalized
    return not (one and other) and _alike(_Side(first), _Side(second))


@dataclass(frozen=True, slots=True)
class _Place:
    """A value of one side at its position."""

    target: Target
    is_schema: bool = True

    @property
    def key(self) -> tuple[str, str, bool]:
        return self.target.here.text, self.target.place, self.is_schema


class _Side:
    """One of the two schemas, with access to its dependencies."""

    def __init__(self, parsed: ParsedSchema) -> None:
        schema: JsonSchema = parsed.root
        self.draft = schema.draft
        self.texts = Texts(schema, parsed.referenced)

    def reached(self, place: _Place) -> _Place | None:
        """Follow references to the first other value; None for an unresolvable or circular reference."""
        met: set[tuple[str, str, bool]] = set()
        while place.is_schema and (reference := _reference(place.target)) is not None:
            found = self.texts.follow(reference, place.target.here)
            if found is None or place.key in met:
                return None
            met.add(place.key)
            place = _Place(found)
        return place

    def members(self, place: _Place) -> dict[str, _Place]:
        """Return the members of an object that are to be compared."""
        target = place.target
        here = self.texts.inside(target.contents, target.here) if place.is_schema else target.here
        brought = target.here.text and target.place.endswith("#")
        left_out = (_OF_A_TEXT if brought else _DEFINITIONS) if place.is_schema else ()
        return {
            word: self.member(target, word, value, here, place)
            for word, value in target.contents.items()
            if word not in left_out
        }

    def member(self, target: Target, word: str, value: Any, here: Here, parent: _Place) -> _Place:
        if parent.is_schema and word == "$ref" and isinstance(value, str):
            found = self.texts.follow(value, here)
            if found is not None:
                return _Place(found)
        inside = Target(pointer(target.place, word), value, here)
        return _Place(inside, is_schema=not (parent.is_schema and word in _NAMED))


def _alike(one: _Side, other: _Side) -> bool:
    """Compare position by position, each pair once, so recursive schemas terminate."""
    if one.draft is not other.draft:
        return False
    waiting: list[Pair] = [(_Place(one.texts.root()), _Place(other.texts.root()))]
    met: set[Any] = set()
    while waiting:
        first, second = (side.reached(place) for side, place in zip((one, other), waiting.pop(), strict=True))
        if first is None or second is None:
            return False
        if (first.key, second.key) in met:
            continue
        met.add((first.key, second.key))
        if len(met) > MAX_PAIRS:
            raise InvalidSchema(f"written out, the schema has more than {MAX_PAIRS} places", at="")
        more = _parts(one, first, other, second)
        if more is None:
            return False
        waiting += more
    return True


def _parts(one: _Side, first: _Place, other: _Side, second: _Place) -> list[Pair] | None:
    """Return the pairs that remain to be compared below two positions; None if these differ."""
    match first.target.contents, second.target.contents:
        case dict(), dict():
            ours, theirs = one.members(first), other.members(second)
            if ours.keys() != theirs.keys() or (first.is_schema and _MOVING & ours.keys()):
                return None
            data = {word for word in ours if first.is_schema and word in _DATA}
            if any(ours[word].target.contents != theirs[word].target.contents for word in data):
                return None
            return [(ours[word], theirs[word]) for word in ours if word not in data]
        case list() as ours, list() as theirs if len(ours) == len(theirs):
            return list(zip(_items(first, ours), _items(second, theirs), strict=True))
        case ours, theirs:
            return [] if type(ours) is type(theirs) and ours == theirs else None


def _items(place: _Place, items: list[Any]) -> Iterator[_Place]:
    for index, item in enumerate(items):
        yield _Place(Target(pointer(place.target.place, index), item, place.target.here))


def _reference(target: Target) -> str | None:
    contents = target.contents
    reference = contents.get("$ref") if isinstance(contents, dict) else None
    alone = target.here.draft.name in _REF_STANDS_ALONE or (isinstance(contents, dict) and len(contents) == 1)
    return reference if isinstance(reference, str) and alone else None
