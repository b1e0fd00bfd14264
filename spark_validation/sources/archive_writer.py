"""Writer of archives: each file has one range of offsets, and is visible only when it is complete."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from contractlog.spark_validation.sources.archive_files import FILE_NAME, RANGE_KEY
from contractlog.spark_validation.sources.archive_folder import ArchiveFolder, Location, name_topic_folder, open_archive
from contractlog.spark_validation.sources.records import RECORDS, OffsetRange

__all__ = ["copy_range", "list_archived_ranges", "write_range"]

MAX_FILE_RECORDS: Final = 1_000_000
MAX_FILE_BYTES: Final = 256 * 2**20  #: of records, before compression
MIN_FILE_RECORDS: Final = 1_000  #: a file with fewer records is not ended by a record of an earlier day
_STORED: Final = RECORDS.remove(RECORDS.get_field_index("topic"))  # which is in the folder's name
_DAY: Final = 86_400_000_000  #: microseconds


def write_range(archive: Location, offsets: OffsetRange, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the records of a range as one file of an archive; it becomes visible only when it is complete."""
    file = _RangeFile(open_archive(archive), name_topic_folder(offsets.topic), offsets.partition, offsets.start)
    try:
        for batch in batches:
            file.write(batch)
        file.finish(offsets.end)
    finally:
        file.discard()


def copy_range(archive: Location, offsets: OffsetRange, batches: Iterable[pa.RecordBatch]) -> Iterator[OffsetRange]:
    """Write the records of a range into folders of their days; yield the range of each complete file.

    A file is stored in the folder of the day of its first record. A new file begins before a record

    - of a day that is later than that of all earlier records,
    - of another day than that of the file, if the file has ``MIN_FILE_RECORDS`` records, or
    - that follows a file of the maximum size.

    Together, the ranges of the files are the whole range: each offset
    is in the range of exactly one file, even if the log has no record at that offset.
    """
    whole, topic_folder = open_archive(archive), name_topic_folder(offsets.topic)
    start, file, day, newest = offsets.start, None, 0, -(2**62)
    try:
        for batch in batches:
            rows = 0
            days = np.asarray(batch.column("timestamp").cast(pa.int64()).fill_null(0)) // _DAY
            positions = np.asarray(batch.column("offset"))
            while rows < batch.num_rows:
                if file is None:
                    day = int(days[rows])
                    newest = max(newest, day)
                    file = _RangeFile(whole, f"{topic_folder}/{_day_folder(day)}", offsets.partition, start)
                end = _find_end(days, rows, day, newest=newest, written=file.records)
                file.write(batch.slice(rows, end - rows))
                rows = end
                if rows < batch.num_rows or file.is_full():
                    boundary = int(positions[rows]) if rows < batch.num_rows else int(positions[-1]) + 1
                    file.finish(boundary)
                    yield OffsetRange(*offsets.key, start, boundary)
                    start, file = boundary, None
        if start < offsets.end:
            if file is None:
                file = _RangeFile(whole, f"{topic_folder}/{_day_folder(day)}", offsets.partition, start)
            file.finish(offsets.end)
            yield OffsetRange(*offsets.key, start, offsets.end)
    finally:
        if file is not None:
            file.discard()


def list_archived_ranges(archive: Location, topic: str) -> list[OffsetRange]:
    """Return the sorted ranges of a topic's files that this module wrote, from the names of the files."""
    files = open_archive(archive).list_files(topic)
    names = (FILE_NAME.fullmatch(PurePosixPath(file).name) for file in files)
    return sorted(OffsetRange(topic, *map(int, name.groups())) for name in names if name)


def _find_end(days: np.ndarray, start: int, day: int, *, newest: int, written: int) -> int:
    """Return the row at which the next file begins."""
    rows = np.arange(start, len(days))
    ends = rows[(days[start:] > newest) | ((days[start:] != day) & (rows - start + written >= MIN_FILE_RECORDS))]
    return int(ends[0]) if len(ends) else len(days)


def _day_folder(day: int) -> str:
    return f"date={datetime.fromtimestamp(day * 86_400, UTC).date().isoformat()}"


class _RangeFile:
    """A file of a range whose end is known only when the file is complete; it then gets its final name."""

    def __init__(self, archive: ArchiveFolder, folder: str, partition: int, start: int) -> None:
        self._archive = archive
        self._folder = folder
        self._partition = partition
        self._start = start
        self._unfinished = archive.stage_file(folder, f"{partition:05d}-{start:020d}")
        self._writer: pq.ParquetWriter | None = pq.ParquetWriter(self._unfinished, _STORED, compression="zstd")
        self.records = 0
        self._size = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Write records, in order of offset."""
        if self._writer is not None and batch.num_rows:
            self._writer.write_batch(batch.select(_STORED.names))
            self.records += batch.num_rows
            self._size += batch.get_total_buffer_size() if batch.num_rows else 0

    def is_full(self) -> bool:
        """Return true if the file has the maximum size."""
        return self.records >= MAX_FILE_RECORDS or self._size >= MAX_FILE_BYTES

    def finish(self, end: int) -> None:
        """Complete the file and give it the name of its range."""
        if self._writer is not None:
            range_text = json.dumps([self._partition, self._start, end])
            self._writer.add_key_value_metadata({RANGE_KEY.decode(): range_text})
            self._writer.close()
            self._writer = None
        name = f"{self._partition:05d}-{self._start:020d}-{end:020d}.parquet"
        self._archive.publish_file(self._unfinished, f"{self._folder}/{name}")

    def discard(self) -> None:
        """Remove the file if it is not complete."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._unfinished.unlink(missing_ok=True)
