"""Pair walk of JSON Schema: decides which pairs are compatible and lists every difference.

A rule receives an original (the writer's schema) and an update (the reader's), and yields items: a
``KeywordDifference``, a ``NodePair`` whose differences are part of its own, or a ``CompatibilityQuery``, which is
answered with whether a pair is compatible.

As in ``compatibility/pair_walk.py``, an open pair counts as compatible when it is met again. If such an assumption
turns out wrong, all results of that pass are dropped except the failures, and passes repeat until no assumption is
wrong (the greatest fixpoint: rules never turn a failure below into a success). Work is counted in steps. Nothing here
recurses, so no chain of references is too deep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import dataclass, field
from typing import Final

import jsonschema_rs

from contractlog.compatibility.json_schema.nodes import ReferenceNode, SchemaNode, Tokens
from contractlog.compatibility.json_text import join_pointer
from contractlog.compatibility.pair_walk import STEP_LIMIT
from contractlog.compatibility.step_budget import StepBudgetExceeded

__all__ = [
    "CompatibilityQuery",
    "KeywordDifference",
    "LocatedDifference",
    "NodePair",
    "PairWalk",
    "PatternCache",
    "Rule",
    "RuleItem",
]


_BACKTRACK_LIMIT: Final = 100_000
_MAX_PATTERN_LENGTH: Final = 1_000
_MAX_CACHED_PATTERNS: Final = 1_000  #: compiled patterns cached across checks, some kilobytes each


@dataclass(frozen=True, slots=True)
class KeywordDifference:
    """A difference: its kind, position and values."""

    kind: str
    tokens: Tokens = ()  #: tokens from the pair, as in message paths
    writer: Tokens = ()  #: tokens in the original
    reader: Tokens = ()  #: tokens in the update
    before: str = ""  #: the original's value, for the message
    after: str = ""


@dataclass(frozen=True, slots=True)
class NodePair:
    """A sub-pair whose differences belong to those of the rule."""

    original: SchemaNode
    update: SchemaNode
    tokens: Tokens = ()
    writer: Tokens = ()
    reader: Tokens = ()


@dataclass(frozen=True, slots=True)
class CompatibilityQuery:
    """A query by a rule: is this pair compatible?"""

    original: SchemaNode
    update: SchemaNode


RuleItem = KeywordDifference | NodePair | CompatibilityQuery
Rule = Generator[RuleItem, bool, None]
Pair = tuple[SchemaNode, SchemaNode]
Path = tuple["Path", Tokens] | None  #: the tokens of each pair, innermost first


@dataclass(frozen=True, slots=True)
class LocatedDifference:
    """A difference with its full path and JSON Pointers."""

    difference: KeywordDifference
    path: Tokens
    writer_at: str
    reader_at: str


class PatternCache:
    """Cache of compiled regular expressions for one comparison.

    It has no fixed size: a global cache would, and a schema with one pattern more than that would have each pattern
    compiled again for each name.
    """

    def __init__(self) -> None:
        self._compiled: dict[str, jsonschema_rs.Validator | None] = {}

    def __len__(self) -> int:
        return len(self._compiled)

    def __contains__(self, pattern: str) -> bool:
        return pattern in self._compiled

    def clear(self) -> None:
        """Remove all patterns."""
        self._compiled.clear()

    def matches(self, pattern: str, name: str) -> bool:
        """Return True if a regular expression matches in a name; an unusable one never does."""
        if pattern not in self._compiled:
            self._compiled[pattern] = _compile_pattern(pattern)
        validator = self._compiled[pattern]
        try:
            return validator is not None and validator.is_valid(name)
        except (ValueError, jsonschema_rs.ValidationError):
            return False


@dataclass(slots=True)
class PairWalk:
    """Comparison of an original with an update."""

    rule: Callable[[PairWalk, SchemaNode, SchemaNode], Rule]
    admitted: Collection[str]  #: the kinds of differences that leave a pair compatible
    limit: int = STEP_LIMIT
    steps: int = 0
    patterns: PatternCache = field(default_factory=PatternCache)
    _failed: set[Pair] = field(default_factory=set)
    _passed: set[Pair] = field(default_factory=set)

    def step(self, count: int = 1) -> None:
        """Count work.

        Raises:
            StepBudgetExceeded: the limit is exceeded.
        """
        self.steps += count
        if self.steps > self.limit:
            raise StepBudgetExceeded

    def trim(self, limit: int) -> None:
        """Drop the final results if there are more than ``limit`` pairs, and the patterns if too many."""
        if len(self.patterns) > _MAX_CACHED_PATTERNS:
            self.patterns.clear()
        if len(self._failed) + len(self._passed) > limit:
            self._failed.clear()
            self._passed.clear()

    def differences(self, original: SchemaNode, update: SchemaNode) -> Iterator[LocatedDifference]:
        """Yield every difference of two schemas, each pair once per position.

        Raises:
            StepBudgetExceeded: after the differences found until then.
        """
        if _resolve_pair(original, update) is None:
            return
        stack = [_locate_pair(self, NodePair(original, update))]
        visited = {stack[0].identity}
        result: bool | None = None
        while stack:
            current = stack[-1]
            self.step()
            item, result = _next_item(current.rule, result), None
            if item is None:
                stack.pop()
            elif isinstance(item, KeywordDifference):
                yield current.locate(item)
            elif isinstance(item, CompatibilityQuery):
                result = self.compatible(item.original, item.update)
            elif _resolve_pair(item.original, item.update) is not None:
                below = _locate_pair(self, item, current)
                if below.identity not in visited:
                    visited.add(below.identity)
                    stack.append(below)

    def compatible(self, original: SchemaNode, update: SchemaNode) -> bool:
        """Return True if a pair has no breaking difference."""
        pair = _resolve_pair(original, update)
        while pair is not None and pair not in self._failed and pair not in self._passed:
            current_pass = _Pass(self, self._failed, self._passed)
            current_pass.decide(pair)
            if not current_pass.assumed & self._failed:
                self._passed |= current_pass.concluded
        return pair not in self._failed


@dataclass(slots=True)
class _Frame:
    """An open pair; if ``is_query``, its verdict answers a query and does not decide the pair above."""

    pair: Pair
    rule: Rule
    is_query: bool


@dataclass(slots=True)
class _Pass:
    """One pass over a pair and its sub-pairs, in which every open pair counts as compatible."""

    pairs: PairWalk
    failed: set[Pair]
    passed: set[Pair]
    concluded: set[Pair] = field(default_factory=set)
    assumed: set[Pair] = field(default_factory=set)
    _open: set[Pair] = field(default_factory=set)
    _stack: list[_Frame] = field(default_factory=list)

    def decide(self, root: Pair) -> None:
        """Decide every pair that the root's verdict depends on."""
        self._enter(root, is_query=False)
        result: bool | None = None
        while self._stack:
            frame = self._stack[-1]
            self.pairs.step()
            item, result = _next_item(frame.rule, result), None
            if item is None:
                result = self._conclude()
            elif isinstance(item, KeywordDifference):
                if item.kind not in self.pairs.admitted:
                    result = self._fail()
            else:
                result = self._decide_item(item)

    def _decide_item(self, item: NodePair | CompatibilityQuery) -> bool | None:
        """Return the verdict on a pair if it is needed and available; else open the pair."""
        pair, is_query = _resolve_pair(item.original, item.update), isinstance(item, CompatibilityQuery)
        if pair is None or pair in self.passed or pair in self.concluded:
            return True if is_query else None
        if pair in self.failed:
            return False if is_query else self._fail()
        if pair in self._open:
            self.assumed.add(pair)
            return True if is_query else None
        self._enter(pair, is_query=is_query)
        return None

    def _enter(self, pair: Pair, *, is_query: bool) -> None:
        self._stack.append(_Frame(pair, self.pairs.rule(self.pairs, *pair), is_query))
        self._open.add(pair)

    def _conclude(self) -> bool | None:
        frame = self._stack.pop()
        self._open.remove(frame.pair)
        self.concluded.add(frame.pair)
        return True if frame.is_query else None

    def _fail(self) -> bool | None:
        """Fail the innermost pair, and those above up to the first one that is a query."""
        while self._stack:
            frame = self._stack.pop()
            frame.rule.close()
            self._open.remove(frame.pair)
            self.failed.add(frame.pair)
            if frame.is_query:
                return False
        return None


@dataclass(slots=True)
class _LocatedPair:
    """A pair on the path from the root, with its positions."""

    pairs: PairWalk
    pair: Pair
    rule: Rule
    path: Path
    writer_at: str
    reader_at: str

    @property
    def identity(self) -> tuple[Pair, str, str]:
        """Key by which a pair's differences are listed only once."""
        return self.pair, self.writer_at, self.reader_at

    def locate(self, difference: KeywordDifference) -> LocatedDifference:
        """Return a difference with its path and pointers from the root."""
        parts, link = [difference.tokens], self.path
        while link is not None:
            self.pairs.step()
            link, tokens = link
            parts.append(tokens)
        path = tuple(token for part in reversed(parts) for token in part)
        writer_at = join_pointer(self.writer_at, *difference.writer)
        return LocatedDifference(difference, path, writer_at, join_pointer(self.reader_at, *difference.reader))


def _locate_pair(pairs: PairWalk, item: NodePair, above: _LocatedPair | None = None) -> _LocatedPair:
    pair = (item.original.resolve(), item.update.resolve())
    writer_at = _locate_node(item.original, item.writer, "" if above is None else above.writer_at)
    reader_at = _locate_node(item.update, item.reader, "" if above is None else above.reader_at)
    path = None if above is None else (above.path, item.tokens)
    return _LocatedPair(pairs, pair, pairs.rule(pairs, *pair), path, writer_at, reader_at)


def _locate_node(node: SchemaNode, tokens: Tokens, above: str) -> str:
    """Return the pointer to a schema, after following references."""
    if not isinstance(node, ReferenceNode):
        return join_pointer(above, *tokens)
    *_, last = node.chain()
    return last.location


def _resolve_pair(original: SchemaNode, update: SchemaNode) -> Pair | None:
    """Follow the references of a pair; None if both are the same schema."""
    if original is update:
        return None
    pair = (original.resolve(), update.resolve())
    return None if pair[0] == pair[1] else pair


def _next_item(rule: Rule, result: bool | None) -> RuleItem | None:  # noqa: FBT001  - value sent to a generator
    if result is None:
        return next(rule, None)
    try:
        return rule.send(result)
    except StopIteration:
        return None


def _compile_pattern(pattern: str) -> jsonschema_rs.Validator | None:
    if len(pattern) > _MAX_PATTERN_LENGTH:
        return None
    for options in (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT)):
        try:
            return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options, offline=True)
        except (ValueError, jsonschema_rs.ValidationError):
            continue
    return None
