"""``violations.parquet``: every violating record, in one file per range, written by its reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from contractlog.contracts.audit.outcomes import FIRST_VIOLATION, Outcome
from contractlog.contracts.audit.report import Part
from contractlog.spark_validation.columnar.column_validation import ColumnOutcomes
from contractlog.spark_validation.sources.records import OffsetRange

__all__ = ["DEFAULT_MAX_BYTES", "VIOLATIONS", "ViolationsFile", "ensure_readable", "find_violation_files"]

DEFAULT_MAX_BYTES: Final = 1024  #: default limit on the stored bytes of a violating key or value
MAX_TOPIC_LENGTH: Final = 120  #: characters of a topic in a file name
_COLUMNS: Final[list[tuple[str, pa.DataType]]] = [
    ("topic", pa.string()),
    ("partition", pa.int32()),
    ("offset", pa.int64()),
    ("timestamp", pa.timestamp("us", "UTC")),
    ("part", pa.string()),
    ("schema_id", pa.int64()),  # null if the record carries none
    ("code", pa.string()),
    ("path", pa.string()),
    ("field", pa.string()),
    ("detail", pa.string()),
    ("bytes", pa.binary()),  # of the key or value, up to the limit
    ("size", pa.int64()),  # number of bytes before the limit was applied
]
VIOLATIONS: Final = pa.schema(_COLUMNS)
_FILE_NAME: Final = re.compile(r"(.*)-\d{5,10}-\d{20}-\d{20}\.parquet", re.DOTALL)
_NAMES: Final = {outcome.value: outcome.name for outcome in Outcome}


class ViolationsFile:
    """Writer of the violating records of one range, whose file appears complete when the block succeeds.

    The file's name is derived from the range, so reading a range again replaces its file.

    Args:
        folder: folder of the file.
        offsets: the range.
        cap: maximum number of bytes of a key or value; None: all.
    """

    def __init__(self, folder: Path, offsets: OffsetRange, *, cap: int | None = DEFAULT_MAX_BYTES) -> None:
        self._cap = cap
        self._range = offsets
        stem = f"{_file_stem(offsets.topic)}-{offsets.partition:05d}-{offsets.start:020d}-{offsets.end:020d}"
        self._target = folder / f"{stem}.parquet"
        self._unfinished = folder / f".{stem}.{uuid4().hex[:8]}.unfinished"
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()
        if error is not None:
            self._unfinished.unlink(missing_ok=True)
        elif self._writer is not None:
            self._unfinished.replace(self._target)
        else:
            self._target.unlink(missing_ok=True)

    def add(self, batch: pa.RecordBatch, part: Part, checked: ColumnOutcomes) -> None:
        """Write the rows of a batch whose key or value (the part) violates its contract."""
        rows = np.flatnonzero(checked.codes >= FIRST_VIOLATION)
        if not len(rows):
            return
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._unfinished, VIOLATIONS, compression="zstd")
        self._writer.write_batch(self._rows(batch, part, checked, rows))

    def _rows(
        self, batch: pa.RecordBatch, part: Part, checked: ColumnOutcomes, rows: npt.NDArray[np.int64]
    ) -> pa.RecordBatch:
        selected = batch.select(["offset", "timestamp", part]).take(rows)
        paths = [checked.path_table[index] if index >= 0 else ("", "") for index in checked.paths[rows].tolist()]
        ids = checked.schema_ids[rows]
        bodies = cast("pa.BinaryArray", selected.column(part))
        columns: dict[str, pa.Array[Any]] = {
            "topic": pa.repeat(pa.scalar(self._range.topic), len(rows)),
            "partition": pa.repeat(pa.scalar(self._range.partition, pa.int32()), len(rows)),
            "offset": selected.column("offset"),
            "timestamp": selected.column("timestamp"),
            "part": pa.repeat(pa.scalar(part), len(rows)),
            "schema_id": pa.array(ids, mask=ids == 0),
            "code": pa.array([_NAMES[code] for code in checked.codes[rows].tolist()], pa.string()),
            "path": pa.array([path for path, _ in paths], pa.string()),
            "field": pa.array([field for _, field in paths], pa.string()),
            "detail": pa.array([checked.details.get(row, "") for row in rows.tolist()], pa.string()),
            "bytes": bodies if self._cap is None else pc.binary_slice(bodies, 0, self._cap),
            "size": pc.binary_length(bodies).cast(pa.int64()),
        }
        return pa.record_batch([columns[name] for name in VIOLATIONS.names], schema=VIOLATIONS)


def _file_stem(topic: str) -> str:
    """Return a file name for a topic that is not hidden and leaves room for the rest.

    The name of a topic may be as long as the name of a file.
    """
    if len(topic) <= MAX_TOPIC_LENGTH:
        return f"of-{topic}"
    return f"of-{topic[:MAX_TOPIC_LENGTH]}-{sha256(topic.encode()).hexdigest()[:16]}"


def ensure_readable(folder: Path) -> None:
    """Write an empty table if a folder has no violations, so that it can be read as Parquet."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.glob("*.parquet")):
        pq.write_table(VIOLATIONS.empty_table(), folder / "none.parquet")


def find_violation_files(folder: Path, topics: Iterable[str]) -> Iterator[Path]:
    """Yield the files of topics in a dataset of violations."""
    stems = {_file_stem(topic) for topic in topics}
    for file in sorted(folder.glob("*.parquet")):
        match = _FILE_NAME.fullmatch(file.name)
        if match and match[1] in stems:
            yield file
