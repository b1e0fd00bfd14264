"""Positions of findings in the candidate's text."""

from __future__ import annotations

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.finding_positions import find_position
from contractlog.compatibility.level import Direction


def test_a_finding_is_located_in_the_candidate_and_never_in_a_referenced_schema() -> None:
    text = '{"a": 1,\n "b": 2}'
    finding = Finding("X", "/b", "leg#/a", "")
    assert find_position(text, finding, Direction.BACKWARD) == (2, 7)
    assert find_position(text, finding, Direction.FORWARD) is None
    assert find_position(text, Finding("X", "leg#", "", ""), Direction.BACKWARD) is None
    assert find_position(text, Finding("X", "", "", ""), Direction.BACKWARD) == (1, 1)
