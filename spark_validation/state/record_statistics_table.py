"""Storage of record statistics: a Parquet table with a row per topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from contractlog.contracts.audit.record_statistics import (
    KeyCounts,
    RecordStatistics,
    SampledRecord,
    SizeCounts,
    TimestampRun,
)
from contractlog.contracts.audit.report import PARTS
from contractlog.spark_validation.profiles.profile_files import HISTOGRAM, make_histogram_row, parse_histogram_row
from contractlog.spark_validation.state.topic_table import TopicTable

__all__ = ["STATISTICS"]

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


def _make_row(statistics: RecordStatistics) -> dict[str, Any]:
    return {
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


STATISTICS: Final[TopicTable[RecordStatistics]] = TopicTable(  # since format 4
    "statistics.parquet",
    (
        pa.field("records", pa.int64()),
        pa.field("null_keys", pa.int64()),
        *(pa.field(f"{part}_sizes", _SIZES) for part in PARTS),
        pa.field("keys", pa.list_(_KEY)),
        pa.field("sample", pa.list_(_SAMPLED)),
        pa.field("runs", pa.list_(_RUN)),
    ),
    _make_row,
    _parse_row,
)
