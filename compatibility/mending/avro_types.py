"""Possible fixes for types that cannot be read, and for unions that lack a branch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from contractlog.compatibility.mending.avro_names import renaming
from contractlog.compatibility.mending.avro_places import Place, transplanted
from contractlog.compatibility.mending.avro_sides import Sides, shown
from contractlog.compatibility.mending.edits import Edit, Spot
from contractlog.compatibility.mending.ways import Way

__all__ = ["branch_missing", "type_changed"]

_MOST_BRANCHES: Final = 12


def type_changed(sides: Sides) -> Iterator[Way]:
    """Restore the type, remove its branch from the union, or read both types."""
    for mine, theirs in product(sides.sites(), sides.earlier_sites()):
        yield from sides.restored(mine, theirs)
        around = sides.mine.union_around(mine)
        if around is not None:
            yield from sides.restored(around, theirs)
            if not sides.backward:
                yield from _without_branch(sides, around, mine, unwrapped=True)
        if sides.backward and not theirs.is_union and not mine.is_union:
            yield _both(sides, mine, theirs, around)


def _both(sides: Sides, mine: Place, theirs: Place, around: Place | None) -> Way:
    """Accept the earlier type in addition to the new one."""
    text = sides.written(theirs, mine)
    sentence = f"take both types, {shown(text)} as well"
    if around is not None:
        return Way(sentence, [sides.mine.source.insert(around.spot, len(around.spot.values), text)], rank=4)
    edits = [Edit(mine.spot.start, mine.spot.start, f"[{text}, "), Edit(mine.spot.end, mine.spot.end, "]")]
    return Way(sentence, edits, rank=4)


def _without_branch(sides: Sides, union: Place, branch: Place, *, unwrapped: bool) -> Iterator[Way]:
    """Remove a branch; if ``unwrapped``, also offer a single remaining branch without its union."""
    source = sides.mine.source
    index = int(branch.at.rpartition("/")[2])
    left = [spot for spot in union.spot.values if spot is not branch.spot]
    sentence = f"leave {shown(source.slice(branch.spot))} out of the union until every reader has a branch for it"
    unwrapped = unwrapped and len(left) == 1
    if unwrapped:
        alone = [Edit(union.spot.start, left[0].start, ""), Edit(left[0].end, union.spot.end, "")]
        yield from sides.defaulted(Way(sentence, alone, undo=True), union.at)
    way = Way(sentence, source.remove(union.spot, [index]), undo=not unwrapped, rank=2)
    yield from sides.defaulted(way, union.at)


def branch_missing(sides: Sides) -> Iterator[Way]:
    """Restore the branch that earlier writers use, or remove the branch that earlier readers lack."""
    yield from (_kept_branch if sides.backward else _left_out_branch)(sides)


def _kept_branch(sides: Sides) -> Iterator[Way]:
    """Yield fixes for a union of the candidate that lacks a branch for an earlier type."""
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
            f"keep {shown(text)} among the branches of the union", [source.insert(union.spot, index, text)], undo=True
        )
        for branch in branches:
            yield from renaming(sides, branch, theirs)
            yield from sides.restored(branch, theirs, rank=3)
        yield from sides.restored(union, theirs, rank=4)


def _left_out_branch(sides: Sides) -> Iterator[Way]:
    """Yield fixes for a type of the candidate for which an earlier reader's union has no branch."""
    union = sides.theirs.at(sides.there)
    if union is None:
        return
    branches = [place for place in sides.theirs.all if sides.theirs.union_around(place) is union][:_MOST_BRANCHES]
    for mine in sides.sites():
        around = sides.mine.union_around(mine)
        if around is not None:
            yield from _without_branch(sides, around, mine, unwrapped=False)
            yield from sides.restored(around, union)
        else:
            yield from sides.restored(mine, union)
        for theirs in branches:
            yield from renaming(sides, mine, theirs)
            yield from sides.restored(mine, theirs, rank=2)
