"""Positions of findings in the text of the candidate schema."""

from __future__ import annotations

from collections.abc import Sequence

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_positions import Position, locate_pointers, split_pointer
from contractlog.compatibility.level import Direction

__all__ = ["candidate_pointer", "find_position", "find_positions"]


def candidate_pointer(finding: Finding, direction: Direction) -> str:
    """Return the pointer of a finding into the candidate, whether that is the reader or the writer."""
    return finding.reader_at if direction is Direction.BACKWARD else finding.writer_at


def find_position(text: str, finding: Finding, direction: Direction) -> Position | None:
    """Return the position of a finding in the candidate's text; None if it is in a referenced schema."""
    return find_positions(text, [(finding, direction)])[0]


def find_positions(text: str, findings: Sequence[tuple[Finding, Direction]]) -> list[Position | None]:
    """Return the position of each finding as ``find_position`` does, reading the text once."""
    at = [split_pointer(candidate_pointer(finding, direction)) for finding, direction in findings]
    positions = iter(locate_pointers(text, [pointer for name, pointer in at if not name]))
    return [None if name else next(positions) for name, _ in at]
