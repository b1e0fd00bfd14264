"""Executor of rules of the type JSONATA, with the library jsonata-python, in bounded time and depth."""

from __future__ import annotations

import copy
import sys
import threading
import time
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any, Final

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.data_contract import Rule
from contractlog.compatibility.schema import ParsedSchema
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.context import RuleContext
from contractlog.serdes.rules.executors import RuleExecutor

__all__ = ["JsonataExecutor"]

_MAX_COMPILED: Final = 1_000  #: cached expressions of a thread
_MAX_ITEMS: Final = 1_000_000  #: of a range, an argument of a built-in function, or a list in the result
_MAX_COMPARED: Final = 10_000  #: items that ``$distinct`` compares with each other
_MAX_CHARACTERS: Final = 10_000_000  #: of a text that an expression results in
_MAX_WIDTH: Final = 1_000_000  #: characters to which ``$pad`` fills a text
#: operators of the library that read all that lists and objects contain
_READING_WHOLE: Final = ("evaluate_equality_expression", "evaluate_includes_expression", "evaluate_string_concat")
_MISSING: Final = "rules of type JSONATA need an extra: pip install 'contractlog[rules]'"


class JsonataExecutor(RuleExecutor):
    """Runs rules of type JSONATA. Patterns are matched by RE2, in linear time.

    Args:
        timeout_ms: milliseconds that an evaluation may take.
        max_depth: depth of calls within an expression; Python's stack limits it, too.
    """

    def __init__(self, *, timeout_ms: int = 10_000, max_depth: int = 1_000) -> None:
        self._timeout_ms = timeout_ms
        self._max_depth = max_depth
        self._of_thread = threading.local()  # a compiled expression has a state, and so do the bounds

    def type(self) -> str:
        """Return ``JSONATA``."""
        return "JSONATA"

    def prepare_rule(self, rule: Rule, parsed: ParsedSchema | None) -> None:  # noqa: ARG002 -- the interface's
        """Check that a rule can be run.

        Raises:
            RuleError: a library is missing, or the expression is not valid.
        """
        self._find_expression(rule.expr)

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Return the value of the expression for a message."""
        expression = self._find_expression(ctx.rule.expr)
        bounds: _Bounds = self._of_thread.bounds
        bounds.start()
        frame = expression.create_frame()
        frame.set_evaluate_entry_callback(bounds.enter)
        frame.set_evaluate_exit_callback(bounds.leave)
        try:
            return _to_plain(expression.evaluate(message, frame))
        except RecursionError as error:
            raise RuleError("the evaluation is nested too deeply") from error

    def _find_expression(self, text: str | None) -> Any:
        if not text:
            raise RuleError("it has no expression")
        cache: BoundedCache[str, Any] | None = getattr(self._of_thread, "expressions", None)
        if cache is None:
            cache = self._of_thread.expressions = BoundedCache(_MAX_COMPILED)
            self._of_thread.bounds = _Bounds(self._timeout_ms, self._max_depth)
        return cache.get(text) or cache.put(text, _compile(text, self._of_thread.bounds))


class _Bounds:
    """Bounds of the evaluations of one thread, checked at each expression and call of a built-in function.

    Those of the library are not checked in the loops of built-in functions, nor in items of a list but the first.
    """

    def __init__(self, timeout_ms: int, max_depth: int) -> None:
        self._timeout_ms = timeout_ms
        self._max_depth = max_depth
        self._built_ins: Any = None
        self.start()

    def start(self) -> None:
        """Begin an evaluation."""
        self._deadline = time.monotonic() + self._timeout_ms / 1000
        self._depth = 0

    def enter(self, *_: Any) -> None:
        """Check the bounds before an expression is evaluated."""
        self._depth += 1
        if self._depth > self._max_depth:
            raise RuleError(f"the evaluation is nested more than {self._max_depth} levels deep")
        self._check_time()

    def leave(self, _expression: Any, _value: Any, _frame: Any, result: Any) -> None:
        """Check the size of a result: with all that it contains, if it is that of the rule."""
        self._depth -= 1
        if isinstance(result, str) and len(result) > _MAX_CHARACTERS:
            raise RuleError(f"a text has more than {_MAX_CHARACTERS:,} characters")
        if not self._depth:
            _check_whole(result)

    def apply_to(self, expression: Any) -> None:
        """Let an expression use bounded built-in functions and ranges."""
        if self._built_ins is None:
            static = expression.environment.parent
            self._built_ins = expression.create_frame(static)
            for name, function in static.bindings.items():
                bounded = copy.copy(function)
                bounded.call = partial(self._call, name, function)
                self._built_ins.bind(name, bounded)
        expression.environment = expression.create_frame(self._built_ins)
        expression.evaluate_range_expression = partial(self._make_range, expression.evaluate_range_expression)
        for name in _READING_WHOLE:
            setattr(expression, name, partial(_read_whole, getattr(expression, name)))

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise RuleError(f"the evaluation takes more than {self._timeout_ms} milliseconds")

    def _call(self, name: str, function: Any, value: Any, arguments: Any) -> Any:
        self._check_time()
        for argument in arguments or ():
            if name == "string":
                _check_whole(argument)
            if isinstance(argument, list):
                _check_size(argument, _MAX_COMPARED if name == "distinct" else _MAX_ITEMS)
            elif name == "pad" and isinstance(argument, (int, float)) and abs(argument) > _MAX_WIDTH:
                raise RuleError(f"$pad() may fill a text to at most {_MAX_WIDTH:,} characters")
        return function.call(value, arguments)

    @staticmethod
    def _make_range(make: Any, first: Any, last: Any) -> Any:
        items = make(first, last)
        if items is not None:
            _check_size(items, _MAX_ITEMS)
        return items


def _compile(text: str, bounds: _Bounds) -> Any:
    recursion_limit = sys.getrecursionlimit()
    try:
        jsonata = import_module("jsonata")
        re2 = import_module("re2")
    except ImportError as error:
        raise RuleError(_MISSING) from error
    finally:
        sys.setrecursionlimit(recursion_limit)  # the library raises it for the whole process

    def compile_pattern(pattern: str, flags: Any) -> Any:
        options = re2.Options()
        options.case_sensitive = not flags.case_insensitive
        options.log_errors = False
        return re2.compile(f"(?m){pattern}" if flags.multiline else pattern, options=options)

    try:
        expression = jsonata.Jsonata(text, compile_pattern)
    except Exception as error:
        raise RuleError(f"its expression is not valid: {error}") from error
    expression.set_validate_input(False)
    bounds.apply_to(expression)
    return expression


def _to_plain(value: Any) -> Any:
    """Return a value without the list class of the library."""
    if isinstance(value, Mapping):
        return {name: _to_plain(member) for name, member in value.items()}
    return [_to_plain(item) for item in value] if isinstance(value, list) else value


def _read_whole(operator: Any, left: Any, right: Any, *others: Any) -> Any:
    """Apply an operator to operands of bounded size."""
    _check_whole(left)
    _check_whole(right)
    return operator(left, right, *others)


def _check_whole(value: Any) -> None:
    """Check the number of items in a value, counted wherever they are contained, so repeatedly if shared."""
    stack = [value]
    count = 0
    while stack:
        part = stack.pop()
        if isinstance(part, Mapping):
            part = part.values()
        elif not isinstance(part, list):
            continue
        count += len(part)
        if count > _MAX_ITEMS + 1:
            raise RuleError(f"a value has more than {_MAX_ITEMS:,} items")
        stack.extend(part)


def _check_size(items: list[Any], limit: int) -> None:
    if len(items) > limit + 1:  # the length of a range, as the library says it, is one more
        raise RuleError(f"a list has more than {limit:,} items")
