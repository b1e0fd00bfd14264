"""Satisfiability of demands on numbers, exactly: interval, step and excluded values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import Final

from contractlog.compatibility.json_schema.exact.demands import Bound, Demand, Lexical, Literal, Multiple, Values

__all__ = ["candidates", "none_left"]

_FEW: Final = 64


class _Interval:
    """The interval and step that the demands on a number allow."""

    def __init__(self, literals: Iterable[Literal]) -> None:
        self.low: tuple[Fraction, bool] | None = None  #: limit, and True if it is excluded
        self.high: tuple[Fraction, bool] | None = None
        self.step: Fraction | None = None
        self.missed: list[Fraction] = []
        self.lexical: set[bool] = set()
        self.near: list[Fraction] = []
        for demand, wanted in literals:
            self._take(demand, wanted=wanted)

    def _take(self, demand: Demand, *, wanted: bool) -> None:
        match demand:
            case Bound():
                self._bound(demand.limit, upper=demand.upper is wanted, excluded=demand.open is wanted)
            case Multiple() if wanted:
                self.step = demand.step if self.step is None else _common(self.step, demand.step)
            case Multiple():
                self.missed.append(demand.step)
            case Lexical():
                self.lexical.add(wanted)
            case Values():
                self.near += [figure for kind, figure in demand.keys if kind == "number"]

    def _bound(self, limit: Fraction, *, upper: bool, excluded: bool) -> None:
        if upper and (self.high is None or (limit, not excluded) < (self.high[0], not self.high[1])):
            self.high = (limit, excluded)
        if not upper and (self.low is None or (limit, excluded) > self.low):
            self.low = (limit, excluded)

    @property
    def empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low[0] > self.high[0] or (self.low[0] == self.high[0] and (self.low[1] or self.high[1]))

    def few(self) -> list[Fraction] | None:
        """Return all possible numbers if there are few; else None."""
        if self.low is None or self.high is None:
            return None
        if self.low[0] == self.high[0]:
            return [self.low[0]]
        if self.step is None or (self.high[0] - self.low[0]) / self.step > _FEW:
            return None
        return [
            self.step * factor for factor in range(ceil(self.low[0] / self.step), floor(self.high[0] / self.step) + 1)
        ]


def none_left(literals: list[Literal]) -> bool:
    """Return True if certainly no number satisfies the demands."""
    found = _Interval(literals)
    if found.empty or found.lexical == {True, False}:
        return True
    if found.step is not None and any((found.step / missed).denominator == 1 for missed in found.missed):
        return True
    few = found.few()
    return few is not None and not any(_fits(number, literals) for number in few)


def _fits(number: Fraction, literals: list[Literal]) -> bool:
    """Return True if a number violates no demand that can be decided."""
    return all(_holds(number, demand, wanted=wanted) for demand, wanted in literals)


def _holds(number: Fraction, demand: Demand, *, wanted: bool) -> bool:
    match demand:
        case Bound():
            held = not demand.open if number == demand.limit else (number < demand.limit) is demand.upper
        case Multiple():
            held = (number / demand.step).denominator == 1
        case Values():
            held = ("number", number) in demand.keys
        case _:
            return True
    return held is wanted


def candidates(literals: list[Literal]) -> Iterator[Fraction]:
    """Yield numbers that satisfy the demands, simplest first."""
    found = _Interval(literals)
    seen = set[Fraction]()
    for number in [*(found.few() or ()), *_tried(found)]:
        if number not in seen and _fits(number, literals):
            seen.add(number)
            yield number


def _tried(found: _Interval) -> Iterator[Fraction]:
    starts = [bound[0] for bound in (found.low, found.high) if bound] + [Fraction(0)]
    if found.low and found.high:
        starts.append((found.low[0] + found.high[0]) / 2)
    steps = [found.step] if found.step else [Fraction(1), Fraction(1, 2), *(missed / 2 for missed in found.missed)]
    for step in steps:
        for start in starts:
            middle = round(start / step)
            yield from (step * (middle + offset) for offset in _OFFSETS)
            if found.step is None:
                yield from (start, start + step, start - step, start + step / 7, start - step / 7)
    if found.low and found.high and found.step is None:
        yield found.low[0] + (found.high[0] - found.low[0]) / 7
    for number in found.near:
        yield from (number + 1, number - 1)


_OFFSETS: Final = sorted(range(-12, 13), key=abs)


def _common(one: Fraction, other: Fraction) -> Fraction:
    """Return the smallest number that is a multiple of both."""
    return Fraction(lcm(one.numerator, other.numerator), gcd(one.denominator, other.denominator))
