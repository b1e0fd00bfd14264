"""Satisfiability of demands on arrays: item positions, length and counts of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from contractlog.compatibility.json_schema.exact.demands import Count, Elements, Literal, Unique
from contractlog.compatibility.json_schema.exact.strings import lengths

__all__ = ["Shape", "none_left"]

Asks: TypeAlias = Callable[[Iterable[Literal]], bool]


class Shape:
    """The demands on an array, combined."""

    def __init__(self, literals: list[Literal]) -> None:
        self.least, self.most = lengths(literals)
        self.everywhere: list[tuple[int, int | None, Literal]] = []
        self.somewhere: list[tuple[int, int | None, Literal]] = []  #: literals that an item in the range satisfies
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
        """Return the demands on the item at an index."""
        return [one for start, stop, one in self.everywhere if start <= index and (stop is None or index < stop)]

    def starts(self, start: int, stop: int | None) -> list[int]:
        """Return the start of each range of indexes with the same demands, up to the maximum length."""
        end = _smaller(stop, self.most)
        edges = {start} | {edge for one, other, _ in self.everywhere for edge in (one, other) if edge is not None}
        return sorted(edge for edge in edges if edge >= start and (end is None or edge < end))

    def shorten(self, asks: Asks) -> None:
        """Limit the length to the first index at which no item is possible."""
        for index in self.starts(0, None):
            found = self.at(index)
            if found and asks(found):
                self.most = _smaller(self.most, index)
                return


def none_left(literals: list[Literal], asks: Asks) -> bool:
    """Return True if certainly no array satisfies the demands."""
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
    """Return True if no item in the range can satisfy the literal."""
    return all(asks([*shape.at(index), wanted]) for index in shape.starts(start, stop))


def _too_many(shape: Shape, fewer: Count, asks: Asks) -> bool:
    """Return True if at least ``fewer.size`` items certainly satisfy the body, although fewer may."""
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
    """Return True if every item that satisfies the body of ``count`` satisfies that of ``fewer``."""
    return all(asks([*shape.at(index), (count.body, True), (fewer.body, False)]) for index in shape.starts(0, None))


def _smaller(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)
