"""Storage of field profiles: a Parquet table with a row per field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from contractlog.contracts.audit.field_profiles import FieldProfile, FieldProfileKey, ValueRange
from contractlog.contracts.audit.number_histograms import NumberHistogram

__all__ = ["HISTOGRAM", "PROFILES", "make_histogram_row", "parse_histogram_row", "parse_profiles", "write_profiles"]

PROFILES: Final = "profiles.parquet"
_COUNTS: Final = pa.map_(pa.string(), pa.int64())
HISTOGRAM: Final = pa.struct(
    [pa.field("dropped_bits", pa.int32()), pa.field("counts", pa.map_(pa.int64(), pa.int64()))]
)
_ENDS: Final = pa.struct(
    [pa.field("kind", pa.string()), pa.field("lowest", pa.string()), pa.field("highest", pa.string())]
)
_HISTOGRAMS: Final = ("numbers", "lengths", "sizes")
_COLUMNS: Final[list[pa.Field[Any]]] = [
    *(pa.field(name, pa.string()) for name in ("topic", "part", "field")),
    *(pa.field(name, pa.int64()) for name in ("records", "nulls")),
    pa.field("kinds", _COUNTS),
    pa.field("distinct", pa.list_(pa.uint64())),
    pa.field("listed", _COUNTS),
    pa.field("ranges", pa.list_(_ENDS)),
    *(pa.field(name, HISTOGRAM) for name in _HISTOGRAMS),
    pa.field("patterns", _COUNTS),
]
_SCHEMA: Final = pa.schema(_COLUMNS)
_TEXT: Final = "text"


def write_profiles(profiles: Mapping[FieldProfileKey, FieldProfile], folder: Path) -> None:
    """Write profiles into an existing folder."""
    rows = [_make_row(key, profile) for key, profile in sorted(profiles.items(), key=lambda item: item[0])]
    pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), folder / PROFILES, compression="zstd")


def parse_profiles(rows: Iterable[Mapping[str, Any]]) -> dict[FieldProfileKey, FieldProfile]:
    """Return the profiles of the rows of a table.

    Raises:
        LookupError, TypeError, ValueError: a row is not one that ``write_profiles`` writes.
    """
    return {(row["topic"], row["part"], row["field"]): _parse_row(row) for row in rows}


def _make_row(key: FieldProfileKey, profile: FieldProfile) -> dict[str, Any]:
    return {
        **dict(zip(("topic", "part", "field"), key, strict=True)),
        "records": profile.records,
        "nulls": profile.nulls,
        "kinds": sorted(profile.kinds.items()),
        "distinct": list(profile.distinct),
        "listed": None if profile.listed is None else sorted(profile.listed.items()),
        "ranges": [
            {"kind": kind, "lowest": str(ends.lowest), "highest": str(ends.highest)}
            for kind, ends in sorted(profile.ranges.items())
        ],
        **{name: make_histogram_row(getattr(profile, name)) for name in _HISTOGRAMS},
        "patterns": sorted(profile.patterns.items()),
    }


def make_histogram_row(histogram: NumberHistogram) -> dict[str, Any]:
    """Return a histogram as a value of ``HISTOGRAM``."""
    return {"dropped_bits": histogram.dropped_bits, "counts": sorted(histogram.counts.items())}


def parse_histogram_row(row: Mapping[str, Any]) -> NumberHistogram:
    """Return the histogram of a value of ``HISTOGRAM``."""
    return NumberHistogram(dict(row["counts"]), row["dropped_bits"])


def _parse_row(row: Mapping[str, Any]) -> FieldProfile:
    numbers, lengths, sizes = (parse_histogram_row(row[name]) for name in _HISTOGRAMS)
    return FieldProfile(
        row["records"],
        row["nulls"],
        dict(row["kinds"]),
        tuple(row["distinct"]),
        None if row["listed"] is None else dict(row["listed"]),
        {ends["kind"]: _parse_ends(ends) for ends in row["ranges"]},
        numbers,
        lengths,
        sizes,
        dict(row["patterns"]),
    )


def _parse_ends(ends: Mapping[str, str]) -> ValueRange:
    lowest, highest = ends["lowest"], ends["highest"]
    if ends["kind"] == _TEXT:
        return ValueRange(lowest, highest)
    read = float if ends["kind"] == "number" else int
    return ValueRange(read(lowest), read(highest))
