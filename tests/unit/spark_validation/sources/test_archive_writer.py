"""Copies of a range have each of its offsets in one file, in folders of days."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources import archive_writer
from contractlog.spark_validation.sources.archive_folder import open_archive
from contractlog.spark_validation.sources.archive_writer import copy_range, list_archived_ranges
from contractlog.spark_validation.sources.records import OffsetRange, subtract_ranges
from contractlog.spark_validation.sources.source import ArchiveSource

from support.archives import DAY, Record, create_batch


def copy(folder: Path, offsets: OffsetRange, records: list[Record], size: int = 3) -> list[OffsetRange]:
    batches = [create_batch(offsets.topic, records[at : at + size]) for at in range(0, len(records), size)]
    return list(copy_range(folder, offsets, batches))


def files_in(folder: Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*.parquet"))]


def test_a_file_has_the_records_of_a_day(tmp_path: Path) -> None:
    records = [Record(at, value=b"%d" % at, timestamp=at // 4 * DAY, partition=3) for at in range(2, 11)]
    written = copy(tmp_path, OffsetRange("t", 3, 0, 14), records)
    assert written == [OffsetRange("t", 3, 0, 4), OffsetRange("t", 3, 4, 8), OffsetRange("t", 3, 8, 14)]
    assert files_in(tmp_path) == [
        f"topic=t/date=1970-01-0{day}/00003-{start:020}-{end:020}.parquet"
        for day, start, end in ((1, 0, 4), (2, 4, 8), (3, 8, 14))
    ]
    source = ArchiveSource(tmp_path)
    assert source.plan(()) == [OffsetRange("t", 3, 0, 14)]
    read = [row for batch in source.read(OffsetRange("t", 3, 0, 14)) for row in batch.to_pylist()]
    assert read == create_batch("t", records).to_pylist()


def test_timestamps_that_go_back_do_not_make_a_file_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [Record(at, timestamp=at % 2 * DAY) for at in range(100)]
    assert len(copy(tmp_path / "a", OffsetRange("t", 0, 0, 100), records)) == 2
    monkeypatch.setattr(archive_writer, "MIN_FILE_RECORDS", 25)
    assert len(copy(tmp_path / "b", OffsetRange("t", 0, 0, 100), records)) == 5


def test_a_range_without_records_is_a_file_and_large_ranges_are_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert copy(tmp_path, OffsetRange("t", 0, 5, 9), []) == [OffsetRange("t", 0, 5, 9)]
    monkeypatch.setattr(archive_writer, "MAX_FILE_RECORDS", 4)
    written = copy(tmp_path, OffsetRange("t", 1, 0, 9), [Record(at) for at in range(9)], 2)
    assert [each.end for each in written] == [4, 8, 9]


@pytest.mark.parametrize("topic", ["../../evil", "x/../../evil", "/evil", "a\\b", "a\0b"])
def test_no_name_of_a_topic_leads_out_of_the_archive(tmp_path: Path, topic: str) -> None:
    archive = tmp_path / "archive"
    archive.mkdir()
    with pytest.raises(UsageError, match="is not a name of a topic, so it has no folder in an archive"):
        copy(archive, OffsetRange(topic, 0, 0, 2), [Record(0), Record(1)])
    with pytest.raises(UsageError, match="is not a name of a topic"):
        list_archived_ranges(archive, topic)
    assert list(tmp_path.rglob("*")) == [archive]


def test_a_copy_that_fails_leaves_complete_files_only(tmp_path: Path) -> None:
    def fail() -> object:
        yield create_batch("t", [Record(0), Record(1, timestamp=DAY)])
        raise OSError("the broker is gone")

    with pytest.raises(OSError, match="gone"):
        list(copy_range(tmp_path, OffsetRange("t", 0, 0, 9), fail()))  # type: ignore[arg-type]
    assert list_archived_ranges(tmp_path, "t") == [OffsetRange("t", 0, 0, 1)]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [Path(files_in(tmp_path)[0]).name]
    killed = tmp_path / "topic=t" / "date=1970-01-02" / ".00000-00000000000000000001.parquet.unfinished"
    killed.touch()
    open_archive(tmp_path).remove_unfinished_files("t")
    assert not killed.exists()


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=40), st.integers(1, 7), st.integers(1, 4))
def test_the_files_of_any_records_have_each_offset_once(
    tmp_path_factory: pytest.TempPathFactory, log: list[tuple[int, bool]], size: int, maximum: int
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    records = [Record(at, timestamp=day * DAY) for at, (day, exists) in enumerate(log) if exists]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive_writer, "MIN_FILE_RECORDS", maximum)
        copy(folder, OffsetRange("t", 0, 0, len(log)), records, size)
    written = list_archived_ranges(folder, "t")
    assert [at for each in written for at in range(each.start, each.end)] == list(range(len(log)))
    read = [at for batch in ArchiveSource(folder).read(OffsetRange("t", 0, 0, len(log))) for at in batch["offset"]]
    assert [at.as_py() for at in read] == [record.offset for record in records]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), max_size=6), st.integers(0, 15), st.integers(0, 20))
def test_what_is_missing_and_what_is_covered_are_the_whole(
    covered: list[tuple[int, int]], start: int, size: int
) -> None:
    whole = OffsetRange("t", 0, start, start + size)
    ranges = [OffsetRange("t", 0, low, low + number) for low, number in covered]
    missing = subtract_ranges([whole], [*ranges, OffsetRange("t", 1, 0, 99)])
    have = {at for each in ranges for at in range(each.start, each.end)}
    assert [at for each in missing for at in range(each.start, each.end)] == [
        at for at in range(whole.start, whole.end) if at not in have
    ]
