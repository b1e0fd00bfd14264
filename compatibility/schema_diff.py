"""Difference between two schemas: kind, levels, and findings with positions and suggested fixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.change_classification import SchemaChange, classify_change_between
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.finding_positions import find_positions
from contractlog.compatibility.fixes.fix_search import MAX_STEPS, FixSearch
from contractlog.compatibility.level import Level
from contractlog.compatibility.located_finding import LocatedFinding, locate_finding
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.step_budget import StepBudget

__all__ = ["FORMAT", "MAX_FINDINGS_WITH_FIXES", "DiffSide", "SchemaDiff", "diff_schemas"]

FORMAT: Final = "contractlog.diff/1"
#: findings for which fixes are searched; the rest get the generic fix of their check
MAX_FINDINGS_WITH_FIXES: Final = 25


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One of the two schemas of a comparison."""

    name: str
    text: str  #: as its author wrote it; positions refer to this text
    parsed: ParsedSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDiff:
    """Result of comparing two schemas."""

    earlier: DiffSide
    later: DiffSide
    level: Level
    policy: Policy
    change: SchemaChange
    findings: Sequence[LocatedFinding]  #: findings in the directions of the level come first

    @property
    def compatible(self) -> bool:
        """True if the level allows the change."""
        return self.change.satisfies(self.level)

    def body(self) -> dict[str, Any]:
        """Return the JSON-compatible form, the same in the command line and in the registry."""
        return {
            "format": FORMAT,
            "earlier": self.earlier.name,
            "later": self.later.name,
            "level": self.level.value,
            "policy": self.policy.value,
            "compatible": self.compatible,
            "kind": self.change.kind.value,
            "levels": [level.value for level in self.change.levels],
            "findings": [finding.body() for finding in self.findings],
        }


def diff_schemas(
    earlier: DiffSide,
    later: DiffSide,
    *,
    level: Level,
    policy: Policy,
    additional_checks: frozenset[str] = frozenset(),
    budget: StepBudget | None = None,
) -> SchemaDiff:
    """Compare two schemas in both directions.

    Findings in the directions of the level come first, and fixes are suggested for the first
    ``MAX_FINDINGS_WITH_FIXES`` of them.

    Args:
        earlier: the previous schema.
        later: the new schema.
        level: the level that decides whether the change is allowed.
        policy: the differences that break compatibility.
        additional_checks: ids of checks that break compatibility in addition to those of the policy.
        budget: the step budget of the enclosing operation.
    """
    change = classify_change_between(
        earlier.parsed, later.parsed, policy=policy, additional_checks=additional_checks, budget=budget
    )
    requested_directions = level.directions
    comparisons = sorted(change.comparisons, key=lambda comparison: comparison.direction not in requested_directions)
    trial = FixSearch(
        text=later.text,
        candidate=later.parsed,
        earlier_text=earlier.text,
        earlier=earlier.parsed,
        directions=requested_directions,
        policy=policy,
        additional_checks=additional_checks,
        steps=StepBudget(MAX_STEPS, budget),
    )
    findings = [(finding, comparison.direction) for comparison in comparisons for finding in comparison.findings]
    located_findings = [
        locate_finding(
            finding,
            direction,
            earlier.name,
            position,
            trial.find_fixes(finding, direction)
            if direction in requested_directions and number < MAX_FINDINGS_WITH_FIXES
            else (),
        )
        for number, ((finding, direction), position) in enumerate(
            zip(findings, find_positions(later.text, findings), strict=True)
        )
    ]
    return SchemaDiff(
        earlier=earlier, later=later, level=level, policy=policy, change=change, findings=located_findings
    )
