"""Producers of a batch's records, read from their headers without a loop over the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from contractlog.contracts.audit.producers import (
    MAX_NAME_BYTES,
    MAX_PRODUCERS,
    MAX_VIOLATION_PRODUCERS,
    OTHER_PRODUCERS,
    ProducerCounts,
    ProducerKey,
    parse_producer,
)
from contractlog.spark_validation.columnar.arrow import pick
from contractlog.spark_validation.record_metadata.timestamps import find_time_range

__all__ = ["BatchProducers", "read_producers"]

_NOBODY = -1


@dataclass(frozen=True, slots=True)
class BatchProducers:
    """The producer of each record of a batch."""

    names: tuple[str, ...]  #: ascending; ``OTHER_PRODUCERS`` for all beyond the limit
    numbers: NDArray[np.int64]  #: index into ``names`` for each record; -1 if its headers name none

    def name_at(self, row: int) -> str | None:
        """Return the producer of a record; None if its headers name none."""
        number = int(self.numbers[row])
        return None if number == _NOBODY else self.names[number]

    def count_rows(self, rows: NDArray[np.intp]) -> dict[str, int]:
        """Return the number of some records by producer; names beyond the limit of a violation are combined."""
        counts = np.bincount(self.numbers[rows] + 1, minlength=len(self.names) + 1)[1:].tolist()
        named = [(name, records) for name, records in zip(self.names, counts, strict=True) if name and records]
        others = sum(counts) - sum(records for _, records in named[:MAX_VIOLATION_PRODUCERS])
        return dict(named[:MAX_VIOLATION_PRODUCERS]) | ({OTHER_PRODUCERS: others} if others else {})

    def count_records(
        self, topic: str, part: str, violating: NDArray[np.bool_], times: NDArray[np.int64]
    ) -> dict[ProducerKey, ProducerCounts]:
        """Count the records of a part of a topic by producer."""
        order = np.argsort(self.numbers, kind="stable")
        bounds = np.searchsorted(self.numbers[order], np.arange(len(self.names) + 1))
        counts = {}
        for name, start, end in zip(self.names, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            rows = order[start:end]
            if rows.size:
                counts[ProducerKey(topic, part, name)] = ProducerCounts(
                    rows.size, int(np.count_nonzero(violating[rows])), *find_time_range(times[rows])
                )
        return counts


def read_producers(headers: pa.Array[Any], names: Sequence[str]) -> BatchProducers | None:
    """Return the producer of each record; None if no record names one.

    The first of the names that a record has a header of counts; of several headers with it, the last one. Headers
    without a value name no producer.

    Args:
        headers: ``array<struct<key string, value binary>>``, null if a record has no headers.
        names: of the headers.
    """
    if not names or headers.null_count == len(headers):
        return None
    entries: Any = pc.list_flatten(headers)
    ranks = pc.index_in(entries.field("key"), value_set=pa.array(names, pa.string()))
    if ranks.null_count == len(ranks):
        return None
    values = entries.field("value")
    present = np.asarray(pc.binary_length(values).fill_null(0)) > 0
    entry_ranks = np.where(present, np.asarray(ranks.fill_null(len(names))), len(names))
    rows = np.asarray(pc.list_parent_indices(headers))
    chosen = np.full(len(headers), _NOBODY, np.int64)
    for rank in range(len(names) - 1, -1, -1):  # headers named first overwrite the others, later headers earlier ones
        positions = np.flatnonzero(entry_ranks == rank)
        last = np.append(np.diff(rows[positions]) != 0, True) if positions.size else np.zeros(0, np.bool_)
        chosen[rows[positions[last]]] = positions[last]
    named = np.flatnonzero(chosen >= 0)
    return _number_names(pick(values, chosen[named]), named, len(headers)) if named.size else None


def _number_names(values: pa.Array[Any], rows: NDArray[np.intp], size: int) -> BatchProducers:
    """Number the distinct names; one more byte than the limit tells cut names from whole ones."""
    encoded: Any = pc.binary_slice(values, 0, MAX_NAME_BYTES + 1).dictionary_encode()
    parsed = [parse_producer(value) for value in encoded.dictionary.to_pylist()]
    distinct = sorted(set(parsed))
    names = distinct if len(distinct) <= MAX_PRODUCERS else [OTHER_PRODUCERS, *distinct[:MAX_PRODUCERS]]
    number_of = {name: number for number, name in enumerate(names)}
    numbers = np.full(size, _NOBODY, np.int64)
    by_index = np.array([number_of.get(name, 0) for name in parsed], np.int64)
    numbers[rows] = by_index[np.asarray(encoded.indices)]
    return BatchProducers(tuple(names), numbers)
