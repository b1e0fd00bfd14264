"""Comparison of two JSON schemas under policy EXACT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.exact.catalogue import UNDECIDED
from contractlog.compatibility.json_schema.exact.counterexample import ValueSearch
from contractlog.compatibility.json_schema.exact.demand_builder import DemandBuilder
from contractlog.compatibility.json_schema.exact.demands import SchemaDemand
from contractlog.compatibility.json_schema.exact.engine import STEP_LIMIT, ProofEngine, ProofLimitReached
from contractlog.compatibility.json_schema.exact.findings import FindingReporter
from contractlog.compatibility.json_schema.parser import JsonSchema, find_meta_schema_error
from contractlog.compatibility.steps import Steps
from contractlog.compatibility.walk import work_limit_exceeded

__all__ = ["compare_exactly"]

_ENGINE_RUNS: Final = 6  #: an engine, a thorough engine and the reporter, each twice

Side = tuple[JsonSchema, Mapping[str, str]]  #: a schema, and the texts of its dependencies


def compare_exactly(
    reader: Side, writer: Side, steps: Steps | None = None, *, limit: int = STEP_LIMIT
) -> Iterator[Finding]:
    """Yield findings unless it is proven that the reader admits every document that the writer admits.

    Formats are compared only if everything else is proven: they are annotations and have their own finding. ``steps``
    is shared with other comparisons.
    """
    for owner, side in (("reader", reader), ("writer", writer)):
        problem = find_meta_schema_error(*side)
        if problem is not None:
            if not _is_same_schema(reader, writer):
                yield _invalid_schema_finding(owner, problem)
            return
    yield from _Comparison(limit, steps or Steps(_ENGINE_RUNS * limit)).findings(reader, writer)


def _is_same_schema(reader: Side, writer: Side) -> bool:
    """Return True if both are the same schema, which is compatible with itself even if it is not valid."""
    return reader[0].value == writer[0].value and dict(reader[1]) == dict(writer[1])


def _invalid_schema_finding(owner: str, problem: InvalidSchema) -> Finding:
    """Return the finding for a schema that its meta-schema rejects, so that its meaning is undefined.

    Not every stored schema was validated against its draft.
    """
    sentence = f"the {owner} cannot be understood exactly: {problem.message}"
    message = f"{UNDECIDED.title}: {sentence}".replace("{", "{{").replace("}", "}}")
    return Finding(UNDECIDED.id, "", "", sentence, message, UNDECIDED.fix, UNDECIDED.fix)


def _root_demand(owner: str, side: Side, *, formats: bool = False) -> SchemaDemand:
    schema, referenced = side
    key = f"exact {owner} {formats}"
    if key not in schema.derived:
        schema.derived[key] = DemandBuilder(owner, schema, referenced, formats=formats).root()
    root: SchemaDemand = schema.derived[key]
    return root


def _has_formats(side: Side) -> bool:
    """Return True if a schema or a dependency may contain the keyword ``format``."""
    schema, referenced = side
    if "has formats" not in schema.derived:
        in_dependencies = any("format" in text or "\\u" in text for text in referenced.values())
        schema.derived["has formats"] = in_dependencies or _has_member(schema.value, "format")
    result: bool = schema.derived["has formats"]
    return result


def _has_member(value: Any, name: str) -> bool:
    """Return True if an object anywhere in the value has a member of that name."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if name in value:
                return True
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return False


class _Comparison:
    """One comparison; each engine has the limit of a comparison or the rest of the shared budget."""

    def __init__(self, limit: int, shared: Steps) -> None:
        self.limit = limit
        self.shared = shared

    def findings(self, reader: Side, writer: Side) -> list[Finding]:
        """Decide without formats, then with them if a schema contains any."""
        try:
            findings = self._decide(_root_demand("reader", reader), _root_demand("writer", writer))
            if not findings and (_has_formats(reader) or _has_formats(writer)):
                sides = _root_demand("reader", reader, formats=True), _root_demand("writer", writer, formats=True)
                findings = self._decide(*sides, formats=True)
        except (ProofLimitReached, RecursionError):
            findings = [work_limit_exceeded(self.limit if self.shared.left > 0 else self.shared.limit)]
        return findings

    def _decide(self, reader: SchemaDemand, writer: SchemaDemand, *, formats: bool = False) -> list[Finding]:
        """Decide a pair, with a thorough engine if the fast one is inconclusive, and locate the findings."""
        goal = frozenset({(writer, True), (reader, False)})
        with self._engine() as engine:
            if engine.is_closed(goal):
                return []
            inconclusive = not formats and not ValueSearch(engine).value(goal)
        if inconclusive:
            with self._engine(thorough=True) as thorough:
                if thorough.is_closed(goal):
                    return []
        findings: list[Finding] = []
        with self._count_steps(engine):
            try:
                findings.extend(FindingReporter(engine, reader, writer, formats=formats).findings())
            except ProofLimitReached:
                if not findings:
                    raise
        return findings

    @contextmanager
    def _count_steps(self, engine: ProofEngine) -> Iterator[ProofEngine]:
        """Reset an engine's step count and limit for one use."""
        engine.steps, engine.limit = 0, self.shared.allow(self.limit)
        try:
            yield engine
        finally:
            self.shared.spend(engine.steps)

    def _engine(self, *, thorough: bool = False) -> AbstractContextManager[ProofEngine]:
        return self._count_steps(ProofEngine(thorough=thorough))
