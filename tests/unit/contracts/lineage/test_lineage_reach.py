"""Fields that a change reaches: over all steps, in records, in cycles, by edges without direction."""

from __future__ import annotations

from contractlog.contracts.lineage.lineage_reach import find_reached_fields

from support.lineage_estates import make_edge


def reach(*edges: object, topic: str = "a", field: str = "id") -> list[tuple[str, str, int]]:
    return [(each.topic, each.field, each.depth) for each in find_reached_fields(edges, topic, field)]  # type: ignore[arg-type]


def test_fields_are_reached_over_all_steps_with_their_depth() -> None:
    edges = [make_edge("a", "b", "id", to="key"), make_edge("b", "c", "key", to="k"), make_edge("b", "c", "other")]
    assert reach(*edges) == [("b", "key", 1), ("c", "k", 2)]
    assert reach(*edges, topic="b", field="key") == [("c", "k", 1)]
    assert reach(*edges, topic="c", field="k") == []


def test_only_fields_made_from_the_field_are_reached() -> None:
    assert reach(make_edge("a", "b", "name"), make_edge("a", "c", "idx")) == []


def test_a_record_reaches_what_its_fields_reach_and_a_field_what_its_record_reaches() -> None:
    edges = [make_edge("a", "b", "legs[].carrier", to="carrier"), make_edge("a", "c", "legs")]
    assert reach(*edges, field="legs") == [("b", "carrier", 1), ("c", "legs", 1)]
    assert reach(*edges, field="legs[].carrier") == [("b", "carrier", 1), ("c", "legs", 1)]
    assert reach(*edges, field="legs[].flight") == [("c", "legs", 1)]
    assert reach(*edges, field="leg") == []


def test_all_fields_of_a_topic_reach_what_any_of_them_does() -> None:
    edges = [make_edge("a", "b", "x"), make_edge("a", "c", "y"), make_edge("c", "d", "y")]
    assert reach(*edges, field="") == [("b", "x", 1), ("c", "y", 1), ("d", "y", 2)]


def test_an_edge_of_whole_topics_is_followed_for_each_field() -> None:
    assert reach(make_edge("a", "b", ""), make_edge("b", "c", "x")) == [("b", "", 1), ("c", "x", 2)]


def test_a_cycle_ends_and_does_not_reach_its_start() -> None:
    edges = [make_edge("a", "b"), make_edge("b", "c"), make_edge("c", "a"), make_edge("c", "b")]
    assert reach(*edges) == [("b", "id", 1), ("c", "id", 2)]


def test_a_field_has_its_least_depth_and_the_most_certain_edge() -> None:
    certain = {**make_edge("a", "c", "id2", to="id"), "score": 0.99}
    edges = [make_edge("a", "b"), make_edge("b", "c"), make_edge("a", "c"), certain]
    (_, reached) = find_reached_fields(edges, "a", "")  # type: ignore[arg-type]
    assert (reached.topic, reached.depth, reached.source["field"]) == ("c", 1, "id2")


def test_an_edge_without_direction_is_followed_both_ways_and_says_so() -> None:
    edge = make_edge("x", "a", direction="unknown")
    (reached,) = find_reached_fields([edge], "a", "id")
    assert (reached.topic, reached.directed) == ("x", False)
    assert reached.body()["direction"] == "unknown"
    assert reach(edge, topic="x") == [("a", "id", 1)]


def test_a_step_has_its_method_evidence_score_and_source() -> None:
    (reached,) = find_reached_fields([make_edge("a", "b", to="key", evidence="declared")], "a", "id")
    assert reached.body() == {
        "topic": "b",
        "field": "key",
        "depth": 1,
        "from": {"topic": "a", "field": "id"},
        "method": "copy",
        "evidence": "declared",
        "direction": "known",
        "score": 0.98,
        "support": 812,
    }


def test_a_long_chain_takes_no_recursion() -> None:
    edges = [make_edge(f"t{number}", f"t{number + 1}") for number in range(5_000)]
    assert reach(*edges, topic="t0")[-1] == ("t5000", "id", 5_000)
