"""Which pairs a level compares, in which direction, and what it adds up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from contractlog.compatibility.finding import Comparison, Finding, Verdict
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.parsing import check
from contractlog.compatibility.policy import Policy, breaking
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["Earlier", "differences", "judge"]

DIFFERENT_TYPE: Final = Finding(
    check="SCHEMA_TYPE_CHANGED",
    reader_at="",
    writer_at="",
    detail="the earlier version is of another schema type",
    message="Incompatible because of different schema type",
    mend="register schemas of another type under another subject",
)


@dataclass(frozen=True, slots=True)
class Earlier:
    """A live version that the candidate would follow."""

    version: int
    parsed: ParsedSchema


def judge(
    candidate: ParsedSchema,
    history: Sequence[Earlier],
    level: Level,
    *,
    policy: Policy = Policy.STRICT,
    also: frozenset[str] = frozenset(),
) -> Verdict:
    """Say whether a candidate may follow its history at a level.

    Args:
        candidate: the schema that asks to be registered.
        history: the live versions, oldest first.
        level: which versions are compared, and in which directions; the first version that fails ends the check.
        policy: which differences break.
        also: ids of checks that break here although the policy admits them.
    """
    if level is Level.NONE:
        return Verdict(level)
    selected = reversed(history if level.transitive else history[-1:])
    for earlier in selected:
        failed = tuple(_compare(candidate, earlier, level, policy, also))
        if failed:
            return Verdict(level, failed)
    return Verdict(level)


def _compare(
    candidate: ParsedSchema, earlier: Earlier, level: Level, policy: Policy, also: frozenset[str]
) -> Iterator[Comparison]:
    for direction in level.directions:
        findings = breaking(differences(candidate, earlier.parsed, direction, policy), policy, also)
        if findings:
            yield Comparison(direction, findings, earlier.version, earlier.parsed.canonical)
        if findings == (DIFFERENT_TYPE,):
            return


def differences(
    candidate: ParsedSchema, earlier: ParsedSchema, direction: Direction, policy: Policy = Policy.STRICT
) -> tuple[Finding, ...]:
    """Return every difference between a candidate and an earlier schema in one direction, breaking or not."""
    if candidate.type is not earlier.type:
        return (DIFFERENT_TYPE,)
    reader, writer = (candidate, earlier) if direction is Direction.BACKWARD else (earlier, candidate)
    return tuple(_addressed(finding, direction) for finding in check(reader, writer, policy))


def _addressed(finding: Finding, direction: Direction) -> Finding:
    """Tell the author of the candidate, on whichever side it stands, what to mend."""
    if direction is Direction.BACKWARD or not finding.mend_writer:
        return finding
    return replace(finding, mend=finding.mend_writer)
