"""The two texts of an Avro finding: their types, and the transfer of a type from one to the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from contractlog.compatibility.avro.types import NAMED_TYPES, PRIMITIVES, short_name
from contractlog.compatibility.fixes.json_text_edits import (
    Edit,
    JsonSource,
    JsonSpan,
    abbreviate,
    apply_edits,
    fit_layout,
)
from contractlog.compatibility.fixes.proposed_fix import FixContext, ProposedFix
from contractlog.compatibility.json_text import join_pointer, quote_json

__all__ = [
    "AvroTextPair",
    "TypeIndex",
    "TypeOccurrence",
    "adapt_range",
    "adapt_type",
    "add_alias",
    "list_field_names",
    "list_names",
]

_FIELD: Final = re.compile(r"(?s)(.*/fields/\d+)/type(?:/.*)?")


@dataclass(frozen=True, slots=True)
class TypeOccurrence:
    """A type at its position in a schema text: a definition, a use, or an unnamed type."""

    at: str
    span: JsonSpan
    namespace: str  #: the enclosing namespace
    name: str = ""  #: full name that it defines or uses; empty for types without a name
    defines: bool = False

    @property
    def is_union(self) -> bool:
        """True if the type is written as a list of branches."""
        return self.span.is_list

    def within(self, start: int, end: int) -> bool:
        """Return True if the type lies within a range of the text."""
        return start <= self.span.start and self.span.end <= end


class TypeIndex:
    """All types of a schema text, in textual order."""

    def __init__(self, text: str, beside: Iterable[str] = ()) -> None:
        self.source = JsonSource(text)
        self._others = [TypeIndex(other) for other in beside]
        self.dependency_names = frozenset(name for other in self._others for name in other.defined_names())
        self._own: set[str] = set()
        occurrences = list(self._type_occurrences(self.source.root, "", ""))
        self._own = {occurrence.name for occurrence in occurrences if occurrence.defines}
        self.all = [self._resolve_name(occurrence) for occurrence in occurrences]
        self._by_pointer = {occurrence.at: occurrence for occurrence in self.all}

    def at(self, pointer: str) -> TypeOccurrence | None:
        """Return the type at a JSON Pointer."""
        return self._by_pointer.get(pointer)

    def union_around(self, occurrence: TypeOccurrence) -> TypeOccurrence | None:
        """Return the union that has the type as a branch."""
        enclosing = self.at(occurrence.at.rpartition("/")[0]) if occurrence.at else None
        return enclosing if enclosing is not None and enclosing.is_union else None

    def defined_names(self, *, outside: tuple[int, int] = (0, 0)) -> set[str]:
        """Return the full names defined in this text, except within a range of it."""
        return {occurrence.name for occurrence in self.all if occurrence.defines and not occurrence.within(*outside)}

    def definition(self, name: str) -> TypeOccurrence | None:
        """Return the definition of a name in this text."""
        return next((occurrence for occurrence in self.all if occurrence.defines and occurrence.name == name), None)

    def find_definition(self, name: str) -> tuple[TypeIndex, TypeOccurrence] | None:
        """Return the definition of a name in this text or its dependencies, with the text."""
        for types in (self, *self._others):
            definition = types.definition(name)
            if definition is not None:
                return types, definition
        return None

    def occurrences(self, occurrence: TypeOccurrence) -> list[TypeOccurrence]:
        """Return a type and, for a definition, every other use of it, since engines treat them alike."""
        if not occurrence.defines:
            return [occurrence]
        return [occurrence, *(other for other in self.all if other.name == occurrence.name and other is not occurrence)]

    def _type_occurrences(self, span: JsonSpan, at: str, namespace: str) -> Iterator[TypeOccurrence]:
        name = self.source.string(span)
        if span.is_list:
            yield TypeOccurrence(at, span, namespace)
            for index, branch in enumerate(span.values):
                yield from self._type_occurrences(branch, join_pointer(at, index), namespace)
        elif name is not None:
            yield TypeOccurrence(at, span, namespace, "" if name in PRIMITIVES else name)
        elif span.is_object:
            yield from self._object_occurrences(span, at, namespace)

    def _object_occurrences(self, span: JsonSpan, at: str, namespace: str) -> Iterator[TypeOccurrence]:
        kind = self.source.string(span.member("type")) or ""
        part = {"array": "items", "map": "values"}.get(kind)
        inner = None if part is None else span.member(part)
        if kind in NAMED_TYPES:
            yield from self._definition_occurrences(span, at, namespace)
        elif part is not None and inner is not None:
            yield TypeOccurrence(at, span, namespace)
            yield from self._type_occurrences(inner, join_pointer(at, part), namespace)
        else:
            yield TypeOccurrence(at, span, namespace, "" if kind in PRIMITIVES else kind)

    def _definition_occurrences(self, span: JsonSpan, at: str, enclosing_namespace: str) -> Iterator[TypeOccurrence]:
        name = self.source.string(span.member("name")) or ""
        namespace, dot, short = name.rpartition(".")
        if not dot:
            written_namespace = self.source.string(span.member("namespace"))
            namespace = enclosing_namespace if written_namespace is None else written_namespace
        yield TypeOccurrence(
            at, span, enclosing_namespace, f"{namespace}.{short}" if namespace else short, defines=True
        )
        fields = span.member("fields")
        for index, field in enumerate(fields.values if fields is not None else ()):
            inner = field.member("type")
            if inner is not None:
                yield from self._type_occurrences(inner, join_pointer(at, "fields", index, "type"), namespace)

    def _resolve_name(self, occurrence: TypeOccurrence) -> TypeOccurrence:
        """Resolve the name of a use: a type in the enclosing namespace, else one without namespace."""
        if occurrence.defines or not occurrence.name or "." in occurrence.name or not occurrence.namespace:
            return occurrence
        full = f"{occurrence.namespace}.{occurrence.name}"
        elsewhere = occurrence.name in self._own or occurrence.name in self.dependency_names
        if full not in self._own and full not in self.dependency_names and elsewhere:
            return occurrence
        return TypeOccurrence(occurrence.at, occurrence.span, occurrence.namespace, full)


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
