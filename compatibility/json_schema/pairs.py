"""Pair walk of JSON Schema: decides which pairs are compatible and lists every difference.

A rule receives an original (the writer's schema) and an update (the reader's), and yields items: a ``Difference``, a
pair ``Below`` whose differences are part of its own, or ``Ask``, which is answered with whether a pair is compatible.

As in ``walk.py``, an open pair counts as compatible when it is met again. If such an assumption turns out wrong, all
results of that pass are dropped except the failures, and passes repeat until no assumption is wrong (the greatest
fixpoint: rules never turn a failure below into a success). Work is counted in steps. Nothing here recurses, so no chain
of references is too deep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import dataclass, field
from typing import Final

from contractlog.compatibility.json_schema.models import Patterns
from contractlog.compatibility.json_schema.nodes import Node, Reference, Tokens
from contractlog.compatibility.json_text import pointer
from contractlog.compatibility.walk import STEP_LIMIT

__all__ = ["Ask", "Below", "Difference", "LimitReached", "Pairs", "Rule", "Told"]


_KEPT_PATTERNS: Final = 1_000  #: compiled patterns cached across checks, some kilobytes each


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference: its kind, position and values."""

    kind: str
    tokens: Tokens = ()  #: tokens from the pair, as in message paths
    writer: Tokens = ()  #: tokens in the original
    reader: Tokens = ()  #: tokens in the update
    before: str = ""  #: the original's value, for the message
    after: str = ""


@dataclass(frozen=True, slots=True)
class Below:
    """A sub-pair whose differences belong to those of the rule."""

    original: Node
    update: Node
    tokens: Tokens = ()
    writer: Tokens = ()
    reader: Tokens = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """A query by a rule: is this pair compatible?"""

    original: Node
    update: Node


Item = Difference | Below | Ask
Rule = Generator[Item, bool, None]
Pair = tuple[Node, Node]
Path = tuple["Path", Tokens] | None  #: the tokens of each pair, innermost first


@dataclass(frozen=True, slots=True)
class Told:
    """A difference with its full path and JSON Pointers."""

    difference: Difference
    path: Tokens
    writer_at: str
    reader_at: str


class LimitReached(Exception):
    """The step limit of the walk is exceeded."""


@dataclass(slots=True)
class Pairs:
    """Comparison of an original with an update."""

    rule: Callable[[Pairs, Node, Node], Rule]
    admitted: Collection[str]  #: the kinds of differences that leave a pair compatible
    limit: int = STEP_LIMIT
    steps: int = 0
    patterns: Patterns = field(default_factory=Patterns)
    _failed: set[Pair] = field(default_factory=set)
    _holding: set[Pair] = field(default_factory=set)

    def step(self, count: int = 1) -> None:
        """Count work.

        Raises:
            LimitReached: the limit is exceeded.
        """
        self.steps += count
        if self.steps > self.limit:
            raise LimitReached

    def forget(self, limit: int) -> None:
        """Drop the final results if there are more than ``limit`` pairs, and the patterns if too many."""
        if len(self.patterns) > _KEPT_PATTERNS:
            self.patterns.clear()
        if len(self._failed) + len(self._holding) > limit:
            self._failed.clear()
            self._holding.clear()

    def told(self, original: Node, update: Node) -> Iterator[Told]:
        """Yield every difference of two schemas, each pair once per position.

        Raises:
            LimitReached: after the differences found until then.
        """
        if _resolved(original, update) is None:
            return
        stack = [_place(self, Below(original, update))]
        seen = {stack[0].identity}
        answer: bool | None = None
        while stack:
            place = stack[-1]
            self.step()
            item, answer = _advance(place.rule, answer), None
            if item is None:
                stack.pop()
            elif isinstance(item, Difference):
                yield place.tell(item)
            elif isinstance(item, Ask):
                answer = self.compatible(item.original, item.update)
            elif _resolved(item.original, item.update) is not None:
                below = _place(self, item, place)
                if below.identity not in seen:
                    seen.add(below.identity)
                    stack.append(below)

    def compatible(self, original: Node, update: Node) -> bool:
        """Return True if a pair has no breaking difference."""
        pair = _resolved(original, update)
        while pair is not None and pair not in self._failed and pair not in self._holding:
            deciding = _Pass(self, self._failed, self._holding)
            deciding.decide(pair)
            if not deciding.assumed & self._failed:
                self._holding |= deciding.concluded
        return pair not in self._failed


@dataclass(slots=True)
class _Frame:
    """An open pair; if ``asked``, its verdict answers a query instead of deciding the pair above as well."""

    pair: Pair
    rule: Rule
    asked: bool


@dataclass(slots=True)
class _Pass:
    """One pass over a pair and its sub-pairs, in which every open pair counts as compatible."""

    pairs: Pairs
    failed: set[Pair]
    holding: set[Pair]
    concluded: set[Pair] = field(default_factory=set)
    assumed: set[Pair] = field(default_factory=set)
    _open: set[Pair] = field(default_factory=set)
    _stack: list[_Frame] = field(default_factory=list)

    def decide(self, root: Pair) -> None:
        """Decide every pair that the root's verdict depends on."""
        self._enter(root, asked=False)
        answer: bool | None = None
        while self._stack:
            frame = self._stack[-1]
            self.pairs.step()
            item, answer = _advance(frame.rule, answer), None
            if item is None:
                answer = self._conclude()
            elif isinstance(item, Difference):
                if item.kind not in self.pairs.admitted:
                    answer = self._fail()
            else:
                answer = self._look(item)

    def _look(self, item: Below | Ask) -> bool | None:
        """Return the verdict on a pair if it is needed and available; else open the pair."""
        pair, asked = _resolved(item.original, item.update), isinstance(item, Ask)
        if pair is None or pair in self.holding or pair in self.concluded:
            return True if asked else None
        if pair in self.failed:
            return False if asked else self._fail()
        if pair in self._open:
            self.assumed.add(pair)
            return True if asked else None
        self._enter(pair, asked=asked)
        return None

    def _enter(self, pair: Pair, *, asked: bool) -> None:
        self._stack.append(_Frame(pair, self.pairs.rule(self.pairs, *pair), asked))
        self._open.add(pair)

    def _conclude(self) -> bool | None:
        frame = self._stack.pop()
        self._open.remove(frame.pair)
        self.concluded.add(frame.pair)
        return True if frame.asked else None

    def _fail(self) -> bool | None:
        """Fail the innermost pair, and those above up to the first one that is a query."""
        while self._stack:
            frame = self._stack.pop()
            frame.rule.close()
            self._open.remove(frame.pair)
            self.failed.add(frame.pair)
            if frame.asked:
                return False
        return None


@dataclass(slots=True)
class _Place:
    """A pair on the path from the root, with its positions."""

    pairs: Pairs
    pair: Pair
    rule: Rule
    path: Path
    writer_at: str
    reader_at: str

    @property
    def identity(self) -> tuple[Pair, str, str]:
        """Key by which a pair's differences are listed only once."""
        return self.pair, self.writer_at, self.reader_at

    def tell(self, difference: Difference) -> Told:
        """Return a difference with its path and pointers from the root."""
        parts, here = [difference.tokens], self.path
        while here is not None:
            self.pairs.step()
            here, tokens = here
            parts.append(tokens)
        path = tuple(token for part in reversed(parts) for token in part)
        writer_at = pointer(self.writer_at, *difference.writer)
        return Told(difference, path, writer_at, pointer(self.reader_at, *difference.reader))


def _place(pairs: Pairs, item: Below, above: _Place | None = None) -> _Place:
    pair = (item.original.resolved(), item.update.resolved())
    writer_at = _at(item.original, item.writer, "" if above is None else above.writer_at)
    reader_at = _at(item.update, item.reader, "" if above is None else above.reader_at)
    path = None if above is None else (above.path, item.tokens)
    return _Place(pairs, pair, pairs.rule(pairs, *pair), path, writer_at, reader_at)


def _at(node: Node, tokens: Tokens, above: str) -> str:
    """Return the pointer to a schema, after following references."""
    if not isinstance(node, Reference):
        return pointer(above, *tokens)
    *_, last = node.chain()
    return last.place


def _resolved(original: Node, update: Node) -> Pair | None:
    """Follow the references of a pair; None if both are the same schema."""
    if original is update:
        return None
    pair = (original.resolved(), update.resolved())
    return None if pair[0] == pair[1] else pair


def _advance(rule: Rule, answer: bool | None) -> Item | None:  # noqa: FBT001  - value sent to a generator
    if answer is None:
        return next(rule, None)
    try:
        return rule.send(answer)
    except StopIteration:
        return None
