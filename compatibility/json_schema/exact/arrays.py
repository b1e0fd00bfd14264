"""Arrays that meet demands: what stands where, how many, and how many of a sort."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from contractlog.compatibility.json_schema.exact.demands import Count, Elements, Literal, Unique
from contractlog.compatibility.json_schema.exact.strings import lengths

__all__ = ["Shape", "none_left"]

Asks: TypeAlias = Callable[[Iterable[Literal]], bool]


class Shape:
    """What the demands say of an array, put together."""

    def __init__(self, literals: list[Literal]) -> None:
        self.least, self.most = lengths(literals)
        self.everywhere: list[tuple[int, int | None, Literal]] = []
        self.somewhere: list[tuple[int, int | None, Literal]] = []  #: an item in there that meets this
        self.at_least: list[Count] = []
        self.fewer: list[Count] = []
        self.unique: set[bool] = set()
        for demand, wanted in literals:
            match demand:
                case Elements() if wanted:
                    self.everywhere.append((demand.start, demand.stop, (demand.body, True)))
                case Elements() if demand.stop == demand.start + 1:
                    self.everywhere.append((demand.start, demand.stop, (demand.body, False)))
                    self.least = max(self.least, demand.stop)
                case Elements():
                    self.somewhere.append((demand.start, demand.stop, (demand.body, False)))
                    self.least = max(self.least, demand.start + 1)
                case Count() if wanted:
                    self.at_least.append(demand)
                    self.least = max(self.least, demand.size)
                case Count() if demand.size == 1:
                    self.everywhere.append((0, None, (demand.body, False)))
                case Count():
                    self.fewer.append(demand)
                case Unique():
                    self.unique.add(wanted)
                case _:
                    pass
        if False in self.unique:
            self.least = max(self.least, 2)

    def at(self, index: int) -> list[Literal]:
        """Return what an item must meet."""
        return [one for start, stop, one in self.everywhere if start <= index and (stop is None or index < stop)]

    def starts(self, start: int, stop: int | None) -> list[int]:
        """Return one index for each stretch in which items must meet the same, and only as far as items can be."""
        end = _smaller(stop, self.most)
        edges = {start} | {edge for one, other, _ in self.everywhere for edge in (one, other) if edge is not None}
        return sorted(edge for edge in edges if edge >= start and (end is None or edge < end))

    def shorten(self, asks: Asks) -> None:
        """Let the array end before the first index at which nothing can stand."""
        for index in self.starts(0, None):
            found = self.at(index)
            if found and asks(found):
                self.most = _smaller(self.most, index)
                return


def none_left(literals: list[Literal], asks: Asks) -> bool:
    """Whether it is certain that no array meets the demands."""
    shape = Shape(literals)
    if shape.unique == {True, False} or (shape.most is not None and shape.least > shape.most):
        return True
    shape.shorten(asks)
    if shape.most is not None and shape.least > shape.most:
        return True
    if any(_nowhere(shape, *one, asks) for one in shape.somewhere):
        return True
    if any(_nowhere(shape, 0, None, (count.body, True), asks) for count in shape.at_least):
        return True
    return any(_too_many(shape, count, asks) for count in shape.fewer)


def _nowhere(shape: Shape, start: int, stop: int | None, wanted: Literal, asks: Asks) -> bool:
    """Whether no item can meet this."""
    return all(asks([*shape.at(index), wanted]) for index in shape.starts(start, stop))


def _too_many(shape: Shape, fewer: Count, asks: Asks) -> bool:
    """Whether at least as many items meet the body as there may not be."""
    certain = 0
    starts = shape.starts(0, None)
    for position, index in enumerate(starts):
        end = starts[position + 1] if position + 1 < len(starts) else shape.least
        stretch = min(end, shape.least) - index
        if stretch > 0 and asks([*shape.at(index), (fewer.body, False)]):
            certain += stretch
    if certain >= fewer.size:
        return True
    return any(count.size >= fewer.size and _implied(shape, count, fewer, asks) for count in shape.at_least)


def _implied(shape: Shape, count: Count, fewer: Count, asks: Asks) -> bool:
    """Whether every item that meets the one body meets the other."""
    return all(asks([*shape.at(index), (count.body, True), (fewer.body, False)]) for index in shape.starts(0, None))


def _smaller(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)
