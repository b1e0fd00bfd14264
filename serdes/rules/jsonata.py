"""Executor of rules of the type JSONATA, with the library jsonata-python, in bounded time and depth."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
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
        self._of_thread = threading.local()  # a compiled expression has a state

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
        frame = expression.create_frame()
        frame.set_runtime_bounds(self._timeout_ms, self._max_depth)
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
        return cache.get(text) or cache.put(text, _compile(text))


def _compile(text: str) -> Any:
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
    return expression


def _to_plain(value: Any) -> Any:
    """Return a value without the list class of the library."""
    if isinstance(value, Mapping):
        return {name: _to_plain(member) for name, member in value.items()}
    return [_to_plain(item) for item in value] if isinstance(value, list) else value
