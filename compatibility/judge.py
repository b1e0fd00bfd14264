"""Compatibility check of a candidate against its history, at a level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, Protocol

from contractlog.compatibility.checks import CATALOGUE
from contractlog.compatibility.finding import Comparison, Finding, Verdict
from contractlog.compatibility.interning import Memo
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.parsing import cautions, check, follows, reads_all, shape
from contractlog.compatibility.policy import Policy, breaking
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.steps import Steps

__all__ = ["STEP_LIMIT", "Earlier", "EarlierVersion", "detailed_steps", "differences", "judge"]

STEP_LIMIT: Final = 1_000_000  #: upper bound for the fast check of all versions in one call
_STEPS: Final = 50_000  #: base budget of the fast check
_STEPS_EACH: Final = 1_000  #: plus this for each version
_DETAILED: Final = 1_000_000  #: base budget of all detailed comparisons in one call; a step takes a few microseconds
_DETAILED_AT_MOST: Final = 2_000_000  #: upper bound after adding ``_STEPS_EACH`` for each version

DIFFERENT_TYPE: Final = Finding(
    check="SCHEMA_TYPE_CHANGED",
    reader_at="",
    writer_at="",
    detail="the earlier version is of another schema type",
    message="Incompatible because of different schema type",
    mend="register schemas of another type under another subject",
)


class EarlierVersion(Protocol):
    """A live version in the candidate's history; it may be parsed lazily."""

    @property
    def version(self) -> int:
        """The version number."""

    @property
    def parsed(self) -> ParsedSchema:
        """The parsed schema."""

    def shape(self, memo: Memo) -> Any:
        """Return ``parsing.shape`` of the schema."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A live version in the candidate's history, already parsed."""

    version: int
    parsed: ParsedSchema
    _shaped: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)  #: last memo and its shape

    def shape(self, memo: Memo) -> Any:
        """Return ``parsing.shape`` of the schema."""
        if not self._shaped or self._shaped[0] is not memo:
            self._shaped[:] = memo, shape(self.parsed, memo)
        return self._shaped[1]


def judge(
    candidate: ParsedSchema,
    history: Sequence[EarlierVersion],
    level: Level,
    *,
    policy: Policy = Policy.STRICT,
    also: frozenset[str] = frozenset(),
    memo: Memo | None = None,
    within: Steps | None = None,
) -> Verdict:
    """Check a candidate against its history at a level.

    Args:
        candidate: the schema to be registered.
        history: the live versions, oldest first.
        level: selects the versions and directions to compare; the first version that fails ends the check.
        policy: the differences that break compatibility.
        also: ids of checks that break compatibility in addition to those of the policy.
        memo: results of earlier calls, which make this one cheap; it never changes a verdict, except for schemas that
            are too complex to be compared without it.
        within: the step budget of the enclosing operation; exhausting it yields a finding.
    """
    if level is Level.NONE:
        return Verdict(level)
    selected = history if level.transitive else history[-1:]
    steps = Steps(detailed_steps(len(selected)), within)
    quick = _unproven(candidate, selected, level, policy=policy, memo=memo or Memo(), within=within)
    unproven = reversed(selected) if also else quick
    for earlier in unproven:
        failed = tuple(_compare(candidate, earlier, level, policy, also, steps=steps))
        if failed:
            return Verdict(level, failed)
    return Verdict(level)


def detailed_steps(comparisons: int) -> int:
    """Return the step budget for this number of comparisons together; beyond it a schema is rejected.

    A plain schema of 200 properties takes about 1,300 steps under EXACT, so a thousand versions fit.
    """
    return min(_DETAILED_AT_MOST, _DETAILED + _STEPS_EACH * comparisons)


def _unproven(
    candidate: ParsedSchema,
    history: Sequence[EarlierVersion],
    level: Level,
    *,
    policy: Policy,
    memo: Memo,
    within: Steps | None,
) -> Iterator[EarlierVersion]:
    """Yield the versions that the fast check does not pass, newest first; they need a detailed comparison.

    What exceeds the budget of the fast check is left to the detailed comparison, which has its own.
    """
    if len(history) == 1 and _follows_at_sight(candidate, history[0].parsed, level):
        return
    own = shape(candidate, memo)
    if own is None:
        yield from reversed(history)
        return
    limit = min(STEP_LIMIT, _STEPS + _STEPS_EACH * len(history))
    steps = Steps(limit if within is None else within.allow(limit))
    shapes = [earlier.shape(memo) for earlier in history]

    def follows(others: Sequence[Any]) -> bool:
        left = steps.left
        try:
            return _follows(own, others, level, policy=policy, memo=memo, steps=steps)
        finally:
            if within is not None:
                within.spend(left - steps.left)

    if all(shapes) and follows(shapes):
        return
    for earlier, other in zip(reversed(history), reversed(shapes), strict=True):
        if other is None or not follows([other]):
            yield earlier


def _follows_at_sight(candidate: ParsedSchema, other: ParsedSchema, level: Level) -> bool:
    """Return True if the pair passes without shapes or a detailed comparison."""
    return all(
        follows(candidate, other) if direction is Direction.BACKWARD else follows(other, candidate)
        for direction in level.directions
    )


def _follows(candidate: Any, others: Sequence[Any], level: Level, *, policy: Policy, memo: Memo, steps: Steps) -> bool:
    for direction in level.directions:
        if direction is Direction.BACKWARD:
            follows = reads_all(candidate, others, policy, memo, steps)
        else:
            follows = all(reads_all(other, (candidate,), policy, memo, steps) for other in others)
        if not follows:
            return False
    return True


def _compare(
    candidate: ParsedSchema,
    earlier: EarlierVersion,
    level: Level,
    policy: Policy,
    also: frozenset[str],
    *,
    steps: Steps,
) -> Iterator[Comparison]:
    for direction in level.directions:
        found = differences(candidate, earlier.parsed, direction, policy, also, steps=steps)
        findings = breaking(found, policy, also)
        if findings:
            yield Comparison(direction, findings, earlier.version, earlier.parsed.canonical)
        if findings == (DIFFERENT_TYPE,):
            return
    if Direction.BACKWARD not in level.directions and also:
        findings = tuple(_asked_of_candidate(candidate, earlier.parsed, also, steps))
        if findings:
            yield Comparison(Direction.BACKWARD, findings, earlier.version, earlier.parsed.canonical)


def _asked_of_candidate(
    candidate: ParsedSchema, earlier: ParsedSchema, also: frozenset[str], steps: Steps
) -> Iterator[Finding]:
    """Yield the findings about the candidate itself, which no direction has reported."""
    for finding in cautions(candidate, earlier, steps):
        if finding.check in also and CATALOGUE[finding.check].of_candidate:
            yield finding


def differences(
    candidate: ParsedSchema,
    earlier: ParsedSchema,
    direction: Direction,
    policy: Policy = Policy.STRICT,
    also: frozenset[str] = frozenset(),
    *,
    steps: Steps | None = None,
) -> tuple[Finding, ...]:
    """Return every difference between a candidate and an earlier schema in one direction, breaking or not.

    Cautions are searched only if ``also`` is not empty; those about the candidate itself are reported backward only.
    ``steps`` is shared with the other comparisons of a call.
    """
    if candidate.type is not earlier.type:
        return (DIFFERENT_TYPE,)
    backward = direction is Direction.BACKWARD
    reader, writer = (candidate, earlier) if backward else (earlier, candidate)
    found = chain(check(reader, writer, policy, steps), cautions(reader, writer, steps) if also else ())
    return tuple(
        _addressed(finding, direction) for finding in found if backward or not CATALOGUE[finding.check].of_candidate
    )


def _addressed(finding: Finding, direction: Direction) -> Finding:
    """Return the finding with the suggested fix for the candidate's side, reader or writer."""
    if direction is Direction.BACKWARD or not finding.mend_writer:
        return finding
    return replace(finding, mend=finding.mend_writer)
