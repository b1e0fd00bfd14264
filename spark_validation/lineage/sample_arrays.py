"""Samples of a topic as arrays: the sampled values of each field, and their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.contracts.audit.value_samples import (
    MILLISECONDS_PER_DAY,
    FieldSample,
    SampleDesign,
    SampledValue,
    make_hash_key,
)
from contractlog.spark_validation.lineage.row_numbers import decode_numbers
from contractlog.spark_validation.lineage.sampling import field_id, hash_text

__all__ = ["GroupedTimes", "Integers", "SampledField", "SampledTopic", "find_values", "group_by_topic"]

Integers = npt.NDArray[np.int64]

MIN_UNIQUE: Final = 0.9  #: distinct values per sampled occurrence of a field that identifies rows

_NO_LIMIT: Final = (1 << 64) - 1
_CELLS: Final = np.dtype([("field", "<u4"), ("value", "<u4")])


class GroupedTimes:
    """Times in groups, to be searched for the last one up to a time."""

    def __init__(self, groups: Integers, times: Integers) -> None:
        self.order = np.lexsort((times, groups))  #: indexes of the times, by group and time
        self._moments = np.unique(times)
        self._keys = self._encode(groups[self.order], times[self.order])

    def find_last(self, groups: Integers, times: Integers) -> Integers:
        """Return the index in ``order`` of the last time that is not after each search, or -1.

        All times of lower groups are before those of a group.

        Args:
            groups: the group of each search.
            times: the time of each search.
        """
        return np.searchsorted(self._keys, self._encode(groups, times), side="right") - 1

    def _encode(self, groups: Integers, times: Integers) -> Integers:
        """Return numbers in the order of groups and times; groups times milliseconds could overflow."""
        return groups * (len(self._moments) + 1) + np.searchsorted(self._moments, times, side="right")


@dataclass(frozen=True)
class SampledField:
    """The sampled occurrences of a field's values, sorted by value and sampling rank."""

    name: str
    hashes: npt.NDArray[np.uint64]
    ranks: Integers
    times: Integers
    rows: Integers  #: indexes into the topic's table of rows
    distinct: npt.NDArray[np.uint64]  #: the values, ascending
    groups: Integers  #: index into ``distinct`` of each occurrence's value
    counts: Integers  #: number of sampled occurrences of each value
    whole: npt.NDArray[np.bool_]  #: true if every occurrence of the value in the topic was sampled
    highest: int  #: all values up to this hash are sampled
    deepest: int  #: all values below this hash are sampled in depth

    @cached_property
    def identifies_rows(self) -> bool:
        """Return whether nearly every row has a value of its own."""
        return len(self.distinct) >= MIN_UNIQUE * len(self.hashes)

    @cached_property
    def timeline(self) -> GroupedTimes:
        """The occurrences of each value by time."""
        return GroupedTimes(self.groups, self.times)

    @cached_property
    def ends(self) -> Integers:
        """Number of occurrences up to and including those of each value."""
        return np.cumsum(self.counts)

    @cached_property
    def window_starts(self) -> dict[int, Integers]:
        """Cache of ``windowed_aggregates``: the first occurrences in windows, by width."""
        return {}

    @cached_property
    def days(self) -> Integers:
        """UTC day of each occurrence, as days since 1970."""
        return self.times // MILLISECONDS_PER_DAY


@dataclass(frozen=True)
class SampledTopic:
    """The sampled values of a topic."""

    name: str
    fields: tuple[SampledField, ...]
    cells: npt.NDArray[np.uint32]  #: upper half of the value's hash by row and field; 0 for null
    times: Integers  #: of each row
    time_cells: npt.NDArray[np.uint32]  #: as ``cells``, of each row's time as a number of milliseconds and microseconds
    distinct_times: npt.NDArray[np.uint32]  #: values of ``time_cells``, ascending
    earlier: Integers  #: index of the row before each row in time; for the first row, the second
    keys: frozenset[int]  #: hashes of the record keys' values
    positions: npt.NDArray[np.int64]  #: partition and offset of each row
    numbers: npt.NDArray[np.float64]  #: by row and field; NaN where the row has no number or none was sampled
    forms: tuple[bytes, ...]  #: of each row, see ``function_forms``; empty if none were sampled

    @cached_property
    def same_fields(self) -> dict[int, npt.NDArray[np.bool_]]:
        """Cache of ``copied_fields``: which fields are equal to a field."""
        return {}


def find_values(source: SampledField, target: SampledField) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Find the target values among the distinct values of a source.

    Returns:
        For each target value, the index at which it is or would be among the source's values, and whether it is there.
    """
    indexes = np.minimum(np.searchsorted(source.distinct, target.distinct), len(source.distinct) - 1)
    return indexes[target.groups], (source.distinct[indexes] == target.distinct)[target.groups]


def group_by_topic(samples: Mapping[tuple[str, str, str], FieldSample], secret: str = "") -> list[SampledTopic]:
    """Return the sampled topics of one design; of several designs, the most frequent is used.

    Args:
        samples: the samples by topic, part and field.
        secret: the secret key that the values were hashed with.
    """
    designs = [sample.design for _, sample in sorted(samples.items())]
    if not designs:
        return []
    design = max(designs, key=designs.count)
    values: dict[str, dict[str, FieldSample]] = {}
    keys: dict[str, set[int]] = {}
    for (topic, part, field), sample in sorted(samples.items()):
        if sample.design == design and sample.values and part == "value":
            values.setdefault(topic, {})[field] = sample
        elif sample.design == design and part == "key":
            keys.setdefault(topic, set()).update(value.value_hash for value in sample.values)
    hash_key = make_hash_key(secret, design)
    return [
        _make_topic(topic, fields, design, hash_key, frozenset(keys.get(topic, ()))) for topic, fields in values.items()
    ]


def _make_topic(
    name: str, samples: dict[str, FieldSample], design: SampleDesign, hash_key: bytes, keys: frozenset[int]
) -> SampledTopic:
    row_numbers: dict[tuple[int, int], int] = {}
    rows: list[SampledValue] = []
    numbers: list[bytes] = []
    forms: list[bytes] = []
    fields = []
    for field, sample in samples.items():
        rows_of_field = []
        for value in sample.values:
            number = row_numbers.setdefault((value.partition, value.offset), len(rows))
            if number == len(rows):
                rows.append(value)
                numbers.append(value.numbers)
                forms.append(value.forms)
            numbers[number] = numbers[number] or value.numbers
            forms[number] = forms[number] or value.forms
            rows_of_field.append(number)
        fields.append(_make_field(field, sample, np.array(rows_of_field, np.int64), design))
    times = np.array([row.timestamp for row in rows], np.int64)
    time_cells = _hash_times(times, hash_key)
    return SampledTopic(
        name,
        tuple(fields),
        _decode_rows(rows, list(samples)),
        times,
        time_cells,
        np.unique(time_cells),
        _previous_rows(times),
        keys,
        np.array([(row.partition, row.offset) for row in rows], np.int64),
        decode_numbers(numbers, [field_id(field) for field in samples]),
        tuple(forms),
    )


def _make_field(name: str, sample: FieldSample, rows: Integers, design: SampleDesign) -> SampledField:
    hashes = np.array([value.value_hash for value in sample.values], np.uint64)
    distinct, groups, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    ranks = np.arange(len(hashes)) - np.searchsorted(hashes, hashes)
    deep = np.flatnonzero(ranks < design.repeats)
    deepest = int(hashes[deep[design.depth - 1]]) if len(deep) >= design.depth else _NO_LIMIT
    return SampledField(
        name,
        hashes,
        np.array([value.sampling_rank for value in sample.values], np.int64),
        np.array([value.timestamp for value in sample.values], np.int64),
        rows,
        distinct,
        groups.astype(np.int64),
        counts.astype(np.int64),
        (counts < design.repeats) & (distinct < np.uint64(deepest)),
        int(distinct[-1]) if len(distinct) >= design.breadth else _NO_LIMIT,
        deepest,
    )


def _decode_rows(rows: list[SampledValue], fields: list[str]) -> npt.NDArray[np.uint32]:
    ids = np.array([field_id(field) for field in fields], np.uint32)
    order = np.argsort(ids)
    flat = np.frombuffer(b"".join([row.row for row in rows]), _CELLS)
    at = np.repeat(np.arange(len(rows)), [len(row.row) // _CELLS.itemsize for row in rows])
    indexes = np.minimum(np.searchsorted(ids[order], flat["field"]), len(ids) - 1)
    matching = ids[order][indexes] == flat["field"]
    cells = np.zeros((len(rows), len(fields)), np.uint32)
    cells[at[matching], order[indexes[matching]]] = np.maximum(flat["value"][matching], 1)
    return cells


def _hash_times(times: Integers, key: bytes) -> npt.NDArray[np.uint32]:
    distinct, groups = np.unique(times, return_inverse=True)
    texts = [(str(time), str(1000 * time)) for time in distinct.tolist()]
    cells = [[hash_text(text, key) >> 32 for text in row] for row in texts]
    return np.array(cells, np.uint32).reshape(-1, 2)[groups]


def _previous_rows(times: Integers) -> Integers:
    order = np.argsort(times, kind="stable")
    earlier = np.empty_like(order)
    earlier[order[1:]] = order[:-1]
    earlier[order[0]] = order[min(1, len(order) - 1)]
    return earlier
