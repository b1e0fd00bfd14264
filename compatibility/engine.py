"""Compatibility check of a candidate against its history, at a level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, Protocol

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.finding import Comparison, Finding, Verdict
from contractlog.compatibility.formats import (
    CATALOGUE,
    build_shape,
    compare_schemas,
    find_warnings,
    passes_fast_check,
    reads_all_versions,
    select_breaking,
)
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.step_budget import StepBudget

__all__ = [
    "STEP_LIMIT",
    "ParsedVersion",
    "PreviousVersion",
    "check_compatibility",
    "detailed_step_budget",
    "find_differences",
]

STEP_LIMIT: Final = 1_000_000  #: upper bound for the fast check of all versions in one call
_STEPS: Final = 50_000  #: base budget of the fast check
_STEPS_PER_VERSION: Final = 1_000  #: plus this for each version
#: base budget of all detailed comparisons in one call; a step takes a few microseconds
_DETAILED_STEPS: Final = 1_000_000
_MAX_DETAILED_STEPS: Final = 2_000_000  #: upper bound after adding ``_STEPS_PER_VERSION`` for each version

DIFFERENT_TYPE: Final = Finding(
    check="SCHEMA_TYPE_CHANGED",
    reader_at="",
    writer_at="",
    detail="the earlier version is of another schema type",
    message="Incompatible because of different schema type",
    fix="register schemas of another type under another subject",
)


class PreviousVersion(Protocol):
    """A live version in the candidate's history; it may be parsed lazily."""

    @property
    def version(self) -> int:
        """The version number."""

    @property
    def parsed(self) -> ParsedSchema:
        """The parsed schema."""

    def shape(self, memo: Memo) -> Any:
        """Return ``formats.build_shape`` of the schema."""


@dataclass(frozen=True, slots=True)
class ParsedVersion:
    """A live version in the candidate's history, already parsed."""

    version: int
    parsed: ParsedSchema
    _shaped: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)  #: last memo and its shape

    def shape(self, memo: Memo) -> Any:
        """Return ``formats.build_shape`` of the schema."""
        if not self._shaped or self._shaped[0] is not memo:
            self._shaped[:] = memo, build_shape(self.parsed, memo)
        return self._shaped[1]


def check_compatibility(
    candidate: ParsedSchema,
    history: Sequence[PreviousVersion],
    level: Level,
    *,
    policy: Policy = Policy.STRICT,
    additional_checks: frozenset[str] = frozenset(),
    memo: Memo | None = None,
    budget: StepBudget | None = None,
) -> Verdict:
    """Check a candidate against its history at a level.

    Args:
        candidate: the schema to be registered.
        history: the live versions, oldest first.
        level: selects the versions and directions to compare; the first version that fails ends the check.
        policy: the differences that break compatibility.
        additional_checks: ids of checks that break compatibility in addition to those of the policy.
        memo: results of earlier calls, which make this one cheap; it never changes a verdict, except for schemas that
            are too complex to be compared without it.
        budget: the step budget of the enclosing operation; exhausting it yields a finding.
    """
    if level is Level.NONE or not history:
        return Verdict(level)
    selected = history if level.transitive else history[-1:]
    steps = StepBudget(detailed_step_budget(len(selected)), budget)
    quick = _unproven_versions(candidate, selected, level, policy=policy, memo=memo or Memo(), budget=budget)
    unproven = reversed(selected) if additional_checks else quick
    for earlier in unproven:
        failed = tuple(_compare_version(candidate, earlier, level, policy, additional_checks, steps=steps))
        if failed:
            return Verdict(level, failed)
    return Verdict(level)


def detailed_step_budget(comparisons: int) -> int:
    """Return the step budget for this number of comparisons together; beyond it a schema is rejected.

    A plain schema of 200 properties takes about 1,300 steps under EXACT, so a thousand versions fit.
    """
    return min(_MAX_DETAILED_STEPS, _DETAILED_STEPS + _STEPS_PER_VERSION * comparisons)


def _unproven_versions(
    candidate: ParsedSchema,
    history: Sequence[PreviousVersion],
    level: Level,
    *,
    policy: Policy,
    memo: Memo,
    budget: StepBudget | None,
) -> Iterator[PreviousVersion]:
    """Yield the versions that the fast check does not pass, newest first; they need a detailed comparison.

    What exceeds the budget of the fast check is left to the detailed comparison, which has its own.
    """
    if len(history) == 1 and _passes_pair_check(candidate, history[0].parsed, level):
        return
    candidate_shape = build_shape(candidate, memo)
    if candidate_shape is None:
        yield from reversed(history)
        return
    limit = min(STEP_LIMIT, _STEPS + _STEPS_PER_VERSION * len(history))
    steps = StepBudget(limit if budget is None else budget.allow(limit))
    shapes = [earlier.shape(memo) for earlier in history]

    def passes(others: Sequence[Any]) -> bool:
        steps_before = steps.left
        try:
            return _passes_fast_check(candidate_shape, others, level, policy=policy, memo=memo, steps=steps)
        finally:
            if budget is not None:
                budget.spend(steps_before - steps.left)

    if all(shapes) and passes(shapes):
        return
    for earlier, other in zip(reversed(history), reversed(shapes), strict=True):
        if other is None or not passes([other]):
            yield earlier


def _passes_pair_check(candidate: ParsedSchema, earlier: ParsedSchema, level: Level) -> bool:
    """Return True if the pair passes without shapes or a detailed comparison."""
    return all(
        passes_fast_check(candidate, earlier)
        if direction is Direction.BACKWARD
        else passes_fast_check(earlier, candidate)
        for direction in level.directions
    )


def _passes_fast_check(
    candidate: Any, history_shapes: Sequence[Any], level: Level, *, policy: Policy, memo: Memo, steps: StepBudget
) -> bool:
    for direction in level.directions:
        if direction is Direction.BACKWARD:
            passes = reads_all_versions(candidate, history_shapes, policy, memo, steps)
        else:
            passes = all(
                reads_all_versions(shape_of_version, (candidate,), policy, memo, steps)
                for shape_of_version in history_shapes
            )
        if not passes:
            return False
    return True


def _compare_version(
    candidate: ParsedSchema,
    earlier: PreviousVersion,
    level: Level,
    policy: Policy,
    additional_checks: frozenset[str],
    *,
    steps: StepBudget,
) -> Iterator[Comparison]:
    for direction in level.directions:
        differences = find_differences(candidate, earlier.parsed, direction, policy, additional_checks, steps=steps)
        findings = select_breaking(differences, policy, additional_checks)
        if findings:
            yield Comparison(direction, findings, earlier.version, earlier.parsed.canonical)
        if findings == (DIFFERENT_TYPE,):
            return
    if Direction.BACKWARD not in level.directions and additional_checks:
        findings = tuple(_candidate_warnings(candidate, earlier.parsed, additional_checks, steps))
        if findings:
            yield Comparison(Direction.BACKWARD, findings, earlier.version, earlier.parsed.canonical)


def _candidate_warnings(
    candidate: ParsedSchema, earlier: ParsedSchema, additional_checks: frozenset[str], steps: StepBudget
) -> Iterator[Finding]:
    """Yield the findings about the candidate itself, which no direction has reported."""
    for finding in find_warnings(candidate, earlier, steps):
        if finding.check in additional_checks and CATALOGUE[finding.check].of_candidate:
            yield finding


def find_differences(
    candidate: ParsedSchema,
    earlier: ParsedSchema,
    direction: Direction,
    policy: Policy = Policy.STRICT,
    additional_checks: frozenset[str] = frozenset(),
    *,
    steps: StepBudget | None = None,
) -> tuple[Finding, ...]:
    """Return every difference between a candidate and an earlier schema in one direction, breaking or not.

    Warnings are searched only if ``additional_checks`` is not empty; those about the candidate itself are reported
    backward only. ``steps`` is shared with the other comparisons of a call.
    """
    if candidate.type is not earlier.type:
        return (DIFFERENT_TYPE,)
    backward = direction is Direction.BACKWARD
    reader, writer = (candidate, earlier) if backward else (earlier, candidate)
    findings = chain(
        compare_schemas(reader, writer, policy, steps),
        find_warnings(reader, writer, steps) if additional_checks else (),
    )
    return tuple(
        _with_fix_for_candidate(finding, direction)
        for finding in findings
        if backward or not CATALOGUE[finding.check].of_candidate
    )


def _with_fix_for_candidate(finding: Finding, direction: Direction) -> Finding:
    """Return the finding with the suggested fix for the candidate's side, reader or writer."""
    if direction is Direction.BACKWARD or not finding.writer_fix:
        return finding
    return replace(finding, fix=finding.writer_fix)
