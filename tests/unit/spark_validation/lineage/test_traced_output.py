"""Traced edges are printed in a block of their own."""

from __future__ import annotations

from contractlog.contracts.lineage.edges import is_traced
from contractlog.spark_validation.lineage.traced_output import format_traced_edges

from support.reports import edge, traced_edge


def test_each_edge_is_a_line_with_its_job_lag_and_example() -> None:
    edges = [traced_edge("customers", "enriched"), traced_edge("orders", "enriched", "enrich")]
    assert format_traced_edges(edges).splitlines() == [
        "Traced in headers (examples are partition/offset of a source record -> of the record made from it):",
        "",
        "enriched was made from",
        "  <- customers  1,234 records              lag 1.5 s  3/42 -> 0/5",
        "  <- orders     1,234 records  job enrich  lag 1.5 s  3/42 -> 0/5",
    ]


def test_common_traces_are_not_said_to_be_an_origin() -> None:
    text = format_traced_edges([{**traced_edge("a", "b", directed=False), "support": 1, "example": None}])
    assert text.splitlines()[2:] == [
        "b has later records of the same traces as (made from it, or both by a third program)",
        "  <-> a  1 sampled trace  lag 1.5 s",
    ]


def test_hostile_names_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in format_traced_edges([traced_edge("a\x1b[2J", "b\x1b[2J", "c\x1b[2J")])


def test_edges_found_in_values_are_not_traced() -> None:
    assert [is_traced(each) for each in (edge("a", "b", "f"), traced_edge("a", "b"))] == [False, True]
