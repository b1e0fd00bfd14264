"""Findings of policy EXACT: located at the violated keyword, with a document as evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.exact.arrays import Shape
from contractlog.compatibility.json_schema.exact.catalogue import FORMAT, UNDECIDED, ExactCheck, check_of
from contractlog.compatibility.json_schema.exact.demands import (
    All,
    Demand,
    Elements,
    Literal,
    Members,
    Pattern,
    Schema,
    Unknown,
)
from contractlog.compatibility.json_schema.exact.engine import Engine
from contractlog.compatibility.json_schema.exact.objects import Case, Contents, only_name
from contractlog.compatibility.json_schema.exact.patterns import automaton
from contractlog.compatibility.json_schema.exact.values import shown
from contractlog.compatibility.json_schema.exact.witness import Witness

__all__ = ["Telling"]

_MAX_FINDINGS: Final = 50
_MAX_BRANCHES: Final = 4
_MAX_LIFTED: Final = 3


@dataclass(frozen=True, slots=True)
class _Here:
    """A position in the documents: the writer's demands there, and how to embed a value in a document."""

    writer: tuple[Literal, ...]
    writer_at: str
    lift: Callable[[Any], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A demand of the reader that is not proven at a position."""

    here: _Here
    demand: Demand
    at: str
    word: str


class Telling:
    """Reporter of the findings of a pair that is not proven."""

    def __init__(self, engine: Engine, reader: Schema, writer: Schema, *, formats: bool = False) -> None:
        self._engine = engine
        self._witness = Witness(engine)
        self._reader = reader
        self._writer = writer
        self._formats = formats
        self._goal = frozenset({(writer, True), (reader, False)})

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each keyword that rejects, or may reject, what the writer admits."""
        document = [] if self._formats else self._witness.value(self._goal)
        root = _Here(((self._writer, True),), "", lambda value: iter((value,)))
        refusals = islice(self._refusals(_Refusal(root, self._reader, "", "")), _MAX_FINDINGS)
        first = next(refusals, None)
        second = next(refusals, None)
        for refusal in (first, second):
            if refusal is not None:
                yield self._finding(refusal, document if second is None else [])
        for refusal in refusals:
            yield self._finding(refusal, [])

    def _refusals(self, start: _Refusal) -> Iterator[_Refusal]:
        waiting, seen = [start], set[tuple[frozenset[Literal], str]]()
        while waiting:
            one = waiting.pop()
            goal = frozenset((*one.here.writer, (one.demand, False)))
            if (goal, one.at) in seen or self._engine.closed(goal):
                continue
            seen.add((goal, one.at))
            below = list(self._below(one))
            if below:
                waiting.extend(reversed(below))
            else:
                yield one

    def _below(self, one: _Refusal) -> Iterator[_Refusal]:
        match one.demand:
            case Schema():
                for part in one.demand.parts:
                    yield _Refusal(one.here, part.demand, part.at, part.word or one.word)
            case All():
                parts = self._engine.may_be_missed(one.here.writer, one.demand.parts)
                yield from (_Refusal(one.here, part, one.at, one.word) for part in parts)
            case Members() | Elements():
                here = self._inside(one.here, one.demand)
                if here is not None:
                    at = one.demand.body.at if isinstance(one.demand.body, Schema) else one.at
                    yield _Refusal(here, one.demand.body, at, one.word)
            case _:
                pass

    def _inside(self, here: _Here, demand: Members | Elements) -> _Here | None:
        """Descend to a member or item that may violate the demand."""
        goal = frozenset((*here.writer, (demand, False)))
        for branch in islice(self._engine.open_branches(goal), _MAX_BRANCHES):
            found = self._member(here, demand, branch.atoms) if isinstance(demand, Members) else None
            if isinstance(demand, Elements):
                found = self._item(here, demand, branch.atoms)
            if found is not None:
                return found
        return None

    def _member(self, here: _Here, demand: Members, atoms: list[Literal]) -> _Here | None:
        contents = Contents.of(atoms)
        for case in self._cases(contents, demand):
            if not self._engine.asks(case.value) and not (case.naming and self._engine.asks(case.naming)):

                def lift(value: Any, case: Case = case) -> Iterator[Any]:
                    for made in islice(self._witness.objects(contents, 0, (case, value)), _MAX_LIFTED):
                        yield from here.lift(made)

                return self._at(here, case.value, (demand.body, False), lift)
        return None

    def _cases(self, contents: Contents, demand: Members) -> Iterator[Case]:
        name = only_name(demand.names)
        if name is not None:
            yield Case(name, (), tuple(contents.at(name)))
        for sought in contents.sought:
            if sought.names == demand.names and sought.value == ((demand.body, False),):
                yield from contents.cases(sought, self._engine.evaluator)

    def _item(self, here: _Here, demand: Elements, atoms: list[Literal]) -> _Here | None:
        shape = Shape(atoms)
        for index in shape.starts(demand.start, demand.stop):
            wanted = (*shape.at(index), (demand.body, False))
            if self._engine.asks(wanted):
                continue

            def lift(value: Any, index: int = index) -> Iterator[Any]:
                for made in islice(self._witness.arrays(shape, 0, (index, value)), _MAX_LIFTED):
                    yield from here.lift(made)

            return self._at(here, wanted, (demand.body, False), lift)
        return None

    @staticmethod
    def _at(here: _Here, value: tuple[Literal, ...], but: Literal, lift: Callable[[Any], Iterator[Any]]) -> _Here:
        writer = tuple(one for one in value if one != but)
        places = [
            demand.at for demand, wanted in writer if isinstance(demand, Schema) and wanted and demand.owner == "writer"
        ]
        return _Here(writer, min(places, key=len, default=here.writer_at), lift)

    def _finding(self, one: _Refusal, document: list[Any]) -> Finding:
        if self._formats:
            return _told(FORMAT, one, f"the {_SLOT_READER} asks for a format that the {_SLOT_WRITER} does not ask for")
        found = self._document(one) or document
        if found:
            detail = f"{shown(found[0])} is valid under the {_SLOT_WRITER} and not under the {_SLOT_READER}"
            return _told(check_of(one.word), one, detail)
        undecided = f"there is no proof that the {_SLOT_READER} admits all that the {_SLOT_WRITER} admits"
        return _told(UNDECIDED, one, f"{undecided}: {self._reason(one)}")

    def _document(self, one: _Refusal) -> list[Any]:
        """Return a whole document that the writer admits and the reader rejects at this position."""
        for value in self._witness.value((*one.here.writer, (one.demand, False))):
            for made in islice(one.here.lift(value), _MAX_LIFTED):
                if self._witness.holds(made, self._goal):
                    return [made]
        return []

    def _reason(self, one: _Refusal) -> str:
        """Return the reason why the proof failed."""
        goal = frozenset((*one.here.writer, (one.demand, False)))
        for branch in islice(self._engine.open_branches(goal), _MAX_BRANCHES):
            for demand, _ in branch.literals:
                if isinstance(demand, Unknown):
                    return demand.reason
                if isinstance(demand, Pattern) and automaton(demand.text) is None:
                    return f"the pattern {shown(demand.text)} is not regular"
        return "no document was found that shows the opposite"


_MEND_WRITER: Final = "narrow the schema, so that nothing is valid here that the earlier version refuses"
_SLOT_READER: Final = "\0reader\0"
_SLOT_WRITER: Final = "\0writer\0"


def _told(check: ExactCheck, one: _Refusal, sentence: str) -> Finding:
    detail = sentence.replace(_SLOT_READER, "reader").replace(_SLOT_WRITER, "writer")
    text = f"{check.title} (path '{one.at or '/'}'): {sentence}".replace("{", "{{").replace("}", "}}")
    message = text.replace(_SLOT_READER, "{reader} schema").replace(_SLOT_WRITER, "{writer} schema")
    return Finding(check.id, one.at, one.here.writer_at, detail, message, check.mend, _MEND_WRITER)
