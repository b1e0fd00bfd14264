"""Classification of a change: its kind, and the compatibility levels that allow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, detailed_step_budget, find_differences
from contractlog.compatibility.finding import Comparison, Finding
from contractlog.compatibility.formats import CATALOGUE, select_breaking, strip_annotations
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.step_budget import StepBudget

__all__ = ["ChangeKind", "SchemaChange", "classify_change", "classify_change_between"]


class ChangeKind(StrEnum):
    """Kind of a change, from no change to a breaking one."""

    NONE = "none"  #: the same schema, apart from layout
    ANNOTATION = "annotation"  #: documentation, and properties that no reader acts on
    FULL = "full"  #: old and new schema read each other
    BACKWARD = "backward"  #: the new schema reads what the old one wrote
    FORWARD = "forward"  #: the old schema reads what the new one writes
    BREAKING = "breaking"  #: neither reads the other


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A change from the previous versions to a candidate."""

    kind: ChangeKind  #: relative to the latest version
    levels: tuple[Level, ...]  #: the levels that allow the change, least strict first
    comparisons: tuple[Comparison, ...] = ()  #: only those with findings: oldest version first, backward before forward

    def satisfies(self, level: Level) -> bool:
        """Return True if the level allows the change."""
        return level in self.levels

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in order."""
        return tuple(finding for comparison in self.comparisons for finding in comparison.findings)

    def body(self) -> dict[str, Any]:
        """Return the change as a JSON-compatible value."""
        return {
            "kind": self.kind.value,
            "levels": [level.value for level in self.levels],
            "findings": [
                {
                    "check": finding.check,
                    "direction": comparison.direction.value,
                    "version": comparison.version,
                    "reader_at": finding.reader_at,
                    "writer_at": finding.writer_at,
                    "detail": finding.detail,
                    "mend": finding.fix,
                }
                for comparison in self.comparisons
                for finding in comparison.findings
            ],
        }


def classify_change_between(
    earlier: ParsedSchema,
    candidate: ParsedSchema,
    *,
    policy: Policy = Policy.STRICT,
    additional_checks: frozenset[str] = frozenset(),
    budget: StepBudget | None = None,
) -> SchemaChange:
    """Classify the change from one schema to another; two comparisons decide all levels."""
    return classify_change(
        candidate, [ParsedVersion(1, earlier)], policy=policy, additional_checks=additional_checks, budget=budget
    )


def classify_change(
    candidate: ParsedSchema,
    history: Sequence[ParsedVersion],
    *,
    policy: Policy = Policy.STRICT,
    additional_checks: frozenset[str] = frozenset(),
    budget: StepBudget | None = None,
) -> SchemaChange:
    """Classify a candidate against its history, comparing it once per version and direction.

    Args:
        candidate: the schema to be registered.
        history: the live versions, oldest first; if empty, every level allows the candidate.
        policy: the differences that break compatibility.
        additional_checks: ids of checks that break compatibility in addition to those of the policy.
        budget: the step budget of the enclosing operation; exhausting it yields a finding.
    """
    steps = StepBudget(detailed_step_budget(2 * len(history)), budget)
    comparisons = [
        Comparison(
            direction,
            select_breaking(
                find_differences(candidate, earlier.parsed, direction, policy, additional_checks, steps=steps),
                policy,
                additional_checks,
            ),
            earlier.version,
            earlier.parsed.canonical,
        )
        for earlier in history
        for direction in Direction
    ]
    latest = comparisons[-len(Direction) :]
    levels = tuple(level for level in Level if _allows(level, comparisons if level.transitive else latest))
    kind = _classify_kind(candidate, history[-1].parsed if history else None, levels)
    return SchemaChange(kind, levels, tuple(comparison for comparison in comparisons if comparison.findings))


def _allows(level: Level, comparisons: Sequence[Comparison]) -> bool:
    return not any(_is_relevant(level, comparison) for comparison in comparisons if comparison.findings)


def _is_relevant(level: Level, comparison: Comparison) -> bool:
    """Return True if the level takes the findings of a comparison into account.

    It does so for its own directions; checks of the candidate itself count at every level except NONE.
    """
    of_candidate = any(CATALOGUE[finding.check].of_candidate for finding in comparison.findings)
    return comparison.direction in level.directions or (of_candidate and level is not Level.NONE)


def _classify_kind(candidate: ParsedSchema, latest: ParsedSchema | None, levels: Sequence[Level]) -> ChangeKind:
    if latest is None:
        return ChangeKind.FULL
    if _is_unchanged(candidate, latest):
        return ChangeKind.NONE
    if Level.FULL in levels:
        return ChangeKind.ANNOTATION if strip_annotations(candidate) == strip_annotations(latest) else ChangeKind.FULL
    if Level.BACKWARD in levels:
        return ChangeKind.BACKWARD
    return ChangeKind.FORWARD if Level.FORWARD in levels else ChangeKind.BREAKING


def _is_unchanged(first: ParsedSchema, second: ParsedSchema) -> bool:
    return (first.type, first.normalized, first.referenced) == (second.type, second.normalized, second.referenced)
