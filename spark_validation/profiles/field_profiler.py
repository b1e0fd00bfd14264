"""Profiles of the fields of a batch; each distinct value is examined once, with its count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from contractlog.contracts.audit.field_profiles import (
    MASK,
    MAX_DISTINCT_HASHES,
    MAX_FIELDS_PER_PART,
    MAX_LISTED_VALUES,
    PATTERN_PREFIX,
    FieldProfile,
    ValueRange,
)
from contractlog.contracts.audit.number_histograms import BUCKET_SHIFT, NumberHistogram
from contractlog.spark_validation.columnar.validator_results import SYMBOL_TYPE
from contractlog.spark_validation.lineage.sampling import canonical_texts
from contractlog.spark_validation.profiles.personal_data import count_patterns
from contractlog.spark_validation.profiles.value_hashes import hash_values

__all__ = ["ProfiledColumn", "list_forms", "make_histogram", "profile_fields"]

Numbers = NDArray[np.int64]
Patterns = Mapping[str, Sequence[str]]
_MAX_TEXT: Final = 64  #: characters of a listed text
_MICROSECONDS_PER_DAY: Final = 86_400_000_000
_NO_PATTERNS: Final[Mapping[str, Sequence[str]]] = MappingProxyType({})
_MICROSECONDS: Final = pa.timestamp("us", "UTC")


class ProfiledColumn(Protocol):
    """The values of one field and one type in a batch, without nulls, and their rows, ascending."""

    @property
    def field(self) -> str:
        """Path of the values, such as ``legs[].carrier``."""

    @property
    def rows(self) -> Numbers:
        """Row of each value."""

    @property
    def values(self) -> pa.Array[Any]:
        """The values, typed; of type null if the values are nulls."""


def profile_fields(
    columns: Iterable[ProfiledColumn], *, show_values: bool, patterns: Patterns = _NO_PATTERNS
) -> Mapping[str, FieldProfile]:
    """Return the profile of each field.

    Args:
        columns: the values of conforming records of a batch; fields beyond the lowest ``MAX_FIELDS_PER_PART`` are
            left out.
        show_values: whether texts are in the result.
        patterns: regular expressions whose matching texts are counted, by field.
    """
    by_field: defaultdict[str, list[ProfiledColumn]] = defaultdict(list)
    for column in columns:
        if len(column.values):
            by_field[column.field].append(column)
    return {
        field: _add_patterns(
            _profile_field(by_field[field], show_values=show_values), by_field[field], patterns.get(field, ())
        )
        for field in sorted(by_field)[:MAX_FIELDS_PER_PART]
    }


def _profile_field(columns: list[ProfiledColumn], *, show_values: bool) -> FieldProfile:
    values = [column for column in columns if not pa.types.is_null(column.values.type)]
    profile = FieldProfile(
        records=_count_records(columns),
        nulls=sum(len(column.values) for column in columns) - sum(len(column.values) for column in values),
        sizes=_count_sizes(values) if values else NumberHistogram(),
    )
    for column in values:
        profile = profile.merge(_profile_values(column.values, show_values=show_values))
    return profile


def _add_patterns(profile: FieldProfile, columns: list[ProfiledColumn], patterns: Sequence[str]) -> FieldProfile:
    """Add the number of texts that match each pattern."""
    if not patterns:
        return profile
    counts = dict(profile.patterns)
    for pattern in patterns:
        texts = [each.values for each in columns if _is_text(each.values.type)]
        matches = [pc.match_substring_regex(values, f"^(?:{pattern})$") for values in texts]
        counts[PATTERN_PREFIX + pattern] = sum(int(np.count_nonzero(np.asarray(each))) for each in matches)
    return replace(profile, patterns=counts)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or kind == SYMBOL_TYPE)


def _count_records(columns: list[ProfiledColumn]) -> int:
    if len(columns) == 1:
        rows = columns[0].rows
        return 1 + int(np.count_nonzero(rows[1:] != rows[:-1]))
    return int(np.unique(np.concatenate([column.rows for column in columns])).size)


def _count_sizes(columns: list[ProfiledColumn]) -> NumberHistogram:
    """Count the records by their number of values, for a field that may have several."""
    if "[]" not in columns[0].field and "{}" not in columns[0].field:
        return NumberHistogram()
    _, sizes = np.unique(np.concatenate([column.rows for column in columns]), return_counts=True)
    return make_histogram(sizes.astype(np.float64), np.ones(sizes.size, np.int64))


def _profile_values(values: pa.Array[Any], *, show_values: bool) -> FieldProfile:
    """Return the profile of values, without records and sizes."""
    counted = pc.value_counts(values)
    distinct, counts = counted.field("values"), np.asarray(counted.field("counts"))
    types, kind = pa.types, values.type
    hashes = hash_values(distinct)
    listed = _list_values(distinct, counts, hashes, show=show_values)
    common = FieldProfile(0, distinct=_lowest(hashes), listed=listed)
    if types.is_boolean(kind):
        return replace(common, kinds={"boolean": len(values)})
    if types.is_timestamp(kind):
        return replace(common, kinds={"time": len(values)}, ranges={"time": _find_range(_to_microseconds(distinct))})
    if types.is_date(kind):
        return replace(common, kinds={"date": len(values)}, ranges={"date": _find_range(_to_microseconds(distinct))})
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return _profile_numbers(common, distinct, counts)
    if _is_text(kind):
        return _profile_texts(common, distinct, counts, show=show_values or kind == SYMBOL_TYPE)
    return replace(
        common,
        kinds={"bytes": len(values)},
        lengths=make_histogram(_to_floats(pc.binary_length(cast("Any", distinct))), counts),
    )


def _profile_numbers(common: FieldProfile, distinct: pa.Array[Any], counts: Numbers) -> FieldProfile:
    numbers = _to_floats(distinct)
    finite = np.isfinite(numbers)
    ends = {"number": ValueRange(numbers[finite].min().item(), numbers[finite].max().item())} if finite.any() else {}
    return replace(
        common,
        kinds={"number": int(counts.sum())},
        ranges=ends,
        numbers=make_histogram(numbers[finite], counts[finite]),
    )


def _profile_texts(common: FieldProfile, distinct: pa.Array[Any], counts: Numbers, *, show: bool) -> FieldProfile:
    ends: dict[str, ValueRange] = {}
    if show:
        extremes: Any = pc.min_max(distinct)
        ends = {"text": ValueRange(extremes["min"].as_py()[:_MAX_TEXT], extremes["max"].as_py()[:_MAX_TEXT])}
    return replace(
        common,
        kinds={"text": int(counts.sum())},
        ranges=ends,
        lengths=make_histogram(_to_floats(pc.utf8_length(cast("Any", distinct))), counts),
        patterns=count_patterns(distinct, counts),
    )


def _lowest(hashes: NDArray[np.uint64]) -> tuple[int, ...]:
    return tuple(np.unique(hashes)[:MAX_DISTINCT_HASHES].tolist())


def _list_values(
    distinct: pa.Array[Any], counts: Numbers, hashes: NDArray[np.uint64], *, show: bool
) -> Mapping[str, int] | None:
    """Return the count of each value, as text; of confidential ones, the hash is the text; None for times."""
    if len(distinct) > MAX_LISTED_VALUES or pa.types.is_timestamp(distinct.type):
        return None
    types, kind = pa.types, distinct.type
    is_open = show or not (types.is_string(kind) or types.is_binary(kind) or types.is_large_binary(kind))
    texts = _to_texts(distinct) if is_open else [f"{MASK}{number:016x}" for number in hashes.tolist()]
    listed: dict[str, int] = {}
    for text, count in zip(texts, counts.tolist(), strict=True):
        listed[text[:_MAX_TEXT]] = listed.get(text[:_MAX_TEXT], 0) + count
    return listed


def list_forms(value: str) -> tuple[str, ...]:
    """Return the forms in which a profile may list a text: itself, and its hash."""
    (number,) = hash_values(pa.array([value], pa.string())).tolist()
    return value[:_MAX_TEXT], f"{MASK}{number:016x}"


def _to_texts(values: pa.Array[Any]) -> list[str]:
    if pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
        return [value.hex() for value in cast("list[bytes]", values.to_pylist())]
    return cast("list[str]", canonical_texts(values).to_pylist())


def _find_range(numbers: Numbers) -> ValueRange:
    return ValueRange(int(numbers.min()), int(numbers.max()))


def _to_microseconds(values: pa.Array[Any]) -> Numbers:
    if pa.types.is_date(values.type):
        return np.asarray(values.cast(pa.int32())).astype(np.int64) * _MICROSECONDS_PER_DAY
    return np.asarray(values.cast(_MICROSECONDS).cast(pa.int64()))


def _to_floats(values: Any) -> NDArray[np.float64]:
    return np.asarray(values.cast(pa.float64(), safe=False)).astype(np.float64)


def make_histogram(numbers: NDArray[np.float64], counts: Numbers) -> NumberHistogram:
    """Return the histogram of finite numbers that occur some times each."""
    bits = numbers.view(np.int64)
    magnitudes = (bits & np.iinfo(np.int64).max) >> BUCKET_SHIFT
    buckets, indexes = np.unique(np.where(bits < 0, -magnitudes, magnitudes), return_inverse=True)
    totals = np.bincount(indexes, weights=counts.astype(np.float64)).astype(np.int64)
    return NumberHistogram(dict(zip(buckets.tolist(), totals.tolist(), strict=True))).limit()
