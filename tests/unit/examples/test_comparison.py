from __future__ import annotations

from flights.comparison import compare_edges, compare_violations, format_table, read_expected_edges
from flights.faults import Planted
from flights.topics import TOPICS

PLANTED = [
    Planted("t", 0, 1, "value", "truncated", "TRUNCATED"),
    Planted("t", 0, 2, "value", "truncated", "TRUNCATED"),
    Planted("t", 1, 3, "key", "key not framed", "NOT_FRAMED"),
]


def test_all_found_is_perfect() -> None:
    comparison = compare_violations(PLANTED, [(p.topic, p.partition, p.offset, p.part, p.expected) for p in PLANTED])
    assert comparison.is_perfect
    assert comparison.format_sentence() == "planted 3, found 3, missed 0, false 0"


def test_damage_without_a_violation_is_missed() -> None:
    comparison = compare_violations(PLANTED, [("t", 0, 1, "value", "TRUNCATED"), ("t", 1, 3, "key", "NOT_FRAMED")])
    assert comparison.missed == [("t", 0, 2, "value", "TRUNCATED")]
    assert not comparison.is_perfect


def test_a_wrong_code_at_the_right_place_is_missed_and_false() -> None:
    comparison = compare_violations(PLANTED[:1], [("t", 0, 1, "value", "BAD_UTF8")])
    assert (len(comparison.missed), len(comparison.false)) == (1, 1)


def test_a_violation_nobody_planted_is_false() -> None:
    comparison = compare_violations([], [("t", 0, 9, "value", "TRUNCATED")])
    assert comparison.false == [("t", 0, 9, "value", "TRUNCATED")]
    assert not comparison.is_perfect


def test_the_table_counts_kind_by_kind() -> None:
    comparison = compare_violations(PLANTED, [("t", 0, 1, "value", "TRUNCATED")])
    assert [line.split() for line in format_table(comparison).splitlines()] == [
        ["kind", "outcome", "planted", "found", "missed"],
        ["key", "not", "framed", "NOT_FRAMED", "1", "0", "1"],
        ["truncated", "TRUNCATED", "2", "1", "1"],
    ]


def test_edges_are_compared_by_their_ends() -> None:
    expected = read_expected_edges()
    assert compare_edges(expected, [dict(edge, score=0.9) for edge in expected]).is_perfect
    backwards = {"from": expected[0]["to"], "to": expected[0]["from"]}
    comparison = compare_edges(expected, [*expected[1:], backwards])
    assert (len(comparison.missed), len(comparison.false)) == (1, 1)


def test_expected_edges_are_between_topics_of_the_demo() -> None:
    assert {end["topic"] for edge in read_expected_edges() for end in (edge["from"], edge["to"])} <= TOPICS.keys()
