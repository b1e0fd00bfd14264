"""Storage of the origins of records: a Parquet table with a row per topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from contractlog.contracts.audit.record_origins import (
    OriginCounts,
    OriginKey,
    OriginPosition,
    TopicOrigins,
    TracedRecord,
)
from contractlog.spark_validation.profiles.profile_files import HISTOGRAM, make_histogram_row, parse_histogram_row
from contractlog.spark_validation.state.topic_table import TopicTable

__all__ = ["ORIGINS"]

_POSITION: Final = pa.struct(
    [
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("source_partition", pa.int32()),
        pa.field("source_offset", pa.int64()),
    ]
)
_ORIGIN: Final = pa.struct(
    [
        *(pa.field(name, pa.string()) for name in OriginKey._fields),
        *(pa.field(name, pa.int64()) for name in ("records", "first_seen", "last_seen")),
        pa.field("lags", HISTOGRAM),
        pa.field("example", _POSITION),
    ]
)
_TRACE: Final = pa.struct(
    [
        pa.field("trace_hash", pa.uint64()),
        pa.field("timestamp", pa.int64()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("span_hash", pa.uint64()),
    ]
)


def _make_row(origins: TopicOrigins) -> dict[str, Any]:
    return {
        "origins": [_make_origin(key, counts) for key, counts in sorted(origins.origins.items())],
        "traces": [{"trace_hash": trace, **record._asdict()} for trace, record in sorted(origins.traces.items())],
        "invalid": origins.invalid,
    }


def _make_origin(key: OriginKey, counts: OriginCounts) -> dict[str, Any]:
    return {
        **key._asdict(),
        "records": counts.records,
        "first_seen": counts.first_seen,
        "last_seen": counts.last_seen,
        "lags": make_histogram_row(counts.lags),
        "example": counts.example and counts.example._asdict(),
    }


def _parse_row(row: Mapping[str, Any]) -> TopicOrigins:
    origins = {
        OriginKey(*(each[name] for name in OriginKey._fields)): OriginCounts(
            each["records"],
            each["first_seen"],
            each["last_seen"],
            parse_histogram_row(each["lags"]),
            each["example"] and OriginPosition(**each["example"]),
        )
        for each in row["origins"]
    }
    traces = {
        each["trace_hash"]: TracedRecord(*(each[name] for name in TracedRecord._fields)) for each in row["traces"]
    }
    return TopicOrigins(origins, traces, row["invalid"])


ORIGINS: Final[TopicTable[TopicOrigins]] = TopicTable(  # since format 5
    "origins.parquet",
    (
        pa.field("origins", pa.list_(_ORIGIN)),
        pa.field("traces", pa.list_(_TRACE)),
        pa.field("invalid", pa.int64()),
    ),
    _make_row,
    _parse_row,
)
