"""Files of archives: their records in the columns of ``RECORDS``, and the offsets in them.

If a file has no column ``partition``, a folder ``partition=N`` above it has the partition.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources.archive_folder import ArchiveFolder
from contractlog.spark_validation.sources.parquet_pages import HEADER_BYTES, read_page_size
from contractlog.spark_validation.sources.records import RECORDS, TIMES, OffsetRange

__all__ = [
    "BATCH_RECORDS",
    "FILE_NAME",
    "RANGE_KEY",
    "UNITS",
    "FilePart",
    "parse_file_name",
    "read_file",
    "read_file_parts",
]

RANGE_KEY: Final = b"contractlog.range"  #: metadata key of a file's offset range, which may exceed its records
BATCH_RECORDS: Final = 20_000
BATCH_BYTES: Final = 16 * 2**20  #: of a batch; the last step, and a single record, may exceed it
STEP_BYTES: Final = 256 * 2**20  #: of a step of which each value is the largest of its dictionary
STEP_RECORDS: Final = 256  #: records that are decoded together, before their size is known
REQUIRED_COLUMNS: Final = ("partition", "offset", "value")
UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
)  #: of timestamps that are written as integers
FILE_NAME: Final = re.compile(r"(\d{5,10})-(\d{20})-(\d{20})\.parquet")  #: partition, start, end; of our own files
MAX_OFFSET: Final = 2**63 - 1
MAX_PARTITION: Final = 2**31 - 1
_LARGE_RECORD: Final = 64 * 1024  #: bytes
MAX_LARGE_RECORDS_BYTES: Final = 512 * 2**20  #: of a column in a row group of large records; Arrow needs twice as much
#: Writers check the size of a page after a thousand records, so pages of large records have up to a gigabyte. Arrow
#: decodes pages as a whole; so threads, such as those that read samples, decode those of large records in turn.
_LARGE_PAGES: Final = threading.RLock()
_SCAN_RECORDS: Final = 65_536  #: offsets that are read together for their minimum and maximum
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
        UsageError: it is not Parquet with records, a record has no partition or offset, timestamps are integers
        without a unit, the range in the metadata or in the name cannot be that of the records, or a row group of large
        records is too large.
    """
    name = archive.describe(file)
    try:
        with archive.open_parquet(file) as parquet:
            folder = _require_columns(name, parquet.schema_arrow, unit)
            _require_small_groups(name, parquet.metadata)
            whole = _parse_range(name, parquet.metadata)
            if whole is not None:
                _require_bounds(name, [whole])
                _require_count(name, whole)
                return [whole]
            row, parts = 0, []
            for index in range(parquet.num_row_groups):
                group = parquet.metadata.row_group(index)
                described = _read_statistics(group, folder)
                parts += [described] if described else _read_row_group(parquet, index, name, row=row, folder=folder)
                row += group.num_rows
            return _require_bounds(name, parts)
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise UsageError(f"{name} is not a file of an archive: {error}") from error


def _parse_range(file: str, metadata: pq.FileMetaData) -> FilePart | None:
    """Return the range in the metadata of a file; None if there is none.

    Raises:
        UsageError: it is not a range.
    """
    text = (metadata.metadata or {}).get(RANGE_KEY)
    if text is None:
        return None
    try:
        numbers = orjson.loads(text)  # rejects deep nesting with a ValueError
    except ValueError:
        numbers = None
    if not isinstance(numbers, list) or [type(number) for number in numbers] != [int] * 3:
        raise UsageError(
            f"{file} is not a file of an archive: its `{RANGE_KEY.decode()}` is not a partition and a range"
        )
    partition, start, end = numbers
    return FilePart(partition, start, end, metadata.num_rows)


def parse_file_name(file: str) -> FilePart | None:
    """Return the range in the name of one of our own files; None for other files."""
    match = FILE_NAME.fullmatch(PurePosixPath(file).name)
    return match and FilePart(int(match[1]), int(match[2]), int(match[3]), 0)


def _require_bounds(file: str, parts: list[FilePart]) -> list[FilePart]:
    """Return the parts of a file, whose partitions and offsets must be possible."""
    for part in parts:
        if not 0 <= part.partition <= MAX_PARTITION:
            raise UsageError(f"{file} is not a file of an archive: it has partitions outside 0 to {MAX_PARTITION:,}")
        if not 0 <= part.start <= part.end <= MAX_OFFSET:
            raise UsageError(f"{file} is not a file of an archive: it has offsets outside 0 to {MAX_OFFSET - 1:,}")
        named = parse_file_name(file)  # by which tasks find the file
        if part.records:
            _require_within(file, part, [named] if named else [])
    return parts


def _require_count(file: str, part: FilePart) -> None:
    """Check that a range in the metadata of a file has an offset for each record."""
    if part.records > part.end - part.start:
        raise UsageError(
            f"{file} is not a file of an archive: it has {part.records:,} records, and its metadata has the offsets "
            f"{part.start:,} to {part.end:,} (exclusive)"
        )


def _contains(bound: FilePart, part: FilePart) -> bool:
    return part.partition == bound.partition and bound.start <= part.start and part.end <= bound.end


def _require_columns(file: str, schema: pa.Schema, unit: str | None) -> int | None:
    """Check the columns of a file; return the partition that its folder names, if it has no such column."""
    folder = _find_partition_folder(file) if "partition" not in schema.names else None
    repeated = [name for name in RECORDS.names if schema.names.count(name) > 1]
    if repeated:
        raise UsageError(f"{file} is not a file of an archive: it has several columns `{repeated[0]}`")
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


def _require_small_groups(file: str, metadata: pq.FileMetaData) -> None:
    """Check that row groups of large records are small, because their pages are decoded as a whole.

    Raises:
        UsageError: one is too large.
    """
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        for column in map(group.column, range(group.num_columns)):
            size = column.total_uncompressed_size
            if size > MAX_LARGE_RECORDS_BYTES and size > group.num_rows * _LARGE_RECORD:
                raise UsageError(
                    f"{file} has a row group with {size // 2**20:,} MiB of large records in the column "
                    f"`{column.path_in_schema}`, and at most {MAX_LARGE_RECORDS_BYTES // 2**20} MiB are read into "
                    "memory: write it with smaller row groups"
                )


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
    parts: dict[int, FilePart] = {}
    for batch in parquet.iter_batches(_SCAN_RECORDS, row_groups=[index], columns=names):
        for name in names:
            column = batch.column(name)
            if column.null_count:
                first = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
                raise UsageError(f"{file} is not a file of an archive: row {row + first} (from 0) has no {name}")
        row += batch.num_rows
        table = pa.Table.from_batches([batch])
        if folder is not None:
            table = table.append_column("partition", pa.repeat(pa.scalar(folder), batch.num_rows))
        rows = table.group_by("partition").aggregate([("offset", "min"), ("offset", "max"), ("offset", "count")])
        for each in rows.to_pylist():
            partition, start, end = int(each["partition"]), int(each["offset_min"]), int(each["offset_max"]) + 1
            former = parts.get(partition, FilePart(partition, start, end, 0))
            records = former.records + int(each["offset_count"])
            parts[partition] = FilePart(partition, min(former.start, start), max(former.end, end), records)
    return list(parts.values())


def read_file(
    archive: ArchiveFolder,
    file: str,
    topic: str,
    unit: str | None,
    *,
    batch: int = BATCH_RECORDS,
    columns: Collection[str] = RECORDS.names,
    offsets: OffsetRange | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the records of a file; columns that are not requested are null.

    Args:
        archive: the folder.
        file: its path.
        topic: the name in the records.
        unit: unit of integer timestamps, one of ``UNITS``.
        batch: maximum number of records per batch; one of large records ends at ``BATCH_BYTES``, about.
        columns: names of ``RECORDS``.
        offsets: the range to read; None: all records.

    Raises:
        UsageError: a record has another partition, or an offset outside the range in the file's metadata or name.
    """
    name = archive.describe(file)
    with archive.open_parquet(file) as parquet:
        stored = parquet.schema_arrow.names
        folder = _find_partition_folder(file) if "partition" not in stored else None
        whole = [part for part in (_parse_range(name, parquet.metadata), parse_file_name(file)) if part]
        pending: list[pa.RecordBatch] = []
        rows = size = 0
        for index in range(parquet.num_row_groups):
            described = _read_statistics(parquet.metadata.row_group(index), folder)
            if described is not None:
                _require_within(name, described, whole)
                if offsets is not None and not _overlaps(described, offsets):
                    continue
            bounds = [*whole, described] if described else whole
            dictionary_size = _read_dictionary_size(archive, file, parquet.metadata.row_group(index), columns)
            chosen_columns = [each for each in stored if each in columns]
            for step in _read_steps(parquet, index, chosen_columns, maximum=batch, dictionary_size=dictionary_size):
                converted = _convert_batch(step, topic, unit, folder)
                _require_records_within(name, converted, bounds)
                chosen = converted if offsets is None else _select_offsets(converted, offsets)
                if pending and rows + chosen.num_rows > batch:
                    yield from _concatenate(pending)
                    pending, rows, size = [], 0, 0
                if chosen.num_rows:
                    pending.append(chosen)
                    rows, size = rows + chosen.num_rows, size + chosen.nbytes
                if size >= BATCH_BYTES:
                    yield from _concatenate(pending)
                    pending, rows, size = [], 0, 0
        if pending:
            yield from _concatenate(pending)


def _concatenate(batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of batches as one, or as several if that is too large for Arrow."""
    yield from batches if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks().to_batches()


def _overlaps(part: FilePart, offsets: OffsetRange) -> bool:
    return part.partition == offsets.partition and part.start < offsets.end and offsets.start < part.end


def _read_dictionary_size(archive: ArchiveFolder, file: str, group: pq.RowGroupMetaData, names: Collection[str]) -> int:
    """Return the size of the largest dictionary of the columns of a row group: no value in it is larger."""
    sizes = [0]
    for column in map(group.column, range(group.num_columns)):
        offset = column.dictionary_page_offset if column.path_in_schema.partition(".")[0] in names else None
        if offset is not None:
            size = read_page_size(archive.read_range(file, offset, HEADER_BYTES))
            sizes.append(column.total_uncompressed_size if size is None else size)
    return max(sizes)


def _read_steps(
    parquet: pq.ParquetFile, index: int, names: list[str], *, maximum: int, dictionary_size: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a row group, few at a time.

    The metadata does not tell how large values are in memory: a dictionary has each distinct one once, and nothing
    requires that the metadata is true. So a step has few rows, and fewer if the metadata tells of large values, or if
    each could be as large as a whole dictionary.
    """
    group = parquet.metadata.row_group(index)
    mean_size = group.total_byte_size // max(group.num_rows, 1)
    repeated = STEP_BYTES // max(dictionary_size, 1)
    rows = max(min(STEP_RECORDS, maximum, BATCH_BYTES // max(mean_size, 1), repeated), 1)
    with _LARGE_PAGES if mean_size > _LARGE_RECORD else nullcontext():
        yield from parquet.iter_batches(rows, row_groups=[index], columns=names, use_threads=False)


def _require_records_within(file: str, batch: pa.RecordBatch, bounds: Sequence[FilePart]) -> None:
    """Check that records are where metadata and name of their file have them: tasks read no others.

    Raises:
        UsageError: a record has another partition or offset, or none.
    """
    if not batch.num_rows:
        return
    partitions, offsets = batch.column("partition"), batch.column("offset")
    if partitions.null_count or offsets.null_count:
        raise UsageError(f"{file} is not a file of an archive: a record has no partition or no offset")
    lowest, highest = (int(each.as_py()) for each in pc.min_max(partitions).values())
    first, last = (int(each.as_py()) for each in pc.min_max(offsets).values())
    for partition in {lowest, highest}:
        _require_within(file, FilePart(partition, first, last + 1, batch.num_rows), bounds)


def _require_within(file: str, part: FilePart, bounds: Sequence[FilePart]) -> None:
    if all(_contains(bound, part) for bound in bounds):
        return
    raise UsageError(
        f"{file} is not a file of an archive: it has records of partition {part.partition}, offsets {part.start:,} to "
        f"{part.end:,} (exclusive), which are outside the range in its metadata or name"
    )


def _select_offsets(batch: pa.RecordBatch, offsets: OffsetRange) -> pa.RecordBatch:
    """Return the records of a range."""
    positions, partitions = np.asarray(batch.column("offset")), np.asarray(batch.column("partition"))
    within = (positions >= offsets.start) & (positions < offsets.end) & (partitions == offsets.partition)
    return batch if within.all() else batch.filter(pa.array(within))


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
