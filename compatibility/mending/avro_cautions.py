"""Possible fixes for the findings of the Avro cautions: risky changes that are readable all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator

from contractlog.compatibility.mending.avro_names import stand_in
from contractlog.compatibility.mending.avro_sides import Sides, shown
from contractlog.compatibility.mending.edits import Edit, Source
from contractlog.compatibility.mending.ways import Way

__all__ = ["default_changed", "doc_lost", "enum_default_missing", "field_renamed", "logical_type_changed"]

_LOGICAL = ("logicalType", "precision", "scale")


def logical_type_changed(sides: Sides) -> Iterator[Way]:
    """Restore the logical type, or the whole type."""
    theirs = sides.theirs.at(sides.there)
    for mine in sides.sites() if theirs is not None else ():
        if theirs is not None:
            if mine.spot.is_object and theirs.spot.is_object:
                edits = [edit for word in _LOGICAL for edit in _as_before(sides, word)]
                known = theirs.spot.member("logicalType")
                meaning = "none" if known is None else sides.theirs.source.slice(known)
                yield Way(f"set the logical type back to {meaning}", edits, undo=True)
            yield from sides.restored(mine, theirs, rank=2)


def default_changed(sides: Sides) -> Iterator[Way]:
    """Restore the default."""
    yield from _put_back(sides, "default")


def doc_lost(sides: Sides) -> Iterator[Way]:
    """Restore the documentation."""
    yield from _put_back(sides, "doc")


def enum_default_missing(sides: Sides) -> Iterator[Way]:
    """Give the enum a default for unknown symbols."""
    if sides.here is None:
        return
    source = sides.mine.source
    known = None if sides.earlier is None else sides.theirs.source.string(sides.earlier.member("default"))
    have = source.strings(sides.here.member("symbols"))
    default = known if known in have else stand_in(have)
    if default is not None:
        edit = source.set_member(sides.here, "default", json.dumps(default), after="symbols")
        yield Way(f'give the enum the default "{default}" for symbols that a reader does not know', [edit])


def field_renamed(sides: Sides) -> Iterator[Way]:
    """Add the old name as an alias, or restore it."""
    field, earlier = sides.here, sides.earlier
    old = None if earlier is None else sides.theirs.source.string(earlier.member("name"))
    name = None if field is None else field.member("name")
    if field is None or name is None or old is None:
        return
    source = sides.mine.source
    aliases, text = field.member("aliases"), json.dumps(old)
    edit = (
        source.set_member(field, "aliases", f"[{text}]", after="name")
        if aliases is None
        else source.insert(aliases, len(aliases.values), text)
    )
    yield Way(f'give the field the alias "{old}"', [edit])
    yield Way(f'name the field "{old}" again', [Source.replace(name, text)], undo=True)


def _put_back(sides: Sides, word: str) -> Iterator[Way]:
    known = None if sides.earlier is None else sides.earlier.member(word)
    if known is not None:
        text = shown(sides.theirs.source.slice(known))
        yield Way(f'set "{word}" back to {text}', list(_as_before(sides, word)), undo=True)


def _as_before(sides: Sides, word: str) -> Iterator[Edit]:
    """Yield the edits that restore a member, or remove it if it did not exist."""
    known = None if sides.earlier is None else sides.earlier.member(word)
    if sides.here is None:
        return
    if known is None:
        yield from sides.mine.source.remove_member(sides.here, word)
    else:
        after = "type" if word == "default" else "name"
        yield sides.mine.source.set_member(sides.here, word, sides.theirs.source.slice(known), after=after)
