"""Parquet archives, ``DIR/topic=<name>/…``, read by offset ranges into the same columns as from Kafka.

The folders below that of the topic are of any form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np
import pyarrow as pa

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources.archive_files import (
    BATCH_RECORDS,
    UNITS,
    FilePart,
    parse_file_name,
    read_file,
    read_file_parts,
)
from contractlog.spark_validation.sources.archive_folder import (
    ArchiveFolder,
    Location,
    hide_parameters,
    open_archive,
)
from contractlog.spark_validation.sources.archive_writer import write_range
from contractlog.spark_validation.sources.records import SPAN, OffsetRange

__all__ = [
    "UNITS",
    "ArchiveReader",
    "find_empty_files",
    "find_offsets",
    "list_topics",
    "plan_ranges",
    "read_range",
    "split_ranges",
    "write_range",
]

_RUN: Final = 1_000_000  #: offsets
_NO_TIME: Final = -(2**63)


def list_topics(archive: Location) -> list[str]:
    """Return the names of the topics in an archive.

    Raises:
        UsageError: the folder is no archive.
    """
    folder = open_archive(archive)
    topics = folder.list_topics()
    if not topics:
        raise UsageError(f"{folder.location} is not an archive: it has no folder topic=NAME", archive=folder.location)
    return topics


def plan_ranges(
    archive: Location, names: Sequence[str] = (), *, span: int = SPAN, unit: str | None = None
) -> list[OffsetRange]:
    """Return the ranges that contain all records of the given topics, or of all topics if none is given.

    A partition extends from its lowest offset to its highest, or over the ranges in its files' metadata. A topic
    without records has one empty range; files of zero bytes are skipped (``find_empty_files`` lists them).

    Args:
        archive: the folder, local or in an object store.
        names: topic names.
        span: maximum number of records per range, about; a hole may make a range longer.
        unit: unit of integer timestamps, one of ``UNITS``.

    Raises:
        UsageError: no archive, no such topic in it, a file that is not Parquet with records, a record without
        partition or offset, or integer timestamps without a unit.
    """
    topics = list_topics(archive)
    for name in names:
        if name not in topics:
            raise UsageError(f"the topic `{name}` is not in the archive {hide_parameters(archive)}", topic=name)
    return [
        offsets
        for name in names or topics
        for offsets in _cut_topic(name, _read_topic_parts(archive, name, unit), span=span)
    ]


def split_ranges(
    archive: Location, ranges: Iterable[OffsetRange], span: int = SPAN, *, unit: str | None = None
) -> list[OffsetRange]:
    """Split ranges into parts of about ``span`` records at most; a hole of any size costs nothing.

    Raises:
        UsageError: as for ``plan_ranges``.
    """
    parts: dict[str, list[FilePart]] = {}
    split: list[OffsetRange] = []
    for offsets in ranges:
        if len(offsets) <= span:
            split.append(offsets)
            continue
        if offsets.topic not in parts:
            parts = {offsets.topic: _read_topic_parts(archive, offsets.topic, unit)}
        split += _cut_range(offsets, parts[offsets.topic], span)
    return split


def find_offsets(
    archive: Location, topics: Iterable[str], time: int, *, unit: str | None = None
) -> dict[tuple[str, int], int]:
    """Return the first offset with a time (in milliseconds) or a later one, by partition.

    Raises:
        UsageError: a file is not Parquet with records.
    """
    first: dict[tuple[str, int], int] = {}
    folder = open_archive(archive)
    for topic in topics:
        for file in folder.list_files(topic):
            with _reading(folder, topic):
                for batch in read_file(folder, file, topic, unit, columns=("partition", "offset", "timestamp")):
                    late = np.asarray(batch.column("timestamp").cast(pa.int64()).fill_null(_NO_TIME)) >= time * 1000
                    offsets = np.asarray(batch.column("offset"))[late]
                    partitions = np.asarray(batch.column("partition"))[late]
                    for partition in np.unique(partitions).tolist():
                        lowest = int(offsets[partitions == partition].min())
                        first[topic, partition] = min(first.get((topic, partition), lowest), lowest)
    return first


def find_empty_files(archive: Location, topic: str) -> list[str]:
    """Return the files of a topic that have zero bytes, as an interrupted writer leaves them."""
    folder = open_archive(archive)
    return [folder.describe(file) for file in folder.list_files(topic, empty=True)]


def read_range(
    archive: Location, offsets: OffsetRange, *, batch: int = BATCH_RECORDS, unit: str | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the records of one range, as ``ArchiveReader.read`` does for several."""
    return ArchiveReader(archive, batch=batch, unit=unit).read(offsets)


class ArchiveReader:
    """Reader of the ranges of an archive, which lists the files of a topic and their offsets once.

    Args:
        archive: the folder, local or in an object store.
        batch: maximum number of records per batch.
        unit: unit of integer timestamps, one of ``UNITS``.
    """

    def __init__(self, archive: Location, *, batch: int = BATCH_RECORDS, unit: str | None = None) -> None:
        self._archive = open_archive(archive)
        self._batch = batch
        self._unit = unit
        self._topic = ""
        self._files: dict[str, list[FilePart]] = {}  #: of the topic
        self.duplicates: Counter[str] = Counter()  #: records that were skipped, as their offset occurs twice, by topic

    def read(self, offsets: OffsetRange) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range in batches of ``RECORDS``; an offset archived twice is read once.

        Raises:
            UsageError: a file is not Parquet with records, or has records elsewhere than its metadata or name tells.
        """
        if not len(offsets):
            return
        read_offsets = _ReadOffsets()
        with _reading(self._archive, offsets.topic):
            for file in self._files_of(offsets):
                for chosen in read_file(
                    self._archive, file, offsets.topic, self._unit, batch=self._batch, offsets=offsets
                ):
                    new = read_offsets.add(np.asarray(chosen.column("offset")))
                    self.duplicates[offsets.topic] += chosen.num_rows - len(new)
                    if len(new) == chosen.num_rows and len(new):
                        yield chosen
                    elif len(new):
                        yield chosen.take(pa.array(new))

    def _files_of(self, offsets: OffsetRange) -> list[str]:
        """Return the files that may have records of a range, by first offset, then by name."""
        if self._topic != offsets.topic:
            self._topic = offsets.topic
            self._files = {file: self._describe(file) for file in self._archive.list_files(offsets.topic)}
        matching = []
        for file, parts in self._files.items():
            of_partition = [part for part in parts if part.partition == offsets.partition]
            if any(part.start < offsets.end and offsets.start < part.end for part in of_partition):
                matching.append((min(part.start for part in of_partition), file))
        return [file for _, file in sorted(matching)]

    def _describe(self, file: str) -> list[FilePart]:
        named = parse_file_name(file)
        return [named] if named else read_file_parts(self._archive, file, self._unit)


class _ReadOffsets:
    """The offsets that were read, to find those that occur twice; files mostly have ascending ones."""

    def __init__(self) -> None:
        self._runs: list[tuple[int, int, np.ndarray]] = []  #: minimum, maximum and all offsets of each batch

    def add(self, offsets: np.ndarray) -> np.ndarray:
        """Add the offsets of a batch; return the rows of those that are new, ascending."""
        if not len(offsets):
            return np.zeros(0, np.int64)
        distinct, first = np.unique(offsets, return_index=True)
        low, high = int(distinct[0]), int(distinct[-1])
        is_read = np.zeros(len(distinct), np.bool_)
        for minimum, maximum, read in self._runs:
            if minimum <= high and low <= maximum:
                is_read |= np.isin(distinct, read, assume_unique=True)
        new = distinct[~is_read]
        if len(new):
            last = self._runs[-1] if self._runs else None
            if last is not None and last[1] < int(new[0]) and len(last[2]) < _RUN:
                self._runs[-1] = (last[0], int(new[-1]), np.concatenate([last[2], new]))
            else:
                self._runs.append((int(new[0]), int(new[-1]), new))
        rows: np.ndarray = np.sort(first[~is_read])
        return rows


def _read_topic_parts(archive: Location, topic: str, unit: str | None) -> list[FilePart]:
    folder = open_archive(archive)
    return [part for file in folder.list_files(topic) for part in read_file_parts(folder, file, unit)]


def _cut_topic(topic: str, parts: Sequence[FilePart], *, span: int) -> list[OffsetRange]:
    """Return the ranges of all partitions of a topic."""
    reach: dict[int, tuple[int, int]] = {}
    for part in parts:
        low, high = reach.get(part.partition, (part.start, part.end))
        reach[part.partition] = (min(low, part.start), max(high, part.end))
    if not reach:
        return [OffsetRange(topic, 0, 0, 0)]
    wholes = (OffsetRange(topic, partition, *reach[partition]) for partition in sorted(reach))
    return [offsets for whole in wholes for offsets in _cut_range(whole, parts, span)]


def _cut_range(whole: OffsetRange, parts: Iterable[FilePart], span: int) -> Iterator[OffsetRange]:
    """Yield consecutive ranges of about ``span`` records at most, cut where parts of files begin."""
    if len(whole) <= span:
        yield whole
        return
    pieces = sorted(
        piece
        for part in parts
        if part.partition == whole.partition and part.start < whole.end and whole.start < part.end
        for piece in _cut_part(part, span)
    )
    start = whole.start
    records = 0
    for at, number in pieces:
        if records and records + number > span and start < at < whole.end:
            yield OffsetRange(whole.topic, whole.partition, start, at)
            start, records = at, 0
        records += number
    yield OffsetRange(whole.topic, whole.partition, start, whole.end)


def _cut_part(part: FilePart, span: int) -> Iterator[tuple[int, int]]:
    """Yield the beginnings of pieces of a part that have at most ``span`` records if it has no holes."""
    number = max(-(-part.records // span), 1)
    for index in range(number):
        yield part.start + (part.end - part.start) * index // number, -(-part.records // number)


@contextmanager
def _reading(archive: ArchiveFolder, topic: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"the archive of `{topic}` in {archive.location} cannot be read: {error}") from error
