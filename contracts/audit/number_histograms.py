"""Histograms of numbers with a bounded relative error, which merge exactly.

A bucket holds the doubles whose leading bits are equal: sign, exponent and the highest bits of the mantissa. So the
bucket of a number depends on nothing else, and histograms of parts add up to the histogram of the whole. With the six
mantissa bits of full precision, a bucket is at most 1/64 of its numbers wide: a quantile is off by at most 1.6 %, and
whole numbers up to 64 are exact. If there are too many buckets, neighbours are combined two by two.

Sketches that compress by chance, such as KLL, are more compact, but their merge depends on the order of the parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import pack, unpack
from typing import Final

__all__ = ["BUCKET_SHIFT", "FULL_PRECISION", "MAX_BUCKETS", "NumberHistogram"]

FULL_PRECISION: Final = 6  #: bits of the mantissa
MAX_BUCKETS: Final = 512
BUCKET_SHIFT: Final = 52 - FULL_PRECISION  #: low bits of a double that a bucket of full precision drops
_HIGHEST: Final = 0x7FEFFFFFFFFFFFFF  #: bits of the largest finite double


@dataclass(frozen=True, slots=True)
class NumberHistogram:
    """Counts of finite numbers by bucket: leading bits of the magnitude, negative for negative numbers."""

    counts: Mapping[int, int] = field(default_factory=dict)
    dropped_bits: int = 0  #: bits by which buckets are coarser than at full precision

    def merge(self, other: NumberHistogram) -> NumberHistogram:
        """Return the histogram of both together."""
        dropped = max(self.dropped_bits, other.dropped_bits)
        counts = Counter(self._coarsen(dropped))
        counts.update(other._coarsen(dropped))
        return NumberHistogram(counts, dropped).limit()

    def limit(self, maximum: int = MAX_BUCKETS) -> NumberHistogram:
        """Return the histogram with its buckets combined until they are few enough."""
        limited = self
        while len(limited.counts) > maximum:
            dropped = limited.dropped_bits + 1
            limited = NumberHistogram(limited._coarsen(dropped), dropped)
        return limited

    @property
    def total(self) -> int:
        """Number of counted numbers."""
        return sum(self.counts.values())

    def quantile(self, share: float) -> float:
        """Return the number below which about ``share`` of all numbers are.

        Raises:
            ValueError: the histogram is empty.
        """
        rank = min(int(share * self.total), self.total - 1)
        for bucket, count in sorted(self.counts.items()):
            if rank < count:
                return self.middle(bucket)
            rank -= count
        raise ValueError("an empty histogram has no quantiles")

    def middle(self, bucket: int) -> float:
        """Return the number in the middle of a bucket; of a bucket of one whole number, this number."""
        low, high = self.bounds(bucket)
        return low if high - low <= 1 and low.is_integer() else low + (high - low) / 2

    def bounds(self, bucket: int) -> tuple[float, float]:
        """Return the two bounds of a bucket, both with the bucket's sign."""
        sign = -1.0 if bucket < 0 else 1.0
        first = abs(bucket) << self.dropped_bits
        low, high = (
            _read_double(min(bits << BUCKET_SHIFT, _HIGHEST)) for bits in (first, first + (1 << self.dropped_bits))
        )
        return sign * low, sign * high

    def _coarsen(self, dropped: int) -> Mapping[int, int]:
        """Return the counts with fewer mantissa bits."""
        if dropped == self.dropped_bits:
            return self.counts
        by = dropped - self.dropped_bits
        counts: Counter[int] = Counter()
        for bucket, count in self.counts.items():
            counts[-(-bucket >> by) if bucket < 0 else bucket >> by] += count
        return counts


def _read_double(bits: int) -> float:
    number: float = unpack("<d", pack("<Q", bits))[0]
    return number
