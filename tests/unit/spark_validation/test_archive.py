"""Archives as sources: any Parquet with Spark's columns will do, and each offset is read once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources import archive
from contractlog.spark_validation.sources.records import RECORDS, OffsetRange, split

from support.archives import Record, write_topic


def offsets_of(folder: Path, offsets: OffsetRange) -> list[int]:
    """Read a range."""
    return [at for batch in archive.read_range(folder, offsets) for at in batch.column("offset").to_pylist()]


def test_ranges_reach_as_far_as_the_files_say(tmp_path: Path) -> None:
    write_topic(tmp_path, "t", [Record(5), Record(8), Record(3, partition=2)], start=2, end=12)
    assert archive.plan_ranges(tmp_path) == [OffsetRange("t", 0, 2, 12), OffsetRange("t", 2, 2, 12)]
    assert offsets_of(tmp_path, OffsetRange("t", 0, 2, 8)) == [5]


def test_foreign_files_reach_from_their_lowest_to_their_highest_offset(tmp_path: Path) -> None:
    folder = tmp_path / "topic=t" / "day=1"
    folder.mkdir(parents=True)
    table = pa.table(
        {"partition": [0, 0, 1], "offset": [4, 9, 7], "value": [b"a", None, b"c"], "key": ["k", None, "l"]}
    )
    pq.write_table(table, folder / "part.parquet")
    assert archive.plan_ranges(tmp_path, ["t"]) == [OffsetRange("t", 0, 4, 10), OffsetRange("t", 1, 7, 8)]
    (batch,) = archive.read_range(tmp_path, OffsetRange("t", 0, 4, 10))
    assert batch.schema.equals(RECORDS)
    assert batch.column("key").to_pylist() == [b"k", None]
    assert batch.column("timestamp").to_pylist() == [None, None]


def test_an_offset_that_was_archived_twice_is_read_once(tmp_path: Path) -> None:
    write_topic(tmp_path, "t", [Record(at) for at in range(6)])
    write_topic(tmp_path, "t", [Record(at) for at in range(3, 9)], start=3)
    assert sorted(offsets_of(tmp_path, OffsetRange("t", 0, 0, 9))) == list(range(9))


def test_what_is_no_archive_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no archive"):
        archive.plan_ranges(tmp_path)
    write_topic(tmp_path, "t", [Record(0)])
    with pytest.raises(UsageError, match="`gone`"):
        archive.plan_ranges(tmp_path, ["gone"])
    (tmp_path / "topic=t" / "bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(UsageError, match=r"bad\.parquet"):
        archive.plan_ranges(tmp_path)
    pq.write_table(pa.table({"x": [1]}), tmp_path / "topic=t" / "bad.parquet")
    with pytest.raises(UsageError, match="no column"):
        archive.plan_ranges(tmp_path)


def test_splitting_covers_every_offset_once_and_keeps_empty_ranges() -> None:
    whole = OffsetRange("t", 0, 3, 10)
    pieces = list(split([whole, OffsetRange("t", 1, 5, 5)], 3))
    assert [(piece.start, piece.end) for piece in pieces] == [(3, 6), (6, 9), (9, 10), (5, 5)]
