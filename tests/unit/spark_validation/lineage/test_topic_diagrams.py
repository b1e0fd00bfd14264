"""Trees and diagrams have every edge between topics once, and names cannot break out of their syntax."""

from __future__ import annotations

import re

import pytest

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.topic_diagrams import format_dot, format_mermaid, format_trees

from support.reports import edge, traced_edge

MIRROR: LineageEdge = {**edge("orders", "orders.copy", "id"), "direction": "unknown"}
EDGES = [
    edge("customers", "enriched", "city", "lookup"),
    edge("orders", "enriched", "id"),
    edge("orders", "enriched", "amount"),
    MIRROR,
    edge("enriched", "late", "id"),
    edge("enriched", "report", "id"),
    edge("late", "report", "amount"),
]


def test_a_tree_goes_up_and_down_over_all_steps() -> None:
    assert format_trees(EDGES, ["late"]).splitlines() == [
        "late",
        "  made from",
        "    enriched  (1 field, copy)",
        "      customers  (1 field, lookup)",
        "      orders  (2 fields, copy)",
        "  used for",
        "    report  (1 field, copy)",
    ]


def test_without_names_trees_begin_at_the_first_topics() -> None:
    assert format_trees(EDGES, []).splitlines() == [
        "customers",
        "  used for",
        "    enriched  (1 field, lookup)",
        "      late  (1 field, copy)",
        "        report  (1 field, copy)",
        "      report  (1 field, copy; see above)",
        "",
        "orders",
        "  used for",
        "    enriched  (2 fields, copy)",
        "      late  (1 field, copy)",
        "        report  (1 field, copy)",
        "      report  (1 field, copy; see above)",
        "    orders.copy  (1 field, mirror)",
    ]


def test_edges_traced_in_headers_are_named_beside_those_found_in_values() -> None:
    edges = [edge("a", "b", "x"), traced_edge("a", "b"), traced_edge("b", "c"), traced_edge("a", "d", directed=False)]
    assert format_trees(edges, []).splitlines() == [
        "a",
        "  used for",
        "    b  (1 field, copy; named in headers)",
        "      c  (named in headers)",
        "    d  (same traces)",
    ]
    assert 't0 -.-|"same traces"| t3' in format_mermaid(edges)


def test_a_cycle_ends() -> None:
    cycle = [edge("a", "b", "x"), edge("b", "a", "x")]
    assert format_trees(cycle, ["a"]).splitlines() == [
        "a",
        "  made from",
        "    b  (1 field, copy)",
        "      a  (1 field, copy; see above)",
        "  used for",
        "    b  (1 field, copy)",
        "      a  (1 field, copy; see above)",
    ]
    assert format_trees(cycle, []).startswith("a\n")


def test_mermaid_has_a_node_per_topic_and_an_edge_per_pair() -> None:
    lines = format_mermaid(EDGES).splitlines()
    assert lines[:3] == ["flowchart LR", '  t0["customers"]', '  t1["enriched"]']
    assert '  t3 -->|"2 fields, copy"| t1' in lines
    assert '  t3 -.-|"1 field, mirror"| t4' in lines
    assert len(lines) == 1 + 6 + 6


def test_dot_has_a_node_per_topic_and_an_edge_per_pair() -> None:
    lines = format_dot(EDGES).splitlines()
    assert '  "orders" -> "enriched" [label="2 fields, copy"];' in lines
    assert '  "orders" -> "orders.copy" [label="1 field, mirror", dir=none, style=dashed];' in lines
    assert len(lines) == 4 + 6 + 6


@pytest.mark.parametrize("name", ['a"]; b', "a\\", "a\n::error::b", 'x" [shape=none]; "y', "`a`<b>#"])
def test_names_stay_within_their_quotes(name: str) -> None:
    mermaid, dot = format_mermaid([edge(name, "b", "x")]), format_dot([edge(name, "b", "x")])
    assert all(re.fullmatch(r'  t\d\["[^"]*"\]|  t\d -->\|"[^"]*"\| t\d', line) for line in mermaid.splitlines()[1:])
    quoted = r'"(?:[^"\\]|\\.)*"'
    assert all(
        re.fullmatch(rf"  {quoted}(?: -> {quoted} \[label={quoted}\])?;", line) for line in dot.splitlines()[3:-1]
    )
