"""Satisfiability of constraints on numbers, exactly: interval, step and excluded values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import Final

from contractlog.compatibility.json_schema.exact.constraints import (
    Constraint,
    IntegerNotation,
    MultipleOf,
    NumericLimit,
    SignedConstraint,
    ValueIn,
)

__all__ = ["candidate_numbers", "is_unsatisfiable"]

_MAX_LISTED: Final = 64
_MAX_STEP_BITS: Final = 10_000  #: of a common multiple; 3,000 digits, as of the largest number in a schema


class _Interval:
    """The interval and step that the constraints on a number allow."""

    def __init__(self, signed_constraints: Iterable[SignedConstraint]) -> None:
        self.low: tuple[Fraction, bool] | None = None  #: limit, and True if it is excluded
        self.high: tuple[Fraction, bool] | None = None
        self.step: Fraction | None = None
        self.excluded_steps: list[Fraction] = []
        self.integer_notations: set[bool] = set()
        self.listed_values: list[Fraction] = []
        for constraint, positive in signed_constraints:
            self._add_constraint(constraint, positive=positive)

    def _add_constraint(self, constraint: Constraint, *, positive: bool) -> None:
        match constraint:
            case NumericLimit():
                self._add_limit(
                    constraint.limit, upper=constraint.upper is positive, excluded=constraint.open is positive
                )
            case MultipleOf() if positive:
                self._add_step(constraint.step)
            case MultipleOf():
                self.excluded_steps.append(constraint.step)
            case IntegerNotation():
                self.integer_notations.add(positive)
            case ValueIn():
                self.listed_values += [number for kind, number in constraint.keys if kind == "number"]

    def _add_step(self, step: Fraction) -> None:
        """Add a step; one that makes the common multiple too large is ignored, which only proves less."""
        common = step if self.step is None else _common_multiple(self.step, step)
        if common.numerator.bit_length() <= _MAX_STEP_BITS:
            self.step = common

    def _add_limit(self, limit: Fraction, *, upper: bool, excluded: bool) -> None:
        if upper and (self.high is None or (limit, not excluded) < (self.high[0], not self.high[1])):
            self.high = (limit, excluded)
        if not upper and (self.low is None or (limit, excluded) > self.low):
            self.low = (limit, excluded)

    @property
    def empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low[0] > self.high[0] or (self.low[0] == self.high[0] and (self.low[1] or self.high[1]))

    def list_all(self) -> list[Fraction] | None:
        """Return all possible numbers if there are few; else None."""
        if self.low is None or self.high is None:
            return None
        if self.low[0] == self.high[0]:
            return [self.low[0]]
        if self.step is None or (self.high[0] - self.low[0]) / self.step > _MAX_LISTED:
            return None
        return [
            self.step * factor for factor in range(ceil(self.low[0] / self.step), floor(self.high[0] / self.step) + 1)
        ]


def is_unsatisfiable(signed_constraints: list[SignedConstraint], charge: Callable[[int], None]) -> bool:
    """Return True if certainly no number satisfies the constraints; ``charge`` is called with the cost."""
    cost = _cost(signed_constraints, charge)
    interval = _Interval(signed_constraints)
    if interval.empty or interval.integer_notations == {True, False}:
        return True
    if interval.step is not None and any(
        (interval.step / excluded_step).denominator == 1 for excluded_step in interval.excluded_steps
    ):
        return True
    numbers = interval.list_all()
    return numbers is not None and not any(_fits(number, signed_constraints, cost) for number in numbers)


def _cost(signed_constraints: list[SignedConstraint], charge: Callable[[int], None]) -> Callable[[], None]:
    """Charge a look at all constraints, and return a function that charges another one.

    The cost of a division grows with the square of the number of digits.
    """
    cost = len(signed_constraints)
    for constraint, _ in signed_constraints:
        number = constraint.limit if isinstance(constraint, NumericLimit) else getattr(constraint, "step", None)
        if number is not None:
            bits = number.numerator.bit_length() + number.denominator.bit_length()
            cost += bits // 64 + bits * bits // 1_000_000
    charge(cost)
    return lambda: charge(cost)


def _fits(number: Fraction, signed_constraints: list[SignedConstraint], cost: Callable[[], None]) -> bool:
    """Return True if a number violates no constraint that can be decided."""
    cost()
    return all(_holds(number, constraint, positive=positive) for constraint, positive in signed_constraints)


def _holds(number: Fraction, constraint: Constraint, *, positive: bool) -> bool:
    match constraint:
        case NumericLimit():
            holds = (
                not constraint.open if number == constraint.limit else (number < constraint.limit) is constraint.upper
            )
        case MultipleOf():
            holds = (number / constraint.step).denominator == 1
        case ValueIn():
            holds = ("number", number) in constraint.keys
        case _:
            return True
    return holds is positive


def candidate_numbers(signed_constraints: list[SignedConstraint], charge: Callable[[int], None]) -> Iterator[Fraction]:
    """Yield numbers that satisfy the constraints, simplest first; ``charge`` is called with the cost."""
    cost = _cost(signed_constraints, charge)
    interval = _Interval(signed_constraints)
    yielded = set[Fraction]()
    for number in [*(interval.list_all() or ()), *_trial_numbers(interval)]:
        if number not in yielded and _fits(number, signed_constraints, cost):
            yielded.add(number)
            yield number


def _trial_numbers(interval: _Interval) -> Iterator[Fraction]:
    starts = [bound[0] for bound in (interval.low, interval.high) if bound] + [Fraction(0)]
    if interval.low and interval.high:
        starts.append((interval.low[0] + interval.high[0]) / 2)
    steps = (
        [interval.step]
        if interval.step
        else [Fraction(1), Fraction(1, 2), *(excluded_step / 2 for excluded_step in interval.excluded_steps)]
    )
    for step in steps:
        for start in starts:
            middle = round(start / step)
            yield from (step * (middle + offset) for offset in _OFFSETS)
            if interval.step is None:
                yield from (start, start + step, start - step, start + step / 7, start - step / 7)
    if interval.low and interval.high and interval.step is None:
        yield interval.low[0] + (interval.high[0] - interval.low[0]) / 7
    for number in interval.listed_values:
        yield from (number + 1, number - 1)


_OFFSETS: Final = sorted(range(-12, 13), key=abs)


def _common_multiple(first: Fraction, second: Fraction) -> Fraction:
    """Return the smallest number that is a multiple of both."""
    return Fraction(lcm(first.numerator, second.numerator), gcd(first.denominator, second.denominator))
