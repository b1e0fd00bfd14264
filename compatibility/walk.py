"""Pair walk: greatest fixpoint over pairs of reader and writer types, with findings for failing pairs.

Every pair counts as readable until one of its checks fails. A verdict reached while other pairs are undecided is only
an assumption: pairs that depend on a failed pair are checked again, until no more fail. Work is counted in steps, not
in seconds, so results are reproducible.

Nothing here recurses, so no schema is too deep.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from contractlog.compatibility.checks import WORK_LIMIT_EXCEEDED
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_text import pointer
from contractlog.compatibility.steps import Steps

__all__ = ["STEP_LIMIT", "Because", "Into", "Walk", "work_limit_exceeded"]

STEP_LIMIT: Final = 200_000

N = TypeVar("N", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Into(Generic[N]):
    """A sub-pair that must be readable, too; the tokens lead from the current position to it."""

    reader: N
    writer: N
    tokens: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Because(Generic[N]):
    """A finding caused by a sub-pair: the findings of the sub-pair, if any, replace it."""

    finding: Finding
    reason: Into[N]


Checks = Callable[["Walk[N]", N, N], Iterator[Finding | Into[N] | Because[N]]]
Path = tuple["Path", tuple[str | int, ...]] | None  #: the tokens of each pair, innermost first


class _LimitReached(Exception):
    """The step budget of the walk is exhausted."""


@dataclass(slots=True)
class Walk(Generic[N]):
    """Comparison of one reader with one writer.

    A check receives a pair, yields findings and ``Into`` for its sub-pairs, and may call ``reads``.
    """

    checks: Checks[N]
    same: Callable[[N, N], bool]  #: pairs that are readable without further checks
    limit: int = STEP_LIMIT
    steps: int = 0
    shared: Steps | None = None  #: budget shared by all comparisons of a call
    _failed: set[tuple[N, N]] = field(default_factory=set)
    _leaning: dict[tuple[N, N], set[tuple[N, N]]] = field(default_factory=dict)
    _waiting: deque[tuple[N, N]] = field(default_factory=deque)
    _left: dict[tuple[N, N], deque[N]] = field(default_factory=dict)  #: readers not yet rejected by ``reads_one``
    _current: tuple[N, N] | None = None
    _path: Path = None

    def findings(self, reader: N, writer: N) -> Iterator[Finding]:
        """Yield the reasons why the pair is not readable; exceeding the step limit is one."""
        own, decided = self.limit, 0
        shared = self.shared or Steps(2 * own)
        self.limit = shared.allow(own)
        try:
            self._decide((reader, writer))
            if (reader, writer) in self._failed:
                decided, self.steps = self.steps, 0
                yield from self._list(reader, writer)
        except _LimitReached:
            yield work_limit_exceeded(own if self.limit == own else shared.limit)
        finally:
            shared.spend(decided + self.steps)

    def reads(self, reader: N, writer: N) -> bool:
        """Return True unless the sub-pair is known to fail.

        If it fails later, the current pair is checked again.
        """
        self._step()
        pair = (reader, writer)
        if self.same(reader, writer):
            return True
        if self._current is not None:
            if pair not in self._leaning:
                self._waiting.append(pair)
            self._leaning.setdefault(pair, set()).add(self._current)
        return pair not in self._failed

    def reads_one(self, readers: Callable[[], Iterable[N]], writer: N) -> bool:
        """Return True if one of the readers reads the writer; a reader that failed once is not tried again."""
        if self._current is None:
            return any(self.reads(reader, writer) for reader in readers())
        if self._current not in self._left:
            self._left[self._current] = deque(readers())
        left = self._left[self._current]
        while left:
            if self.reads(left[0], writer):
                return True
            left.popleft()
        return False

    def path(self, *tokens: str | int) -> str:
        """Return the JSON Pointer from the root to the current pair, extended by the tokens."""
        parts: list[tuple[str | int, ...]] = [tokens]
        here = self._path
        while here is not None:
            self._step()
            here, more = here
            parts.append(more)
        return "".join(pointer("", *part) for part in reversed(parts)) or "/"

    def _decide(self, root: tuple[N, N]) -> None:
        """Find every pair that fails."""
        self._leaning[root] = set()
        self._waiting.append(root)
        seen = set[tuple[N, N]]()
        while self._waiting:
            pair = self._waiting.popleft()
            if pair in self._failed:
                continue
            self._current = pair
            verdicts = map(self._fails, self.checks(self, *pair))
            failed = any(verdicts) if pair in seen else any(list(verdicts))  # first visit: register all sub-pairs
            seen.add(pair)
            if failed:
                self._failed.add(pair)
                self._waiting.extend(self._leaning[pair] - self._failed)
        self._current = None

    def _fails(self, item: Finding | Into[N] | Because[N]) -> bool:
        self._step()
        return not (isinstance(item, Into) and self.reads(item.reader, item.writer))

    def _list(self, reader: N, writer: N) -> Iterator[Finding]:
        """Yield the findings of all failed pairs, from the root down, each pair once.

        Findings that only follow from a failed pair above are omitted.
        """
        root = (reader, writer)
        stack = [_Level(root, self.checks(self, *root))]
        told_of: dict[tuple[N, N], bool | None] = {root: None}  #: True: with findings; None: still open
        while stack:
            level = stack[-1]
            self._path = level.path
            self._step()
            item = next(level.items, None)
            if item is None:
                stack.pop()
                told_of[level.pair] = level.told
                if level.told and stack:
                    stack[-1].told = True
                if level.told and level.opens is not None and not level.opens.told:
                    yield level.opens.tell(level.opens.finding)
            elif isinstance(item, Finding):
                level.told = True
                yield item if level.cover is None else level.cover.tell(item)
            else:
                below = self._below(item, level)
                if below.pair not in self._failed:
                    continue
                if below.pair not in told_of:
                    told_of[below.pair] = None
                    stack.append(below)
                elif told_of[below.pair]:
                    level.told = True
                    if below.opens is not None:
                        yield below.opens.tell(below.opens.finding)

    def _below(self, item: Into[N] | Because[N], level: _Level[N]) -> _Level[N]:
        into = item.reason if isinstance(item, Because) else item
        opens = _Cover(item.finding, level.cover) if isinstance(item, Because) else None
        pair = (into.reader, into.writer)
        path = (level.path, into.tokens)
        return _Level(pair, self.checks(self, *pair), path, opens or level.cover, opens)

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.limit:
            raise _LimitReached


@dataclass(slots=True)
class _Cover:
    """A finding replaced by its causes: the first carries its message, the others carry none."""

    finding: Finding
    outer: _Cover | None = None
    told: bool = False

    def tell(self, finding: Finding) -> Finding:
        message = "" if self.told else self.finding.message
        self.told = True
        told = replace(finding, message=message)
        return told if self.outer is None else self.outer.tell(told)


@dataclass(slots=True)
class _Level(Generic[N]):
    """A pair on the stack of ``Walk._list``."""

    pair: tuple[N, N]
    items: Iterator[Finding | Into[N] | Because[N]]
    path: Path = None
    cover: _Cover | None = None
    opens: _Cover | None = None
    told: bool = False  #: True if findings were reported for this pair, now or earlier


def work_limit_exceeded(limit: int) -> Finding:
    """Return the finding for everything that was not compared within the limit."""
    return Finding(
        WORK_LIMIT_EXCEEDED.id,
        "",
        "",
        f"comparing these schemas takes more than {limit} steps, so nobody knows whether they are compatible",
        f"The schemas are too complex to compare: more than {limit} steps",
        "make the schema smaller, with fewer types that lead to each other",
        "make the schema smaller, with fewer types that lead to each other",
    )
