"""Parquet archives, ``DIR/topic=<name>/…``, read by offset ranges into the same columns as from Kafka."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources.records import RECORDS, SPAN, TIMES, OffsetRange, split_ranges

__all__ = ["UNITS", "find_empty_files", "list_topics", "plan_ranges", "read_range", "write_range"]

RANGE_KEY: Final = b"contractlog.range"  #: metadata key of a file's offset range, which may exceed its records
BATCH_RECORDS: Final = 20_000
REQUIRED_COLUMNS: Final = ("partition", "offset", "value")
UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
)  #: of timestamps that are written as integers


def list_topics(archive: Path) -> list[str]:
    """Return the names of the topics in an archive.

    Raises:
        UsageError: the folder is no archive.
    """
    topics = sorted(folder.name.removeprefix("topic=") for folder in archive.glob("topic=*") if folder.is_dir())
    if not topics:
        raise UsageError(f"{archive} is not an archive: it has no folder topic=NAME", archive=str(archive))
    return topics


def plan_ranges(
    archive: Path, names: Sequence[str] = (), *, span: int = SPAN, unit: str | None = None
) -> list[OffsetRange]:
    """Return the ranges that contain all records of the given topics, or of all topics if none is given.

    A partition extends from its lowest offset to its highest, or over the ranges in its files' metadata. A topic
    without records has one empty range; files of zero bytes are skipped (``find_empty_files`` lists them).

    Args:
        archive: the folder.
        names: topic names.
        span: maximum number of offsets per range.
        unit: unit of integer timestamps, one of ``UNITS``.

    Raises:
        UsageError: no archive, no such topic in it, a file that is not Parquet with records, or integer timestamps
        without a unit.
    """
    topics = list_topics(archive)
    for name in names:
        if name not in topics:
            raise UsageError(f"the topic `{name}` is not in the archive {archive}", topic=name)
    return list(split_ranges((whole for name in names or topics for whole in _topic_ranges(archive, name, unit)), span))


def find_empty_files(archive: Path, topic: str) -> list[str]:
    """Return the files of a topic that have zero bytes, as an interrupted writer leaves them."""
    return [str(file) for file in _parquet_files(archive, topic) if not file.stat().st_size]


def read_range(
    archive: Path, offsets: OffsetRange, *, batch: int = BATCH_RECORDS, unit: str | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the records of a range in batches of ``RECORDS``; an offset archived twice is read once.

    Raises:
        UsageError: a file is not Parquet with records.
    """
    field = ds.field
    within = (
        (field("partition") == offsets.partition) & (field("offset") >= offsets.start) & (field("offset") < offsets.end)
    )
    if not len(offsets):
        return
    read_offsets = np.zeros(len(offsets), dtype=np.bool_)
    try:
        for part in ds.dataset(_non_empty_files(archive, offsets.topic), format="parquet").to_batches(
            filter=within, batch_size=batch
        ):
            if part.num_rows:
                yield from _drop_duplicates(_convert_batch(part, offsets.topic, unit), offsets, read_offsets)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"the archive of `{offsets.topic}` in {archive} cannot be read: {error}") from error


def write_range(archive: Path, offsets: OffsetRange, batches: Iterable[pa.RecordBatch]) -> Path:
    """Write the records of a range as one file of an archive; the file appears complete or not at all."""
    folder = archive / f"topic={offsets.topic}"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{offsets.partition:05d}-{offsets.start:020d}-{offsets.end:020d}.parquet"
    unfinished = target.with_name(f".{target.name}.unfinished")
    stored_schema = RECORDS.remove(RECORDS.get_field_index("topic"))  # stored in the folder's name
    range_text = json.dumps([offsets.partition, offsets.start, offsets.end]).encode()
    with pq.ParquetWriter(
        unfinished, stored_schema.with_metadata({RANGE_KEY: range_text}), compression="zstd"
    ) as writer:
        for batch in batches:
            writer.write_batch(batch.select(stored_schema.names))
    return unfinished.replace(target)


def _parquet_files(archive: Path, topic: str) -> list[Path]:
    files = sorted((archive / f"topic={topic}").rglob("*.parquet"))
    return [file for file in files if not file.name.startswith((".", "_")) and file.is_file()]


def _non_empty_files(archive: Path, topic: str) -> list[str]:
    return [str(file) for file in _parquet_files(archive, topic) if file.stat().st_size]


def _topic_ranges(archive: Path, topic: str, unit: str | None) -> list[OffsetRange]:
    reach: dict[int, tuple[int, int]] = {}
    for file in _non_empty_files(archive, topic):
        for partition, start, end in _file_ranges(Path(file), unit):
            low, high = reach.get(partition, (start, end))
            reach[partition] = (min(low, start), max(high, end))
    if not reach:
        return [OffsetRange(topic, 0, 0, 0)]
    return [OffsetRange(topic, partition, *reach[partition]) for partition in sorted(reach)]


def _file_ranges(file: Path, unit: str | None) -> list[tuple[int, int, int]]:
    """Return the partitions in a file, each with its first offset and the one after its last."""
    try:
        schema = pq.read_schema(file)
        lacking = [name for name in REQUIRED_COLUMNS if name not in schema.names]
        if lacking:
            raise UsageError(f"{file} is not a file of an archive: it has no column `{lacking[0]}`")
        if unit is None and "timestamp" in schema.names and pa.types.is_integer(schema.field("timestamp").type):
            raise UsageError(
                f"{file} has integer timestamps without a unit. Set it with --timestamp-unit "
                f"({', '.join(UNITS)}; Kafka's own are ms)"
            )
        range_text = (schema.metadata or {}).get(RANGE_KEY)
        if range_text is not None:
            partition, start, end = map(int, json.loads(range_text))
            return [(partition, start, end)]
        columns = pq.read_table(file, columns=["partition", "offset"])
        rows = columns.group_by("partition").aggregate([("offset", "min"), ("offset", "max")]).to_pylist()
        return [(int(row["partition"]), int(row["offset_min"]), int(row["offset_max"]) + 1) for row in rows]
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise UsageError(f"{file} is not a file of an archive: {error}") from error


def _drop_duplicates(batch: pa.RecordBatch, offsets: OffsetRange, read_offsets: np.ndarray) -> Iterator[pa.RecordBatch]:
    indexes = batch.column("offset").to_numpy(zero_copy_only=False) - offsets.start
    _, first = np.unique(indexes, return_index=True)
    unread = np.sort(first[~read_offsets[indexes[first]]])
    read_offsets[indexes] = True
    if len(unread) == batch.num_rows:
        yield batch
    elif len(unread):
        yield batch.take(pa.array(unread))


def _convert_batch(batch: pa.RecordBatch, topic: str, unit: str | None) -> pa.RecordBatch:
    """Convert a batch to the columns and types of ``RECORDS``; missing columns are null."""
    columns: list[pa.Array[Any]] = []
    for field in RECORDS:
        if field.name == "topic":
            columns.append(pa.repeat(pa.scalar(topic), batch.num_rows))
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
