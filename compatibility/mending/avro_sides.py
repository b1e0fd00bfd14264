"""The two texts of an Avro finding, indexed by type, and helpers shared by all fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from contractlog.compatibility.json_text import quoted
from contractlog.compatibility.mending.avro_places import Place, Places, enclosing_field, replaced, transplanted
from contractlog.compatibility.mending.edits import Source, Spot
from contractlog.compatibility.mending.ways import Case, Way

__all__ = ["Sides", "field_names", "several", "shown"]

_MOST_SITES: Final = 5
_SHOWN: Final = 5
_WIDEST: Final = 60


class Sides:
    """The two texts of a case, indexed by type."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.backward = case.backward
        self.at, self.there = case.at, case.there
        self.mine = Places(case.text, case.beside)
        self.theirs = Places(case.earlier_text, case.earlier_beside)

    @cached_property
    def here(self) -> Spot | None:
        """The value in the candidate that the finding points to."""
        return self.mine.source.find(self.at)

    @cached_property
    def earlier(self) -> Spot | None:
        """The value in the earlier text that the finding points to."""
        return self.theirs.source.find(self.there)

    def sites(self) -> list[Place]:
        """Return the candidate's type: its definition and its uses."""
        place = self.mine.at(self.at)
        return [] if place is None else self.mine.sites(place)[:_MOST_SITES]

    def earlier_sites(self) -> list[Place]:
        """Return the earlier type, alone and as the union that contains it."""
        place = self.theirs.at(self.there)
        sites = [] if place is None else self.theirs.sites(place)[:_MOST_SITES]
        unions = [union for union in map(self.theirs.union_around, sites) if union is not None]
        return [*sites[:1], *unions]

    def written(self, theirs: Place, mine: Place) -> str:
        """Return the text of an earlier type adapted to a position in the candidate."""
        return transplanted(theirs, self.theirs, self.mine, mine.space, mine.spot)

    def restored(self, mine: Place, theirs: Place, *, rank: int = 1) -> Iterator[Way]:
        """Replace a type of the candidate by an earlier one."""
        text = self.written(theirs, mine)
        sentence = f"set the type back to {shown(text)}"
        yield from self.defaulted(Way(sentence, replaced(mine, text, self.mine), undo=True, rank=rank), mine.at)

    def defaulted(self, way: Way, at: str) -> Iterator[Way]:
        """Yield a fix unchanged, and with the default of the enclosing field restored or removed."""
        yield way
        at_field = enclosing_field(at)
        field = None if at_field is None else self.mine.source.find(at_field)
        if field is None or field.member("default") is None:
            return
        name = self.mine.source.string(field.member("name"))
        same_place = self.theirs.source.find(at_field or "")
        same = same_place is not None and self.theirs.source.string(same_place.member("name")) == name
        known = same_place if same else earlier_field(self.theirs, name)
        default = None if known is None else known.member("default")
        if default is not None:
            text = self.theirs.source.slice(default)
            edit = self.mine.source.set_member(field, "default", text)
            yield Way(f"{way.sentence}, and the default to {shown(text)}", (*way.edits, edit), way.undo, way.rank)
        edits = self.mine.source.remove_member(field, "default")
        yield Way(f"{way.sentence}, without the default", (*way.edits, *edits), way.undo, way.rank)


def field_names(source: Source, record: Spot | None) -> list[str]:
    """Return the names of a record's fields."""
    fields = None if record is None else record.member("fields")
    return [] if fields is None else [source.string(field.member("name")) or "" for field in fields.values]


def earlier_field(places: Places, name: str | None) -> Spot | None:
    """Return the first field of that name in any record; a wrong one is harmless, as fixes are verified."""
    for place in places.all:
        fields = place.spot.member("fields") if place.defines else None
        for field in fields.values if fields is not None else ():
            if places.source.string(field.member("name")) == name:
                return field
    return None


def shown(text: str) -> str:
    """Return a part of a text for a sentence, on one line and abbreviated."""
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"


def several(noun: str, names: Sequence[str]) -> str:
    """Return a noun with a list of names, abbreviated."""
    listed = ", ".join(map(quoted, names[:_SHOWN]))
    return f"{noun}{'s' if len(names) > 1 else ''} {listed}{', …' if len(names) > _SHOWN else ''}"
