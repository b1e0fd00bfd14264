"""Coordinated samples of values: the same values are kept in every topic, so that samples can be joined.

A value is kept when the keyed 64-bit hash of its canonical text is among the lowest of its field. The canonical text is
equal across Avro and JSON (see ``spark_validation.lineage.sampling``), and the key travels with the sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

__all__ = ["SAMPLE_SIZE", "FieldSample", "SampledValue", "merge_samples"]

SAMPLE_SIZE: Final = 1024


@dataclass(frozen=True, slots=True, order=True)
class SampledValue:
    """One occurrence of a sampled value."""

    value_hash: int  #: unsigned 64 bits
    timestamp: int  #: of the record, milliseconds since 1970, UTC
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class FieldSample:
    """The occurrences of a field's values with the lowest hashes."""

    key: str  #: of the hash; samples of different keys cannot be joined
    size: int
    values: tuple[SampledValue, ...]  #: ascending


def merge_samples(left: FieldSample, right: FieldSample) -> FieldSample:
    """Return the sample of both together, exactly as if it had been taken in one pass."""
    return FieldSample(left.key, left.size, tuple(nsmallest(left.size, {*left.values, *right.values})))
