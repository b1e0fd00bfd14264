"""One comparison under the policy EXACT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.exact.catalogue import UNDECIDED
from contractlog.compatibility.json_schema.exact.demands import Schema
from contractlog.compatibility.json_schema.exact.engine import STEP_LIMIT, Engine, LimitReached
from contractlog.compatibility.json_schema.exact.reading import Reading
from contractlog.compatibility.json_schema.exact.telling import Telling
from contractlog.compatibility.json_schema.exact.witness import Witness
from contractlog.compatibility.json_schema.parse import JsonSchema, invalid
from contractlog.compatibility.walk import work_limit_exceeded

__all__ = ["compare_exactly"]

Side = tuple[JsonSchema, Mapping[str, str]]  #: a schema, and the texts that it leans on


def compare_exactly(reader: Side, writer: Side, *, limit: int = STEP_LIMIT) -> Iterator[Finding]:
    """Yield why it is not proven that the reader admits every document that the writer admits; nothing where it is.

    Formats are compared when all else is proven: they are annotations, so they have a finding of their own.
    """
    for owner, side in (("reader", reader), ("writer", writer)):
        problem = invalid(*side)
        if problem is not None:
            yield _not_valid(owner, problem)
            return
    try:
        found = _findings(_root("reader", reader), _root("writer", writer), limit)
        if not found:
            sides = _root("reader", reader, formats=True), _root("writer", writer, formats=True)
            found = _findings(*sides, limit, formats=True)
    except (LimitReached, RecursionError):
        found = [work_limit_exceeded(limit)]
    yield from found


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


def _findings(reader: Schema, writer: Schema, limit: int, *, formats: bool = False) -> list[Finding]:
    """Decide, more thoroughly where the quick way leaves it open; then tell the places."""
    goal = frozenset({(writer, True), (reader, False)})
    engine = Engine(limit)
    if engine.closed(goal):
        return []
    if not formats and not Witness(engine).value(goal):
        thorough = Engine(limit, thorough=True)
        if thorough.closed(goal):
            return []
    engine.steps = 0
    found: list[Finding] = []
    try:
        found.extend(Telling(engine, reader, writer, formats=formats).findings())
    except LimitReached:
        if not found:
            raise
    return found
