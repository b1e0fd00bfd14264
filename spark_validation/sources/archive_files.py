"""Files of archives: their records in the columns of ``RECORDS``, and the offsets in them.

If a file has no column ``partition``, a folder ``partition=N`` above it has the partition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources.archive_folder import ArchiveFolder
from contractlog.spark_validation.sources.records import RECORDS, TIMES

__all__ = ["BATCH_RECORDS", "FILE_NAME", "RANGE_KEY", "UNITS", "FilePart", "read_file", "read_file_parts"]

RANGE_KEY: Final = b"contractlog.range"  #: metadata key of a file's offset range, which may exceed its records
BATCH_RECORDS: Final = 20_000
REQUIRED_COLUMNS: Final = ("partition", "offset", "value")
UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
)  #: of timestamps that are written as integers
FILE_NAME: Final = re.compile(r"(\d{5,10})-(\d{20})-(\d{20})\.parquet")  #: partition, start, end; of our own files
MAX_OFFSET: Final = 2**63 - 1
MAX_PARTITION: Final = 2**31 - 1
_PARTITION_FOLDER: Final = re.compile(r"partition=(\d{1,10})")


@dataclass(frozen=True, slots=True)
class FilePart:
    """Records of one partition in a file or in a row group of it."""

    partition: int
    start: int  #: the first offset
    end: int  #: exclusive
    records: int


def read_file_parts(archive: ArchiveFolder, file: str, unit: str | None) -> list[FilePart]:
    """Return the partitions in a file with their offsets, from its metadata if they are there.

    Raises:
        UsageError: it is not Parquet with records, a record has no partition or offset, or timestamps are integers
        without a unit.
    """
    name = archive.describe(file)
    try:
        with archive.open_parquet(file) as parquet:
            folder = _require_columns(name, parquet.schema_arrow, unit)
            range_text = (parquet.metadata.metadata or {}).get(RANGE_KEY)
            if range_text is not None:
                partition, start, end = map(int, json.loads(range_text))
                return _require_bounds(name, [FilePart(partition, start, end, parquet.metadata.num_rows)])
            row, parts = 0, []
            for index in range(parquet.num_row_groups):
                group = parquet.metadata.row_group(index)
                described = _read_statistics(group, folder)
                parts += [described] if described else _read_row_group(parquet, index, name, row=row, folder=folder)
                row += group.num_rows
            return _require_bounds(name, parts)
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise UsageError(f"{name} is not a file of an archive: {error}") from error


def _require_bounds(file: str, parts: list[FilePart]) -> list[FilePart]:
    """Return the parts of a file, whose partitions and offsets must be possible."""
    for part in parts:
        if not 0 <= part.partition <= MAX_PARTITION:
            raise UsageError(f"{file} is not a file of an archive: it has partitions outside 0 to {MAX_PARTITION:,}")
        if not 0 <= part.start <= part.end <= MAX_OFFSET:
            raise UsageError(f"{file} is not a file of an archive: it has offsets outside 0 to {MAX_OFFSET - 1:,}")
    return parts


def _require_columns(file: str, schema: pa.Schema, unit: str | None) -> int | None:
    """Check the columns of a file; return the partition that its folder names, if it has no such column."""
    folder = _find_partition_folder(file) if "partition" not in schema.names else None
    lacking = [name for name in REQUIRED_COLUMNS if name not in schema.names]
    if folder is not None:
        lacking.remove("partition")
    if lacking:
        folders = ", and its folder is not partition=N" if lacking[0] == "partition" else ""
        raise UsageError(f"{file} is not a file of an archive: it has no column `{lacking[0]}`{folders}")
    if unit is None and "timestamp" in schema.names and pa.types.is_integer(schema.field("timestamp").type):
        raise UsageError(
            f"{file} has integer timestamps without a unit. Set it with --timestamp-unit "
            f"({', '.join(UNITS)}; Kafka's own are ms)"
        )
    return folder


def _find_partition_folder(file: str) -> int | None:
    for folder in PurePosixPath(file).parents:
        match = _PARTITION_FOLDER.fullmatch(folder.name)
        if match:
            return int(match[1])
        if folder.name.startswith("topic="):
            break
    return None


def _read_statistics(group: pq.RowGroupMetaData, folder: int | None) -> FilePart | None:
    """Return the offsets of a row group of one partition, if its metadata has them and there are no nulls."""
    bounds: dict[str, tuple[int, int]] = {} if folder is None else {"partition": (folder, folder)}
    for index in range(group.num_columns):
        column = group.column(index)
        statistics = column.statistics
        if column.path_in_schema not in {"partition", "offset"} or statistics is None:
            continue
        minimum, maximum = (statistics.min, statistics.max) if statistics.has_min_max else (None, None)
        if statistics.null_count == 0 and isinstance(minimum, int) and isinstance(maximum, int):  # None if not counted
            bounds[column.path_in_schema] = (minimum, maximum)
    if len(bounds) < len(("partition", "offset")) or bounds["partition"][0] != bounds["partition"][1]:
        return None
    return FilePart(bounds["partition"][0], bounds["offset"][0], bounds["offset"][1] + 1, group.num_rows)


def _read_row_group(parquet: pq.ParquetFile, index: int, file: str, *, row: int, folder: int | None) -> list[FilePart]:
    """Return the offsets of each partition in a row group.

    Raises:
        UsageError: a record has no partition or no offset.
    """
    names = ["offset"] if folder is not None else ["partition", "offset"]
    table = parquet.read_row_group(index, columns=names)
    for name in names:
        column = table.column(name)
        if column.null_count:
            first = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise UsageError(f"{file} is not a file of an archive: row {row + first} (from 0) has no {name}")
    if folder is not None:
        table = table.append_column("partition", pa.array([folder] * table.num_rows, pa.int64()))
    rows = table.group_by("partition").aggregate([("offset", "min"), ("offset", "max"), ("offset", "count")])
    return [
        FilePart(
            int(each["partition"]), int(each["offset_min"]), int(each["offset_max"]) + 1, int(each["offset_count"])
        )
        for each in rows.to_pylist()
    ]


def read_file(
    archive: ArchiveFolder,
    file: str,
    topic: str,
    unit: str | None,
    *,
    batch: int = BATCH_RECORDS,
    columns: Collection[str] = RECORDS.names,
    condition: ds.Expression | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the records of a file; columns that are not requested are null."""
    dataset = archive.open_dataset(file)
    folder = _find_partition_folder(file) if "partition" not in dataset.schema.names else None
    names = [name for name in dataset.schema.names if name in columns]
    for part in dataset.to_batches(columns=names, filter=condition, batch_size=batch):
        if part.num_rows:
            yield _convert_batch(part, topic, unit, folder)


def _convert_batch(batch: pa.RecordBatch, topic: str, unit: str | None, partition: int | None) -> pa.RecordBatch:
    """Convert a batch to the columns of ``RECORDS``; missing ones are null, or the partition given."""
    columns: list[pa.Array[Any]] = []
    for field in RECORDS:
        if field.name == "topic":
            columns.append(pa.repeat(pa.scalar(topic), batch.num_rows))
        elif field.name == "partition" and partition is not None:
            columns.append(pa.repeat(pa.scalar(partition, field.type), batch.num_rows))
        elif field.name not in batch.schema.names:
            columns.append(pa.nulls(batch.num_rows, field.type))
        elif field.name == "timestamp":
            columns.append(_timestamps(batch.column("timestamp"), unit))
        else:
            columns.append(pc.cast(batch.column(field.name), field.type))
    return pa.record_batch(columns, schema=RECORDS)


def _timestamps(column: pa.Array[Any], unit: str | None) -> pa.Array[Any]:
    """Return timestamps, null for those outside ``TIMES``; integers are converted by their unit.

    Raises:
        UsageError: integers without a unit.
    """
    kind = RECORDS.field("timestamp").type
    if pa.types.is_integer(column.type):
        if unit is None:
            raise UsageError("the archive has integer timestamps without a unit; set it with --timestamp-unit")
        column = pc.cast(column, pa.int64()).cast(pa.timestamp(unit, "UTC"))
    if pa.types.is_timestamp(column.type):
        minimum, maximum = (pa.scalar(at, pa.int64()) for at in _time_limits(column.type.unit))
        numbers = column.cast(pa.int64())
        within = pc.and_(pc.greater_equal(numbers, minimum), pc.less(numbers, maximum))
        column = pc.if_else(within, column, pa.scalar(None, column.type))
    return pc.cast(column, kind, safe=False)


def _time_limits(unit: str) -> tuple[int, int]:
    """Return the range of valid times in a unit: the first, and the end (exclusive)."""
    times, divisor = {"s": (1, 1_000), "ms": (1, 1), "us": (1_000, 1), "ns": (1_000_000, 1)}[unit]
    return max(TIMES.start * times // divisor, -(2**63)), min(TIMES.stop * times // divisor, 2**63 - 1)
