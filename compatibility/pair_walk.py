"""Pair walk: greatest fixpoint over pairs of reader and writer types, with findings for failing pairs.

Every pair counts as readable until one of its checks fails. Work is counted in steps, not in seconds, so results are
reproducible.

Nothing here recurses, so no schema is too deep.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, Generic, TypeVar

from contractlog.compatibility.common_check_catalogue import WORK_LIMIT_EXCEEDED
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.fixpoint import Fixpoint
from contractlog.compatibility.json_text import join_pointer
from contractlog.compatibility.step_budget import StepBudget, StepBudgetExceeded

__all__ = ["STEP_LIMIT", "CausedFinding", "SubPair", "Walk", "work_limit_exceeded"]

STEP_LIMIT: Final = 200_000

N = TypeVar("N", bound=Hashable)


@dataclass(frozen=True, slots=True)
class SubPair(Generic[N]):
    """A sub-pair that must be readable, too; the tokens lead from the current position to it."""

    reader: N
    writer: N
    tokens: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class CausedFinding(Generic[N]):
    """A finding caused by a sub-pair: the findings of the sub-pair, if any, replace it."""

    finding: Finding
    reason: SubPair[N]


Checks = Callable[["Walk[N]", N, N], Iterator[Finding | SubPair[N] | CausedFinding[N]]]
Path = tuple["Path", tuple[str | int, ...]] | None  #: the tokens of each pair, innermost first


@dataclass(slots=True)
class Walk(Generic[N]):
    """Comparison of one reader with one writer.

    A check receives a pair, yields findings and a ``SubPair`` for each of its sub-pairs, and may call ``reads``.
    """

    checks: Checks[N]
    same: Callable[[N, N], bool]  #: pairs that are readable without further checks
    limit: int = STEP_LIMIT
    steps: int = 0
    shared: StepBudget | None = None  #: budget shared by all comparisons of a call
    _pairs: Fixpoint[tuple[N, N]] = field(default_factory=Fixpoint)
    _visited: set[tuple[N, N]] = field(default_factory=set)
    #: readers not yet rejected by ``reads_one``
    _untried_readers: dict[tuple[N, N], deque[N]] = field(default_factory=dict)
    _path: Path = None

    def findings(self, reader: N, writer: N) -> Iterator[Finding]:
        """Yield the reasons why the pair is not readable; exceeding the step limit is one."""
        return _attach_messages(self._compare(reader, writer))

    def _compare(self, reader: N, writer: N) -> Iterator[Finding | str]:
        """Yield findings, and messages that belong after the finding before them."""
        limit, decided = self.limit, 0
        shared = self.shared or StepBudget(2 * limit)
        self.limit = shared.allow(limit)
        try:
            if not self._pairs.decide((reader, writer), self._fails):
                decided, self.steps = self.steps, 0
                yield from self._list_findings(reader, writer)
        except StepBudgetExceeded:
            yield work_limit_exceeded(limit if self.limit == limit else shared.limit)
        finally:
            shared.spend(decided + self.steps)

    def reads(self, reader: N, writer: N) -> bool:
        """Return True unless the sub-pair is known to fail.

        If it fails later, the current pair is checked again.
        """
        self._step()
        return self.same(reader, writer) or self._pairs.holds((reader, writer))

    def reads_one(self, readers: Callable[[], Iterable[N]], writer: N) -> bool:
        """Return True if one of the readers reads the writer; a reader that failed once is not tried again."""
        current = self._pairs.current
        if current is None:
            return any(self.reads(reader, writer) for reader in readers())
        if current not in self._untried_readers:
            self._untried_readers[current] = deque(readers())
        untried = self._untried_readers[current]
        while untried:
            if self.reads(untried[0], writer):
                return True
            untried.popleft()
        return False

    def path(self, *tokens: str | int) -> str:
        """Return the JSON Pointer from the root to the current pair, extended by the tokens."""
        parts: list[tuple[str | int, ...]] = [tokens]
        step = self._path
        while step is not None:
            self._step()
            step, more = step
            parts.append(more)
        return "".join(join_pointer("", *part) for part in reversed(parts)) or "/"

    def _fails(self, pair: tuple[N, N]) -> bool:
        verdicts = map(self._is_failure, self.checks(self, *pair))
        if pair in self._visited:
            return any(verdicts)
        self._visited.add(pair)
        return any(list(verdicts))  # all sub-pairs become known

    def _is_failure(self, item: Finding | SubPair[N] | CausedFinding[N]) -> bool:
        self._step()
        return not (isinstance(item, SubPair) and self.reads(item.reader, item.writer))

    def _list_findings(self, reader: N, writer: N) -> Iterator[Finding | str]:
        """Yield the findings of all failed pairs, from the root down, each pair once.

        Findings that only follow from a failed pair above are omitted. A finding whose causes were all reported before
        is not one of its own: only its message is yielded.
        """
        root = (reader, writer)
        stack = [_Frame(root, self.checks(self, *root))]
        reported: dict[tuple[N, N], bool | None] = {root: None}  #: True: with findings; None: still open
        while stack:
            frame = stack[-1]
            self._path = frame.path
            self._step()
            item = next(frame.items, None)
            if item is None:
                stack.pop()
                reported[frame.pair] = frame.reported
                if frame.reported and stack:
                    stack[-1].reported = True
                if frame.reported and frame.opened is not None:
                    yield from frame.opened.message_alone()
            elif isinstance(item, Finding):
                frame.reported = True
                yield item if frame.replaced is None else frame.replaced.report(item)
            else:
                inner = self._enter(item, frame)
                if inner.pair not in self._pairs.refuted:
                    continue
                if inner.pair not in reported:
                    reported[inner.pair] = None
                    stack.append(inner)
                elif reported[inner.pair]:
                    frame.reported = True
                    if inner.opened is not None:
                        yield from inner.opened.message_alone()

    def _enter(self, item: SubPair[N] | CausedFinding[N], frame: _Frame[N]) -> _Frame[N]:
        sub_pair = item.reason if isinstance(item, CausedFinding) else item
        opened = _ReplacedFinding(item.finding, frame.replaced) if isinstance(item, CausedFinding) else None
        pair = (sub_pair.reader, sub_pair.writer)
        path = (frame.path, sub_pair.tokens)
        return _Frame(pair, self.checks(self, *pair), path, opened or frame.replaced, opened)

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.limit:
            raise StepBudgetExceeded


@dataclass(slots=True)
class _ReplacedFinding:
    """A finding replaced by its causes: the first carries its message, the others carry none."""

    finding: Finding
    outer: _ReplacedFinding | None = None
    reported: bool = False

    def report(self, finding: Finding) -> Finding:
        message = "" if self.reported else self.finding.message
        self.reported = True
        reported_finding = replace(finding, message=message)
        return reported_finding if self.outer is None else self.outer.report(reported_finding)

    def message_alone(self) -> Iterator[str]:
        """Yield the message if no finding carries it, because the causes were reported before."""
        message = "" if self.reported else self.report(self.finding).message
        if message:
            yield message


@dataclass(slots=True)
class _Frame(Generic[N]):
    """A pair on the stack of ``Walk._list_findings``."""

    pair: tuple[N, N]
    items: Iterator[Finding | SubPair[N] | CausedFinding[N]]
    path: Path = None
    replaced: _ReplacedFinding | None = None
    opened: _ReplacedFinding | None = None
    reported: bool = False  #: True if findings were reported for this pair, now or earlier


def _attach_messages(items: Iterable[Finding | str]) -> Iterator[Finding]:
    """Yield the findings, each with the messages that come after it."""
    finding: Finding | None = None
    messages: list[str] = []
    for item in chain(items, (None,)):
        if isinstance(item, str):
            messages.append(item)
            continue
        if finding is not None:
            yield replace(finding, later_messages=tuple(messages)) if messages else finding
        finding, messages = item, []


def work_limit_exceeded(limit: int) -> Finding:
    """Return the finding for everything that was not compared within the limit."""
    return Finding(
        WORK_LIMIT_EXCEEDED.id,
        "",
        "",
        f"comparing these schemas takes more than {limit} steps, so it is unknown whether they are compatible",
        f"The schemas are too complex to compare: more than {limit} steps",
        "make the schema smaller, with fewer types that lead to each other",
        "make the schema smaller, with fewer types that lead to each other",
    )
