"""Equivalence of JSON schemas that differ only in whether their references are inlined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.parser import JsonSchema
from contractlog.compatibility.json_schema.reference_resolver import Documents, SchemaPosition
from contractlog.compatibility.json_schema.vocabulary import (
    DATA_KEYWORDS,
    DEFINITION_KEYWORDS,
    DYNAMIC_REFERENCES,
    IDENTITY_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
)
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["MAX_PAIRS", "is_same_inlined"]

MAX_PAIRS: Final = 200_000  #: maximum number of compared pairs of positions
_DOCUMENT_KEYWORDS: Final = IDENTITY_KEYWORDS.union(DEFINITION_KEYWORDS)  #: dropped when a schema is inlined
Pair = tuple["_Position", "_Position"]


def is_same_inlined(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Return True if two schemas have the same content with all references inlined.

    An inlined schema replaces the ``$ref``, or is among the schema's own definitions.

    Raises:
        InvalidSchema: there is too much to compare.
    """
    return _have_equal_content(_Side(first), _Side(second))


@dataclass(frozen=True, slots=True)
class _Position:
    """A value of one side at its position."""

    target: SchemaPosition
    is_schema: bool = True

    @property
    def key(self) -> tuple[str, str, bool]:
        return self.target.context.text, self.target.location, self.is_schema


class _Side:
    """One of the two schemas, with access to its dependencies."""

    def __init__(self, parsed: ParsedSchema) -> None:
        schema: JsonSchema = parsed.root
        self.draft = schema.draft
        self.documents = Documents(schema, parsed.referenced)

    def follow_references(self, position: _Position) -> _Position | None:
        """Follow references to the first other value; None for an unresolvable or circular reference."""
        visited: set[tuple[str, str, bool]] = set()
        while position.is_schema and (reference := _find_reference(position.target)) is not None:
            target = self.documents.follow(reference, position.target.context)
            if target is None or position.key in visited:
                return None
            visited.add(position.key)
            position = _Position(target)
        return position

    def members(self, position: _Position) -> dict[str, _Position]:
        """Return the members of an object that are to be compared."""
        target = position.target
        context = (
            self.documents.context_within(target.contents, target.context) if position.is_schema else target.context
        )
        is_inlined_root = target.context.text and target.location.endswith("#")
        excluded = (_DOCUMENT_KEYWORDS if is_inlined_root else DEFINITION_KEYWORDS) if position.is_schema else ()
        return {
            keyword: self.member(replace(target, context=context), keyword, position)
            for keyword in target.contents
            if keyword not in excluded
        }

    def member(self, target: SchemaPosition, keyword: str, parent: _Position) -> _Position:
        member = target.child(keyword)
        if parent.is_schema and keyword == "$ref" and isinstance(member.contents, str):
            referenced = self.documents.follow(member.contents, target.context)
            if referenced is not None:
                return _Position(referenced)
        return _Position(member, is_schema=not (parent.is_schema and keyword in SCHEMA_MAP_KEYWORDS))


def _have_equal_content(first_side: _Side, second_side: _Side) -> bool:
    """Compare position by position, each pair once, so recursive schemas terminate."""
    if first_side.draft is not second_side.draft:
        return False
    pending: list[Pair] = [(_Position(first_side.documents.root()), _Position(second_side.documents.root()))]
    visited: set[Any] = set()
    while pending:
        first, second = (
            side.follow_references(position)
            for side, position in zip((first_side, second_side), pending.pop(), strict=True)
        )
        if first is None or second is None:
            return False
        if (first.key, second.key) in visited:
            continue
        visited.add((first.key, second.key))
        if len(visited) > MAX_PAIRS:
            raise InvalidSchema(f"written out, the schema has more than {MAX_PAIRS} places", at="")
        pairs = _pairs_below(first_side, first, second_side, second)
        if pairs is None:
            return False
        pending += pairs
    return True


def _pairs_below(first_side: _Side, first: _Position, second_side: _Side, second: _Position) -> list[Pair] | None:
    """Return the pairs that remain to be compared below two positions; None if these differ."""
    match first.target.contents, second.target.contents:
        case dict(), dict():
            first_content, second_content = first_side.members(first), second_side.members(second)
            if first_content.keys() != second_content.keys() or (
                first.is_schema and not first_content.keys().isdisjoint(DYNAMIC_REFERENCES)
            ):
                return None
            data_keywords = {keyword for keyword in first_content if first.is_schema and keyword in DATA_KEYWORDS}
            if any(
                first_content[keyword].target.contents != second_content[keyword].target.contents
                for keyword in data_keywords
            ):
                return None
            return [
                (first_content[keyword], second_content[keyword])
                for keyword in first_content
                if keyword not in data_keywords
            ]
        case list() as first_items, list() as second_items if len(first_items) == len(second_items):
            return [
                (_Position(first.target.child(n)), _Position(second.target.child(n))) for n in range(len(first_items))
            ]
        case first_content, second_content:
            return [] if type(first_content) is type(second_content) and first_content == second_content else None


def _find_reference(target: SchemaPosition) -> str | None:
    contents = target.contents
    reference = contents.get("$ref") if isinstance(contents, dict) else None
    alone = target.context.draft.up_to_7 or (isinstance(contents, dict) and len(contents) == 1)
    return reference if isinstance(reference, str) and alone else None
