"""Satisfiability of demands on arrays: item positions, length and counts of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from contractlog.compatibility.json_schema.exact.demands import ContainsItems, ItemValues, Literal, UniqueItems
from contractlog.compatibility.json_schema.exact.strings import size_limits

__all__ = ["ArrayDemands", "is_unsatisfiable"]

ClosedCheck: TypeAlias = Callable[[Iterable[Literal]], bool]


class ArrayDemands:
    """The demands on an array, combined."""

    def __init__(self, literals: list[Literal]) -> None:
        self.min_size, self.max_size = size_limits(literals)
        self.everywhere: list[tuple[int, int | None, Literal]] = []
        self.somewhere: list[tuple[int, int | None, Literal]] = []  #: literals that an item in the range satisfies
        self.at_least: list[ContainsItems] = []
        self.fewer: list[ContainsItems] = []
        self.unique: set[bool] = set()
        for demand, wanted in literals:
            match demand:
                case ItemValues() if wanted:
                    self.everywhere.append((demand.start, demand.stop, (demand.body, True)))
                case ItemValues() if demand.stop == demand.start + 1:
                    self.everywhere.append((demand.start, demand.stop, (demand.body, False)))
                    self.min_size = max(self.min_size, demand.stop)
                case ItemValues():
                    self.somewhere.append((demand.start, demand.stop, (demand.body, False)))
                    self.min_size = max(self.min_size, demand.start + 1)
                case ContainsItems() if wanted:
                    self.at_least.append(demand)
                    self.min_size = max(self.min_size, demand.size)
                case ContainsItems() if demand.size == 1:
                    self.everywhere.append((0, None, (demand.body, False)))
                case ContainsItems():
                    self.fewer.append(demand)
                case UniqueItems():
                    self.unique.add(wanted)
                case _:
                    pass
        if False in self.unique:
            self.min_size = max(self.min_size, 2)
        self._numbers = _by_position(self.everywhere)

    def at(self, index: int) -> list[Literal]:
        """Return the demands on the item at an index."""
        ranges = [
            number
            for number in self._numbers.get(None, ())
            if self.everywhere[number][0] <= index and (self.everywhere[number][1] or index + 1) > index
        ]
        return [self.everywhere[number][2] for number in sorted(self._numbers.get(index, []) + ranges)]

    def starts(self, start: int, stop: int | None) -> list[int]:
        """Return the start of each range of indexes with the same demands, up to the maximum length."""
        end = _smaller_limit(stop, self.max_size)
        edges = {start} | {edge for low, high, _ in self.everywhere for edge in (low, high) if edge is not None}
        return sorted(edge for edge in edges if edge >= start and (end is None or edge < end))

    def shorten(self, seems_closed: ClosedCheck) -> None:
        """Limit the length to the first index at which no item is possible."""
        for index in self.starts(0, None):
            demands = self.at(index)
            if demands and seems_closed(demands):
                self.max_size = _smaller_limit(self.max_size, index)
                return


def _by_position(everywhere: list[tuple[int, int | None, Literal]]) -> dict[int | None, list[int]]:
    """Return the indexes of the demands by the position that each concerns; None for several positions."""
    numbers: dict[int | None, list[int]] = {}
    for number, (start, stop, _) in enumerate(everywhere):
        numbers.setdefault(start if stop == start + 1 else None, []).append(number)
    return numbers


def is_unsatisfiable(literals: list[Literal], seems_closed: ClosedCheck) -> bool:
    """Return True if certainly no array satisfies the demands."""
    demands = ArrayDemands(literals)
    if demands.unique == {True, False} or (demands.max_size is not None and demands.min_size > demands.max_size):
        return True
    demands.shorten(seems_closed)
    if demands.max_size is not None and demands.min_size > demands.max_size:
        return True
    if any(_fits_nowhere(demands, *requirement, seems_closed) for requirement in demands.somewhere):
        return True
    if any(_fits_nowhere(demands, 0, None, (count.body, True), seems_closed) for count in demands.at_least):
        return True
    return any(_has_too_many(demands, count, seems_closed) for count in demands.fewer)


def _fits_nowhere(
    demands: ArrayDemands, start: int, stop: int | None, wanted: Literal, seems_closed: ClosedCheck
) -> bool:
    """Return True if no item in the range can satisfy the literal."""
    return all(seems_closed([*demands.at(index), wanted]) for index in demands.starts(start, stop))


def _has_too_many(demands: ArrayDemands, fewer: ContainsItems, seems_closed: ClosedCheck) -> bool:
    """Return True if at least ``fewer.size`` items certainly satisfy the body, although fewer may."""
    certain = 0
    starts = demands.starts(0, None)
    for position, index in enumerate(starts):
        end = starts[position + 1] if position + 1 < len(starts) else demands.min_size
        stretch = min(end, demands.min_size) - index
        if stretch > 0 and seems_closed([*demands.at(index), (fewer.body, False)]):
            certain += stretch
    if certain >= fewer.size:
        return True
    return any(
        count.size >= fewer.size and _is_implied(demands, count, fewer, seems_closed) for count in demands.at_least
    )


def _is_implied(demands: ArrayDemands, count: ContainsItems, fewer: ContainsItems, seems_closed: ClosedCheck) -> bool:
    """Return True if every item that satisfies the body of ``count`` satisfies that of ``fewer``."""
    return all(
        seems_closed([*demands.at(index), (count.body, True), (fewer.body, False)]) for index in demands.starts(0, None)
    )


def _smaller_limit(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else min(first, second)
