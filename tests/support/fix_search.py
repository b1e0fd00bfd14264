"""Search for the fix of a single finding."""

from __future__ import annotations

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.fixes.fix_search import Fix, FixSearch
from contractlog.compatibility.level import Direction
from contractlog.compatibility.schema import ParsedSchema


def find_fix(
    candidate_text: str,
    finding: Finding,
    candidate: ParsedSchema,
    earlier: ParsedSchema,
    direction: Direction,
    *,
    earlier_text: str | None = None,
    policy: Policy = Policy.STRICT,
    additional_checks: frozenset[str] = frozenset(),
) -> Fix | None:
    """Return the best fix for a finding; None if none was found.

    Without ``earlier_text`` the canonical text of the earlier version is used, as registries store it.
    """
    text = earlier.canonical if earlier_text is None else earlier_text
    trial = FixSearch(
        text=candidate_text,
        candidate=candidate,
        earlier_text=text,
        earlier=earlier,
        directions=(direction,),
        policy=policy,
        additional_checks=additional_checks,
    )
    return next(iter(trial.find_fixes(finding, direction)), None)
