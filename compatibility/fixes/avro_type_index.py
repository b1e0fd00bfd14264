"""Types of an Avro schema text, at their positions in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contractlog.compatibility.avro.types import NAMED_TYPES, PRIMITIVES
from contractlog.compatibility.fixes.json_text_edits import JsonSource, JsonSpan
from contractlog.compatibility.json_text import join_pointer

__all__ = ["TypeIndex", "TypeOccurrence", "find_earlier_field", "list_field_names"]


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
