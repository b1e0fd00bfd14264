"""Records of a Parquet archive, ``DIR/topic=<name>/…``, by offset ranges: the same columns as from Kafka itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources.records import RECORDS, SPAN, OffsetRange, split

__all__ = ["plan_ranges", "read_range", "topics", "write_range"]

RANGE: Final = b"contractlog.range"  #: in a file's metadata: the range it holds, with what was absent at its ends
BATCH: Final = 20_000
NEEDED: Final = ("partition", "offset", "value")


def topics(archive: Path) -> list[str]:
    """Return the names of the topics that an archive holds.

    Raises:
        UsageError: the folder is no archive.
    """
    found = sorted(folder.name.removeprefix("topic=") for folder in archive.glob("topic=*") if folder.is_dir())
    if not found:
        raise UsageError(f"{archive} is no archive: it has no folder topic=NAME", archive=str(archive))
    return found


def plan_ranges(archive: Path, names: Sequence[str] = (), *, span: int = SPAN) -> list[OffsetRange]:
    """Return the ranges that hold all records of topics; none named means all of the archive.

    A partition reaches from its lowest offset to its highest, or as far as the files themselves say.

    Raises:
        UsageError: no archive, no such topic in it, or a file that is no Parquet of records.
    """
    found = topics(archive)
    for name in names:
        if name not in found:
            raise UsageError(f"the topic `{name}` is not in the archive {archive}", topic=name)
    return list(split((whole for name in names or found for whole in _partitions(archive, name)), span))


def read_range(archive: Path, offsets: OffsetRange, *, batch: int = BATCH) -> Iterator[pa.RecordBatch]:
    """Yield the records of a range in batches of ``RECORDS``; an offset that was archived twice is read once.

    Raises:
        UsageError: a file is no Parquet of records.
    """
    field = ds.field
    within = (
        (field("partition") == offsets.partition) & (field("offset") >= offsets.start) & (field("offset") < offsets.end)
    )
    seen = np.zeros(max(len(offsets), 0), dtype=np.bool_)
    try:
        for part in ds.dataset(_files(archive, offsets.topic), format="parquet").to_batches(
            filter=within, batch_size=batch
        ):
            if part.num_rows:
                yield from _fresh(_conform(part, offsets.topic), offsets, seen)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"the archive of `{offsets.topic}` in {archive} cannot be read: {error}") from error


def write_range(archive: Path, offsets: OffsetRange, batches: Iterable[pa.RecordBatch]) -> Path:
    """Write the records of a range as one file of an archive; it is there whole or not at all."""
    folder = archive / f"topic={offsets.topic}"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{offsets.partition:05d}-{offsets.start:020d}-{offsets.end:020d}.parquet"
    unfinished = target.with_name(f".{target.name}.unfinished")
    kept = RECORDS.remove(RECORDS.get_field_index("topic"))  # the folder says it
    place = json.dumps([offsets.partition, offsets.start, offsets.end]).encode()
    with pq.ParquetWriter(unfinished, kept.with_metadata({RANGE: place}), compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch.select(kept.names))
    return unfinished.replace(target)


def _files(archive: Path, topic: str) -> list[str]:
    found = sorted((archive / f"topic={topic}").rglob("*.parquet"))
    return [str(file) for file in found if not file.name.startswith((".", "_"))]


def _partitions(archive: Path, topic: str) -> Iterator[OffsetRange]:
    reach: dict[int, tuple[int, int]] = {}
    for file in _files(archive, topic):
        for partition, start, end in _reach_of(Path(file)):
            low, high = reach.get(partition, (start, end))
            reach[partition] = (min(low, start), max(high, end))
    if not reach:
        raise UsageError(f"the archive {archive} holds no records of `{topic}`", topic=topic)
    return (OffsetRange(topic, partition, *reach[partition]) for partition in sorted(reach))


def _reach_of(file: Path) -> list[tuple[int, int, int]]:
    """Return the partitions in a file, each with its first offset and the one after its last."""
    try:
        schema = pq.read_schema(file)
        lacking = [name for name in NEEDED if name not in schema.names]
        if lacking:
            raise UsageError(f"{file} is no file of an archive: it has no column `{lacking[0]}`")
        told = (schema.metadata or {}).get(RANGE)
        if told is not None:
            partition, start, end = map(int, json.loads(told))
            return [(partition, start, end)]
        columns = pq.read_table(file, columns=["partition", "offset"])
        rows = columns.group_by("partition").aggregate([("offset", "min"), ("offset", "max")]).to_pylist()
        return [(int(row["partition"]), int(row["offset_min"]), int(row["offset_max"]) + 1) for row in rows]
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise UsageError(f"{file} is no file of an archive: {error}") from error


def _fresh(batch: pa.RecordBatch, offsets: OffsetRange, seen: np.ndarray) -> Iterator[pa.RecordBatch]:
    places = batch.column("offset").to_numpy(zero_copy_only=False) - offsets.start
    _, first = np.unique(places, return_index=True)
    kept = np.sort(first[~seen[places[first]]])
    seen[places] = True
    if len(kept) == batch.num_rows:
        yield batch
    elif len(kept):
        yield batch.take(pa.array(kept))


def _conform(batch: pa.RecordBatch, topic: str) -> pa.RecordBatch:
    """Give a batch the columns and types of ``RECORDS``; what an archive leaves out is null."""
    columns: list[pa.Array[Any]] = []
    for field in RECORDS:
        if field.name == "topic":
            columns.append(pa.repeat(pa.scalar(topic), batch.num_rows))
        elif field.name in batch.schema.names:
            columns.append(pc.cast(batch.column(field.name), field.type))
        else:
            columns.append(pa.nulls(batch.num_rows, field.type))
    return pa.record_batch(columns, schema=RECORDS)
