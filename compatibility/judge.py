"""Which pairs a level compares, in which direction, and what it adds up to."""

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

STEP_LIMIT: Final = 1_000_000  #: of one call, for the quick look at all versions
_STEPS: Final = 50_000  #: for that look at few
_STEPS_EACH: Final = 1_000  #: more for each version
_DETAILED: Final = 1_000_000  #: of one call, for all comparisons in detail; a step takes a few microseconds
_DETAILED_AT_MOST: Final = 2_000_000  #: with ``_STEPS_EACH`` more for each version

DIFFERENT_TYPE: Final = Finding(
    check="SCHEMA_TYPE_CHANGED",
    reader_at="",
    writer_at="",
    detail="the earlier version is of another schema type",
    message="Incompatible because of different schema type",
    mend="register schemas of another type under another subject",
)


class EarlierVersion(Protocol):
    """A live version that the candidate would follow; it need not be parsed before somebody asks."""

    @property
    def version(self) -> int:
        """Its number."""

    @property
    def parsed(self) -> ParsedSchema:
        """The schema, understood."""

    def shape(self, memo: Memo) -> Any:
        """Return ``parsing.shape`` of the schema."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A live version that the candidate would follow, parsed already."""

    version: int
    parsed: ParsedSchema
    _shaped: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)  #: memo and shape, the last

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
    """Say whether a candidate may follow its history at a level.

    Args:
        candidate: the schema that asks to be registered.
        history: the live versions, oldest first.
        level: which versions are compared, and in which directions; the first version that fails ends the check.
        policy: which differences break.
        also: ids of checks that break here although the policy admits them.
        memo: what was learned in earlier calls, which makes this one cheap; it never changes a verdict, but for
            schemas that are too complex to be compared without it.
        within: the steps of a larger piece of work, of which this is a part; when they are used up, that is a finding.
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
    """Return how many steps so many comparisons may take together; what is left over is refused.

    A plain schema of 200 properties takes about 1,300 under EXACT, so a thousand versions of it are within.
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
    """Yield the versions that have to be compared in detail, the newest first: all but those that a quick look admits.

    What is too much for the quick look is left to the comparison, which has a limit of its own.
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
    """Whether a pair needs no second look, and no shapes."""
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
    """Yield what no direction has found, since it looks at the candidate whoever reads."""
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

    Cautions are looked for when something is asked for beyond the policy; those about the candidate, whoever reads, are
    differences backward alone. The steps are shared with other comparisons of a call.
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
    """Tell the author of the candidate, on whichever side it stands, what to mend."""
    if direction is Direction.BACKWARD or not finding.mend_writer:
        return finding
    return replace(finding, mend=finding.mend_writer)
