"""Selection of records from ``violations.parquet``, one range at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.report import PARTS

__all__ = ["OffsetSelection", "RecordMark", "SelectedRecords", "ViolationSelection", "find_topics", "select_records"]

_BATCH_ROWS: Final = 256  #: few, because a dictionary in a file of a kilobyte can make each row of it a megabyte
_REQUIRED_COLUMNS: Final = ("topic", "partition", "offset", "part", "code")
_COLUMNS: Final = (*_REQUIRED_COLUMNS, "bytes", "size")
MAX_GAP: Final = 1_000  #: unselected offsets that are read rather than skipped, which costs a request


@dataclass(frozen=True, slots=True)
class OffsetSelection:
    """Offsets of one partition."""

    partition: int
    first: int
    last: int  #: inclusive


@dataclass(frozen=True, slots=True)
class ViolationSelection:
    """The violations whose records are selected; empty members select all."""

    topics: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    offsets: tuple[OffsetSelection, ...] = ()

    def admits(self, topic: str, part: str, code: str, partition: int, offset: int) -> bool:
        """Return whether a violation is selected."""
        return (
            (not self.topics or topic in self.topics)
            and (not self.codes or code in self.codes)
            and (not self.parts or part in self.parts)
            and (
                not self.offsets
                or any(each.partition == partition and each.first <= offset <= each.last for each in self.offsets)
            )
        )


@dataclass(frozen=True, slots=True)
class RecordMark:
    """Mark of an audited key or value, by which another record at its offset is noticed."""

    part: str
    size: int
    start: int  #: hash of the bytes that were stored, within this process
    stored: int  #: their number

    @classmethod
    def of(cls, part: str, stored: bytes | None, size: int | None) -> RecordMark:
        """Return the mark of a row of the report."""
        return cls(part, -1 if size is None else size, hash(stored), 0 if stored is None else len(stored))

    def matches(self, body: bytes | None) -> bool:
        """Return whether a key or value may be the one that was audited."""
        if body is None or self.size < 0:
            return body is None and self.size < 0
        return len(body) == self.size and hash(body[: self.stored]) == self.start


@dataclass(frozen=True, slots=True)
class SelectedRecords:
    """Selected records of one range of a partition: bounded, as ranges of an audit are."""

    topic: str
    partition: int
    offsets: NDArray[np.int64]  #: ascending
    marks: NDArray[np.int64]  #: rows of part, size, start and stored; two for a record whose key and value violate
    rows: NDArray[np.int64]  #: first row of ``marks`` of each offset, and their number
    codes: Counter[str] = field(default_factory=Counter)

    def marks_of(self, index: int) -> list[RecordMark]:
        """Return the marks of a record."""
        first, end = int(self.rows[index]), int(self.rows[index + 1])
        return [
            RecordMark(PARTS[part], size, start, stored) for part, size, start, stored in self.marks[first:end].tolist()
        ]

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of offsets to read, end exclusive, without long parts that hold no selected record."""
        breaks = np.flatnonzero(np.diff(self.offsets) > MAX_GAP) + 1
        for run in np.split(self.offsets, breaks):
            yield int(run[0]), int(run[-1]) + 1


def select_records(folder: Path, selection: ViolationSelection) -> Iterator[SelectedRecords]:
    """Yield the selected records of each file, in order of topic, partition and offset.

    Raises:
        UsageError: the folder has no readable violations.
    """
    for file in _list_files(folder):
        selected = _read_file(file, selection)
        if selected is not None:
            yield selected


def find_topics(folder: Path, selection: ViolationSelection) -> list[str]:
    """Return the topics of the selected records.

    Raises:
        UsageError: the folder has no readable violations.
    """
    return sorted({selected.topic for selected in select_records(folder, selection)})


def _list_files(folder: Path) -> Sequence[Path]:
    files = sorted(folder.glob("*.parquet")) if folder.is_dir() else []
    if not files:
        raise UsageError(
            f"`{folder}` has no violations of an audit: name the folder that `contractlog audit --out` wrote"
        )
    return files


def _read_file(file: Path, selection: ViolationSelection) -> SelectedRecords | None:
    """Return the selected records of a file, which holds violations of one range; None if there are none."""
    at: tuple[str, int] | None = None
    chunks: list[NDArray[np.int64]] = []  # a row per violation: offset, part, size, start, stored
    codes: Counter[str] = Counter()
    try:
        for batch in pq.ParquetFile(file).iter_batches(_BATCH_ROWS, columns=list(_COLUMNS), use_threads=False):
            _require_values(batch)
            rows: list[tuple[int, int, int, int, int]] = []
            columns: list[list[Any]] = [batch.column(name).to_pylist() for name in _COLUMNS]
            for topic, partition, offset, part, code, stored, size in zip(*columns, strict=True):
                if selection.admits(topic, part, code, partition, offset):
                    at = at or (topic, partition)
                    if at != (topic, partition):
                        raise UsageError(f"`{file}` has records of several partitions: it is not of an audit")
                    mark = RecordMark.of(part, stored, size)
                    rows.append((offset, PARTS.index(mark.part), mark.size, mark.start, mark.stored))
                    codes[code] += 1
            chunks.append(np.array(rows, np.int64).reshape(-1, 5))
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise UsageError(f"`{file}` has no readable violations of an audit: {escape_line(str(error))}") from error
    if at is None:
        return None
    table = np.concatenate(chunks)
    table = table[np.argsort(table[:, 0], kind="stable")]
    offsets, first = np.unique(table[:, 0], return_index=True)
    return SelectedRecords(*at, offsets, table[:, 1:], np.append(first, len(table)), codes)


def _require_values(batch: pa.RecordBatch) -> None:
    """Check the values of edited files.

    Raises:
        ValueError: a value that every violation has is missing, or a part is none.
    """
    for name in _REQUIRED_COLUMNS:
        if batch.column(name).null_count:
            raise ValueError(f"a row has no `{name}`")
    unknown = {str(part) for part in batch.column("part").unique().to_pylist()} - set(PARTS)
    if unknown:
        raise ValueError(f"the part `{min(unknown)}` is none of {', '.join(PARTS)}")
