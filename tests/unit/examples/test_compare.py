from __future__ import annotations

from flights.compare import expected_edges, mark_edges, mark_violations, table
from flights.faults import Planted
from flights.topics import TOPICS

PLANTED = [
    Planted("t", 0, 1, "value", "truncated", "TRUNCATED"),
    Planted("t", 0, 2, "value", "truncated", "TRUNCATED"),
    Planted("t", 1, 3, "key", "key not framed", "NOT_FRAMED"),
]


def test_all_found_is_perfect() -> None:
    marks = mark_violations(PLANTED, [(p.topic, p.partition, p.offset, p.part, p.expected) for p in PLANTED])
    assert marks.perfect
    assert marks.sentence() == "planted 3, found 3, missed 0, false 0"


def test_what_the_audit_does_not_name_is_missed() -> None:
    marks = mark_violations(PLANTED, [("t", 0, 1, "value", "TRUNCATED"), ("t", 1, 3, "key", "NOT_FRAMED")])
    assert marks.missed == [("t", 0, 2, "value", "TRUNCATED")]
    assert not marks.perfect


def test_a_wrong_code_at_the_right_place_is_missed_and_false() -> None:
    marks = mark_violations(PLANTED[:1], [("t", 0, 1, "value", "BAD_UTF8")])
    assert (len(marks.missed), len(marks.false)) == (1, 1)


def test_a_violation_nobody_planted_is_false() -> None:
    marks = mark_violations([], [("t", 0, 9, "value", "TRUNCATED")])
    assert marks.false == [("t", 0, 9, "value", "TRUNCATED")]
    assert not marks.perfect


def test_the_table_counts_kind_by_kind() -> None:
    marks = mark_violations(PLANTED, [("t", 0, 1, "value", "TRUNCATED")])
    assert [line.split() for line in table(marks).splitlines()] == [
        ["kind", "outcome", "planted", "found", "missed"],
        ["key", "not", "framed", "NOT_FRAMED", "1", "0", "1"],
        ["truncated", "TRUNCATED", "2", "1", "1"],
    ]


def test_edges_are_compared_by_their_ends() -> None:
    expected = expected_edges()
    assert mark_edges(expected, [dict(edge, score=0.9) for edge in expected]).perfect
    backwards = {"from": expected[0]["to"], "to": expected[0]["from"]}
    marks = mark_edges(expected, [*expected[1:], backwards])
    assert (len(marks.missed), len(marks.false)) == (1, 1)


def test_expected_edges_are_between_topics_of_the_demo() -> None:
    assert {end["topic"] for edge in expected_edges() for end in (edge["from"], edge["to"])} <= TOPICS.keys()
