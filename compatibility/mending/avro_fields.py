"""Possible fixes for the fields of a record: defaults, aliases, restored or removed fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from contractlog.compatibility.mending.avro_places import Places, copied
from contractlog.compatibility.mending.avro_sides import Sides, field_names, several
from contractlog.compatibility.mending.edits import Edit, Source, Spot
from contractlog.compatibility.mending.ways import Way, fitted

__all__ = ["ambiguous", "default_missing"]

_DEFAULTS: Final[Mapping[str, str]] = {
    "boolean": "false", "int": "0", "long": "0", "float": "0.0", "double": "0.0", "bytes": '""', "string": '""',
    "array": "[]", "map": "{}",
}  # fmt: skip


def default_missing(sides: Sides) -> Iterator[Way]:
    """Make a field that was not written readable, or restore the field that earlier readers require."""
    yield from (_filled if sides.backward else _kept_field)(sides)


def _filled(sides: Sides) -> Iterator[Way]:
    """Yield fixes for a field of the candidate that was never written: alias, default, old name, removal."""
    source, field = sides.mine.source, sides.here
    around, _, index = sides.at.rpartition("/")
    fields = source.find(around)
    if field is None or fields is None:
        return
    name = source.string(field.member("name")) or ""
    kind = field.member("type")
    for old in _unread(sides, fields):
        aliases = field.member("aliases")
        text = json.dumps(old)
        edit = (
            source.set_member(field, "aliases", f"[{text}]", after="name")
            if aliases is None
            else source.insert(aliases, len(aliases.values), text)
        )
        yield Way(f'give the field "{name}" the alias "{old}", if it is that field under another name', [edit])
    if kind is not None:
        yield from _defaults(sides, field, name, kind)
    was = field_names(sides.theirs.source, sides.earlier)
    same_place = was[int(index)] if int(index) < len(was) else None
    if same_place is not None and same_place in _unread(sides, fields):
        spot = field.member("name")
        if spot is not None:
            yield Way(f'name the field "{same_place}" again', [Source.replace(spot, json.dumps(same_place))], undo=True)
    yield Way(f'leave the field "{name}" out', source.remove(fields, [int(index)]), undo=True, rank=9)


def _defaults(sides: Sides, field: Spot, name: str, kind: Spot) -> Iterator[Way]:
    source = sides.mine.source
    null = source.set_member(field, "default", "null", after="type")
    if kind.is_list and "null" in source.strings(kind):
        yield Way(f'give the field "{name}" the default null', [null], rank=2)
    elif source.string(kind) != "null":
        wider = (
            [source.insert(kind, 0, '"null"')]
            if kind.is_list
            else [Edit(kind.start, kind.start, '["null", '), Edit(kind.end, kind.end, "]")]
        )
        sentence = f'make the field "{name}" a union with null, with the default null'
        yield Way(sentence, [*wider, null], rank=2)
    plain = "null" if source.string(kind) == "null" else _plain_default(sides.mine, kind)
    if plain is not None:
        edit = source.set_member(field, "default", plain, after="type")
        yield Way(f'give the field "{name}" a default, such as {plain}', [edit], rank=3)


def _plain_default(places: Places, kind: Spot) -> str | None:
    source = places.source
    if kind.is_list:
        return _plain_default(places, kind.values[0]) if kind.values else None
    word = source.string(kind) or source.string(kind.member("type")) or ""
    place = next((place for place in places.all if place.spot is kind), None)
    definition = None if place is None or not place.name else places.definition(place.name)
    if definition is not None:
        symbols = source.strings(definition.spot.member("symbols"))
        return json.dumps(symbols[0]) if symbols else None
    return _DEFAULTS.get(word)


def _unread(sides: Sides, fields: Spot) -> list[str]:
    """Return the earlier fields that no field of the candidate reads."""
    source = sides.mine.source
    read = {name for field in fields.values for name in (source.string(field.member("name")) or "",)}
    read |= {alias for field in fields.values for alias in source.strings(field.member("aliases"))}
    return [name for name in field_names(sides.theirs.source, sides.earlier) if name not in read]


def _kept_field(sides: Sides) -> Iterator[Way]:
    """Yield fixes for a field that earlier readers require: restore it, or rename a new field to it."""
    field, record = sides.earlier, sides.here
    here, there = sides.mine.at(sides.at), sides.theirs.at(sides.there.rpartition("/fields/")[0])
    fields = None if record is None else record.member("fields")
    if field is None or fields is None or here is None or there is None:
        return
    source = sides.mine.source
    name = sides.theirs.source.string(field.member("name")) or ""
    had, have = field_names(sides.theirs.source, there.spot), field_names(source, record)
    index = had.index(name)
    before = next((have.index(known) + 1 for known in reversed(had[:index]) if known in have), 0)
    inner, outer = here.name.rpartition(".")[0], there.name.rpartition(".")[0]
    text = fitted(
        copied(field, outer, sides.theirs, sides.mine, inner),
        sides.theirs.source,
        field.start,
        sides.mine.source,
        fields.starts[0] if fields.values else fields.start,
    )
    yield Way(f'keep the field "{name}"', [source.insert(fields, before, text)], undo=True)
    for new, spot in zip(have, fields.values, strict=True):
        named = spot.member("name")
        if new not in had and named is not None:
            edit = Source.replace(named, json.dumps(name))
            yield Way(f'name the field "{new}" again as earlier readers know it, "{name}"', [edit], undo=True)


def ambiguous(sides: Sides) -> Iterator[Way]:
    """Make a field that matches several fields match one."""
    yield from (_fewer_aliases if sides.backward else _fewer_fields)(sides)


def _fewer_aliases(sides: Sides) -> Iterator[Way]:
    """Yield fixes for a field of the candidate that matches several earlier fields: remove aliases."""
    source, field = sides.mine.source, sides.here
    aliases = None if field is None else field.member("aliases")
    if field is None or aliases is None:
        return
    name, known = source.string(field.member("name")), source.strings(aliases)
    written = set(field_names(sides.theirs.source, sides.earlier))
    for kept in [name, *known] if name in written else known:
        gone = [index for index, alias in enumerate(known) if alias in written and alias != kept]
        edits = source.remove_member(field, "aliases") if len(gone) == len(known) else source.remove(aliases, gone)
        listed = several("the alias", [known[index] for index in gone])
        yield Way(f'remove {listed} of the field "{name}"', edits, undo=True)


def _fewer_fields(sides: Sides) -> Iterator[Way]:
    """Yield fixes for several candidate fields that match one field of an earlier reader: remove fields."""
    source, theirs = sides.mine.source, sides.theirs.source
    fields = None if sides.here is None else sides.here.member("fields")
    if fields is None or sides.earlier is None:
        return
    known = {theirs.string(sides.earlier.member("name")) or "", *theirs.strings(sides.earlier.member("aliases"))}
    have = field_names(source, sides.here)
    matching = [index for index, name in enumerate(have) if name in known]
    for kept in matching:
        gone = [index for index in matching if index != kept]
        listed = several("the field", [have[index] for index in gone])
        yield Way(f"leave {listed} out", source.remove(fields, gone), undo=True)
