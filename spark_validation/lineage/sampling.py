"""Coordinated sampling of a batch: each distinct value is hashed once, the rest is array operations.

Equal values have equal canonical texts, regardless of their format: integers and integral floats are decimal digits,
timestamps are microseconds since 1970 UTC (RFC 3339 texts too), dates are ISO dates, other strings are unchanged.
``5``, ``5.0`` and ``"5"`` are equal, and so are a timestamp in Avro and a date-time in JSON.

What the state has already is passed in, so that nothing is computed for values that its sample would leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from contractlog.contracts.audit.value_samples import (
    DESIGN,
    FORMED_VALUES,
    MILLISECONDS_PER_DAY,
    FieldSample,
    SampleDesign,
    SampledValue,
    make_hash_key,
    merge_samples,
)
from contractlog.spark_validation.lineage.function_forms import encode_forms, hash_forms
from contractlog.spark_validation.lineage.row_numbers import encode_numbers, parse_numbers
from contractlog.spark_validation.profiles.personal_data import find_personal, is_personal

__all__ = ["FieldValues", "canonical_texts", "compute_sampling_ranks", "field_id", "hash_text", "sample_fields"]

Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MOMENT: Final = r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)$"
MAX_PERSONAL: Final = 0.2  #: share of values that look like personal data, above which a field has no numbers in clear
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
    """The values of a field, with the canonical text of each distinct one."""

    field: str
    rows: Rows
    hashes: Words
    codes: Rows  #: index into ``texts`` of each value
    texts: pa.Array[Any]
    kind: pa.DataType

    def filter(self, chosen: npt.NDArray[Any]) -> _HashedColumn:
        """Return the chosen values."""
        return replace(self, rows=self.rows[chosen], hashes=self.hashes[chosen], codes=self.codes[chosen])

    def of_rows(self, rows: Rows) -> _HashedColumn:
        """Return the values of some rows."""
        return self.filter(np.isin(self.rows, rows))


@dataclass(frozen=True, slots=True)
class _ChosenColumn:
    """The sampled occurrences of a column, in sampling order."""

    column: _HashedColumn
    ranks: Words
    deep: npt.NDArray[np.bool_]  #: whether the occurrence is sampled in depth, and has numbers
    formed: npt.NDArray[np.bool_]  #: whether it has forms

    @property
    def rows(self) -> Rows:
        return self.column.rows


@lru_cache(maxsize=4096)
def field_id(field: str) -> int:
    """Return the 32-bit hash that identifies a field in a row's cells."""
    return int.from_bytes(blake2b(field.encode(), digest_size=4, key=b"field").digest(), "little")


def hash_text(text: str, key: bytes) -> int:
    """Return the 64-bit hash of a value's canonical text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8, key=key).digest(), "little")


def sample_fields(
    columns: Iterable[FieldValues],
    timestamps_ms: npt.NDArray[np.int64],
    partition: int,
    offsets: npt.NDArray[np.int64],
    design: SampleDesign = DESIGN,
    *,
    secret: str = "",
    previous: Mapping[str, FieldSample] = MappingProxyType({}),
    is_private: Callable[[str], bool] = lambda _: False,
) -> Mapping[str, FieldSample]:
    """Return a sample of each field that has values in the batch.

    ``sample_fields(A + B)`` equals ``sample_fields(A)`` merged with ``sample_fields(B)``, and with
    ``sample_fields(B, previous=sample_fields(A))``.

    Args:
        columns: the values of each field.
        timestamps_ms: of the batch's rows.
        partition: of the batch's rows.
        offsets: of the batch's rows.
        design: the design of the samples, that of ``make_design(secret)``.
        secret: the secret key of the hashes; empty: the public key, without forms that allow guessing texts.
        previous: samples that the result will be merged with; what these leave out is omitted.
        is_private: whether only hashes of a field's whole values are kept.
    """
    key = make_hash_key(secret, design)
    hashed = [_hash_column(column, key) for column in columns if len(column.values)]
    chosen = [_select_sample(column, timestamps_ms, offsets, design, previous.get(column.field)) for column in hashed]
    sampled_rows = np.unique(np.concatenate([each.rows for each in chosen])) if chosen else np.empty(0, np.int64)
    deep_rows = np.unique(np.concatenate([each.rows[each.deep] for each in chosen])) if chosen else sampled_rows
    encoded_rows = _encode_rows(hashed, sampled_rows)
    public = [column for column in hashed if not is_private(column.field)]
    numbers = _collect_numbers(public, deep_rows)
    formed = [
        each.formed & ~_has_earlier(each, timestamps_ms, partition, offsets, previous.get(each.column.field))
        for each in chosen
    ]
    form_rows = [each.rows[flags] for each, flags in zip(chosen, formed, strict=True)]
    with_parts = frozenset(column.field for column in public if secret)
    forms = _collect_forms(hashed, np.unique(np.concatenate(form_rows)), key, with_parts) if chosen else {}
    samples: dict[str, FieldSample] = {}
    for each, flags in zip(chosen, formed, strict=True):
        at = each.rows
        values = map(
            SampledValue,
            each.column.hashes.tolist(),
            each.ranks.tolist(),
            timestamps_ms[at].tolist(),
            [partition] * len(at),
            offsets[at].tolist(),
            map(encoded_rows.__getitem__, np.searchsorted(sampled_rows, at).tolist()),
            (numbers[row] if deep else b"" for row, deep in zip(at.tolist(), each.deep.tolist(), strict=True)),
            (forms[row] if flag else b"" for row, flag in zip(at.tolist(), flags.tolist(), strict=True)),
        )
        sample = FieldSample(design, tuple(values))
        field = each.column.field
        existing = samples.get(field)  # a field with values of several types has several columns
        samples[field] = sample if existing is None else merge_samples(existing, sample)
    return samples


def _hash_column(column: FieldValues, key: bytes) -> _HashedColumn:
    """Hash the values of a column, each distinct one once."""
    encoded = column.values.dictionary_encode()
    texts = canonical_texts(encoded.dictionary)
    plain_texts = cast("list[str]", texts.to_pylist())
    digests = b"".join([blake2b(text.encode(), digest_size=8, key=key).digest() for text in plain_texts])
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    hashes = np.frombuffer(digests, "<u8").astype(np.uint64)[codes]
    return _HashedColumn(column.field, np.asarray(column.rows, np.int64), hashes, codes, texts, column.values.type)


def _select_sample(
    column: _HashedColumn,
    timestamps_ms: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    design: SampleDesign,
    previous: FieldSample | None,
) -> _ChosenColumn:
    """Return the sampled occurrences, in order, and their ranks; ``select_sample`` on arrays."""
    limits = [] if previous is None else _find_limit(previous)
    distinct = np.unique(column.hashes)
    max_values = max(design.breadth, design.depth)
    if len(distinct) > max_values:  # values with higher hashes cannot be sampled
        limits.append(int(distinct[max_values - 1]))
    if limits:
        column = column.filter(column.hashes <= np.uint64(min(limits)))
    ranks = compute_sampling_ranks(column.hashes, timestamps_ms[column.rows])
    order = np.lexsort((offsets[column.rows], timestamps_ms[column.rows], ranks, column.hashes))
    column, ranks = column.filter(order), ranks[order]
    once = np.ones(len(ranks), bool)  # repeated in a row, a value counts once
    once[1:] = (column.hashes[1:] != column.hashes[:-1]) | (column.rows[1:] != column.rows[:-1])
    column, ranks = column.filter(once), ranks[once]
    first = np.ones(len(ranks), bool)
    first[1:] = column.hashes[1:] != column.hashes[:-1]
    number = np.cumsum(first)
    repetitions = np.arange(len(ranks)) - np.flatnonzero(first)[number - 1]
    early = repetitions < design.repeats
    deep = early & (np.cumsum(early) <= design.depth)
    keep = (first & (number <= design.breadth)) | deep
    formed = first & (number <= FORMED_VALUES)
    return _ChosenColumn(column.filter(keep), ranks[keep], deep[keep], formed[keep])


def _find_limit(sample: FieldSample) -> list[int]:
    """Return the hash above which a sample takes no further values, if there is one."""
    design = sample.design
    hashes = np.array([value.value_hash for value in sample.values], np.uint64)
    distinct, counts = np.unique(hashes, return_counts=True)
    full = len(distinct) >= design.breadth and int(np.minimum(counts, design.repeats).sum()) >= design.depth
    return [int(distinct[-1])] if full else []


def _has_earlier(
    chosen: _ChosenColumn,
    timestamps_ms: npt.NDArray[np.int64],
    partition: int,
    offsets: npt.NDArray[np.int64],
    previous: FieldSample | None,
) -> npt.NDArray[np.bool_]:
    """Return which occurrences a previous sample precedes, by their value or by lower values."""
    flags = np.zeros(len(chosen.rows), bool)
    if previous is None:
        return flags
    firsts: dict[int, SampledValue] = {}
    for value in previous.values:
        if value.value_hash not in firsts and len(firsts) == FORMED_VALUES:
            break
        firsts.setdefault(value.value_hash, value)
    highest = max(firsts) if len(firsts) == FORMED_VALUES else None
    for index in np.flatnonzero(chosen.formed).tolist():
        row, value_hash = int(chosen.rows[index]), int(chosen.column.hashes[index])
        first = firsts.get(value_hash)
        if first is None:
            flags[index] = highest is not None and value_hash > highest
        else:
            occurrence = (int(chosen.ranks[index]), int(timestamps_ms[row]), partition, int(offsets[row]))
            flags[index] = first[1:5] <= occurrence
    return flags


def _collect_numbers(columns: Iterable[_HashedColumn], rows: Rows) -> dict[int, bytes]:
    """Return the numbers and times of rows in clear, without those of fields that look like personal data."""
    numeric = []
    for column in columns:
        wanted = column.of_rows(rows)
        codes, indexes = np.unique(wanted.codes, return_inverse=True)
        texts = column.texts.take(codes)
        numbers = parse_numbers(texts)
        if numbers is not None:
            personal = find_personal(texts)
            if np.mean(personal) <= MAX_PERSONAL:
                numeric.append((field_id(column.field), wanted.rows, np.where(personal, np.nan, numbers)[indexes]))
    return dict(zip(rows.tolist(), encode_numbers(numeric, rows), strict=True))


def _collect_forms(
    columns: Iterable[_HashedColumn], rows: Rows, key: bytes, with_parts: AbstractSet[str]
) -> dict[int, bytes]:
    """Return the forms of the values of rows; of repeated values, those of the first."""
    by_row: dict[int, dict[int, dict[int, int]]] = {row: {} for row in rows.tolist()}
    for column in columns:
        if pa.types.is_boolean(column.kind):
            continue
        is_text = bool(pa.types.is_string(column.kind) or pa.types.is_large_string(column.kind))
        parts = is_text and column.field in with_parts
        wanted = column.of_rows(rows)
        forms: dict[int, dict[int, int]] = {}
        field = field_id(column.field)
        for row, code in zip(wanted.rows.tolist(), wanted.codes.tolist(), strict=True):
            if code not in forms:
                text = cast("str", column.texts[code].as_py())
                if pa.types.is_floating(column.kind) and text.removeprefix("-").isdigit():
                    text = f"{text}.0"  # as programs write it
                forms[code] = hash_forms(text, key, parts=parts and not is_personal(text))
            by_row[row].setdefault(field, forms[code])
    return {row: encode_forms(forms_by_field) for row, forms_by_field in by_row.items()}


def compute_sampling_ranks(hashes: Words, timestamps_ms: npt.NDArray[np.int64]) -> Words:
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
