"""Topics, partitions and times are selected as the arguments say, and mistakes name what is near."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.jobs.source_options import add_selection_options, make_selection
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.selection import (
    Selection,
    parse_duration,
    parse_partitions,
    parse_time,
    plan_selection,
    read_topics_file,
)
from contractlog.spark_validation.sources.source import ArchiveSource

from support.archives import DAY, Record, write_topic


@pytest.fixture
def source(tmp_path: Path) -> ArchiveSource:
    for name in ("shop-orders", "shop-payments", "stock", "_internal"):
        write_topic(tmp_path, name, [Record(at, timestamp=at * DAY, partition=at % 2) for at in range(10)])
    return ArchiveSource(tmp_path)


def plan(source: ArchiveSource, **members: object) -> list[OffsetRange]:
    return plan_selection(source, Selection(**members), span=sys.maxsize)  # type: ignore[arg-type]


def topics_of(ranges: list[OffsetRange]) -> list[str]:
    return list(dict.fromkeys(offsets.topic for offsets in ranges))


def test_globs_and_exclusions_select_topics(source: ArchiveSource) -> None:
    assert topics_of(plan(source, topics=("shop-*",))) == ["shop-orders", "shop-payments"]
    assert topics_of(plan(source, topics=("stock", "shop-*"), excluded=("*-payments",))) == ["stock", "shop-orders"]
    assert topics_of(plan(source, excluded=("shop-*",))) == ["stock"]
    assert topics_of(plan(source, topics=("_*",))) == ["_internal"]
    assert topics_of(plan(source, topics=("s[ht]*", "stock"))) == ["shop-orders", "shop-payments", "stock"]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"topics": ("shp-*",)}, r"no topic matches `shp-\*`; nearest: `shop-orders`"),
        ({"topics": ("xyz-*",)}, r"no topic matches `xyz-\*`$"),
        ({"topics": ("stok",)}, "the topic `stok` does not exist in the archive .*; nearest: `stock`"),
        ({"topics": ("shop-*",), "excluded": ("shop-*",)}, "no topic is selected: --exclude leaves none"),
        ({"partitions": ((5, 7),)}, "no selected topic has a partition 5-7"),
    ],
)
def test_a_selection_of_nothing_is_an_error(source: ArchiveSource, members: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan(source, **members)


def test_partitions_and_times_select_ranges(source: ArchiveSource) -> None:
    one = {"topics": ("stock",)}
    assert plan(source, **one, partitions=((1, 9),)) == [OffsetRange("stock", 1, 0, 10)]
    since, until = 3 * DAY, 7 * DAY
    assert plan(source, **one, since=since, until=until) == [
        OffsetRange("stock", 0, 4, 8),
        OffsetRange("stock", 1, 3, 7),
    ]
    assert plan(source, **one, since=3 * DAY + 1, partitions=((1, 1),)) == [OffsetRange("stock", 1, 5, 10)]
    assert [len(offsets) for offsets in plan(source, **one, since=99 * DAY)] == [0, 0]
    assert [len(offsets) for offsets in plan(source, **one, until=0)] == [0, 1]  # offset 0 is in the other partition


def test_the_first_offset_of_a_time_is_found_among_times_that_go_back(tmp_path: Path) -> None:
    times = [5, 1, 9, None, 7, 2]
    write_topic(tmp_path, "t", [Record(at, timestamp=time) for at, time in enumerate(times)])
    source = ArchiveSource(tmp_path)
    assert plan(source, since=6, until=None) == [OffsetRange("t", 0, 2, 6)]
    assert plan(source, since=None, until=9) == [OffsetRange("t", 0, 0, 2)]


def test_arguments_become_a_selection() -> None:
    parser = ArgumentParser()
    add_selection_options(parser)
    given = ["--exclude", "a*", "--partitions", "0,2-4", "--since", "2026-11-01", "--until", "2026-11-01T02:00+01:00"]
    selection = make_selection(parser.parse_args(given), ["b", "c*"])
    assert selection.body() == {
        "topics": ["b", "c*"],
        "excluded": ["a*"],
        "partitions": "0,2-4",
        "since": "2026-11-01T00:00:00Z",
        "until": "2026-11-01T01:00:00Z",
    }
    assert make_selection(parser.parse_args([]), []).body() == {}
    last = make_selection(parser.parse_args(["--last", "7d"]), []).since
    assert last is not None
    assert abs(datetime.now(UTC).timestamp() * 1000 - 7 * DAY - last) < DAY
    for wrong in (["--last", "7d", "--since", "2026-11-01"], ["--since", "2026-11-02", "--until", "2026-11-02"]):
        with pytest.raises(UsageError):
            make_selection(parser.parse_args(wrong), [])


def test_times_durations_and_partitions_have_one_form() -> None:
    assert parse_time("1970-01-01T00:00:01.5Z", "--since") == 1_500
    assert parse_duration("90m", "--last") == timedelta(minutes=90)
    assert parse_duration("30s", "--every") == timedelta(seconds=30)
    assert parse_partitions("7") == ((7, 7),)
    for wrong in ("yesterday", "9999999999", "", "1970-01-01T25:00"):
        with pytest.raises(UsageError, match=r"--since: .* is not a date or time"):
            parse_time(wrong, "--since")
    for wrong in ("7", "0d", "-1d", "7 days", "9999999w"):
        with pytest.raises(UsageError, match=r"--last: .* is not a duration"):
            parse_duration(wrong, "--last")
    for wrong in ("", "a", "4-2", "1,,2", "-1", "99999999999"):
        with pytest.raises(UsageError, match=r"--partitions: .* is not a list"):
            parse_partitions(wrong)


def test_a_file_of_topics_has_a_name_or_glob_per_line(tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    file.write_text("# nightly\norders\n\n shop-* \n")
    assert read_topics_file(file) == ("orders", "shop-*")
    file.write_text("# none\n")
    with pytest.raises(UsageError, match="names no topic"):
        read_topics_file(file)
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_topics_file(file)
    file.write_bytes(b"x" * (5 * 2**20))
    with pytest.raises(UsageError, match="larger than"):
        read_topics_file(file)
