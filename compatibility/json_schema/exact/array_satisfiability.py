"""Satisfiability of constraints on arrays: item positions, length and counts of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from contractlog.compatibility.json_schema.exact.constraints import (
    ContainsItems,
    ItemValues,
    SignedConstraint,
    UniqueItems,
)
from contractlog.compatibility.json_schema.exact.string_satisfiability import size_limits

__all__ = ["ArrayConstraints", "is_unsatisfiable"]

UnsatisfiableCheck: TypeAlias = Callable[[Iterable[SignedConstraint]], bool]


class ArrayConstraints:
    """The constraints on an array, combined."""

    def __init__(self, signed_constraints: list[SignedConstraint]) -> None:
        self.min_size, self.max_size = size_limits(signed_constraints)
        self.everywhere: list[tuple[int, int | None, SignedConstraint]] = []
        #: signed constraints that an item in the range satisfies
        self.somewhere: list[tuple[int, int | None, SignedConstraint]] = []
        self.at_least: list[ContainsItems] = []
        self.fewer: list[ContainsItems] = []
        self.unique: set[bool] = set()
        for constraint, positive in signed_constraints:
            match constraint:
                case ItemValues() if positive:
                    self.everywhere.append((constraint.start, constraint.stop, (constraint.body, True)))
                case ItemValues() if constraint.stop == constraint.start + 1:
                    self.everywhere.append((constraint.start, constraint.stop, (constraint.body, False)))
                    self.min_size = max(self.min_size, constraint.stop)
                case ItemValues():
                    self.somewhere.append((constraint.start, constraint.stop, (constraint.body, False)))
                    self.min_size = max(self.min_size, constraint.start + 1)
                case ContainsItems() if positive:
                    self.at_least.append(constraint)
                    self.min_size = max(self.min_size, constraint.size)
                case ContainsItems() if constraint.size == 1:
                    self.everywhere.append((0, None, (constraint.body, False)))
                case ContainsItems():
                    self.fewer.append(constraint)
                case UniqueItems():
                    self.unique.add(positive)
                case _:
                    pass
        if False in self.unique:
            self.min_size = max(self.min_size, 2)
        self._numbers = _by_position(self.everywhere)

    def at(self, index: int) -> list[SignedConstraint]:
        """Return the constraints on the item at an index."""
        ranges = [
            number
            for number in self._numbers.get(None, ())
            if self.everywhere[number][0] <= index and (self.everywhere[number][1] or index + 1) > index
        ]
        return [self.everywhere[number][2] for number in sorted(self._numbers.get(index, []) + ranges)]

    def starts(self, start: int, stop: int | None) -> list[int]:
        """Return the start of each range of indexes with the same constraints, up to the maximum length."""
        end = _smaller_limit(stop, self.max_size)
        edges = {start} | {edge for low, high, _ in self.everywhere for edge in (low, high) if edge is not None}
        return sorted(edge for edge in edges if edge >= start and (end is None or edge < end))

    def shorten(self, seems_unsatisfiable: UnsatisfiableCheck) -> None:
        """Limit the length to the first index at which no item is possible."""
        for index in self.starts(0, None):
            constraints = self.at(index)
            if constraints and seems_unsatisfiable(constraints):
                self.max_size = _smaller_limit(self.max_size, index)
                return


def _by_position(everywhere: list[tuple[int, int | None, SignedConstraint]]) -> dict[int | None, list[int]]:
    """Return the indexes of the constraints by the position each concerns; None for several positions."""
    numbers: dict[int | None, list[int]] = {}
    for number, (start, stop, _) in enumerate(everywhere):
        numbers.setdefault(start if stop == start + 1 else None, []).append(number)
    return numbers


def is_unsatisfiable(signed_constraints: list[SignedConstraint], seems_unsatisfiable: UnsatisfiableCheck) -> bool:
    """Return True if certainly no array satisfies the constraints."""
    constraints = ArrayConstraints(signed_constraints)
    if constraints.unique == {True, False} or (
        constraints.max_size is not None and constraints.min_size > constraints.max_size
    ):
        return True
    constraints.shorten(seems_unsatisfiable)
    if constraints.max_size is not None and constraints.min_size > constraints.max_size:
        return True
    if any(_fits_nowhere(constraints, *requirement, seems_unsatisfiable) for requirement in constraints.somewhere):
        return True
    if any(
        _fits_nowhere(constraints, 0, None, (count.body, True), seems_unsatisfiable) for count in constraints.at_least
    ):
        return True
    return any(_has_too_many(constraints, count, seems_unsatisfiable) for count in constraints.fewer)


def _fits_nowhere(
    constraints: ArrayConstraints,
    start: int,
    stop: int | None,
    positive: SignedConstraint,
    seems_unsatisfiable: UnsatisfiableCheck,
) -> bool:
    """Return True if no item in the range can satisfy the signed constraint."""
    return all(seems_unsatisfiable([*constraints.at(index), positive]) for index in constraints.starts(start, stop))


def _has_too_many(constraints: ArrayConstraints, fewer: ContainsItems, seems_unsatisfiable: UnsatisfiableCheck) -> bool:
    """Return True if at least ``fewer.size`` items certainly satisfy the body, although fewer may."""
    certain = 0
    starts = constraints.starts(0, None)
    for position, index in enumerate(starts):
        end = starts[position + 1] if position + 1 < len(starts) else constraints.min_size
        stretch = min(end, constraints.min_size) - index
        if stretch > 0 and seems_unsatisfiable([*constraints.at(index), (fewer.body, False)]):
            certain += stretch
    if certain >= fewer.size:
        return True
    return any(
        count.size >= fewer.size and _is_implied(constraints, count, fewer, seems_unsatisfiable)
        for count in constraints.at_least
    )


def _is_implied(
    constraints: ArrayConstraints, count: ContainsItems, fewer: ContainsItems, seems_unsatisfiable: UnsatisfiableCheck
) -> bool:
    """Return True if every item that satisfies the body of ``count`` satisfies that of ``fewer``."""
    return all(
        seems_unsatisfiable([*constraints.at(index), (count.body, True), (fewer.body, False)])
        for index in constraints.starts(0, None)
    )


def _smaller_limit(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else min(first, second)
