"""Numbers that an audit has measured, exactly or within an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["SIGMAS", "Measurement", "NotMeasurable", "measure_exactly"]

SIGMAS: Final = 3  #: standard errors on each side of an estimate


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number that lies in an interval, and the number of values that it is a part of."""

    low: float
    high: float
    base: float = 0.0


class NotMeasurable(Exception):
    """A number that an audit does not know, and the reason."""


def measure_exactly(number: float, base: float = 0.0) -> Measurement:
    """Return a number that is known."""
    return Measurement(number, number, base)
