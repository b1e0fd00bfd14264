"""The two texts of an Avro finding, read for their types, and what all ways have in common."""

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
        sentence = f"set the type back to {shown(text)}"
        yield from self.defaulted(Way(sentence, replaced(mine, text, self.mine), undo=True, rank=rank), mine.at)

    def defaulted(self, way: Way, at: str) -> Iterator[Way]:
        """Try a way as it is, and with the default of the field around it as it was, or without one."""
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
    """Return a field of that name; of several records the first one's, since the way is tried."""
    for place in places.all:
        fields = place.spot.member("fields") if place.defines else None
        for field in fields.values if fields is not None else ():
            if places.source.string(field.member("name")) == name:
                return field
    return None


def shown(text: str) -> str:
    """Return a stretch of a text for a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"


def several(noun: str, names: Sequence[str]) -> str:
    """Return a few names with their noun."""
    listed = ", ".join(map(quoted, names[:_SHOWN]))
    return f"{noun}{'s' if len(names) > 1 else ''} {listed}{', …' if len(names) > _SHOWN else ''}"
