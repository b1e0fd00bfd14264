"""Ways to mend an Avro schema: for each check what its author may have meant, and what takes the change back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Final

from contractlog.compatibility.avro.nodes import short_name
from contractlog.compatibility.avro_places import (
    Place,
    Places,
    copied,
    enclosing_field,
    replaced,
    transplanted,
)
from contractlog.compatibility.edits import Edit, Source, Spot
from contractlog.compatibility.json_text import quoted
from contractlog.compatibility.ways import Case, Way, fitted

__all__ = ["avro_ways"]

_MOST_SITES: Final = 5
_MOST_BRANCHES: Final = 12
_DEFAULTS: Final[Mapping[str, str]] = {
    "boolean": "false", "int": "0", "long": "0", "float": "0.0", "double": "0.0", "bytes": '""', "string": '""',
    "array": "[]", "map": "{}",
}  # fmt: skip


def avro_ways(case: Case) -> Iterator[Way]:
    """Yield what may remove a finding, without a promise that it does."""
    ways = _WAYS.get(case.finding.check)
    return iter(()) if ways is None else ways(_Sides(case))


class _Sides:
    """The two texts of a case, read for their types."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.backward = case.backward
        self.at, self.there = case.at, case.there
        self.mine = Places(case.text, case.beside)
        self.theirs = Places(case.earlier_text, case.earlier_beside)

    @cached_property
    def here(self) -> Spot | None:
        """What the finding points to in the candidate."""
        return self.mine.source.find(self.at)

    @cached_property
    def earlier(self) -> Spot | None:
        """What it points to in the earlier text."""
        return self.theirs.source.find(self.there)

    def sites(self) -> list[Place]:
        """Return the candidate's type that is meant: where it is defined, or where it is used."""
        place = self.mine.at(self.at)
        return [] if place is None else self.mine.sites(place)[:_MOST_SITES]

    def earlier_sites(self) -> list[Place]:
        """Return the earlier type that is meant, alone and as the union that it is a branch of."""
        place = self.theirs.at(self.there)
        sites = [] if place is None else self.theirs.sites(place)[:_MOST_SITES]
        unions = [union for union in map(self.theirs.union_around, sites) if union is not None]
        return [*sites[:1], *unions]

    def written(self, theirs: Place, mine: Place) -> str:
        """Write an earlier type for a place of the candidate."""
        return transplanted(theirs, self.theirs, self.mine, mine.space, mine.spot)

    def restored(self, mine: Place, theirs: Place, *, rank: int = 1) -> Iterator[Way]:
        """Put an earlier type in the place of one of the candidate's."""
        text = self.written(theirs, mine)
        sentence = f"set the type back to {_shown(text)}"
        yield from self.defaulted(Way(sentence, replaced(mine, text, self.mine), undo=True, rank=rank), mine.at)

    def defaulted(self, way: Way, at: str) -> Iterator[Way]:
        """Try a way as it is, and with the default of the field around it as it was, or without one."""
        yield way
        at_field = enclosing_field(at)
        field = None if at_field is None else self.mine.source.find(at_field)
        if field is None or field.member("default") is None:
            return
        name = self.mine.source.string(field.member("name"))
        known = _earlier_field(self.theirs, name)
        default = None if known is None else known.member("default")
        if default is not None:
            text = self.theirs.source.slice(default)
            edit = self.mine.source.set_member(field, "default", text)
            yield Way(f"{way.sentence}, and the default to {_shown(text)}", (*way.edits, edit), way.undo, way.rank)
        else:
            edits = self.mine.source.remove_member(field, "default")
            yield Way(f"{way.sentence}, without the default", (*way.edits, *edits), way.undo, way.rank)


def _name_changed(sides: _Sides) -> Iterator[Way]:
    mine, theirs = sides.mine.at(sides.at), sides.theirs.at(sides.there)
    if mine is None or theirs is None:
        return
    if sides.backward:
        yield _alias(sides.mine.source, mine, theirs.name)
    old = short_name(theirs.name)
    yield Way(f"name it {quoted(old)} again", list(_renamed(sides.mine, mine, old)), undo=True)
    for site in sides.sites():
        yield from sides.restored(site, theirs)


def _alias(source: Source, mine: Place, name: str) -> Way:
    space = mine.name.rpartition(".")[0]
    text = json.dumps(short_name(name) if name.rpartition(".")[0] == space else name)
    known = mine.spot.member("aliases")
    if known is not None and known.is_list:
        edit = source.insert(known, len(known.values), text)
    else:
        edit = source.set_member(mine.spot, "aliases", f"[{text}]", after="name")
    return Way(f"give {quoted(short_name(mine.name))} the alias {text}, so that it reads what has that name", [edit])


def _renamed(places: Places, mine: Place, name: str) -> Iterator[Edit]:
    """Yield the edits that rename a type where it is defined and wherever it is used."""
    for site in places.sites(mine):
        spot = site.spot.member("name" if site.defines else "type") if site.spot.is_object else site.spot
        text = places.source.string(spot)
        if spot is not None and text is not None:
            space, dot, _ = text.rpartition(".")
            yield Source.replace(spot, json.dumps(f"{space}{dot}{name}"))


def _fixed_size(sides: _Sides) -> Iterator[Way]:
    size = None if sides.earlier is None else sides.earlier.member("size")
    if sides.here is not None and size is not None:
        text = sides.theirs.source.slice(size)
        edit = sides.mine.source.set_member(sides.here, "size", text)
        yield Way(f'set "size" back to {text}', [edit], undo=True)


def _enum_symbols(sides: _Sides) -> Iterator[Way]:
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


def _kept_symbols(sides: _Sides, spot: Spot, have: Sequence[str], had: Sequence[str]) -> Iterator[Way]:
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
    yield Way(f"keep {_several('the symbol', missing)}", edits, undo=True)
    stands = next((symbol for symbol in have if symbol.upper() in _UNKNOWN), have[0] if have else None)
    if stands is not None and sides.here is not None:
        edit = source.set_member(sides.here, "default", json.dumps(stands), after="symbols")
        yield Way(f'give the enum the default "{stands}" for symbols that it does not know', [edit], rank=2)


_UNKNOWN: Final = frozenset({"UNKNOWN", "UNSPECIFIED", "OTHER", "NONE", "UNDEFINED"})


def _left_out_symbols(sides: _Sides, spot: Spot, have: Sequence[str], had: Sequence[str]) -> Iterator[Way]:
    source, here = sides.mine.source, sides.here
    extra = [index for index, symbol in enumerate(have) if symbol not in had]
    edits = source.remove(spot, extra)
    sentence = f"leave {_several('the symbol', [have[index] for index in extra])} out until every reader knows it"
    default = None if here is None else here.member("default")
    if here is not None and default is not None and source.string(default) not in had:
        known = None if sides.earlier is None else sides.earlier.member("default")
        if known is None:
            edits += source.remove_member(here, "default")
        else:
            edits.append(Source.replace(default, sides.theirs.source.slice(known)))
    yield Way(sentence, edits, undo=True)


def _default_missing(sides: _Sides) -> Iterator[Way]:
    yield from (_filled if sides.backward else _kept_field)(sides)


def _filled(sides: _Sides) -> Iterator[Way]:
    """The candidate reads a field that was never written."""
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
    was = _fields(sides.theirs.source, sides.earlier)
    same_place = was[int(index)] if int(index) < len(was) else None
    if same_place is not None and same_place in _unread(sides, fields):
        spot = field.member("name")
        if spot is not None:
            yield Way(f'name the field "{same_place}" again', [Source.replace(spot, json.dumps(same_place))], undo=True)
    yield Way(f'leave the field "{name}" out', source.remove(fields, [int(index)]), undo=True, rank=9)


def _defaults(sides: _Sides, field: Spot, name: str, kind: Spot) -> Iterator[Way]:
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


def _unread(sides: _Sides, fields: Spot) -> list[str]:
    """Return the earlier fields that no field of the candidate reads."""
    source = sides.mine.source
    read = {name for field in fields.values for name in (source.string(field.member("name")) or "",)}
    read |= {alias for field in fields.values for alias in source.strings(field.member("aliases"))}
    return [name for name in _fields(sides.theirs.source, sides.earlier) if name not in read]


def _kept_field(sides: _Sides) -> Iterator[Way]:
    """Earlier readers ask for a field that the candidate no longer writes."""
    field, record = sides.earlier, sides.here
    here, there = sides.mine.at(sides.at), sides.theirs.at(sides.there.rpartition("/fields/")[0])
    fields = None if record is None else record.member("fields")
    if field is None or fields is None or here is None or there is None:
        return
    source = sides.mine.source
    name = sides.theirs.source.string(field.member("name")) or ""
    had, have = _fields(sides.theirs.source, there.spot), _fields(source, record)
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


def _ambiguous(sides: _Sides) -> Iterator[Way]:
    yield from (_fewer_aliases if sides.backward else _fewer_fields)(sides)


def _fewer_aliases(sides: _Sides) -> Iterator[Way]:
    """The candidate's field takes several earlier fields for itself."""
    source, field = sides.mine.source, sides.here
    aliases = None if field is None else field.member("aliases")
    if field is None or aliases is None:
        return
    name, known = source.string(field.member("name")), source.strings(aliases)
    written = set(_fields(sides.theirs.source, sides.earlier))
    for kept in [name, *known] if name in written else known:
        gone = [index for index, alias in enumerate(known) if alias in written and alias != kept]
        edits = source.remove_member(field, "aliases") if len(gone) == len(known) else source.remove(aliases, gone)
        listed = _several("the alias", [known[index] for index in gone])
        yield Way(f'remove {listed} of the field "{name}"', edits, undo=True)


def _fewer_fields(sides: _Sides) -> Iterator[Way]:
    """An earlier reader's field takes several of the candidate's for itself."""
    source, theirs = sides.mine.source, sides.theirs.source
    fields = None if sides.here is None else sides.here.member("fields")
    if fields is None or sides.earlier is None:
        return
    known = {theirs.string(sides.earlier.member("name")) or "", *theirs.strings(sides.earlier.member("aliases"))}
    have = _fields(source, sides.here)
    matching = [index for index, name in enumerate(have) if name in known]
    for kept in matching:
        gone = [index for index in matching if index != kept]
        listed = _several("the field", [have[index] for index in gone])
        yield Way(f"leave {listed} out", source.remove(fields, gone), undo=True)


def _type_changed(sides: _Sides) -> Iterator[Way]:
    for mine, theirs in product(sides.sites(), sides.earlier_sites()):
        yield from sides.restored(mine, theirs)
        around = sides.mine.union_around(mine)
        if around is not None:
            yield from sides.restored(around, theirs)
            if not sides.backward:
                yield from _without_branch(sides, around, mine)
        if sides.backward and not theirs.is_union and not mine.is_union:
            yield _both(sides, mine, theirs, around)


def _both(sides: _Sides, mine: Place, theirs: Place, around: Place | None) -> Way:
    """Read what was written beside what is."""
    text = sides.written(theirs, mine)
    sentence = f"take both types, {_shown(text)} as well"
    if around is not None:
        return Way(sentence, [sides.mine.source.insert(around.spot, len(around.spot.values), text)], rank=4)
    edits = [Edit(mine.spot.start, mine.spot.start, f"[{text}, "), Edit(mine.spot.end, mine.spot.end, "]")]
    return Way(sentence, edits, rank=4)


def _without_branch(sides: _Sides, union: Place, branch: Place) -> Iterator[Way]:
    index = int(branch.at.rpartition("/")[2])
    text = sides.mine.source.slice(branch.spot)
    sentence = f"leave {_shown(text)} out of the union until every reader has a branch for it"
    way = Way(sentence, sides.mine.source.remove(union.spot, [index]), undo=True)
    yield from sides.defaulted(way, union.at)


def _branch_missing(sides: _Sides) -> Iterator[Way]:
    yield from (_kept_branch if sides.backward else _left_out_branch)(sides)


def _kept_branch(sides: _Sides) -> Iterator[Way]:
    """The candidate's union reads what was written."""
    union = sides.mine.at(sides.at)
    if union is None or not union.is_union:
        return
    source = sides.mine.source
    branches = [place for place in sides.mine.all if sides.mine.union_around(place) is union][:_MOST_BRANCHES]
    for theirs in sides.earlier_sites():
        if theirs.is_union:
            yield from sides.restored(union, theirs)
            continue
        text = transplanted(theirs, sides.theirs, sides.mine, union.space, Spot(0, 0))
        last = theirs.at.rpartition("/")[2]
        index = int(last) if sides.theirs.union_around(theirs) is not None else len(union.spot.values)
        index = min(index, len(union.spot.values))
        yield Way(
            f"keep {_shown(text)} among the branches of the union", [source.insert(union.spot, index, text)], undo=True
        )
        for branch in branches:
            yield from sides.restored(branch, theirs, rank=3)
        yield from sides.restored(union, theirs, rank=4)


def _left_out_branch(sides: _Sides) -> Iterator[Way]:
    """An earlier reader's union has no branch for what the candidate writes."""
    union = sides.theirs.at(sides.there)
    if union is None:
        return
    branches = [place for place in sides.theirs.all if sides.theirs.union_around(place) is union][:_MOST_BRANCHES]
    for mine in sides.sites():
        around = sides.mine.union_around(mine)
        if around is not None:
            yield from _without_branch(sides, around, mine)
            yield from sides.restored(around, union)
        else:
            yield from sides.restored(mine, union)
        for theirs in branches:
            yield from sides.restored(mine, theirs, rank=2)


def _fields(source: Source, record: Spot | None) -> list[str]:
    fields = None if record is None else record.member("fields")
    return [] if fields is None else [source.string(field.member("name")) or "" for field in fields.values]


def _earlier_field(places: Places, name: str | None) -> Spot | None:
    """Return a field of that name; of several records the first one's, since the way is tried."""
    for place in places.all:
        fields = place.spot.member("fields") if place.defines else None
        for field in fields.values if fields is not None else ():
            if places.source.string(field.member("name")) == name:
                return field
    return None


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}…"  # noqa: PLR2004 - what fits into a line


def _several(noun: str, names: Sequence[str]) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''} {', '.join(map(quoted, names[:5]))}{', …' if len(names) > 5 else ''}"  # noqa: PLR2004


_WAYS: Final[Mapping[str, Callable[[_Sides], Iterator[Way]]]] = {
    "AVRO_NAME_CHANGED": _name_changed,
    "AVRO_FIXED_SIZE_CHANGED": _fixed_size,
    "AVRO_ENUM_SYMBOLS_MISSING": _enum_symbols,
    "AVRO_FIELD_DEFAULT_MISSING": _default_missing,
    "AVRO_FIELD_AMBIGUOUS": _ambiguous,
    "AVRO_TYPE_CHANGED": _type_changed,
    "AVRO_UNION_BRANCH_MISSING": _branch_missing,
}
