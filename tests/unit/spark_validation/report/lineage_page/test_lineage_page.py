"""The lineage page: all facts, hostile names, equal pages for equal edges, its size."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.report.lineage_page.page import MAX_BYTES, render_lineage

from support.lineage_estates import make_edge, make_estate

HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202egnp.exe",
    "a\x00\x1b[2J\n::error::x",
    "<!--",
    "]]>&amp;{{ 7*7 }}",
    "x" * 249,
    "موضوع",
    "__proto__",
)


def data_of(page: str) -> dict[str, object]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    loaded: dict[str, object] = json.loads(match[1])
    return loaded


def test_names_cannot_leave_their_place() -> None:
    edges = [make_edge(source, target, source, to=target) for source in HOSTILE for target in HOSTILE[::2]]
    page = render_lineage(edges, [*HOSTILE, "<b>alone</b>"])
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert "<!--" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert page.count("</script>") == 2
    assert data_of(page)["links"]


def test_the_page_is_the_same_for_edges_in_any_order() -> None:
    edges = make_estate(4, 8)
    shuffled = list(edges)
    Random(1).shuffle(shuffled)  # noqa: S311 - reproducible
    assert render_lineage(shuffled, ["b", "a"]) == render_lineage(edges, ["a", "b"])


@pytest.mark.parametrize("domains", [5, 25])
def test_groups_are_closed_at_first_if_there_are_more_than_a_hundred_topics(domains: int) -> None:
    page = render_lineage(make_estate(domains, 20), [])
    opened = data_of(page)["opened"]
    assert opened == ([f"g{number:05}" for number in range(5)] if domains == 5 else [])
    assert ('class="topic"' in page) == (domains == 5)
    assert ('class="group"' in page) == (domains == 25)


def test_an_estate_of_500_topics_is_a_page_of_a_few_megabytes_at_most() -> None:
    assert len(render_lineage(make_estate(25, 20), []).encode()) < MAX_BYTES


def test_more_fields_than_fit_are_counted() -> None:
    edges = [make_edge("a" * 200, "b" * 200, f"{'field' * 30}{number}") for number in range(9_000)]
    page = render_lineage(edges, [])
    assert len(page.encode()) < MAX_BYTES
    assert "7,000 more" in page


def test_what_is_known_of_an_edge_is_on_the_page_without_script_and_in_its_data() -> None:
    edge: LineageEdge = {
        **make_edge("orders", "invoices", "total", to="amount", method="function"),
        "evidence": "values",
        "description": "amount = total / 100",
        "lag_quantiles_ms": {"p05": 100.0, "p50": 1500.0, "p95": 9000.0},
        "first_seen": "2013-07-01T04:12:00Z",
        "last_seen": "2013-07-02T04:12:00Z",
        "example": {"from": {"partition": 0, "offset": 42}, "to": {"partition": 1, "offset": 40}},
    }
    page = render_lineage([edge], ["orders", "invoices", "idle"])
    table = page.partition("<tbody>")[2].partition("</tbody>")[0]
    assert "amount = total / 100" in table
    assert "proven by the values of records" in table
    assert "median 1.5 s" in table
    (link,) = data_of(page)["links"]  # type: ignore[misc] - a list, by the page
    (field,) = link["fields"]  # type: ignore[index]
    assert field == {
        "from": "total",
        "to": "amount",
        "method": "computed: equal values of the source have equal values",
        "derivation": "amount = total / 100",
        "score": "0.9800",
        "support": "812",
        "lag": "median 1.5 s; 5 % within 100 ms, 95 % within 9.0 s",
        "seen": "1 July 2013 04:12 UTC to 2 July 2013 04:12 UTC",
        "example": "offset 40 of partition 1 in invoices was made from offset 42 of partition 0 in orders",
    }
    assert "<code>idle</code>" in page


def test_kinds_of_evidence_are_separate_lines_and_explained() -> None:
    kinds = ("declared", "traced", "values")
    page = render_lineage([make_edge("a", "b", kind, evidence=kind) for kind in kinds], [])
    for kind in kinds:
        assert page.count(f'class="line {kind}"') == 2, "a line, and the legend"
    alone = render_lineage([make_edge("a", "b")], [])
    assert 'class="line declared"' not in alone


def test_an_edge_without_direction_has_no_arrow_head_and_says_so() -> None:
    page = render_lineage([make_edge("a", "b", direction="unknown")], [])
    scene = page.partition('<g id="scene">')[2].partition("<figcaption")[0]
    assert "marker-end" not in scene
    assert "direction unknown" in scene
    assert "either may have been made from the other" in page
    assert "1 pair of topics has the same rows: which one came first is not known." in page


def test_an_edge_of_whole_topics_and_of_an_unknown_method_is_shown() -> None:
    page = render_lineage([make_edge("a", "b", "", evidence="declared", method="windowed_sum")], [])
    assert "(whole topic)" in page
    assert "windowed_sum" in page


def test_lines_are_thicker_for_more_support() -> None:
    page = render_lineage([make_edge("a", "b", support=10), make_edge("c", "d", support=100_000)], [])
    scene = page.partition('<g id="scene">')[2].partition("<figcaption")[0]
    assert sorted(re.findall(r'stroke-width="([\d.]+)"', scene)) == ["1.8", "5"]


def test_without_edges_the_page_names_what_was_looked_at() -> None:
    page = render_lineage([], ["orders", "late"])
    assert "No lineage was found." in page
    assert "<code>late</code>" in page
    assert "<svg" not in page
    assert "<script" not in page


def test_an_edge_within_a_topic_needs_no_picture() -> None:
    page = render_lineage([make_edge("orders", "orders", "a", to="b")], ["orders"])
    assert "<svg" not in page
    assert '<td class="name"><code>orders</code></td>' in page
