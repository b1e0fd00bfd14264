"""Linear conversions of numbers: units, offsets and rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["LinearConversion", "find_linear_conversion"]

MIN_ROWS: Final = 6
MIN_VALUES: Final = 4
MIN_AGREEMENT: Final = 0.95
RELATIVE_ERROR: Final = 1e-6  #: of the spread of the results
MAX_ROUNDING: Final = 0.1  #: largest step of rounded results, as a share of their spread
MONOTONE: Final = 0.99  #: share of neighbours in time with ascending values, from which a field is a clock or sequence
UNITS: Final = (1, 10, 100, 1000, 10**4, 10**5, 10**6, 10**9, 60, 3600, 86_400, 60_000, 3_600_000, 86_400_000)
MAX_DECIMALS: Final = 6
MAX_DENOMINATOR: Final = 100_000

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinearConversion:
    """The function ``factor * x + offset``, in the rows in which it holds."""

    factor: float
    offset: float
    score: float  #: share of rows in which it holds
    rows: Integers

    def describe(self, field: str) -> str:
        """Return the function of a field in words, such as ``arr_delay / 60``."""
        inverse = round(1 / self.factor)
        if abs(inverse) > 1 and abs(self.factor * inverse - 1) < RELATIVE_ERROR:
            text = f"{field} / {inverse}"
        elif abs(self.factor - 1) < RELATIVE_ERROR:
            text = field
        else:
            text = f"{field} * {self.factor:.6g}"
        if abs(self.offset) < RELATIVE_ERROR:
            return text
        return f"{text} {'+' if self.offset > 0 else '-'} {abs(self.offset):.6g}"


def find_linear_conversion(values: Floats, results: Floats, times: Integers) -> LinearConversion | None:
    """Return the linear function that makes results of values in nearly all rows, or None.

    Two fields that only grow with time are linear in each other without being related, so of these only conversions of
    units without an offset count.

    Args:
        values: by row; NaN where there is none.
        results: by row.
        times: timestamp of each row.
    """
    present = np.flatnonzero(np.isfinite(values) & np.isfinite(results))
    x, y = values[present], results[present]
    if len(present) < MIN_ROWS or len(np.unique(x)) < MIN_VALUES or len(np.unique(y)) < MIN_VALUES:
        return None
    factor, offset = _fit(x, y)
    spread = float(np.std(y))
    tolerance = max(RELATIVE_ERROR * spread, _rounding_step(y, spread) * 0.5001)
    if factor == 0 or tolerance > MAX_ROUNDING * spread:
        return None
    factor, offset = _simplify(x, y, factor, offset, tolerance)
    holds = np.abs(factor * x + offset - y) <= tolerance
    score = float(np.mean(holds))
    if score < MIN_AGREEMENT or len(np.unique(x[holds])) < MIN_VALUES:
        return None
    by_time = np.argsort(times[present], kind="stable")
    if _is_monotone(x[by_time]) and _is_monotone(y[by_time]) and not _is_unit(factor, offset, spread):
        return None
    return LinearConversion(factor, offset, score, present[holds])


def _fit(x: Floats, y: Floats) -> tuple[float, float]:
    """Return the median slope of rows that are far apart, and the median offset."""
    order = np.argsort(x, kind="stable")
    half = len(order) // 2
    low, high = order[: len(order) - half], order[half:]
    steps = x[high] - x[low]
    apart = steps > 0
    if not apart.any():
        return 0.0, 0.0
    factor = float(np.median((y[high] - y[low])[apart] / steps[apart]))
    offset = float(np.median(y - factor * x))
    near = np.abs(factor * x + offset - y) <= MAX_ROUNDING * float(np.std(y))
    if np.count_nonzero(near) >= MIN_AGREEMENT * len(x) and np.ptp(x[near]) > 0:
        center = float(np.mean(x[near]))
        slope, middle = np.polyfit(x[near] - center, y[near], 1)
        return float(slope), float(middle - slope * center)
    return factor, offset


def _rounding_step(y: Floats, spread: float) -> float:
    """Return the step of results that were rounded to few decimals; 0 if they were not."""
    for decimals in range(MAX_DECIMALS + 1):
        if np.all(np.abs(np.round(y, decimals) - y) <= 1e-9 * max(1.0, float(np.max(np.abs(y))))):
            step = 10.0**-decimals
            return float(step if step <= spread else 0.0)
    return 0.0


def _simplify(x: Floats, y: Floats, factor: float, offset: float, tolerance: float) -> tuple[float, float]:
    """Return a simple factor and no offset, or a rounded one, if the function holds as well with them."""
    rounded = float(f"{factor:.6g}")
    fraction = Fraction(factor).limit_denominator(MAX_DENOMINATOR)
    for simple in (
        float(Fraction(1, round(1 / factor))) if abs(factor) < 1 else float(round(factor)),
        rounded,
        float(fraction),
    ):
        for start in (0.0, float(f"{offset:.4g}"), offset):
            if simple and np.mean(np.abs(simple * x + start - y) <= tolerance) >= MIN_AGREEMENT:
                return simple, start
    return factor, offset


def _is_monotone(values: Floats) -> bool:
    steps = np.diff(values)
    return bool(np.mean(steps > 0) >= MONOTONE or np.mean(steps < 0) >= MONOTONE)


def _is_unit(factor: float, offset: float, spread: float) -> bool:
    return abs(offset) <= RELATIVE_ERROR * spread and any(
        abs(factor / unit - 1) < RELATIVE_ERROR or abs(factor * unit - 1) < RELATIVE_ERROR for unit in UNITS
    )
