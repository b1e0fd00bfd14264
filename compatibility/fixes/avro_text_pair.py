"""The two texts of an Avro finding, indexed by type, and helpers shared by all fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from contractlog.compatibility.fixes.avro_type_index import (
    TypeIndex,
    TypeOccurrence,
    adapt_type,
    enclosing_field_pointer,
    replace_type,
)
from contractlog.compatibility.fixes.edits import JsonSource, JsonSpan
from contractlog.compatibility.fixes.proposal import FixContext, ProposedFix
from contractlog.compatibility.json_text import quote_json

__all__ = ["AvroTextPair", "abbreviate", "list_field_names", "list_names"]

_MAX_OCCURRENCES: Final = 5
_MAX_LISTED: Final = 5
_MAX_WIDTH: Final = 60


class AvroTextPair:
    """The two texts of a case, indexed by type."""

    def __init__(self, context: FixContext) -> None:
        self.case = context
        self.backward = context.backward
        self.at, self.earlier_at = context.at, context.earlier_at
        self.candidate_types = TypeIndex(context.text, context.dependency_texts)
        self.earlier_types = TypeIndex(context.earlier_text, context.earlier_other_texts)

    @cached_property
    def candidate_span(self) -> JsonSpan | None:
        """The value in the candidate that the finding points to."""
        return self.candidate_types.source.find(self.at)

    @cached_property
    def earlier_span(self) -> JsonSpan | None:
        """The value in the earlier text that the finding points to."""
        return self.earlier_types.source.find(self.earlier_at)

    def occurrences(self) -> list[TypeOccurrence]:
        """Return the candidate's type: its definition and its uses."""
        occurrence = self.candidate_types.at(self.at)
        return [] if occurrence is None else self.candidate_types.occurrences(occurrence)[:_MAX_OCCURRENCES]

    def earlier_occurrences(self) -> list[TypeOccurrence]:
        """Return the earlier type, alone and as the union that contains it."""
        occurrence = self.earlier_types.at(self.earlier_at)
        occurrences = [] if occurrence is None else self.earlier_types.occurrences(occurrence)[:_MAX_OCCURRENCES]
        unions = [union for union in map(self.earlier_types.union_around, occurrences) if union is not None]
        return [*occurrences[:1], *unions]

    def adapt_earlier(self, earlier_occurrence: TypeOccurrence, occurrence: TypeOccurrence) -> str:
        """Return the text of an earlier type adapted to a position in the candidate."""
        return adapt_type(
            earlier_occurrence, self.earlier_types, self.candidate_types, occurrence.namespace, occurrence.span
        )

    def propose_restore(
        self, occurrence: TypeOccurrence, earlier_occurrence: TypeOccurrence, *, rank: int = 1
    ) -> Iterator[ProposedFix]:
        """Replace a type of the candidate by an earlier one."""
        text = self.adapt_earlier(earlier_occurrence, occurrence)
        sentence = f"set the type back to {abbreviate(text)}"
        yield from self.with_default_variants(
            ProposedFix(sentence, replace_type(occurrence, text, self.candidate_types), undo=True, rank=rank),
            occurrence.at,
        )

    def with_default_variants(self, fix: ProposedFix, at: str) -> Iterator[ProposedFix]:
        """Yield a fix unchanged, and with the default of the enclosing field restored or removed."""
        yield fix
        at_field = enclosing_field_pointer(at)
        field = None if at_field is None else self.candidate_types.source.find(at_field)
        if field is None or field.member("default") is None:
            return
        name = self.candidate_types.source.string(field.member("name"))
        same_place = self.earlier_types.source.find(at_field or "")
        same = same_place is not None and self.earlier_types.source.string(same_place.member("name")) == name
        earlier_field_span = same_place if same else find_earlier_field(self.earlier_types, name)
        default = None if earlier_field_span is None else earlier_field_span.member("default")
        if default is not None:
            text = self.earlier_types.source.slice(default)
            edit = self.candidate_types.source.set_member(field, "default", text)
            yield ProposedFix(
                f"{fix.sentence}, and the default to {abbreviate(text)}", (*fix.edits, edit), fix.undo, fix.rank
            )
        edits = self.candidate_types.source.remove_member(field, "default")
        yield ProposedFix(f"{fix.sentence}, without the default", (*fix.edits, *edits), fix.undo, fix.rank)


def list_field_names(source: JsonSource, record: JsonSpan | None) -> list[str]:
    """Return the names of a record's fields."""
    fields = None if record is None else record.member("fields")
    return [] if fields is None else [source.string(field.member("name")) or "" for field in fields.values]


def find_earlier_field(types: TypeIndex, name: str | None) -> JsonSpan | None:
    """Return the first field of that name in any record; a wrong one is harmless, as fixes are verified."""
    for occurrence in types.all:
        fields = occurrence.span.member("fields") if occurrence.defines else None
        for field in fields.values if fields is not None else ():
            if types.source.string(field.member("name")) == name:
                return field
    return None


def abbreviate(text: str) -> str:
    """Return a part of a text for a sentence, on one line and abbreviated."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_WIDTH else f"{line[: _MAX_WIDTH - 1]}…"


def list_names(noun: str, names: Sequence[str]) -> str:
    """Return a noun with a list of names, abbreviated."""
    listed = ", ".join(map(quote_json, names[:_MAX_LISTED]))
    return f"{noun}{'s' if len(names) > 1 else ''} {listed}{', …' if len(names) > _MAX_LISTED else ''}"
