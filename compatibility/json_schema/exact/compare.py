"""Comparison of two JSON schemas under policy EXACT."""

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

_TIMES: Final = 6  #: an engine, a thorough engine and the reporter, each twice

Side = tuple[JsonSchema, Mapping[str, str]]  #: a schema, and the texts of its dependencies


def compare_exactly(
    reader: Side, writer: Side, steps: Steps | None = None, *, limit: int = STEP_LIMIT
) -> Iterator[Finding]:
    """Yield findings unless it is proven that the reader admits every document that the writer admits.

    Formats are compared only if everything else is proven: they are annotations and have their own finding. ``steps``
    is shared with other comparisons.
    """
    for owner, side in (("reader", reader), ("writer", writer)):
        problem = invalid(*side)
        if problem is not None:
            if not _are_equal(reader, writer):
                yield _not_valid(owner, problem)
            return
    yield from _Comparison(limit, steps or Steps(_TIMES * limit)).findings(reader, writer)


def _are_equal(reader: Side, writer: Side) -> bool:
    """Return True if both are the same schema, which is compatible with itself even if it is not valid."""
    return reader[0].value == writer[0].value and dict(reader[1]) == dict(writer[1])


def _not_valid(owner: str, problem: InvalidSchema) -> Finding:
    """Return the finding for a schema that its meta-schema rejects, so that its meaning is undefined.

    Not every stored schema was validated against its draft.
    """
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
    """Return True if a schema or a dependency may contain the keyword ``format``."""
    schema, referenced = side
    if "has formats" not in schema.made:
        leaned_on = any("format" in text or "\\u" in text for text in referenced.values())
        schema.made["has formats"] = leaned_on or _holds(schema.value, "format")
    has: bool = schema.made["has formats"]
    return has


def _holds(value: Any, word: str) -> bool:
    """Return True if an object anywhere in the value has a member of that name."""
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
    """One comparison; each engine has the limit of a comparison or the rest of the shared budget."""

    def __init__(self, limit: int, shared: Steps) -> None:
        self.limit = limit
        self.shared = shared

    def findings(self, reader: Side, writer: Side) -> list[Finding]:
        """Decide without formats, then with them if a schema contains any."""
        try:
            found = self._decided(_root("reader", reader), _root("writer", writer))
            if not found and (_has_formats(reader) or _has_formats(writer)):
                sides = _root("reader", reader, formats=True), _root("writer", writer, formats=True)
                found = self._decided(*sides, formats=True)
        except (LimitReached, RecursionError):
            found = [work_limit_exceeded(self.limit if self.shared.left > 0 else self.shared.limit)]
        return found

    def _decided(self, reader: Schema, writer: Schema, *, formats: bool = False) -> list[Finding]:
        """Decide a pair, with a thorough engine if the fast one is inconclusive, and locate the findings."""
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
        """Reset an engine's step count and limit for one use."""
        engine.steps, engine.limit = 0, self.shared.allow(self.limit)
        try:
            yield engine
        finally:
            self.shared.spend(engine.steps)

    def _engine(self, *, thorough: bool = False) -> AbstractContextManager[Engine]:
        return self._counted(Engine(thorough=thorough))
