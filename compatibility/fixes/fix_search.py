"""Suggested fixes: small changes of a candidate's text that remove a finding, verified by the engine.

A format proposes possible fixes; each is applied to the text, which is then parsed and compared again. A fix is offered
if the finding disappears and no new one appears. Undoing the change is one of the proposals, and fixes that are no
larger than the undo are offered first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import find_differences
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.finding_positions import candidate_pointer
from contractlog.compatibility.fixes.json_text_edits import OverlappingEdits, apply_edits, count_changed_tokens
from contractlog.compatibility.fixes.proposed_fix import FixContext, ProposedFix
from contractlog.compatibility.formats import FORMATS, parse_schema, select_breaking
from contractlog.compatibility.json_positions import split_pointer
from contractlog.compatibility.level import Direction
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.compatibility.step_budget import StepBudget

__all__ = ["MAX_STEPS", "Fix", "FixSearch"]

_MAX_TRIED: Final = 40
_MAX_OFFERED: Final = 3
_MAX_TEXT_LENGTH: Final = 200_000  #: longest text for which fixes are searched
_MAX_PARSED_CHARACTERS: Final = 1_500_000  #: characters of changed texts parsed per trial; bounds the work reproducibly
_CHARACTERS_PER_STEP: Final = 40  #: parsed characters that count as one step
MAX_STEPS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Fix:
    """A fix: a change of the candidate that removes a finding."""

    sentence: str
    text: str  #: the whole text after the change


class _FindingKey(NamedTuple):
    """Identity of a finding that does not depend on the candidate's text."""

    version: int
    direction: Direction
    check: str
    earlier_at: str


@dataclass(slots=True, kw_only=True)
class FixSearch:
    """Search for fixes: a candidate, the version it was compared with, and the conditions for a fix."""

    text: str  #: the candidate's text as submitted; pointers refer to it
    candidate: ParsedSchema
    earlier_text: str
    earlier: ParsedSchema
    directions: Sequence[Direction]  #: the requested directions; a fix adds no finding in any of them
    policy: Policy = Policy.STRICT
    additional_checks: frozenset[str] = (
        frozenset()
    )  #: ids of checks that break compatibility in addition to those of the policy
    other_versions: Sequence[ParsedSchema] = ()  #: other versions; a fix adds no finding against them either
    steps: StepBudget = field(
        default_factory=lambda: StepBudget(MAX_STEPS)
    )  #: shared by all that the trial parses and compares
    _before: dict[frozenset[Direction], Counter[_FindingKey]] = field(default_factory=dict)
    _parsed_characters: int = 0

    def find_fixes(self, finding: Finding, direction: Direction) -> tuple[Fix, ...]:
        """Return the fixes for a finding, the best one first; none once the steps are used up."""
        if self.steps.allow(1) < 1:
            return ()
        return tuple(islice(self._verified_fixes(finding, direction), _MAX_OFFERED))

    def _verified_fixes(self, finding: Finding, direction: Direction) -> Iterator[Fix]:
        """Yield the working fixes: first those no larger than the smallest working undo, each group by rank."""
        context = self._make_context(finding, direction)
        if context is None:
            return
        self._charge(len(self.text) + len(self.earlier_text))
        proposals = self._apply_proposals(FORMATS[self.candidate.type].propose_fixes(context))
        sizes = {text: count_changed_tokens(self.text, text) for text in proposals}
        by_size = sorted(proposals, key=lambda text: (sizes[text], proposals[text].rank))
        tried: dict[str, bool] = {}

        def works(text: str) -> bool:
            if text not in tried:
                tried[text] = self._verify(text, finding, direction)
            return tried[text]

        undo_size = next((sizes[text] for text in by_size if proposals[text].undo and works(text)), 0)
        for text in sorted(by_size, key=lambda text: (sizes[text] > undo_size, proposals[text].rank)):
            if works(text):
                yield Fix(proposals[text].sentence, text)

    def _make_context(self, finding: Finding, direction: Direction) -> FixContext | None:
        """Return the input for the format's fixes; None if the candidate's own text is not what needs a fix."""
        same_type = self.candidate.type is self.earlier.type
        if not same_type or max(len(self.text), len(self.earlier_text)) > _MAX_TEXT_LENGTH:
            return None
        reference_name, at = split_pointer(candidate_pointer(finding, direction))
        backward = direction is Direction.BACKWARD
        name, earlier_at = split_pointer(finding.writer_at if backward else finding.reader_at)
        earlier_text = self.earlier.referenced.get(name) if name else self.earlier_text
        if reference_name or earlier_text is None:
            return None
        return FixContext(
            finding=finding,
            backward=backward,
            text=self.text,
            at=at,
            earlier_text=earlier_text,
            earlier_at=earlier_at,
            dependency_texts=tuple(self.candidate.referenced.values()),
            earlier_other_texts=tuple(
                text for other, text in (("", self.earlier_text), *self.earlier.referenced.items()) if other != name
            ),
        )

    def _apply_proposals(self, proposals: Iterable[ProposedFix]) -> dict[str, ProposedFix]:
        """Return the texts that the proposed fixes produce; the first of several with the same text wins."""
        texts: dict[str, ProposedFix] = {}
        for proposal in islice(proposals, _MAX_TRIED):
            try:
                texts.setdefault(apply_edits(self.text, proposal.edits), proposal)
                self._charge(len(self.text))
            except OverlappingEdits:
                continue
        texts.pop(self.text, None)
        return texts

    def _charge(self, characters: int) -> None:
        self.steps.spend(characters // _CHARACTERS_PER_STEP)

    def _verify(self, text: str, finding: Finding, direction: Direction) -> bool:
        self._parsed_characters += len(text)
        if self._parsed_characters > _MAX_PARSED_CHARACTERS or self.steps.allow(1) < 1:
            return False
        self._charge(len(text))
        try:
            draft = SchemaDraft(text, self.candidate.type, self.candidate.references)
            fixed = parse_schema(draft, self.candidate.referenced, strict=True)
        except InvalidSchema:
            return False
        directions = frozenset((*self.directions, direction))
        if directions not in self._before:
            self._before[directions] = self._findings(self.candidate, directions)
        before, after = self._before[directions], self._findings(fixed, directions)
        key = _finding_key(0, finding, direction)
        return after[key] < before[key] and after <= before

    def _findings(self, candidate: ParsedSchema, directions: frozenset[Direction]) -> Counter[_FindingKey]:
        return Counter(
            _finding_key(number, finding, direction)
            for number, earlier in enumerate((self.earlier, *self.other_versions))
            for direction in directions
            for finding in select_breaking(
                find_differences(candidate, earlier, direction, self.policy, self.additional_checks, steps=self.steps),
                self.policy,
                self.additional_checks,
            )
        )


def _finding_key(version: int, finding: Finding, direction: Direction) -> _FindingKey:
    earlier_at = finding.writer_at if direction is Direction.BACKWARD else finding.reader_at
    return _FindingKey(version, direction, finding.check, earlier_at)
