"""What one schema changes of another, as it is told: kind, levels, and findings with their places and mends."""

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
MOST_MENDED: Final = 25  #: findings for which mends are tried; the others are told with the words of their check


@dataclass(frozen=True, slots=True)
class Side:
    """One of two schemas that are compared."""

    name: str
    text: str  #: as its author sees it: places lead into it
    parsed: ParsedSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What became of a schema."""

    earlier: Side
    later: Side
    level: Level
    policy: Policy
    change: Change
    found: Sequence[Located]  #: those that the level asks for come first

    @property
    def compatible(self) -> bool:
        """Whether the level admits the change."""
        return self.change.satisfies(self.level)

    def body(self) -> dict[str, Any]:
        """Write the difference for machines: the command line and the registry tell it alike."""
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
    """Compare two schemas in both directions; the findings that the level asks for come first, and they are mended.

    Args:
        earlier: the schema as it was.
        later: the schema as it shall be.
        level: what decides whether the change is admitted.
        policy: which differences break.
        also: ids of checks that break although the policy admits them.
        within: the steps of a larger piece of work, of which this is a part.
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
