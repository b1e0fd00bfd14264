"""Suggested fixes: small changes of a candidate's text that remove a finding, verified by the engine.

A format proposes possible fixes; each is applied to the text, which is then parsed and compared again. A fix is offered
if the finding disappears and no new one appears. Undoing the change is one of the proposals, and fixes that are no
larger than the undo are offered first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.judge import differences
from contractlog.compatibility.level import Direction
from contractlog.compatibility.mending.avro import avro_ways
from contractlog.compatibility.mending.edits import Overlap, applied, difference
from contractlog.compatibility.mending.json_schema import json_ways
from contractlog.compatibility.mending.ways import Case, Way
from contractlog.compatibility.parsing import parse
from contractlog.compatibility.policy import Policy, breaking
from contractlog.compatibility.positions import candidate_at, split
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.steps import Steps

__all__ = ["MOST_STEPS", "Mend", "Trial", "mend"]

_MOST_TRIED: Final = 40
_MOST_OFFERED: Final = 3
_MOST_CHARACTERS: Final = 200_000  #: longest text for which fixes are searched
_MOST_READ: Final = 1_500_000  #: characters of changed texts parsed per trial; bounds the work reproducibly
_CHARACTERS: Final = 40  #: parsed characters that count as one step
MOST_STEPS: Final = 1_000_000
_WAYS: Final[Mapping[SchemaType, Callable[[Case], Iterable[Way]]]] = {
    SchemaType.AVRO: avro_ways,
    SchemaType.JSON: json_ways,
}


@dataclass(frozen=True, slots=True)
class Mend:
    """A fix: a change of the candidate that removes a finding."""

    sentence: str
    text: str  #: the whole text after the change


class _Where(NamedTuple):
    """Identity of a finding that does not depend on the candidate's text."""

    version: int
    direction: Direction
    check: str
    earlier_at: str


@dataclass(slots=True, kw_only=True)
class Trial:
    """Search for fixes: a candidate, the version it was compared with, and the conditions for a fix."""

    text: str  #: the candidate's text as submitted; pointers refer to it
    candidate: ParsedSchema
    earlier_text: str
    earlier: ParsedSchema
    directions: Sequence[Direction]  #: the requested directions; a fix adds no finding in any of them
    policy: Policy = Policy.STRICT
    also: frozenset[str] = frozenset()  #: ids of checks that break compatibility in addition to those of the policy
    beside: Sequence[ParsedSchema] = ()  #: other versions; a fix adds no finding against them either
    steps: Steps = field(default_factory=lambda: Steps(MOST_STEPS))  #: shared by all that the trial parses and compares
    _before: dict[frozenset[Direction], Counter[_Where]] = field(default_factory=dict)
    _read: int = 0

    def mends(self, finding: Finding, direction: Direction) -> tuple[Mend, ...]:
        """Return the fixes for a finding, the best one first; none once the steps are used up."""
        if self.steps.allow(1) < 1:
            return ()
        return tuple(islice(self._mends(finding, direction), _MOST_OFFERED))

    def _mends(self, finding: Finding, direction: Direction) -> Iterator[Mend]:
        """Yield the working fixes: first those no larger than the smallest working undo, each group by rank."""
        case = self._case(finding, direction)
        if case is None:
            return
        self._count(len(self.text) + len(self.earlier_text))
        ways = self._applied(_WAYS[self.candidate.type](case))
        sizes = {text: difference(self.text, text) for text in ways}
        by_size = sorted(ways, key=lambda text: (sizes[text], ways[text].rank))
        tried: dict[str, bool] = {}

        def works(text: str) -> bool:
            if text not in tried:
                tried[text] = self._works(text, finding, direction)
            return tried[text]

        undoing = next((sizes[text] for text in by_size if ways[text].undo and works(text)), 0)
        for text in sorted(by_size, key=lambda text: (sizes[text] > undoing, ways[text].rank)):
            if works(text):
                yield Mend(ways[text].sentence, text)

    def _case(self, finding: Finding, direction: Direction) -> Case | None:
        """Return the input for the format's fixes; None if the candidate's own text is not what needs a fix."""
        same_type = self.candidate.type is self.earlier.type
        if not same_type or max(len(self.text), len(self.earlier_text)) > _MOST_CHARACTERS:
            return None
        leaned_on, at = split(candidate_at(finding, direction))
        backward = direction is Direction.BACKWARD
        name, there = split(finding.writer_at if backward else finding.reader_at)
        earlier_text = self.earlier.referenced.get(name) if name else self.earlier_text
        if leaned_on or earlier_text is None:
            return None
        return Case(
            finding=finding,
            backward=backward,
            text=self.text,
            at=at,
            earlier_text=earlier_text,
            there=there,
            beside=tuple(self.candidate.referenced.values()),
            earlier_beside=tuple(
                text for other, text in (("", self.earlier_text), *self.earlier.referenced.items()) if other != name
            ),
        )

    def _applied(self, ways: Iterable[Way]) -> dict[str, Way]:
        """Return the texts that the proposed fixes produce; the first of several with the same text wins."""
        texts: dict[str, Way] = {}
        for way in islice(ways, _MOST_TRIED):
            try:
                texts.setdefault(applied(self.text, way.edits), way)
                self._count(len(self.text))
            except Overlap:
                continue
        texts.pop(self.text, None)
        return texts

    def _count(self, characters: int) -> None:
        self.steps.spend(characters // _CHARACTERS)

    def _works(self, text: str, finding: Finding, direction: Direction) -> bool:
        self._read += len(text)
        if self._read > _MOST_READ or self.steps.allow(1) < 1:
            return False
        self._count(len(text))
        try:
            draft = SchemaDraft(text, self.candidate.type, self.candidate.references)
            mended = parse(draft, self.candidate.referenced, strict=True)
        except InvalidSchema:
            return False
        directions = frozenset((*self.directions, direction))
        if directions not in self._before:
            self._before[directions] = self._findings(self.candidate, directions)
        before, after = self._before[directions], self._findings(mended, directions)
        key = _key(0, finding, direction)
        return after[key] < before[key] and after <= before

    def _findings(self, candidate: ParsedSchema, directions: frozenset[Direction]) -> Counter[_Where]:
        return Counter(
            _key(number, finding, direction)
            for number, earlier in enumerate((self.earlier, *self.beside))
            for direction in directions
            for finding in breaking(
                differences(candidate, earlier, direction, self.policy, self.also, steps=self.steps),
                self.policy,
                self.also,
            )
        )


def mend(
    candidate_text: str,
    finding: Finding,
    candidate: ParsedSchema,
    earlier: ParsedSchema,
    direction: Direction,
    *,
    earlier_text: str | None = None,
    policy: Policy = Policy.STRICT,
    also: frozenset[str] = frozenset(),
) -> Mend | None:
    """Return the best fix for a finding; None if none was found.

    Without ``earlier_text`` the canonical text of the earlier version is used, as registries store it.
    """
    text = earlier.canonical if earlier_text is None else earlier_text
    trial = Trial(
        text=candidate_text,
        candidate=candidate,
        earlier_text=text,
        earlier=earlier,
        directions=(direction,),
        policy=policy,
        also=also,
    )
    return next(iter(trial.mends(finding, direction)), None)


def _key(version: int, finding: Finding, direction: Direction) -> _Where:
    earlier_at = finding.writer_at if direction is Direction.BACKWARD else finding.reader_at
    return _Where(version, direction, finding.check, earlier_at)
