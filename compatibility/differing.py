"""Difference between two schemas: kind, levels, and findings with positions and suggested fixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.change import Change, change_between
from contractlog.compatibility.level import Level
from contractlog.compatibility.located import Located, located
from contractlog.compatibility.mends import MOST_STEPS, Trial
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.positions import places
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.steps import Steps

__all__ = ["FORMAT", "MOST_MENDED", "Difference", "Side", "difference_of"]

FORMAT: Final = "contractlog.diff/1"
MOST_MENDED: Final = 25  #: findings for which fixes are searched; the rest get the generic fix of their check


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two schemas of a comparison."""

    name: str
    text: str  #: as its author wrote it; positions refer to this text
    parsed: ParsedSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Result of comparing two schemas."""

    earlier: Side
    later: Side
    level: Level
    policy: Policy
    change: Change
    found: Sequence[Located]  #: findings in the directions of the level come first

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
            "findings": [one.body() for one in self.found],
        }


def difference_of(
    earlier: Side,
    later: Side,
    *,
    level: Level,
    policy: Policy,
    also: frozenset[str] = frozenset(),
    within: Steps | None = None,
) -> Difference:
    """Compare two schemas in both directions.

    Findings in the directions of the level come first, and fixes are suggested for the first ``MOST_MENDED`` of them.

    Args:
        earlier: the previous schema.
        later: the new schema.
        level: the level that decides whether the change is allowed.
        policy: the differences that break compatibility.
        also: ids of checks that break compatibility in addition to those of the policy.
        within: the step budget of the enclosing operation.
    """
    change = change_between(earlier.parsed, later.parsed, policy=policy, also=also, within=within)
    asked = level.directions
    comparisons = sorted(change.comparisons, key=lambda comparison: comparison.direction not in asked)
    trial = Trial(
        text=later.text,
        candidate=later.parsed,
        earlier_text=earlier.text,
        earlier=earlier.parsed,
        directions=asked,
        policy=policy,
        also=also,
        steps=Steps(MOST_STEPS, within),
    )
    findings = [(finding, comparison.direction) for comparison in comparisons for finding in comparison.findings]
    found = [
        located(
            finding,
            direction,
            earlier.name,
            position,
            trial.mends(finding, direction) if direction in asked and number < MOST_MENDED else (),
        )
        for number, ((finding, direction), position) in enumerate(
            zip(findings, places(later.text, findings), strict=True)
        )
    ]
    return Difference(earlier=earlier, later=later, level=level, policy=policy, change=change, found=found)
