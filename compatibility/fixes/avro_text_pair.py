"""The two texts of an Avro finding, and the transfer of a type from one to the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from contractlog.compatibility.avro.types import short_name
from contractlog.compatibility.fixes.avro_type_index import TypeIndex, TypeOccurrence, find_earlier_field
from contractlog.compatibility.fixes.json_text_edits import (
    Edit,
    JsonSource,
    JsonSpan,
    abbreviate,
    apply_edits,
    fit_layout,
)
from contractlog.compatibility.fixes.proposed_fix import FixContext, ProposedFix
from contractlog.compatibility.json_text import quote_json

__all__ = [
    "AvroTextPair",
    "adapt_range",
    "adapt_type",
    "add_alias",
    "list_names",
]

_FIELD: Final = re.compile(r"(?s)(.*/fields/\d+)/type(?:/.*)?")


def enclosing_field_pointer(at: str) -> str | None:
    """Return the pointer of the innermost field whose type contains a pointer."""
    match = _FIELD.fullmatch(at)
    return None if match is None else match[1]


def adapt_type(occurrence: TypeOccurrence, origin: TypeIndex, target: TypeIndex, namespace: str, span: JsonSpan) -> str:
    """Return the text of a type adapted to a position in another text.

    Types already defined there are written as names, and all others are defined inline.

    Args:
        occurrence: the type, in its own text.
        origin: its own text.
        target: the other text.
        namespace: the enclosing namespace in the other text.
        span: the value to replace; definitions inside it do not count as defined there.
    """
    defined = target.defined_names(outside=(span.start, span.end)) | target.dependency_names
    text = _copy_type(occurrence, origin, namespace, defined)
    return fit_layout(text, origin.source, occurrence.span.start, target.source, span.start)


def adapt_range(span: JsonSpan, namespace: str, origin: TypeIndex, target: TypeIndex, target_namespace: str) -> str:
    """Return any range of a schema text that contains types, such as a field, adapted to another text."""
    defined = target.defined_names() | target.dependency_names
    edits = list(_adapting_edits(span, namespace, origin, target_namespace, defined))
    return _slice_edited(origin.source, span, edits)


def replace_type(occurrence: TypeOccurrence, text: str, target: TypeIndex) -> list[Edit]:
    """Return the edits that replace a type; a definition in it that is still used moves to its first use."""
    edits = [JsonSource.replace(occurrence.span, text)]
    bounds = (occurrence.span.start, occurrence.span.end)
    defined_in_text = set(re.findall(r'"name"\s*:\s*"([^"\\]+)"', text))
    moved: set[str] = set()
    for use in target.all:
        if not use.name or use.defines or use.within(*bounds) or use.name in moved:
            continue
        definition = target.definition(use.name)
        if definition is None or not definition.within(*bounds) or {use.name, short_name(use.name)} & defined_in_text:
            continue
        moved |= {other.name for other in target.all if other.defines and other.within(*_range_of(definition))}
        edits.append(JsonSource.replace(use.span, _copy_type(definition, target, use.namespace, set())))
    return edits


def _range_of(occurrence: TypeOccurrence) -> tuple[int, int]:
    return occurrence.span.start, occurrence.span.end


def _copy_type(occurrence: TypeOccurrence, origin: TypeIndex, namespace: str, defined: set[str]) -> str:
    return _slice_edited(
        origin.source,
        occurrence.span,
        list(_adapting_edits(occurrence.span, occurrence.namespace, origin, namespace, defined)),
    )


def _adapting_edits(
    span: JsonSpan, namespace: str, origin: TypeIndex, target_namespace: str, defined: set[str]
) -> Iterator[Edit]:
    """Yield the edits of a range after which its names have the same meaning elsewhere."""
    handled_end = definition_end = -1
    for occurrence in origin.all:
        if not occurrence.name or not occurrence.within(span.start, span.end) or occurrence.span.start < handled_end:
            continue
        enclosing_namespace = occurrence.namespace if occurrence.span.start < definition_end else target_namespace
        if occurrence.defines and occurrence.name not in defined:
            defined.add(occurrence.name)
            if occurrence.span.start >= definition_end:
                yield from _qualify_definition(occurrence, origin.source, namespace, target_namespace)
                definition_end = occurrence.span.end
            continue
        handled_end = occurrence.span.end
        if occurrence.name in defined:
            if occurrence.defines or enclosing_namespace != occurrence.namespace:
                yield JsonSource.replace(occurrence.span, json.dumps(occurrence.name))
            continue
        definition = origin.find_definition(occurrence.name)
        if definition is not None:
            yield JsonSource.replace(
                occurrence.span, _copy_type(definition[1], definition[0], enclosing_namespace, defined)
            )


def _qualify_definition(
    occurrence: TypeOccurrence, source: JsonSource, namespace: str, target_namespace: str
) -> Iterator[Edit]:
    """Qualify the name of a definition if the enclosing namespace differs."""
    name = occurrence.span.member("name")
    inherits = occurrence.span.member("namespace") is None and "." not in (source.string(name) or "")
    if namespace != target_namespace and inherits and name is not None:
        if "." in occurrence.name:
            yield JsonSource.replace(name, json.dumps(occurrence.name))
        else:
            yield source.set_member(occurrence.span, "namespace", '""', after="name")


def _slice_edited(source: JsonSource, span: JsonSpan, edits: list[Edit]) -> str:
    shifted = [Edit(edit.start - span.start, edit.end - span.start, edit.text) for edit in edits]
    return apply_edits(source.slice(span), shifted)


_MAX_OCCURRENCES: Final = 5
_MAX_LISTED: Final = 5


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


def add_alias(source: JsonSource, definition: JsonSpan, alias: str) -> Edit:
    """Return the edit that gives a named type or a field one more alias."""
    aliases, text = definition.member("aliases"), json.dumps(alias)
    if aliases is None or not aliases.is_list:
        return source.set_member(definition, "aliases", f"[{text}]", after="name")
    return source.insert(aliases, len(aliases.values), text)


def list_names(noun: str, names: Sequence[str]) -> str:
    """Return a noun with a list of names, abbreviated."""
    listed = ", ".join(map(quote_json, names[:_MAX_LISTED]))
    return f"{noun}{'s' if len(names) > 1 else ''} {listed}{', …' if len(names) > _MAX_LISTED else ''}"
