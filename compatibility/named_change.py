"""Changes between two schemas in words, each with its risk and the levels that admit it.

A change is *breaking* if BACKWARD or FORWARD rejects it, *dangerous* if all levels admit it but readers may see other
values than before, otherwise *harmless*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from contractlog.compatibility.engine import detailed_step_budget, find_differences
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.formats import CATALOGUE, FORMATS
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.schema_diff import SchemaDiff
from contractlog.compatibility.step_budget import StepBudget
from contractlog.compatibility.structural_change import StructuralChange

__all__ = ["NamedChange", "Risk", "name_changes"]


class Risk(StrEnum):
    """The risk of a change, the highest first."""

    BREAKING = "breaking"
    DANGEROUS = "dangerous"
    HARMLESS = "harmless"


@dataclass(frozen=True, slots=True)
class NamedChange:
    """A change in words."""

    risk: Risk
    text: str
    pointer: str  #: JSON Pointer into the later schema
    levels: tuple[Level, ...]  #: the levels that admit it, least strict first
    checks: tuple[str, ...] = ()  #: ids of the checks with findings about it

    def body(self) -> dict[str, Any]:
        """Return the change as a JSON-compatible value."""
        return {
            "risk": self.risk.value,
            "text": self.text,
            "pointer": self.pointer,
            "levels": [level.value for level in self.levels],
            "checks": list(self.checks),
        }


def name_changes(difference: SchemaDiff) -> list[NamedChange]:
    """Name every change between the two schemas of a comparison, by risk.

    Findings belong to the change at their position; a finding at none is a change of its own, so no finding is lost.
    """
    later, earlier = difference.later.parsed, difference.earlier.parsed
    structural: list[StructuralChange] = []
    dangerous: list[Finding] = []
    if later.type is earlier.type:
        schema_format = FORMATS[later.type]
        steps = StepBudget(detailed_step_budget(2))
        structural = list(dict.fromkeys(schema_format.list_changes(later, earlier, steps)))
        checks = schema_format.dangerous_checks
        findings = find_differences(later, earlier, Direction.BACKWARD, difference.policy, checks, steps=steps)
        dangerous = [finding for finding in findings if finding.check in checks]
    breaking = [(each.direction, each.finding) for each in difference.findings]
    reported = {finding.check for _, finding in breaking}
    about: dict[StructuralChange, list[tuple[Direction | None, Finding]]] = {change: [] for change in structural}
    for direction, finding in (*breaking, *((None, each) for each in dangerous if each.check not in reported)):
        change = _find_change(structural, direction, finding)
        about.setdefault(change, []).append((direction, finding))
    named = [_name_change(change, findings) for change, findings in about.items()]
    return sorted(named, key=lambda change: list(Risk).index(change.risk))


def _find_change(
    changes: Sequence[StructuralChange], direction: Direction | None, finding: Finding
) -> StructuralChange:
    """Return the change that a finding is about; no direction means a check of the later schema."""
    position = finding.reader_at, finding.writer_at
    if direction is Direction.FORWARD:
        position = finding.writer_at, finding.reader_at
    same_direction = [each for each in changes if direction is None or each.direction in {None, direction}]
    exact = [each for each in same_direction if position in each.positions]
    exact.sort(key=lambda each: (each.text != finding.detail, finding.check not in each.checks, each.direction is None))
    covering = sorted(
        (each for each in same_direction if each.covers_inner and _covers(each.positions[0], position)),
        key=lambda each: -sum(map(len, each.positions[0])),
    )
    return next(iter((*exact, *covering)), StructuralChange(finding.detail, (position,)))


def _covers(outer: tuple[str, str], inner: tuple[str, str]) -> bool:
    return all(f"{below}/".startswith(f"{above}/") for above, below in zip(outer, inner, strict=True))


def _name_change(change: StructuralChange, findings: Sequence[tuple[Direction | None, Finding]]) -> NamedChange:
    rejected = {direction for direction, _ in findings if direction is not None}
    of_candidate = any(direction and CATALOGUE[finding.check].of_candidate for direction, finding in findings)
    risk = Risk.BREAKING if rejected else Risk.DANGEROUS if findings else Risk.HARMLESS
    return NamedChange(
        risk,
        change.text,
        change.positions[0][0],
        tuple(_admitting_levels(rejected, of_candidate=of_candidate)),
        tuple(dict.fromkeys(finding.check for _, finding in findings)),
    )


def _admitting_levels(rejected: set[Direction], *, of_candidate: bool) -> Iterator[Level]:
    for level in Level:
        if rejected.isdisjoint(level.directions) and not (of_candidate and level is not Level.NONE):
            yield level
