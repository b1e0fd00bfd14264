"""Storage of record statistics: a Parquet table with a row per topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from contractlog.contracts.audit.record_statistics import (
    KeyCounts,
    RecordStatistics,
    SampledRecord,
    SizeCounts,
    TimestampRun,
)
from contractlog.contracts.audit.report import PARTS
from contractlog.spark_validation.profiles.profile_files import HISTOGRAM, make_histogram_row, parse_histogram_row

__all__ = ["STATISTICS", "parse_statistics", "write_statistics"]

STATISTICS: Final = "statistics.parquet"  #: since format 4
_SIZES: Final = pa.struct(
    [pa.field("histogram", HISTOGRAM), pa.field("total", pa.int64()), pa.field("largest", pa.int64())]
)
_POSITION: Final = pa.struct([pa.field("partition", pa.int32()), pa.field("offset", pa.int64())])
_KEY: Final = pa.struct(
    [pa.field("key_hash", pa.uint64()), pa.field("records", pa.int64()), pa.field("first", pa.list_(_POSITION))]
)
_SAMPLED: Final = pa.struct(
    [
        pa.field("rank", pa.uint64()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("key_hash", pa.uint64()),
    ]
)
_RUN: Final = pa.struct(
    [pa.field("partition", pa.int32()), *(pa.field(name, pa.int64()) for name in TimestampRun._fields[1:])]
)
_COLUMNS: Final[list[pa.Field[Any]]] = [
    pa.field("topic", pa.string()),
    pa.field("records", pa.int64()),
    pa.field("null_keys", pa.int64()),
    *(pa.field(f"{part}_sizes", _SIZES) for part in PARTS),
    pa.field("keys", pa.list_(_KEY)),
    pa.field("sample", pa.list_(_SAMPLED)),
    pa.field("runs", pa.list_(_RUN)),
]
_SCHEMA: Final = pa.schema(_COLUMNS)


def write_statistics(statistics: Mapping[str, RecordStatistics], folder: Path) -> None:
    """Write the statistics of topics into an existing folder."""
    rows = [_make_row(topic, statistics[topic]) for topic in sorted(statistics)]
    pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), folder / STATISTICS, compression="zstd")


def parse_statistics(rows: Iterable[Mapping[str, Any]]) -> dict[str, RecordStatistics]:
    """Return the statistics of the rows of a table, by topic.

    Raises:
        LookupError, TypeError, ValueError: a row is not one that ``write_statistics`` writes.
    """
    return {row["topic"]: _parse_row(row) for row in rows}


def _make_row(topic: str, statistics: RecordStatistics) -> dict[str, Any]:
    return {
        "topic": topic,
        "records": statistics.records,
        "null_keys": statistics.null_keys,
        **{f"{part}_sizes": _make_sizes(sizes) for part, sizes in statistics.sizes.items()},
        "keys": [
            {
                "key_hash": key_hash,
                "records": counts.records,
                "first": [{"partition": partition, "offset": offset} for partition, offset in counts.first],
            }
            for key_hash, counts in sorted(statistics.keys.items())
        ],
        "sample": [record._asdict() for record in statistics.sample],
        "runs": [run._asdict() for run in statistics.runs],
    }


def _make_sizes(sizes: SizeCounts) -> dict[str, Any]:
    return {"histogram": make_histogram_row(sizes.histogram), "total": sizes.total, "largest": sizes.largest}


def _parse_row(row: Mapping[str, Any]) -> RecordStatistics:
    return RecordStatistics(
        row["records"],
        row["null_keys"],
        {part: _parse_sizes(row[f"{part}_sizes"]) for part in PARTS if row[f"{part}_sizes"] is not None},
        {
            key["key_hash"]: KeyCounts(
                key["records"], tuple((position["partition"], position["offset"]) for position in key["first"])
            )
            for key in row["keys"]
        },
        tuple(SampledRecord(**record) for record in row["sample"]),
        tuple(TimestampRun(**run) for run in row["runs"]),
    )


def _parse_sizes(row: Mapping[str, Any]) -> SizeCounts:
    return SizeCounts(parse_histogram_row(row["histogram"]), row["total"], row["largest"])
