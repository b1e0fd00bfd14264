"""Comparison of two JSON schemas under policy EXACT."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.exact.array_satisfiability import ArrayConstraints
from contractlog.compatibility.json_schema.exact.check_catalogue import FORMAT, UNDECIDED, ExactCheck, find_check
from contractlog.compatibility.json_schema.exact.constraint_builder import ConstraintBuilder
from contractlog.compatibility.json_schema.exact.constraints import (
    Conjunction,
    Constraint,
    Goal,
    ItemValues,
    MatchesPattern,
    MemberValues,
    OrderedSet,
    SchemaConstraint,
    SignedConstraint,
    Undecidable,
)
from contractlog.compatibility.json_schema.exact.counterexample import ValueSearch
from contractlog.compatibility.json_schema.exact.json_values import format_value
from contractlog.compatibility.json_schema.exact.object_satisfiability import MemberCase, ObjectConstraints, single_name
from contractlog.compatibility.json_schema.exact.proof_engine import STEP_LIMIT, ProofEngine
from contractlog.compatibility.json_schema.exact.regex_compiler import compile_pattern
from contractlog.compatibility.json_schema.parser import JsonSchema, find_meta_schema_error
from contractlog.compatibility.pair_walk import work_limit_exceeded
from contractlog.compatibility.step_budget import StepBudget, StepBudgetExceeded

__all__ = ["compare_exactly"]

_ENGINE_RUNS: Final = 6  #: an engine, a thorough engine and the reporter, each twice

Side = tuple[JsonSchema, Mapping[str, str]]  #: a schema, and the texts of its dependencies


def compare_exactly(
    reader: Side, writer: Side, steps: StepBudget | None = None, *, limit: int = STEP_LIMIT
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
    yield from _Comparison(limit, steps or StepBudget(_ENGINE_RUNS * limit)).findings(reader, writer)


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


def _root_constraint(owner: str, side: Side, *, formats: bool = False) -> SchemaConstraint:
    schema, referenced = side
    key = f"exact {owner} {formats}"
    if key not in schema.derived:
        schema.derived[key] = ConstraintBuilder(owner, schema, referenced, formats=formats).root()
    root: SchemaConstraint = schema.derived[key]
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

    def __init__(self, limit: int, shared: StepBudget) -> None:
        self.limit = limit
        self.shared = shared

    def findings(self, reader: Side, writer: Side) -> list[Finding]:
        """Decide without formats, then with them if a schema contains any."""
        try:
            findings = self._decide(_root_constraint("reader", reader), _root_constraint("writer", writer))
            if not findings and (_has_formats(reader) or _has_formats(writer)):
                sides = (
                    _root_constraint("reader", reader, formats=True),
                    _root_constraint("writer", writer, formats=True),
                )
                findings = self._decide(*sides, formats=True)
        except (StepBudgetExceeded, RecursionError):
            findings = [work_limit_exceeded(self.limit if self.shared.left > 0 else self.shared.limit)]
        return findings

    def _decide(self, reader: SchemaConstraint, writer: SchemaConstraint, *, formats: bool = False) -> list[Finding]:
        """Decide a pair, with a thorough engine if the fast one is inconclusive, and locate the findings."""
        goal: Goal = OrderedSet(((writer, True), (reader, False)))
        with self._engine() as engine:
            if engine.is_unsatisfiable(goal):
                return []
            inconclusive = not formats and not ValueSearch(engine).value(goal)
        if inconclusive:
            with self._engine(thorough=True) as thorough:
                if thorough.is_unsatisfiable(goal):
                    return []
        findings: list[Finding] = []
        with self._count_steps(engine):
            try:
                findings.extend(FindingReporter(engine, reader, writer, formats=formats).findings())
            except StepBudgetExceeded:
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


_MAX_FINDINGS: Final = 50
_MAX_BRANCHES: Final = 4
_MAX_LIFTED: Final = 3


@dataclass(frozen=True, slots=True)
class _WriterPosition:
    """A position in the documents: the writer's constraints there, and how to embed a value in a document."""

    writer: tuple[SignedConstraint, ...]
    writer_at: str
    lift: Callable[[Any], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class _UnprovenConstraint:
    """A constraint of the reader that is not proven at a position."""

    position: _WriterPosition
    constraint: Constraint
    at: str
    keyword: str


class FindingReporter:
    """Reporter of the findings of a pair that is not proven."""

    def __init__(
        self, engine: ProofEngine, reader: SchemaConstraint, writer: SchemaConstraint, *, formats: bool = False
    ) -> None:
        self._engine = engine
        self._search = ValueSearch(engine)
        self._reader = reader
        self._writer = writer
        self._formats = formats
        self._goal: Goal = OrderedSet(((writer, True), (reader, False)))

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each keyword that rejects, or may reject, what the writer admits."""
        document = [] if self._formats else self._search.value(self._goal)
        root = _WriterPosition(((self._writer, True),), "", lambda value: iter((value,)))
        unproven_constraints = islice(
            self._find_unproven(_UnprovenConstraint(root, self._reader, "", "")), _MAX_FINDINGS
        )
        first = next(unproven_constraints, None)
        second = next(unproven_constraints, None)
        for unproven in (first, second):
            if unproven is not None:
                yield self._finding(unproven, document if second is None else [])
        for unproven in unproven_constraints:
            yield self._finding(unproven, [])

    def _find_unproven(self, start: _UnprovenConstraint) -> Iterator[_UnprovenConstraint]:
        pending, visited = [start], set[tuple[Goal, str]]()
        while pending:
            unproven = pending.pop()
            goal = OrderedSet((*unproven.position.writer, (unproven.constraint, False)))
            if (goal, unproven.at) in visited or self._engine.is_unsatisfiable(goal):
                continue
            visited.add((goal, unproven.at))
            parts = list(self._split(unproven))
            if parts:
                pending.extend(reversed(parts))
            else:
                yield unproven

    def _split(self, unproven: _UnprovenConstraint) -> Iterator[_UnprovenConstraint]:
        match unproven.constraint:
            case SchemaConstraint():
                for part in unproven.constraint.parts:
                    yield _UnprovenConstraint(
                        unproven.position, part.constraint, part.at, part.keyword or unproven.keyword
                    )
            case Conjunction():
                parts = self._engine.find_violable(unproven.position.writer, unproven.constraint.parts)
                yield from (
                    _UnprovenConstraint(unproven.position, part, unproven.at, unproven.keyword) for part in parts
                )
            case MemberValues() | ItemValues():
                position = self._descend(unproven.position, unproven.constraint)
                if position is not None:
                    at = (
                        unproven.constraint.body.at
                        if isinstance(unproven.constraint.body, SchemaConstraint)
                        else unproven.at
                    )
                    yield _UnprovenConstraint(position, unproven.constraint.body, at, unproven.keyword)
            case _:
                pass

    def _descend(self, position: _WriterPosition, constraint: MemberValues | ItemValues) -> _WriterPosition | None:
        """Descend to a member or item that may violate the constraint."""
        goal = OrderedSet((*position.writer, (constraint, False)))
        for branch in islice(self._engine.satisfiable_branches(goal), _MAX_BRANCHES):
            inner_position = (
                self._member(position, constraint, branch.atoms) if isinstance(constraint, MemberValues) else None
            )
            if isinstance(constraint, ItemValues):
                inner_position = self._item(position, constraint, branch.atoms)
            if inner_position is not None:
                return inner_position
        return None

    def _member(
        self, position: _WriterPosition, constraint: MemberValues, atoms: list[SignedConstraint]
    ) -> _WriterPosition | None:
        constraints = ObjectConstraints.of(atoms)
        for case in self._cases(constraints, constraint):
            if not self._engine.seems_unsatisfiable(case.value) and not (
                case.name_constraints and self._engine.seems_unsatisfiable(case.name_constraints)
            ):

                def lift(value: Any, case: MemberCase = case) -> Iterator[Any]:
                    for document in islice(self._search.build_objects(constraints, 0, (case, value)), _MAX_LIFTED):
                        yield from position.lift(document)

                return self._position_of(position, case.value, (constraint.body, False), lift)
        return None

    def _cases(self, constraints: ObjectConstraints, constraint: MemberValues) -> Iterator[MemberCase]:
        name = single_name(constraint.names)
        if name is not None:
            yield MemberCase(name, (), tuple(constraints.at(name, self._engine.evaluator)))
        for member in constraints.required_members:
            if member.names == constraint.names and member.value == ((constraint.body, False),):
                yield from constraints.cases(member, self._engine.evaluator)

    def _item(
        self, position: _WriterPosition, constraint: ItemValues, atoms: list[SignedConstraint]
    ) -> _WriterPosition | None:
        constraints = ArrayConstraints(atoms)
        for index in constraints.starts(constraint.start, constraint.stop):
            signed_constraints = (*constraints.at(index), (constraint.body, False))
            if self._engine.seems_unsatisfiable(signed_constraints):
                continue

            def lift(value: Any, index: int = index) -> Iterator[Any]:
                for document in islice(self._search.build_arrays(constraints, 0, (index, value)), _MAX_LIFTED):
                    yield from position.lift(document)

            return self._position_of(position, signed_constraints, (constraint.body, False), lift)
        return None

    @staticmethod
    def _position_of(
        position: _WriterPosition,
        value: tuple[SignedConstraint, ...],
        excluded: SignedConstraint,
        lift: Callable[[Any], Iterator[Any]],
    ) -> _WriterPosition:
        writer = tuple(signed_constraint for signed_constraint in value if signed_constraint != excluded)
        pointers = [
            constraint.at
            for constraint, positive in writer
            if isinstance(constraint, SchemaConstraint) and positive and constraint.owner == "writer"
        ]
        return _WriterPosition(writer, min(pointers, key=len, default=position.writer_at), lift)

    def _finding(self, unproven: _UnprovenConstraint, document: list[Any]) -> Finding:
        if self._formats:
            return _create_finding(
                FORMAT, unproven, f"the {_SLOT_READER} requires a format that the {_SLOT_WRITER} does not require"
            )
        documents = self._find_document(unproven) or document
        if documents:
            detail = f"{format_value(documents[0])} is valid under the {_SLOT_WRITER} and not under the {_SLOT_READER}"
            return _create_finding(find_check(unproven.keyword), unproven, detail)
        undecided = f"there is no proof that the {_SLOT_READER} admits all that the {_SLOT_WRITER} admits"
        return _create_finding(UNDECIDED, unproven, f"{undecided}: {self._reason(unproven)}")

    def _find_document(self, unproven: _UnprovenConstraint) -> list[Any]:
        """Return a whole document that the writer admits and the reader rejects at this position."""
        for value in self._search.value((*unproven.position.writer, (unproven.constraint, False))):
            for document in islice(unproven.position.lift(value), _MAX_LIFTED):
                if self._search.satisfies(document, self._goal):
                    return [document]
        return []

    def _reason(self, unproven: _UnprovenConstraint) -> str:
        """Return the reason why the proof failed."""
        goal = OrderedSet((*unproven.position.writer, (unproven.constraint, False)))
        for branch in islice(self._engine.satisfiable_branches(goal), _MAX_BRANCHES):
            for constraint, _ in branch.signed_constraints:
                if isinstance(constraint, Undecidable):
                    return constraint.reason
                if isinstance(constraint, MatchesPattern) and compile_pattern(constraint.text) is None:
                    return f"the pattern {format_value(constraint.text)} is not regular"
        return "no document was found that shows the opposite"


_WRITER_FIX: Final = "narrow the schema, so that it allows no value that the earlier version rejects"
_SLOT_READER: Final = "\0reader\0"
_SLOT_WRITER: Final = "\0writer\0"


def _create_finding(check: ExactCheck, unproven: _UnprovenConstraint, sentence: str) -> Finding:
    detail = sentence.replace(_SLOT_READER, "reader").replace(_SLOT_WRITER, "writer")
    text = f"{check.title} (path '{unproven.at or '/'}'): {sentence}".replace("{", "{{").replace("}", "}}")
    message = text.replace(_SLOT_READER, "{reader} schema").replace(_SLOT_WRITER, "{writer} schema")
    return Finding(check.id, unproven.at, unproven.position.writer_at, detail, message, check.fix, _WRITER_FIX)
