"""Coordinated sampling of a batch: each distinct value is hashed once, the rest is array operations.

Equal values have equal canonical texts, regardless of their format: integers and integral floats are decimal digits,
timestamps are microseconds since 1970 UTC (RFC 3339 texts too), dates are ISO dates, other strings are unchanged.
``5``, ``5.0`` and ``"5"`` are equal, and so are a timestamp in Avro and a date-time in JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from contractlog.contracts.audit.value_samples import (
    DESIGN,
    MILLISECONDS_PER_DAY,
    FieldSample,
    SampleDesign,
    SampledValue,
    merge_samples,
)

__all__ = ["FieldValues", "canonical_texts", "field_id", "hash_text", "sample_fields"]

Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MOMENT: Final = r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)$"
_EXACT_FLOAT: Final = 2.0**63


class FieldValues(Protocol):
    """The values of one field in a batch, without nulls, and their rows, ascending."""

    @property
    def field(self) -> str:
        """Path of the values, such as ``legs[].carrier``."""

    @property
    def rows(self) -> Rows:
        """Row of each value."""

    @property
    def values(self) -> pa.Array[Any]:
        """The values, typed."""


@dataclass(frozen=True, slots=True)
class _HashedColumn:
    field: str
    rows: Rows
    hashes: Words


@lru_cache(maxsize=4096)
def field_id(field: str) -> int:
    """Return the 32-bit hash that identifies a field in a row's cells."""
    return int.from_bytes(blake2b(field.encode(), digest_size=4, key=b"field").digest(), "little")


def hash_text(text: str, key: str) -> int:
    """Return the 64-bit hash of a value's canonical text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8, key=key.encode()).digest(), "little")


def sample_fields(
    columns: Iterable[FieldValues],
    timestamps_ms: npt.NDArray[np.int64],
    partition: int,
    offsets: npt.NDArray[np.int64],
    design: SampleDesign = DESIGN,
) -> Mapping[str, FieldSample]:
    """Return a sample of each field that has values in the batch.

    Timestamps and offsets are those of the batch's rows. ``sample_fields(A + B)`` equals ``sample_fields(A)``
    merged with ``sample_fields(B)``.
    """
    hashed = [_hash_column(column, design.key) for column in columns if len(column.values)]
    chosen = [_select_sample(column, timestamps_ms, offsets, design) for column in hashed]
    sampled_rows = np.unique(np.concatenate([column.rows for column, _ in chosen])) if chosen else np.empty(0, np.int64)
    encoded_rows = _encode_rows(hashed, sampled_rows)
    samples: dict[str, FieldSample] = {}
    for column, ranks in chosen:
        at = column.rows
        values = map(
            SampledValue,
            column.hashes.tolist(),
            ranks.tolist(),
            timestamps_ms[at].tolist(),
            [partition] * len(at),
            offsets[at].tolist(),
            map(encoded_rows.__getitem__, np.searchsorted(sampled_rows, at).tolist()),
        )
        sample = FieldSample(design, tuple(values))
        existing = samples.get(column.field)  # a field with values of several types has several columns
        samples[column.field] = sample if existing is None else merge_samples(existing, sample)
    return samples


def _hash_column(column: FieldValues, key: str) -> _HashedColumn:
    """Hash the values of a column, each distinct one once."""
    encoded = column.values.dictionary_encode()
    texts = cast("list[str]", canonical_texts(encoded.dictionary).to_pylist())
    secret = key.encode()
    digests = b"".join([blake2b(text.encode(), digest_size=8, key=secret).digest() for text in texts])
    hashes = np.frombuffer(digests, "<u8").astype(np.uint64)[encoded.indices.to_numpy(zero_copy_only=False)]
    return _HashedColumn(column.field, np.asarray(column.rows, np.int64), hashes)


def _select_sample(
    column: _HashedColumn, timestamps_ms: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64], design: SampleDesign
) -> tuple[_HashedColumn, Words]:
    """Return the sampled occurrences, in order, and their ranks; ``select_sample`` on arrays."""
    distinct = np.unique(column.hashes)
    max_values = max(design.breadth, design.depth)
    if len(distinct) > max_values:  # values with higher hashes cannot be sampled
        low = column.hashes <= distinct[max_values - 1]
        column = _HashedColumn(column.field, column.rows[low], column.hashes[low])
    ranks = _compute_sampling_ranks(column.hashes, timestamps_ms[column.rows])
    order = np.lexsort((offsets[column.rows], timestamps_ms[column.rows], ranks, column.hashes))
    rows, hashes, ranks = column.rows[order], column.hashes[order], ranks[order]
    once = np.ones(len(rows), bool)
    once[1:] = (hashes[1:] != hashes[:-1]) | (rows[1:] != rows[:-1])  # repeated in a row, a value counts once
    rows, hashes, ranks = rows[once], hashes[once], ranks[once]
    first = np.ones(len(rows), bool)
    first[1:] = hashes[1:] != hashes[:-1]
    repetitions = np.arange(len(rows)) - np.flatnonzero(first)[np.cumsum(first) - 1]
    early = repetitions < design.repeats
    keep = (first & (np.cumsum(first) <= design.breadth)) | (early & (np.cumsum(early) <= design.depth))
    return _HashedColumn(column.field, rows[keep], hashes[keep]), ranks[keep]


def _compute_sampling_ranks(hashes: Words, timestamps_ms: npt.NDArray[np.int64]) -> Words:
    """Return the sampling rank of each value; ``value_samples.compute_sampling_rank`` on arrays."""
    days = (timestamps_ms // MILLISECONDS_PER_DAY).astype(np.uint64)
    mixed = hashes ^ (days * _GOLDEN)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.asarray((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(32), np.uint64)


def _encode_rows(columns: list[_HashedColumn], rows_to_encode: Rows) -> list[bytes]:
    """Return each wanted row as cells, ascending by field; of repeated values, the first is used."""
    columns = sorted(columns, key=lambda column: field_id(column.field))
    table = np.zeros((len(rows_to_encode), len(columns), 2), "<u4")
    present = np.zeros((len(rows_to_encode), len(columns)), bool)
    for index, column in enumerate(columns):
        rows, firsts = np.unique(column.rows, return_index=True)
        indexes = np.minimum(np.searchsorted(rows, rows_to_encode), len(rows) - 1)
        here = rows[indexes] == rows_to_encode
        present[:, index] = here
        table[here, index, 0] = field_id(column.field)
        table[here, index, 1] = column.hashes[firsts[indexes[here]]] >> np.uint64(32)
    flat = table[present].tobytes()
    ends = (np.cumsum(present.sum(axis=1)) * 8).tolist()
    return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def canonical_texts(values: pa.Array[Any]) -> pa.Array[Any]:
    """Return the canonical text of each value; nulls stay null."""
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _canonical_strings(values.cast(pa.large_string()))
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp("us", "UTC")).cast(pa.int64()).cast(pa.large_string())
    if pa.types.is_floating(kind):
        return _map_values(values.cast(pa.float64()), _float_text)
    if pa.types.is_decimal(kind):
        return _map_values(values, _decimal_text)
    if _is_binary(kind):
        return _map_values(values, bytes.hex)
    return values.cast(pa.large_string())  # integers, booleans, dates


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _map_values(values: pa.Array[Any], text: Callable[[Any], str]) -> pa.Array[Any]:
    return pa.array([None if value is None else text(value) for value in values.to_pylist()], pa.large_string())


def _canonical_strings(values: pa.Array[Any]) -> pa.Array[Any]:
    matched: Any = pc.match_substring_regex(values, _MOMENT)
    moments: Any = matched.fill_null(False)  # noqa: FBT003 - replaces nulls
    if not pc.any(moments).as_py():
        return values
    return cast("pa.Array[Any]", pc.replace_with_mask(values, moments, _map_values(values.filter(moments), _time_text)))


def _time_text(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text.upper())
        return str((moment - _EPOCH) // _MICROSECOND)
    except (ValueError, OverflowError):  # invalid dates, such as 30 February, are plain strings
        return text


def _float_text(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < _EXACT_FLOAT else repr(value)


def _decimal_text(value: Decimal) -> str:
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text
