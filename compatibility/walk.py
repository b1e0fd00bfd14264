"""The pair walk: which pairs of reader and writer hold, and why the others do not.

Two laws. A verdict reached while a pair is still open is an assumption, so it never outlives its pass: every pair
counts as readable until a check fails in it, and each pair that leaned on a failed one is looked at again, until no
more fail (a greatest fixpoint). And work is counted in steps, not in seconds, so results repeat.

Nothing here recurses, so no schema is too deep.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from contractlog.compatibility.checks import WORK_LIMIT_EXCEEDED
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_text import pointer

__all__ = ["STEP_LIMIT", "Because", "Into", "Walk", "work_limit_exceeded"]

STEP_LIMIT: Final = 200_000

N = TypeVar("N", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Into(Generic[N]):
    """A check's word that this pair must hold, too; the tokens lead from its own place to there."""

    reader: N
    writer: N
    tokens: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Because(Generic[N]):
    """A finding that has its reason in a pair below: the findings there stand for it, where there are any."""

    finding: Finding
    reason: Into[N]


Checks = Callable[["Walk[N]", N, N], Iterator[Finding | Into[N] | Because[N]]]
Path = tuple["Path", tuple[str | int, ...]] | None  #: the tokens of each pair, innermost first


class _LimitReached(Exception):
    """The walk has used up its steps."""


@dataclass(slots=True)
class Walk(Generic[N]):
    """One comparison of a reader with a writer.

    A check sees a pair, yields findings and ``Into`` for the pairs below it, and may ask ``reads``.
    """

    checks: Checks[N]
    same: Callable[[N, N], bool]  #: pairs that hold without being looked at
    limit: int = STEP_LIMIT
    steps: int = 0
    _failed: set[tuple[N, N]] = field(default_factory=set)
    _leaning: dict[tuple[N, N], set[tuple[N, N]]] = field(default_factory=dict)
    _waiting: deque[tuple[N, N]] = field(default_factory=deque)
    _current: tuple[N, N] | None = None
    _path: Path = None

    def findings(self, reader: N, writer: N) -> Iterator[Finding]:
        """Yield why the pair does not hold; going over the limit is a reason, too."""
        try:
            self._decide((reader, writer))
            if (reader, writer) in self._failed:
                self.steps = 0
                yield from self._list(reader, writer)
        except _LimitReached:
            yield work_limit_exceeded(self.limit)

    def reads(self, reader: N, writer: N) -> bool:
        """Whether the pair below holds, as far as is known; the pair that asks is asked again when that changes."""
        self._step()
        pair = (reader, writer)
        if self.same(reader, writer):
            return True
        if self._current is not None:
            if pair not in self._leaning:
                self._waiting.append(pair)
            self._leaning.setdefault(pair, set()).add(self._current)
        return pair not in self._failed

    def path(self, *tokens: str | int) -> str:
        """Return the way from the root to this pair, through every name on it, and on to the tokens."""
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
        while self._waiting:
            pair = self._waiting.popleft()
            if pair in self._failed:
                continue
            self._current = pair
            if any(self._fails(item) for item in self.checks(self, *pair)):
                self._failed.add(pair)
                self._waiting.extend(self._leaning[pair] - self._failed)
        self._current = None

    def _fails(self, item: Finding | Into[N] | Because[N]) -> bool:
        self._step()
        return not (isinstance(item, Into) and self.reads(item.reader, item.writer))

    def _list(self, reader: N, writer: N) -> Iterator[Finding]:
        """Yield the findings of all failed pairs, from the root on, each pair once."""
        listed = {(reader, writer)}
        stack: list[_Level[N]] = [_Level(self.checks(self, reader, writer), None, None)]
        while stack:
            level = stack[-1]
            self._path = level.path
            self._step()
            item = next(level.items, None)
            if item is None:
                stack.pop()
                if level.opens is not None and not level.opens.told:
                    yield level.opens.tell(level.opens.finding)
                continue
            if isinstance(item, Finding):
                yield item if level.covered_by is None else level.covered_by.tell(item)
                continue
            into = item.reason if isinstance(item, Because) else item
            pair = (into.reader, into.writer)
            if isinstance(item, Into) and pair not in self._failed:
                continue
            opens = _Cover(item.finding, level.covered_by) if isinstance(item, Because) else None
            new = pair not in listed
            listed.add(pair)
            items = self.checks(self, *pair) if new else iter(())
            stack.append(_Level(items, (level.path, into.tokens), opens or level.covered_by, opens))

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.limit:
            raise _LimitReached


@dataclass(slots=True)
class _Cover:
    """A finding whose reasons are told in its place: the first of them carries its message, the others carry none."""

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
    """A pair on the way down."""

    items: Iterator[Finding | Into[N] | Because[N]]
    path: Path
    covered_by: _Cover | None
    opens: _Cover | None = None


def work_limit_exceeded(limit: int) -> Finding:
    """Return the finding that stands for all that was not looked at."""
    return Finding(
        WORK_LIMIT_EXCEEDED.id,
        "",
        "",
        f"comparing these schemas takes more than {limit} steps, so nobody knows whether they are compatible",
        f"The schemas are too complex to compare: more than {limit} steps",
        "make the schema smaller, with fewer types that lead to each other",
        "make the schema smaller, with fewer types that lead to each other",
    )
