"""A verdict over all levels at once: what kind of change a candidate is, and which levels admit it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from contractlog.compatibility.annotations import essence
from contractlog.compatibility.checks import CATALOGUE
from contractlog.compatibility.finding import Comparison, Finding
from contractlog.compatibility.judge import Earlier, detailed_steps, differences
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.policy import Policy, breaking
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.steps import Steps

__all__ = ["Change", "Kind", "change", "change_between"]


class Kind(StrEnum):
    """What a change is to those who read and write, from nothing to all."""

    NONE = "none"  #: the same schema, but for layout
    ANNOTATION = "annotation"  #: words for people, and properties that no reader acts on
    FULL = "full"  #: old and new read each other
    BACKWARD = "backward"  #: new reads old
    FORWARD = "forward"  #: old reads new
    BREAKING = "breaking"  #: neither reads the other


@dataclass(frozen=True, slots=True)
class Change:
    """From the latest version to a candidate, and from all versions to it."""

    kind: Kind  #: in comparison with the latest version
    levels: tuple[Level, ...]  #: those that admit it, from the loosest on
    comparisons: tuple[Comparison, ...] = ()  #: those with findings: oldest version first, backward before forward

    def satisfies(self, level: Level) -> bool:
        """Whether the candidate may follow at a level."""
        return level in self.levels

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in order."""
        return tuple(finding for comparison in self.comparisons for finding in comparison.findings)

    def body(self) -> dict[str, Any]:
        """Write the change for machines."""
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
                    "mend": finding.mend,
                }
                for comparison in self.comparisons
                for finding in comparison.findings
            ],
        }


def change_between(
    earlier: ParsedSchema,
    candidate: ParsedSchema,
    *,
    policy: Policy = Policy.STRICT,
    also: frozenset[str] = frozenset(),
    within: Steps | None = None,
) -> Change:
    """Say what the change from one schema to another is; two comparisons decide over all levels."""
    return change(candidate, [Earlier(1, earlier)], policy=policy, also=also, within=within)


def change(
    candidate: ParsedSchema,
    history: Sequence[Earlier],
    *,
    policy: Policy = Policy.STRICT,
    also: frozenset[str] = frozenset(),
    within: Steps | None = None,
) -> Change:
    """Say which levels admit a candidate after its history, comparing it with each version once per direction.

    Args:
        candidate: the schema that asks to follow.
        history: the live versions, oldest first; without one every level admits the candidate.
        policy: which differences break.
        also: ids of checks that break here although the policy admits them.
        within: the steps of a larger piece of work, of which this is a part; when they are used up, that is a finding.
    """
    steps = Steps(detailed_steps(2 * len(history)), within)
    comparisons = [
        Comparison(
            direction,
            breaking(differences(candidate, earlier.parsed, direction, policy, also, steps=steps), policy, also),
            earlier.version,
            earlier.parsed.canonical,
        )
        for earlier in history
        for direction in Direction
    ]
    latest = comparisons[-len(Direction) :]
    levels = tuple(level for level in Level if _admits(level, comparisons if level.transitive else latest))
    kind = _kind(candidate, history[-1].parsed if history else None, levels)
    return Change(kind, levels, tuple(comparison for comparison in comparisons if comparison.findings))


def _admits(level: Level, comparisons: Sequence[Comparison]) -> bool:
    return not any(_counts(level, comparison) for comparison in comparisons if comparison.findings)


def _counts(level: Level, comparison: Comparison) -> bool:
    """Whether a level asks for a direction; what is asked of the candidate, whoever reads, all levels but NONE ask."""
    of_candidate = any(CATALOGUE[finding.check].of_candidate for finding in comparison.findings)
    return comparison.direction in level.directions or (of_candidate and level is not Level.NONE)


def _kind(candidate: ParsedSchema, latest: ParsedSchema | None, levels: Sequence[Level]) -> Kind:
    if latest is None:
        return Kind.FULL
    if _same(candidate, latest):
        return Kind.NONE
    if Level.FULL in levels:
        return Kind.ANNOTATION if essence(candidate) == essence(latest) else Kind.FULL
    if Level.BACKWARD in levels:
        return Kind.BACKWARD
    return Kind.FORWARD if Level.FORWARD in levels else Kind.BREAKING


def _same(one: ParsedSchema, other: ParsedSchema) -> bool:
    return (one.type, one.normalized, one.referenced) == (other.type, other.normalized, other.referenced)
