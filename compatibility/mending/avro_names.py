"""Possible fixes for named types: their name, the size of a fixed, the symbols of an enum."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from contractlog.compatibility.avro.nodes import short_name
from contractlog.compatibility.json_text import quoted
from contractlog.compatibility.mending.avro_places import Place, Places
from contractlog.compatibility.mending.avro_sides import Sides, several
from contractlog.compatibility.mending.edits import Edit, Source, Spot
from contractlog.compatibility.mending.ways import Way

__all__ = ["enum_symbols", "fixed_size", "name_changed", "renaming", "stand_in"]

_UNKNOWN: Final = frozenset({"UNKNOWN", "UNSPECIFIED", "OTHER", "NONE", "UNDEFINED"})


def name_changed(sides: Sides) -> Iterator[Way]:
    """Connect the two names, or restore the earlier type."""
    mine, theirs = sides.mine.at(sides.at), sides.theirs.at(sides.there)
    if mine is None or theirs is None:
        return
    yield from renaming(sides, mine, theirs)
    for site in sides.sites():
        yield from sides.restored(site, theirs)


def renaming(sides: Sides, mine: Place, theirs: Place) -> Iterator[Way]:
    """Connect two names by an alias, or restore the old name."""
    definition = sides.mine.definition(mine.name)
    if definition is None or not theirs.name or theirs.name in sides.mine.defined():
        return
    if sides.backward:
        yield _alias(sides.mine.source, definition, theirs.name)
    old = short_name(theirs.name)
    now = quoted(short_name(mine.name))
    yield Way(f"rename the type {now} back to {quoted(old)}", list(_renamed(sides.mine, definition, old)), undo=True)


def _alias(source: Source, mine: Place, name: str) -> Way:
    space = mine.name.rpartition(".")[0]
    text = json.dumps(short_name(name) if name.rpartition(".")[0] == space else name)
    known = mine.spot.member("aliases")
    if known is not None and known.is_list:
        edit = source.insert(known, len(known.values), text)
    else:
        edit = source.set_member(mine.spot, "aliases", f"[{text}]", after="name")
    return Way(
        f"give {quoted(short_name(mine.name))} the alias {text}, so that the new schema reads what has that name",
        [edit],
    )


def _renamed(places: Places, mine: Place, name: str) -> Iterator[Edit]:
    """Yield the edits that rename a type in its definition and in every use."""
    for site in places.sites(mine):
        spot = site.spot.member("name" if site.defines else "type") if site.spot.is_object else site.spot
        text = places.source.string(spot)
        if spot is not None and text is not None:
            space, dot, _ = text.rpartition(".")
            yield Source.replace(spot, json.dumps(f"{space}{dot}{name}"))


def fixed_size(sides: Sides) -> Iterator[Way]:
    """Restore the size."""
    size = None if sides.earlier is None else sides.earlier.member("size")
    if sides.here is not None and size is not None:
        text = sides.theirs.source.slice(size)
        edit = sides.mine.source.set_member(sides.here, "size", text)
        yield Way(f'set "size" back to {text}', [edit], undo=True)


def enum_symbols(sides: Sides) -> Iterator[Way]:
    """Restore the missing symbols, give the enum a default, or remove the symbols that readers lack."""
    if sides.here is None or sides.earlier is None:
        return
    mine, theirs = sides.here.member("symbols"), sides.earlier.member("symbols")
    if mine is None or theirs is None:
        return
    have, had = sides.mine.source.strings(mine), sides.theirs.source.strings(theirs)
    if sides.backward:
        yield from _kept_symbols(sides, mine, have, had)
    else:
        yield from _left_out_symbols(sides, mine, have, had)


def _kept_symbols(sides: Sides, spot: Spot, have: Sequence[str], had: Sequence[str]) -> Iterator[Way]:
    source = sides.mine.source
    missing = [symbol for symbol in had if symbol not in have]
    after: dict[int, list[str]] = {}
    for index, symbol in enumerate(had):
        if symbol in missing:
            before = next((have.index(known) + 1 for known in reversed(had[:index]) if known in have), 0)
            after.setdefault(before, []).append(symbol)
    edits = [
        source.insert(spot, index, ", ".join(map(json.dumps, symbols))) for index, symbols in sorted(after.items())
    ]
    yield Way(f"keep {several('the symbol', missing)}", edits, undo=True)
    stands = stand_in(have)
    if stands is not None and sides.here is not None:
        edit = source.set_member(sides.here, "default", json.dumps(stands), after="symbols")
        yield Way(f'give the enum the default "{stands}" for unknown symbols', [edit], rank=2)


def stand_in(symbols: Sequence[str]) -> str | None:
    """Return the symbol that suits best as the default for unknown symbols."""
    return next((symbol for symbol in symbols if symbol.upper() in _UNKNOWN), symbols[0] if symbols else None)


def _left_out_symbols(sides: Sides, spot: Spot, have: Sequence[str], had: Sequence[str]) -> Iterator[Way]:
    source, here = sides.mine.source, sides.here
    extra = [index for index, symbol in enumerate(have) if symbol not in had]
    edits = source.remove(spot, extra)
    them = "them" if len(extra) > 1 else "the symbol"
    sentence = f"leave {several('the symbol', [have[index] for index in extra])} out until every reader knows {them}"
    default = None if here is None else here.member("default")
    if here is not None and default is not None and source.string(default) not in had:
        known = None if sides.earlier is None else sides.earlier.member("default")
        if known is None:
            edits += source.remove_member(here, "default")
        else:
            edits.append(Source.replace(default, sides.theirs.source.slice(known)))
    yield Way(sentence, edits, undo=True)
