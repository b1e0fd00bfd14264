"""Coordinated samples of values: every topic samples the same values, so samples can be joined.

Values are ordered by the keyed 64-bit hash of their canonical text, which is equal across Avro and JSON (see
``spark_validation.lineage.sampling``), and the occurrences of one value by a hash of value and UTC day. So two topics
sample the same values and, of a frequent value, the occurrences of the same days. In this order a sample contains

- *in breadth* the first occurrence of each of the lowest values, which shows the values of a field, and
- *in depth* many occurrences of the very lowest values, which shows when each occurred.

Each occurrence includes the whole row of its record, as hashes, so that rows of two topics can be compared field by
field. Occurrences in depth include the numbers and times of the row in clear, so that conversions of units can be
found. The first occurrences of the lowest values include *forms* of the row's texts, such as prefixes and digests, as
short hashes: fields that were made from a text by a common function are found by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from struct import iter_unpack
from typing import Final, NamedTuple

__all__ = [
    "DESIGN",
    "FORMED_VALUES",
    "MILLISECONDS_PER_DAY",
    "FieldSample",
    "SampleDesign",
    "SampledValue",
    "compute_sampling_rank",
    "make_design",
    "make_hash_key",
    "merge_samples",
    "parse_row",
    "select_sample",
]

MILLISECONDS_PER_DAY: Final = 86_400_000
FORMED_VALUES: Final = 64  #: number of distinct values, the lowest ones, whose first occurrence has forms
_WORD: Final = (1 << 64) - 1
_POSITION: Final = 5  #: members of an occurrence that tell it from others


class SampledValue(NamedTuple):
    """An occurrence of a sampled value; tuple order is sampling order."""

    value_hash: int  #: unsigned 64-bit integer
    sampling_rank: int  #: ``compute_sampling_rank`` value and day
    timestamp: int  #: timestamp of the record, milliseconds since 1970, UTC
    partition: int
    offset: int
    row: bytes  #: all values of the record's part, as read by ``parse_row``
    numbers: bytes = b""  #: its numbers and times, see ``spark_validation.lineage.row_numbers``
    forms: bytes = b""  #: forms of its values, see ``spark_validation.lineage.function_forms``


@dataclass(frozen=True, slots=True)
class SampleDesign:
    """Parameters of sampling; only samples of the same design can be joined or merged."""

    key: str = "contractlog.lineage/1"  #: public key of the hash, or the fingerprint of a secret one
    breadth: int = 1024  #: number of distinct values
    depth: int = 512  #: number of occurrences in depth
    repeats: int = 32  #: maximum number of these with the same value


DESIGN: Final = SampleDesign()


def make_design(secret: str) -> SampleDesign:
    """Return the design of samples hashed with a secret key, which it names by a fingerprint.

    Without a secret, this is the public design.
    """
    if not secret:
        return DESIGN
    fingerprint = blake2b(secret.encode(), digest_size=8, person=b"fingerprint").hexdigest()
    return SampleDesign(f"secret {fingerprint}")


def make_hash_key(secret: str, design: SampleDesign = DESIGN) -> bytes:
    """Return the key that values are hashed with: made from the secret, or the public one of the design."""
    return blake2b(secret.encode(), digest_size=32, person=b"key").digest() if secret else design.key.encode()


@dataclass(frozen=True, slots=True)
class FieldSample:
    """The sampled occurrences of a field's values."""

    design: SampleDesign
    values: tuple[SampledValue, ...]  #: ascending


def select_sample(values: Iterable[SampledValue], design: SampleDesign) -> tuple[SampledValue, ...]:
    """Return the sample of occurrences in ascending order, ignoring duplicates."""
    chosen: list[SampledValue] = []
    broad = deep = rank = 0
    previous: SampledValue | None = None
    for value in _drop_duplicates(values):
        rank = rank + 1 if previous is not None and value.value_hash == previous.value_hash else 0
        previous = value
        in_breadth = rank == 0 and broad < design.breadth
        in_depth = rank < design.repeats and deep < design.depth
        broad += rank == 0
        deep += rank < design.repeats
        if in_breadth or in_depth:
            chosen.append(_limit_details(value, in_depth=in_depth, formed=rank == 0 and broad <= FORMED_VALUES))
        elif broad > design.breadth and deep >= design.depth:
            break
    return tuple(chosen)


def _drop_duplicates(values: Iterable[SampledValue]) -> Iterator[SampledValue]:
    """Yield each occurrence once; of several, the one with most details."""
    previous: SampledValue | None = None
    for value in values:
        if previous is not None and value[:_POSITION] != previous[:_POSITION]:
            yield previous
        previous = value
    if previous is not None:
        yield previous


def _limit_details(value: SampledValue, *, in_depth: bool, formed: bool) -> SampledValue:
    if (in_depth or not value.numbers) and (formed or not value.forms):
        return value
    return value._replace(numbers=value.numbers if in_depth else b"", forms=value.forms if formed else b"")


def merge_samples(left: FieldSample, right: FieldSample) -> FieldSample:
    """Return the sample of both together, exactly as if taken in one pass.

    Raises:
        ValueError: the samples have different designs.
    """
    if left.design != right.design:
        raise ValueError(f"samples of different designs cannot be merged: {left.design} and {right.design}")
    return FieldSample(left.design, select_sample(sorted(left.values + right.values), left.design))


def compute_sampling_rank(value_hash: int, timestamp: int) -> int:
    """Return a 32-bit hash of value and day that orders the occurrences of a value alike in every topic."""
    mixed = (value_hash ^ (timestamp // MILLISECONDS_PER_DAY * 0x9E3779B97F4A7C15)) & _WORD
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
    return (mixed ^ (mixed >> 31)) >> 32


def parse_row(row: bytes) -> dict[int, int]:
    """Return a row as a mapping: hash of the field's path -> upper 32 bits of the value's hash."""
    return dict(iter_unpack("<II", row))
