"""Parquet files with Spark's columns are archives, whose offsets are each read once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources import archive, archive_files
from contractlog.spark_validation.sources.archive_files import BATCH_BYTES, RANGE_KEY, STEP_RECORDS
from contractlog.spark_validation.sources.records import RECORDS, OffsetRange, split_ranges
from contractlog.spark_validation.sources.source import ArchiveSource

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


def test_a_topic_or_file_without_records_does_not_refuse_the_others(tmp_path: Path) -> None:
    write_topic(tmp_path, "t", [Record(0), Record(1)])
    (tmp_path / "topic=t" / "half-written.parquet").touch()
    (tmp_path / "topic=bare").mkdir()
    (tmp_path / "topic=rowless").mkdir()
    pq.write_table(RECORDS.empty_table(), tmp_path / "topic=rowless" / "part.parquet")
    (tmp_path / "topic=zero").mkdir()
    (tmp_path / "topic=zero" / "part.parquet").touch()
    source = ArchiveSource(tmp_path)
    ranges = source.plan(())
    assert ranges == [
        OffsetRange("bare", 0, 0, 0),
        OffsetRange("rowless", 0, 0, 0),
        OffsetRange("t", 0, 0, 2),
        OffsetRange("zero", 0, 0, 0),
    ]
    assert [offsets_of(tmp_path, one) for one in ranges] == [[], [], [0, 1], []]
    empty = tmp_path / "topic=t" / "half-written.parquet"
    assert source.notes("t") == [f"The file `{empty}` is empty and was skipped."]
    assert source.notes("bare") == []
    assert source.plan(["bare"]) == [OffsetRange("bare", 0, 0, 0)]


def foreign(folder: Path, timestamps: pa.Array) -> None:
    """Write an archive of ours with another column of timestamps."""
    (folder / "topic=t").mkdir(parents=True)
    size = len(timestamps)
    columns = {"partition": pa.array([0] * size), "offset": pa.array(range(size)), "value": pa.nulls(size, pa.binary())}
    pq.write_table(pa.table({**columns, "timestamp": timestamps}), folder / "topic=t" / "part.parquet")


MOMENT = datetime(2013, 7, 1, 4, 12, tzinfo=UTC)
SECONDS = int(MOMENT.timestamp())


def times_of(folder: Path, unit: str | None = None) -> list[datetime | None]:
    (batch,) = archive.read_range(folder, *archive.plan_ranges(folder, unit=unit), unit=unit)
    return batch.column("timestamp").to_pylist()


@pytest.mark.parametrize(("unit", "scale"), [("s", 1), ("ms", 1_000), ("us", 1_000_000), ("ns", 1_000_000_000)])
def test_integer_timestamps_are_read_by_their_declared_unit_or_refused(tmp_path: Path, unit: str, scale: int) -> None:
    foreign(tmp_path, pa.array([SECONDS * scale, None, 2**62], pa.int64()))
    with pytest.raises(UsageError, match=r"integer timestamps without a unit. Set it with --timestamp-unit"):
        archive.plan_ranges(tmp_path)
    first, missing, wild = times_of(tmp_path, unit)
    assert (first, missing) == (MOMENT, None)
    assert wild is None or unit == "ns"  # no year of a calendar


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_timestamps_bring_their_unit_along(tmp_path: Path, unit: str, zone: str | None) -> None:
    foreign(tmp_path, pa.array([MOMENT.replace(tzinfo=None)], pa.timestamp("us")).cast(pa.timestamp(unit, zone)))
    assert times_of(tmp_path) == [MOMENT]


def test_nanoseconds_are_cut_and_impossible_times_are_none(tmp_path: Path) -> None:
    foreign(tmp_path / "a", pa.array([SECONDS * 10**9 + 1], pa.timestamp("ns")))
    assert times_of(tmp_path / "a") == [MOMENT]
    foreign(tmp_path / "b", pa.array([2**62, -(2**62), SECONDS * 1_000], pa.timestamp("ms")))
    assert times_of(tmp_path / "b") == [None, None, MOMENT]


def test_folders_that_are_not_archives_are_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not an archive"):
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
    pieces = list(split_ranges([whole, OffsetRange("t", 1, 5, 5)], 3))
    assert [(piece.start, piece.end) for piece in pieces] == [(3, 6), (6, 9), (9, 10), (5, 5)]


def write_foreign(file: Path, partitions: list[int | None] | None, offsets: list[int | None]) -> Path:
    """Write a file as other programs do, without our metadata."""
    file.parent.mkdir(parents=True, exist_ok=True)
    columns = {"offset": pa.array(offsets, pa.int64()), "value": pa.nulls(len(offsets), pa.binary())}
    if partitions is not None:
        columns["partition"] = pa.array(partitions, pa.int32())
    pq.write_table(pa.table(columns), file, row_group_size=3)
    return file


def test_duplicates_of_an_offset_are_counted(tmp_path: Path) -> None:
    write_foreign(tmp_path / "topic=t" / "a.parquet", [0] * 6, [4, 1, 1, 0, 2, 4])
    write_topic(tmp_path, "t", [Record(at) for at in range(1, 7)], start=1)
    reader = archive.ArchiveReader(tmp_path, batch=2)
    whole = OffsetRange("t", 0, 0, 7)
    read = [at for batch in reader.read(whole) for at in batch.column("offset").to_pylist()]
    assert (sorted(read), reader.duplicates) == (list(range(7)), {"t": 5})
    halves = archive.ArchiveReader(tmp_path)
    assert sum(batch.num_rows for half in split_ranges([whole], 4) for batch in halves.read(half)) == 7
    assert halves.duplicates == {"t": 5}


@pytest.mark.parametrize(
    ("partitions", "offsets", "message"),
    [
        ([0] * 5, [0, 1, 2, 3, None], r"part\.parquet .*row 4 \(from 0\) has no offset"),
        ([0, None], [0, 1], r"part\.parquet .*row 1 \(from 0\) has no partition"),
        ([0], [-1], "offsets outside"),
        ([0], [2**63 - 1], r"offsets outside 0 to 9,223,372,036,854,775,806$"),
        (None, [0], "no column `partition`, and its folder is not partition=N"),
    ],
)
def test_records_without_a_position_are_refused_with_their_row(
    tmp_path: Path, partitions: list[int | None], offsets: list[int | None], message: str
) -> None:
    write_foreign(tmp_path / "topic=t" / "part.parquet", partitions, offsets)
    with pytest.raises(UsageError, match=message):
        archive.plan_ranges(tmp_path)


@pytest.mark.parametrize("partitions", [[-1, 0], [0, -1, 0], [-1], [2**31], [0, 2**40]], ids=str)
@pytest.mark.parametrize("statistics", [True, False])
def test_impossible_partitions_are_refused_with_the_file(
    tmp_path: Path, partitions: list[int], *, statistics: bool
) -> None:
    (tmp_path / "topic=t").mkdir()
    rows = len(partitions)
    table = pa.table({"partition": partitions, "offset": list(range(rows)), "value": [b""] * rows})
    pq.write_table(table, tmp_path / "topic=t" / "part.parquet", write_statistics=statistics)
    with pytest.raises(UsageError, match=r"part\.parquet .*partitions outside 0 to 2,147,483,647"):
        archive.plan_ranges(tmp_path)


def test_an_impossible_partition_of_a_folder_is_refused_with_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "topic=t" / "partition=9999999999"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"offset": [0], "value": [b""]}), folder / "part.parquet")
    with pytest.raises(UsageError, match=r"part\.parquet .*partitions outside"):
        archive.plan_ranges(tmp_path)


@pytest.mark.parametrize("stated", [(-1, 0, 1), (2**31, 0, 1), (0, -1, 1), (0, 5, 1), (0, 0, 2**63)])
def test_an_impossible_range_in_the_metadata_is_refused_with_the_file(
    tmp_path: Path, stated: tuple[int, int, int]
) -> None:
    (tmp_path / "topic=t").mkdir()
    table = pa.table({"partition": [0], "offset": [0], "value": [b""]})
    table = table.replace_schema_metadata({RANGE_KEY: json.dumps(stated)})
    pq.write_table(table, tmp_path / "topic=t" / "part.parquet")
    with pytest.raises(UsageError, match=r"part\.parquet .* outside 0 to"):
        archive.plan_ranges(tmp_path)


def test_partition_folders_have_the_partition_of_files_without_such_a_column(tmp_path: Path) -> None:
    write_foreign(tmp_path / "topic=t" / "date=2026-01-01" / "partition=3" / "a.parquet", None, [5, 6])
    write_foreign(tmp_path / "topic=t" / "partition=4" / "b.parquet", [7], [1])
    assert archive.plan_ranges(tmp_path) == [OffsetRange("t", 3, 5, 7), OffsetRange("t", 7, 1, 2)]
    (batch,) = archive.read_range(tmp_path, OffsetRange("t", 3, 5, 7))
    assert batch.column("partition").to_pylist() == [3, 3]
    assert offsets_of(tmp_path, OffsetRange("t", 7, 0, 9)) == [1]


def test_a_hole_of_any_size_costs_nothing(tmp_path: Path) -> None:
    hole = 10**12
    write_foreign(tmp_path / "topic=t" / "a.parquet", [0] * 12, [*range(8), *range(hole, hole + 4)])
    source = ArchiveSource(tmp_path)
    whole = source.plan(())
    assert whole == [OffsetRange("t", 0, 0, hole + 4)]
    cut = source.split(whole, 3)
    assert [offsets.start for offsets in cut] == [0, *(left.end for left in cut[:-1])]
    assert cut[-1].end == hole + 4
    assert len(cut) <= 2 * 12 / 3 + 1
    assert [at for offsets in cut for at in offsets_of(tmp_path, offsets)] == [*range(8), *range(hole, hole + 4)]
    assert offsets_of(tmp_path, whole[0]) == [*range(8), *range(hole, hole + 4)]


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60)), min_size=1, max_size=40),
    st.integers(1, 9),
    st.integers(1, 20),
)
def test_any_split_reads_each_offset_of_any_files_once(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[int, int]], span: int, file_size: int
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    for start in range(0, len(records), file_size):
        chosen = records[start : start + file_size]
        file = folder / "topic=t" / f"{start:03}.parquet"
        write_foreign(file, [partition for partition, _ in chosen], [offset for _, offset in chosen])
    source = ArchiveSource(folder)
    ranges = source.split(source.plan(()), span)
    with source.open(ranges) as reader:
        read = [
            (row["partition"], row["offset"])
            for offsets in ranges
            for batch in reader.read(offsets)
            for row in batch.select(["partition", "offset"]).to_pylist()
        ]
    assert sorted(read) == sorted(set(records))
    assert sum(reader.duplicates.values()) == len(records) - len(set(records))


def write_records(
    file: Path, offsets: Sequence[int], metadata: str | None = None, *, partition: int = 0, **settings: Any
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = len(offsets)
    table = pa.table({"partition": [partition] * rows, "offset": list(offsets), "value": [b"v"] * rows})
    if metadata is not None:
        table = table.replace_schema_metadata({RANGE_KEY: metadata})
    pq.write_table(table, file, **settings)


def read_all(folder: Path) -> list[int]:
    return [
        offset
        for offsets in archive.plan_ranges(folder)
        for batch in archive.read_range(folder, offsets)
        for offset in batch.column("offset").to_pylist()
    ]


@pytest.mark.parametrize(
    "metadata",
    ["[0, 1e999, 5]", "[" * 100_000, "[" * 100_000 + "]" * 100_000, "[0, 0.5, 5]", "[0, true, 5]", "[0, 5]", "{}", "0"],
    ids=lambda text: text[:20],
)
def test_metadata_that_is_no_range_is_rejected_with_the_file(tmp_path: Path, metadata: str) -> None:
    write_records(tmp_path / "topic=t" / "part.parquet", [0], metadata)
    with pytest.raises(UsageError, match=r"part\.parquet is not a file of an archive"):
        archive.plan_ranges(tmp_path)


@pytest.mark.parametrize(
    ("metadata", "partition"),
    [("[0, 0, 3]", 0), ("[0, 0, 10]", 7), ("[7, 0, 10]", 0), ("[0, 100, 200]", 0), ("[0, 5, 15]", 0)],
)
def test_records_outside_the_range_in_the_metadata_are_an_error_and_not_hidden(
    tmp_path: Path, metadata: str, partition: int
) -> None:
    write_records(tmp_path / "topic=t" / "part.parquet", range(10), metadata, partition=partition)
    with pytest.raises(UsageError, match=r"part\.parquet is not a file of an archive: it has"):
        read_all(tmp_path)


@pytest.mark.parametrize("name", ["00000-{:020}-{:020}.parquet", "00001-{:020}-{:020}.parquet"])
@pytest.mark.parametrize("metadata", [None, "[0, 0, 10]"])
@pytest.mark.parametrize("statistics", [True, False])
def test_records_outside_the_range_in_the_name_are_an_error_and_not_hidden(
    tmp_path: Path, name: str, metadata: str | None, *, statistics: bool
) -> None:
    file = tmp_path / "topic=t" / name.format(0, 3)
    write_records(file, range(10), metadata, write_statistics=statistics)
    with pytest.raises(UsageError, match=r"parquet is not a file of an archive: it has"):
        read_all(tmp_path)


def test_a_repeated_column_is_rejected_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "topic=t").mkdir()
    columns = [pa.array([0]), pa.array([0]), pa.array([b""]), pa.array([b""])]
    table = pa.Table.from_arrays(columns, ["partition", "offset", "value", "value"])
    pq.write_table(table, tmp_path / "topic=t" / "part.parquet")
    with pytest.raises(UsageError, match=r"part\.parquet .*several columns `value`"):
        archive.plan_ranges(tmp_path)


@pytest.mark.parametrize("dictionary", [True, False])
def test_large_values_that_compress_well_come_in_batches_of_bounded_size(tmp_path: Path, *, dictionary: bool) -> None:
    size, rows = 50_000, 4_000
    (tmp_path / "topic=t").mkdir()
    values = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([b"x" * size]))
    table = pa.table({"partition": [0] * rows, "offset": range(rows), "value": values})
    file = tmp_path / "topic=t" / "part.parquet"
    pq.write_table(table, file, use_dictionary=dictionary, compression="zstd", store_schema=False)
    assert file.stat().st_size < 200_000
    before = pa.total_allocated_bytes()
    read, allocated = 0, 0
    for batch in archive.read_range(tmp_path, OffsetRange("t", 0, 0, rows)):
        assert batch.nbytes < BATCH_BYTES + 2 * STEP_RECORDS * size
        read += batch.num_rows
        allocated = max(allocated, pa.total_allocated_bytes() - before)
    assert read == rows
    assert allocated < 5 * (BATCH_BYTES + STEP_RECORDS * size)


def test_a_huge_value_of_a_dictionary_is_decoded_a_few_times_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_files, "STEP_BYTES", 8 * 2**20)
    size, rows = 2 * 2**20, 200
    (tmp_path / "topic=t").mkdir()
    values = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([b"x" * size]))
    table = pa.table({"partition": [0] * rows, "offset": range(rows), "value": values})
    file = tmp_path / "topic=t" / "part.parquet"
    pq.write_table(table, file, compression="zstd", store_schema=False, dictionary_pagesize_limit=2**28)
    assert file.stat().st_size < 20_000
    read = 0
    for batch in archive.read_range(tmp_path, OffsetRange("t", 0, 0, rows)):
        assert batch.nbytes <= BATCH_BYTES + 8 * 2**20 + 100_000
        read += batch.num_rows
    assert read == rows


def test_small_records_come_in_large_batches(tmp_path: Path) -> None:
    write_records(tmp_path / "topic=t" / "part.parquet", range(3_000))
    batches = list(archive.read_range(tmp_path, OffsetRange("t", 0, 0, 3_000), batch=1_000))
    assert max(batch.num_rows for batch in batches) <= 1_000
    assert len(batches) == 4


def test_a_row_group_of_large_records_is_rejected_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pages would be decoded as a whole."""
    monkeypatch.setattr(archive_files, "MAX_LARGE_RECORDS_BYTES", 2**20)
    (tmp_path / "topic=t").mkdir()
    values = [b"%d" % number * 100_000 for number in range(20)]
    table = pa.table({"partition": [0] * 20, "offset": range(20), "value": values})
    pq.write_table(table, tmp_path / "topic=t" / "part.parquet", row_group_size=5)
    assert len(read_all(tmp_path)) == 20
    pq.write_table(table, tmp_path / "topic=t" / "part.parquet")
    with pytest.raises(UsageError, match=r"part\.parquet has a row group with 2 MiB of large records .*`value`"):
        archive.plan_ranges(tmp_path)
