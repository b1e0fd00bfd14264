"""Search of regular expressions in linear time, by an automaton made as far as it is needed.

Python's ``re`` may take exponential time for patterns such as ``(a+)+b``; a rule's pattern comes from outside.
"""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.contracts.rules.evaluation.runtime_values import EvaluationBudget
from contractlog.contracts.rules.pattern.nodes import (
    Alternation,
    Assertion,
    CharacterSet,
    PatternNode,
    Repetition,
    Sequence,
)
from contractlog.contracts.rules.pattern.parser import PatternSyntaxError, parse_pattern
from contractlog.contracts.rules.rule_errors import RuleEvaluationError

__all__ = ["Pattern", "check_pattern", "compile_pattern", "search_pattern"]

MAX_PROGRAM: Final = 2_000  #: instructions of a pattern, with its repetitions written out
STEP_CHARACTERS: Final = 64  #: characters that one step of a search may read in states that exist
STEP_INSTRUCTIONS: Final = 8  #: instructions and ranges of characters that one step may look at to make a transition
MAX_CACHED: Final = 20_000  #: transitions, and instructions in states, that a pattern keeps

_END: Final = ""  #: the "character" after the last one
_WORD_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


class _State:
    """A set of instructions that may be next, and the character before."""

    __slots__ = ("after", "before", "starts")

    def __init__(self, starts: frozenset[int], before: str) -> None:
        self.starts = starts
        self.before = before
        self.after: dict[str, _State] = {}


_MATCH: Final = _State(frozenset(), _END)
_NO_MATCH: Final = _State(frozenset(), _END)


class Pattern:
    """A compiled pattern; it may be used by many threads."""

    def __init__(self, text: str) -> None:
        self._sets: dict[int, CharacterSet] = {}
        self._ranges: dict[int, int] = {}  #: of large sets
        self._assertions: dict[int, str] = {}
        self._next: list[tuple[int, ...]] = []
        node = parse_pattern(text)
        _check_size(node)
        self._accept = self._add(())
        self._entry = self._build(node, self._accept)
        self._clear()

    def _clear(self) -> None:
        self._states: dict[tuple[frozenset[int], str], _State] = {}
        self._cached = 0
        self._first = self._state(frozenset({self._entry}), _END)

    @property
    def size(self) -> int:
        """The number of instructions."""
        return len(self._next)

    def search(self, text: str, budget: EvaluationBudget | None = None) -> bool:
        """Return true if the pattern occurs anywhere in the text.

        Args:
            text: the text.
            budget: the budget of the evaluation; one of the search if it is None.

        Raises:
            RuleLimitExceeded: the search takes too many steps. Transitions that an earlier search made take fewer.
        """
        budget = budget or EvaluationBudget()
        if len(text) >= STEP_CHARACTERS:
            budget.charge(len(text) // STEP_CHARACTERS)
        state = self._first
        for character in text:
            target = state.after.get(character)
            if target is None:
                target = self._step(state, character, budget)
            if target is _MATCH:
                return True
            state = target
        return (state.after.get(_END) or self._step(state, _END, budget)) is _MATCH

    def _state(self, starts: frozenset[int], before: str) -> _State:
        key = (starts, before)
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = _State(starts, before)
            self._cached += len(starts)
        return state

    def _step(self, state: _State, character: str, budget: EvaluationBudget) -> _State:
        """Make the transition of a state: to ``_MATCH`` if the pattern ends before the character."""
        if self._cached > MAX_CACHED:
            self._clear()
        reached = self._closure(state, character)
        looked_at = len(reached) + sum(self._ranges[at] for at in self._ranges.keys() & reached)
        budget.charge(1 + looked_at // STEP_INSTRUCTIONS)
        if self._accept in reached:
            target = _MATCH
        elif character == _END:
            target = _NO_MATCH
        else:
            following = {self._next[at][0] for at in reached if at in self._sets and self._sets[at].has(character)} | {
                self._entry
            }
            target = self._state(frozenset(following), _class_of(character))
        state.after[character] = target
        self._cached += 1
        return target

    def _closure(self, state: _State, character: str) -> set[int]:
        """Return every instruction that is reached without reading a character."""
        reached: set[int] = set()
        stack = list(state.starts)
        while stack:
            at = stack.pop()
            if at in reached:
                continue
            reached.add(at)
            kind = self._assertions.get(at)
            if at not in self._sets and (kind is None or _is_satisfied(kind, state.before, _class_of(character))):
                stack.extend(self._next[at])
        return reached

    def _add(self, targets: tuple[int, ...]) -> int:
        self._next.append(targets)
        return len(self._next) - 1

    def _build(self, node: PatternNode, then: int) -> int:
        """Add the instructions of a part and return the first one; ``then`` follows the part."""
        if isinstance(node, CharacterSet):
            at = self._add((then,))
            self._sets[at] = node
            ranges = _count_ranges(node)
            if ranges > 1:
                self._ranges[at] = ranges
            return at
        if isinstance(node, Assertion):
            at = self._add((then,))
            self._assertions[at] = node.kind
            return at
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                then = self._build(part, then)
            return then
        if isinstance(node, Alternation):
            return self._add(tuple(self._build(branch, then) for branch in node.branches))
        assert isinstance(node, Repetition)  # noqa: S101 -- the last kind of node
        return self._build_repetition(node, then)

    def _build_repetition(self, node: Repetition, then: int) -> int:
        if node.greatest is None:
            loop = self._add(())
            self._next[loop] = (self._build(node.part, loop), then)
            first = loop
        else:
            first = then
            for _ in range(node.greatest - node.least):
                first = self._add((self._build(node.part, first), then))
        for _ in range(node.least):
            first = self._build(node.part, first)
        return first


def _count_ranges(node: CharacterSet) -> int:
    return len(node.ranges) + sum(map(_count_ranges, node.sets))


def _class_of(character: str) -> str:
    """Return what assertions look at: the end of the text, a line feed, a word character or another one."""
    if character in {_END, "\n"}:
        return character
    return "w" if character in _WORD_CHARACTERS else " "


def _is_satisfied(kind: str, before: str, after: str) -> bool:
    if kind == "start":
        return before == _END
    if kind == "end":
        return after == _END
    if kind == "line start":
        return before in {_END, "\n"}
    if kind == "line end":
        return after in {_END, "\n"}
    return ((before == "w") is not (after == "w")) is (kind == "word boundary")


def check_pattern(text: str) -> None:
    """Check a pattern without the work of compiling it.

    Raises:
        PatternSyntaxError: the pattern is not valid, or too large.
    """
    _check_size(parse_pattern(text))


def _check_size(node: PatternNode) -> None:
    if _count_instructions(node) >= MAX_PROGRAM:
        raise PatternSyntaxError("its repetitions are too large")


def _count_instructions(node: PatternNode) -> int:
    """Return the number of instructions of a part, which ``Pattern`` adds."""
    match node:
        case Sequence():
            return sum(map(_count_instructions, node.parts))
        case Alternation():
            return 1 + sum(map(_count_instructions, node.branches))
        case Repetition():
            part = _count_instructions(node.part)
            if node.greatest is None:
                return 1 + part * (node.least + 1)
            return part * node.greatest + node.greatest - node.least
    return 1


def compile_pattern(text: str, budget: EvaluationBudget | None = None) -> Pattern:
    """Compile a pattern of RE2's syntax; a pattern that is cached takes no steps.

    Raises:
        PatternSyntaxError: the pattern is not valid, or too large.
    """
    pattern = _COMPILED.get(text)
    if pattern is None:
        budget = budget or EvaluationBudget()
        budget.charge(1 + len(text) // STEP_INSTRUCTIONS)
        pattern = _COMPILED.put(text, Pattern(text))
        budget.charge(pattern.size // STEP_INSTRUCTIONS)
    return pattern


def search_pattern(text: str, pattern: str, *, budget: EvaluationBudget) -> bool:
    """Return true if a pattern occurs in a text, as ``text.matches(pattern)`` does."""
    try:
        compiled = compile_pattern(pattern, budget)
    except PatternSyntaxError:
        raise RuleEvaluationError(f"A pattern of {len(pattern)} characters is not valid.") from None
    return compiled.search(text, budget)


_COMPILED: Final[BoundedCache[str, Pattern]] = BoundedCache(256)
