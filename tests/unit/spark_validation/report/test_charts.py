"""Charts agree with the counts."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.report import SeriesPoint
from contractlog.spark_validation.report.charts.coverage import draw_coverage
from contractlog.spark_validation.report.charts.lineage_graph import draw_lineage
from contractlog.spark_validation.report.charts.svg import element
from contractlog.spark_validation.report.charts.version_timeline import MAX_BINS, OTHER_IDS, bin_series, draw_timeline

from support.reports import edge, part, traced_edge

POINTS = st.builds(
    SeriesPoint,
    window=st.one_of(
        st.dates().map(lambda day: day.isoformat()),
        st.datetimes().map(lambda time: time.isoformat(timespec="hours")),
        st.integers(1, 9999).map("{:04}".format),
    ),
    schema_id=st.one_of(st.none(), st.integers(1, 3)),
    records=st.integers(0, 1000),
    violating=st.integers(0, 10),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(POINTS, min_size=1, max_size=50))
def test_bins_lose_no_record(points: list[SeriesPoint]) -> None:
    bins = bin_series(points, [1, 2])
    assert bins is not None
    assert len(bins.starts) <= MAX_BINS
    row_of = {None: 0, 1: 1, 2: 2, 3: OTHER_IDS}
    for schema_id in {row_of[point["schema_id"]] for point in points}:
        mine = [point for point in points if row_of[point["schema_id"]] == schema_id]
        assert sum(bins.records[schema_id]) == sum(point["records"] for point in mine)
        assert sum(bins.violating[schema_id]) == sum(point["violating"] for point in mine)


def test_bins_have_the_grain_of_the_data() -> None:
    def bins_of(*windows: str) -> tuple[str, int]:
        bins = bin_series([SeriesPoint(window=window, schema_id=1, records=1, violating=0) for window in windows], [1])
        assert bins is not None
        return bins.starts[0].isoformat(timespec="hours"), bins.hours

    assert bins_of("2013-07-01T05") == ("2013-07-01T05", 1)
    assert bins_of("2013-07-01T05", "2013-07-05T04") == ("2013-07-01T05", 1)
    assert bins_of("2013-07-01T05", "2013-07-07T04") == ("2013-07-01T04", 2)
    assert bins_of("2013-07-01T05", "2013-08-20T04") == ("2013-07-01T00", 12)
    assert bins_of("2013-07-01T05", "2013-10-01T04") == ("2013-07-01T00", 24)
    assert bins_of("2013-07-01", "2013-07-05") == ("2013-07-01T00", 24)
    assert bins_of("2013-07", "2014-07") == ("2013-07-01T00", 96)
    assert bins_of("2013-07-01T05", "2013-07-02") == ("2013-07-01T00", 24)


def test_rows_are_sorted_by_id_and_those_of_no_version_come_last() -> None:
    bins = bin_series(
        [
            SeriesPoint(window="2013-01-01", schema_id=schema_id, records=records, violating=0)
            for schema_id, records in ((None, 9), (7, 8), (2, 7), (1, 1))
        ],
        [1, 2],
    )
    assert bins is not None
    labels = re.findall("(no schema id|other ids|id [12])<", str(draw_timeline(bins, {})))
    assert labels == ["id 1", "id 2", "other ids", "no schema id"]


def test_small_shares_are_visible() -> None:
    drawn = str(draw_coverage(part("t")["partitions"]))
    widths = [float(width) for width in re.findall(r'x="[\d.]+" y="2" width="([\d.]+)"', drawn)]
    assert sum(widths) <= 616.1
    assert min(widths) >= 3
    assert "is-absent" in drawn
    assert "absent: 12 of 336,788" in drawn
    assert "is-violating" not in drawn


def test_a_cycle_of_topics_is_drawn_and_too_many_topics_are_not() -> None:
    assert draw_lineage([edge("a", "b", "f"), edge("b", "a", "f")]) is not None
    assert draw_lineage([edge(f"a{index}", "b", "f") for index in range(100)]) is None
    assert draw_lineage([]) is None


def test_an_edge_without_direction_is_dashed_and_says_so() -> None:
    mirror = edge("a", "b", "f")
    assert "stroke-dasharray" not in str(draw_lineage([mirror]))
    mirror["direction"] = "unknown"
    drawn = str(draw_lineage([mirror]))
    assert "stroke-dasharray" in drawn
    assert "direction unknown" in drawn


def test_an_edge_of_whole_topics_has_no_fields() -> None:
    assert ">traced<" in str(draw_lineage([traced_edge("a", "b")]))
    both = str(draw_lineage([traced_edge("a", "b"), edge("a", "b", "f")]))
    assert ">1 field<" in both
    assert "1 field, traced in headers, support" in both


def test_elements_escape_what_they_hold() -> None:
    assert str(element("text", "<b>", x='"')) == '<text x="&#34;">&lt;b&gt;</text>'
