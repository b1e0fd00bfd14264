"""Definitions and uses of types in an Avro text, and their transfer into another text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.avro.nodes import PRIMITIVES, short_name
from contractlog.compatibility.json_text import pointer
from contractlog.compatibility.mending.edits import Edit, Source, Spot, applied
from contractlog.compatibility.mending.ways import fitted

__all__ = ["Place", "Places", "enclosing_field", "replaced", "transplanted"]

_NAMED: Final = frozenset({"record", "error", "enum", "fixed"})
_FIELD: Final = re.compile(r"(?s)(.*/fields/\d+)/type(?:/.*)?")


@dataclass(frozen=True, slots=True)
class Place:
    """A type at its position in a text: a definition, a use, or an unnamed type."""

    at: str
    spot: Spot
    space: str  #: the enclosing namespace
    name: str = ""  #: full name that it defines or uses; empty for types without a name
    defines: bool = False

    @property
    def is_union(self) -> bool:
        """True if the type is written as a list of branches."""
        return self.spot.is_list

    def within(self, start: int, end: int) -> bool:
        """Return True if the type lies within a range of the text."""
        return start <= self.spot.start and self.spot.end <= end


class Places:
    """All types of a text, in textual order."""

    def __init__(self, text: str, beside: Iterable[str] = ()) -> None:
        self.source = Source(text)
        self._others = [Places(other) for other in beside]
        self.beside = frozenset(name for other in self._others for name in other.defined())
        self._own: set[str] = set()
        found = list(self._type(self.source.root, "", ""))
        self._own = {place.name for place in found if place.defines}
        self.all = [self._resolved(place) for place in found]
        self._by_pointer = {place.at: place for place in self.all}

    def at(self, pointer: str) -> Place | None:
        """Return the type at a JSON Pointer."""
        return self._by_pointer.get(pointer)

    def union_around(self, place: Place) -> Place | None:
        """Return the union that has the type as a branch."""
        around = self.at(place.at.rpartition("/")[0]) if place.at else None
        return around if around is not None and around.is_union else None

    def defined(self, *, outside: tuple[int, int] = (0, 0)) -> set[str]:
        """Return the full names defined in this text, except within a range of it."""
        return {place.name for place in self.all if place.defines and not place.within(*outside)}

    def definition(self, name: str) -> Place | None:
        """Return the definition of a name in this text."""
        return next((place for place in self.all if place.defines and place.name == name), None)

    def found(self, name: str) -> tuple[Places, Place] | None:
        """Return the definition of a name in this text or its dependencies, with the text."""
        for places in (self, *self._others):
            definition = places.definition(name)
            if definition is not None:
                return places, definition
        return None

    def sites(self, place: Place) -> list[Place]:
        """Return a type and, for a definition, every other use of it, since engines treat them alike."""
        if not place.defines:
            return [place]
        return [place, *(other for other in self.all if other.name == place.name and other is not place)]

    def _type(self, spot: Spot, at: str, space: str) -> Iterator[Place]:
        name = self.source.string(spot)
        if spot.is_list:
            yield Place(at, spot, space)
            for index, branch in enumerate(spot.values):
                yield from self._type(branch, pointer(at, index), space)
        elif name is not None:
            yield Place(at, spot, space, "" if name in PRIMITIVES else name)
        elif spot.is_object:
            yield from self._described(spot, at, space)

    def _described(self, spot: Spot, at: str, space: str) -> Iterator[Place]:
        kind = self.source.string(spot.member("type")) or ""
        part = {"array": "items", "map": "values"}.get(kind)
        inner = None if part is None else spot.member(part)
        if kind in _NAMED:
            yield from self._defined(spot, at, space)
        elif part is not None and inner is not None:
            yield Place(at, spot, space)
            yield from self._type(inner, pointer(at, part), space)
        else:
            yield Place(at, spot, space, "" if kind in PRIMITIVES else kind)

    def _defined(self, spot: Spot, at: str, space: str) -> Iterator[Place]:
        name = self.source.string(spot.member("name")) or ""
        own, dot, short = name.rpartition(".")
        if not dot:
            given = self.source.string(spot.member("namespace"))
            own = space if given is None else given
        yield Place(at, spot, space, f"{own}.{short}" if own else short, defines=True)
        fields = spot.member("fields")
        for index, field in enumerate(fields.values if fields is not None else ()):
            inner = field.member("type")
            if inner is not None:
                yield from self._type(inner, pointer(at, "fields", index, "type"), own)

    def _resolved(self, place: Place) -> Place:
        """Resolve the name of a use: a type in the enclosing namespace, else one without namespace."""
        if place.defines or not place.name or "." in place.name or not place.space:
            return place
        full = f"{place.space}.{place.name}"
        elsewhere = place.name in self._own or place.name in self.beside
        if full not in self._own and full not in self.beside and elsewhere:
            return place
        return Place(place.at, place.spot, place.space, full)


def enclosing_field(at: str) -> str | None:
    """Return the pointer of the innermost field whose type contains a pointer."""
    match = _FIELD.fullmatch(at)
    return None if match is None else match[1]


def transplanted(place: Place, origin: Places, target: Places, space: str, spot: Spot) -> str:
    """Return the text of a type adapted to a position in another text.

    Types already defined there are written as names, and all others are defined inline.

    Args:
        place: the type, in its own text.
        origin: its own text.
        target: the other text.
        space: the enclosing namespace in the other text.
        spot: the value to replace; definitions inside it do not count as defined there.
    """
    known = target.defined(outside=(spot.start, spot.end)) | target.beside
    text = _copied(place, origin, space, known)
    return fitted(text, origin.source, place.spot.start, target.source, spot.start)


def copied(spot: Spot, space: str, origin: Places, target: Places, into: str) -> str:
    """Return any range of a text that contains types, such as a field, adapted to another text."""
    known = target.defined() | target.beside
    edits = list(_renamed(spot, space, origin, into, known))
    return _sliced(origin.source, spot, edits)


def replaced(place: Place, text: str, target: Places) -> list[Edit]:
    """Return the edits that replace a type; a definition in it that is still used moves to its first use."""
    edits = [Source.replace(place.spot, text)]
    bounds = (place.spot.start, place.spot.end)
    brought = set(re.findall(r'"name"\s*:\s*"([^"\\]+)"', text))
    homed: set[str] = set()
    for use in target.all:
        if not use.name or use.defines or use.within(*bounds) or use.name in homed:
            continue
        definition = target.definition(use.name)
        if definition is None or not definition.within(*bounds) or {use.name, short_name(use.name)} & brought:
            continue
        homed |= {other.name for other in target.all if other.defines and other.within(*_bounds(definition))}
        edits.append(Source.replace(use.spot, _copied(definition, target, use.space, set())))
    return edits


def _bounds(place: Place) -> tuple[int, int]:
    return place.spot.start, place.spot.end


def _copied(place: Place, origin: Places, space: str, known: set[str]) -> str:
    return _sliced(origin.source, place.spot, list(_renamed(place.spot, place.space, origin, space, known)))


def _renamed(spot: Spot, space: str, origin: Places, into: str, known: set[str]) -> Iterator[Edit]:
    """Yield the edits of a range after which its names have the same meaning elsewhere."""
    done = inside = -1
    for place in origin.all:
        if not place.name or not place.within(spot.start, spot.end) or place.spot.start < done:
            continue
        around = place.space if place.spot.start < inside else into
        if place.defines and place.name not in known:
            known.add(place.name)
            if place.spot.start >= inside:
                yield from _full_name(place, origin.source, space, into)
                inside = place.spot.end
            continue
        done = place.spot.end
        if place.name in known:
            if place.defines or around != place.space:
                yield Source.replace(place.spot, json.dumps(place.name))
            continue
        found = origin.found(place.name)
        if found is not None:
            yield Source.replace(place.spot, _copied(found[1], found[0], around, known))


def _full_name(place: Place, source: Source, space: str, into: str) -> Iterator[Edit]:
    """Qualify the name of a definition if the enclosing namespace differs."""
    name = place.spot.member("name")
    inherits = place.spot.member("namespace") is None and "." not in (source.string(name) or "")
    if space != into and inherits and name is not None:
        if "." in place.name:
            yield Source.replace(name, json.dumps(place.name))
        else:
            yield source.set_member(place.spot, "namespace", '""', after="name")


def _sliced(source: Source, spot: Spot, edits: list[Edit]) -> str:
    moved = [Edit(edit.start - spot.start, edit.end - spot.start, edit.text) for edit in edits]
    return applied(source.slice(spot), moved)
