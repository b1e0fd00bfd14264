"""Edges are traced in headers, and claim no more than the headers show."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import numpy as np

from contractlog.contracts.audit.mergeable_state import NO_TIMESTAMP, AuditState
from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.record_origins import (
    MAX_TRACES,
    OTHER_ORIGINS,
    OriginCounts,
    OriginKey,
    OriginPosition,
    TopicOrigins,
    TracedRecord,
)
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.traced_sources import find_traced_edges
from contractlog.spark_validation.profiles.field_profiler import make_histogram

from support.reports import REPORT_VALIDATOR, part, report

HEADER = "contractlog.origin"
START = 1_700_000_000_000


def find(**topics: TopicOrigins) -> list[LineageEdge]:
    """Return the edges of topics."""
    return find_traced_edges(AuditState(origins=topics))


def traces(time: Callable[[int], int], numbers: range = range(100), *, span: int = 0) -> TopicOrigins:
    """Return a topic's sample of traces, each with a time."""
    return TopicOrigins(
        traces={number: TracedRecord(time(number), 0, number, span + number) for number in numbers}
    ).merge(TopicOrigins())


def pairs(edges: list[LineageEdge]) -> list[tuple[str, str]]:
    """Return the topics that edges connect."""
    return [(edge["from"]["topic"], edge["to"]["topic"]) for edge in edges]


def late(milliseconds: int) -> Callable[[int], int]:
    """Return the times of a topic that is late."""
    return lambda number: START + 1000 * number + milliseconds


def test_an_origin_in_headers_is_an_edge_of_whole_topics() -> None:
    lags = make_histogram(np.array([100.0, 2000.0]), np.array([19, 1]))
    counts = OriginCounts(21, START, START + 5000, lags, OriginPosition(0, 5, 3, 42))
    (edge,) = find(enriched=TopicOrigins({OriginKey(HEADER, "orders", "enrich"): counts}))
    quantiles = edge["lag_quantiles_ms"]
    assert quantiles is not None
    assert [round(quantiles[name] / 100) for name in ("p05", "p50", "p95")] == [1, 1, 20]
    assert edge == {
        "from": {"topic": "orders", "field": ""},
        "to": {"topic": "enriched", "field": ""},
        "direction": "known",
        "method": "origin",
        "score": 1.0,
        "support": 21,
        "lag_ms": quantiles["p50"],
        "evidence": "traced",
        "description": "21 records name it in the header `contractlog.origin`, written by `enrich`",
        "lag_quantiles_ms": quantiles,
        "first_seen": "2023-11-14T22:13:20Z",
        "last_seen": "2023-11-14T22:13:25Z",
        "example": {"from": {"partition": 3, "offset": 42}, "to": {"partition": 0, "offset": 5}},
        "job": "enrich",
    }


def test_a_lag_is_unknown_without_the_time_of_the_source() -> None:
    counts = OriginCounts(1, NO_TIMESTAMP, -(2**63), NumberHistogram(), OriginPosition(0, 5, 3, 42))
    (edge,) = find(dead=TopicOrigins({OriginKey("__connect.errors.topic", "orders", ""): counts}))
    assert (edge["lag_ms"], edge["lag_quantiles_ms"], edge["first_seen"], edge["last_seen"]) == (None, None, "", "")
    assert edge["description"] == "1 record names it in the header `__connect.errors.topic`"
    assert "job" not in edge
    (edge,) = find(copy=TopicOrigins({OriginKey("k2k_topic", "orders", ""): counts}))
    assert edge["description"].endswith("`k2k_topic`; it may be a topic of another cluster")


def test_a_topic_is_not_its_own_source_and_origins_beyond_the_limit_are_no_edges() -> None:
    counts = OriginCounts(1, START, START)
    assert find(a=TopicOrigins({OriginKey(HEADER, "a", ""): counts, OTHER_ORIGINS: counts})) == []


def test_edges_are_a_valid_part_of_a_report() -> None:
    counts = OriginCounts(1, START, START, NumberHistogram(), OriginPosition(0, 5, 3, 42))
    origins = TopicOrigins({OriginKey(HEADER, "a", "job"): counts})
    audit = report(part("a"), part("b"))
    audit["lineage"] = find(b=origins, x=traces(late(0)), y=traces(late(500)))
    REPORT_VALIDATOR.validate(json.loads(json.dumps(audit)))
    assert pairs(audit["lineage"]) == [("a", "b"), ("x", "y")]


def test_topics_with_the_same_traces_have_an_order_and_no_direction() -> None:
    (edge,) = find(a=traces(late(500)), b=traces(late(0)))
    assert pairs([edge]) == [("b", "a")]
    assert (edge["direction"], edge["method"], edge["lag_ms"], edge["support"]) == ("unknown", "trace", 500.0, 100)
    assert edge["description"] == (
        "100 sampled traces are in both topics, 100 of them with the same parent id; 100 begin earlier in `b`;"
        " a third program may have written both"
    )
    assert edge["example"] == {"from": {"partition": 0, "offset": 0}, "to": {"partition": 0, "offset": 0}}


def test_few_shared_traces_are_no_edge() -> None:
    assert find(a=traces(late(0), range(9)), b=traces(late(500), range(9))) == []
    assert find(a=traces(late(0), range(50)), b=traces(late(500), range(30, 90))) == []  # 20 of 60
    static = TopicOrigins(traces={7: TracedRecord(START, 0, 0, 0)})
    assert find(a=static, b=TopicOrigins(traces={7: TracedRecord(START + 1, 0, 0, 0)})) == []


def test_topics_without_an_order_have_no_edge() -> None:
    mixed = traces(lambda number: late(500 if number % 10 else -500)(number))
    assert find(a=traces(late(0)), b=mixed) == []
    assert find(a=traces(late(0)), b=traces(late(0))) == []
    assert find(a=traces(late(0)), b=traces(lambda _: NO_TIMESTAMP)) == []


def test_only_the_nearest_of_earlier_topics_is_named() -> None:
    chain = find(a=traces(late(0)), b=traces(late(100), span=500), c=traces(late(300), span=900))
    assert pairs(chain) == [("a", "b"), ("b", "c")]
    branch = traces(late(100), range(20), span=500)  # a fifth of the traces
    assert pairs(find(a=traces(late(0)), b=branch, c=traces(late(300), span=900))) == [("a", "b"), ("a", "c")]


def test_the_topic_whose_parent_id_was_passed_on_is_the_nearest() -> None:
    assert pairs(find(a=traces(late(0)), b=traces(late(100), span=500), c=traces(late(300)))) == [
        ("a", "b"),
        ("a", "c"),
    ]


def test_traces_do_not_repeat_an_edge_that_headers_name() -> None:
    counts = OriginCounts(1, START, START, NumberHistogram(), OriginPosition(0, 5, 3, 42))
    target = traces(late(500)).merge(TopicOrigins({OriginKey(HEADER, "a", ""): counts}))
    edges = find(a=traces(late(0)), b=target)
    assert [edge["method"] for edge in edges] == ["origin"]


def test_a_small_topic_is_compared_within_the_sample_of_a_large_one() -> None:
    large: Mapping[int, TracedRecord] = {
        number: TracedRecord(late(0)(number), 0, number, 0) for number in range(MAX_TRACES)
    }
    small = range(0, 50 * MAX_TRACES, 20)  # every 20th trace; the sample of the large one ends early
    assert pairs(find(a=TopicOrigins(traces=large), b=traces(late(100), small, span=1))) == [("a", "b")]
