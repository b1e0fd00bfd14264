"""One comparison under the policy EXACT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.exact.catalogue import UNDECIDED
from contractlog.compatibility.json_schema.exact.demands import Schema
from contractlog.compatibility.json_schema.exact.engine import STEP_LIMIT, Engine, LimitReached
from contractlog.compatibility.json_schema.exact.reading import Reading
from contractlog.compatibility.json_schema.exact.telling import Telling
from contractlog.compatibility.json_schema.exact.witness import Witness
from contractlog.compatibility.json_schema.parse import JsonSchema, invalid
from contractlog.compatibility.steps import Steps
from contractlog.compatibility.walk import work_limit_exceeded

__all__ = ["compare_exactly"]

_TIMES: Final = 6  #: an engine, a thorough one and the telling, each twice

Side = tuple[JsonSchema, Mapping[str, str]]  #: a schema, and the texts that it leans on


def compare_exactly(
    reader: Side, writer: Side, steps: Steps | None = None, *, limit: int = STEP_LIMIT
) -> Iterator[Finding]:
    """Yield why it is not proven that the reader admits every document that the writer admits; nothing where it is.

    Formats are compared when all else is proven: they are annotations, so they have a finding of their own. The steps
    are shared with other comparisons.
    """
    for owner, side in (("reader", reader), ("writer", writer)):
        problem = invalid(*side)
        if problem is not None:
            if not _are_equal(reader, writer):
                yield _not_valid(owner, problem)
            return
    yield from _Comparison(limit, steps or Steps(_TIMES * limit)).findings(reader, writer)


def _are_equal(reader: Side, writer: Side) -> bool:
    """Return whether both are one schema, which admits what it admits whatever that is."""
    return reader[0].value == writer[0].value and dict(reader[1]) == dict(writer[1])


def _not_valid(owner: str, problem: InvalidSchema) -> Finding:
    """Stored schemas were not all held against their draft; what such a one means is nowhere said."""
    sentence = f"the {owner} cannot be understood exactly: {problem.message}"
    message = f"{UNDECIDED.title}: {sentence}".replace("{", "{{").replace("}", "}}")
    return Finding(UNDECIDED.id, "", "", sentence, message, UNDECIDED.mend, UNDECIDED.mend)


def _root(owner: str, side: Side, *, formats: bool = False) -> Schema:
    schema, referenced = side
    key = f"exact {owner} {formats}"
    if key not in schema.made:
        schema.made[key] = Reading(owner, schema, referenced, formats=formats).root()
    root: Schema = schema.made[key]
    return root


def _has_formats(side: Side) -> bool:
    """Whether a schema, or one that it leans on, may have a ``format``."""
    schema, referenced = side
    if "has formats" not in schema.made:
        leaned_on = any("format" in text or "\\u" in text for text in referenced.values())
        schema.made["has formats"] = leaned_on or _holds(schema.value, "format")
    has: bool = schema.made["has formats"]
    return has


def _holds(value: Any, word: str) -> bool:
    """Whether an object anywhere in the value has a member of that name."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if word in value:
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False


class _Comparison:
    """Counts what its engines take; each has the limit of a comparison, or what is left of the shared steps."""

    def __init__(self, limit: int, shared: Steps) -> None:
        self.limit = limit
        self.shared = shared

    def findings(self, reader: Side, writer: Side) -> list[Finding]:
        """Decide without formats, and with them where something in the schemas has one."""
        try:
            found = self._decided(_root("reader", reader), _root("writer", writer))
            if not found and (_has_formats(reader) or _has_formats(writer)):
                sides = _root("reader", reader, formats=True), _root("writer", writer, formats=True)
                found = self._decided(*sides, formats=True)
        except (LimitReached, RecursionError):
            found = [work_limit_exceeded(self.limit if self.shared.left > 0 else self.shared.limit)]
        return found

    def _decided(self, reader: Schema, writer: Schema, *, formats: bool = False) -> list[Finding]:
        """Decide, more thoroughly where the quick way leaves it open; then tell the places."""
        goal = frozenset({(writer, True), (reader, False)})
        with self._engine() as engine:
            if engine.closed(goal):
                return []
            missed = not formats and not Witness(engine).value(goal)
        if missed:
            with self._engine(thorough=True) as thorough:
                if thorough.closed(goal):
                    return []
        found: list[Finding] = []
        with self._counted(engine):
            try:
                found.extend(Telling(engine, reader, writer, formats=formats).findings())
            except LimitReached:
                if not found:
                    raise
        return found

    @contextmanager
    def _counted(self, engine: Engine) -> Iterator[Engine]:
        """Let an engine work anew."""
        engine.steps, engine.limit = 0, self.shared.allow(self.limit)
        try:
            yield engine
        finally:
            self.shared.spend(engine.steps)

    def _engine(self, *, thorough: bool = False) -> AbstractContextManager[Engine]:
        return self._counted(Engine(thorough=thorough))
