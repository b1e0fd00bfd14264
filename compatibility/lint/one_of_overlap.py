"""Check of JSON schemas for a ``oneOf`` whose branches have a value in common."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

from contractlog.compatibility.json_schema.vocabulary import (
    ANNOTATION_KEYWORDS,
    DATA_KEYWORDS,
)
from contractlog.compatibility.json_text import canonical_value, join_pointer
from contractlog.compatibility.lint.json_document import (
    JsonDocument,
    SchemaVisit,
    list_at,
    list_types,
    object_at,
)
from contractlog.compatibility.lint.rule import Problem

__all__ = ["check_one_of"]

Problems = Iterator[Problem]

_SIMPLE_KEYWORDS: Final = ANNOTATION_KEYWORDS | {
    *DATA_KEYWORDS,
    "type",
    "properties",
    "required",
    "additionalProperties",
}
_MAX_BRANCHES: Final = 20  #: of a ``oneOf`` that are compared with each other


def check_one_of(document: JsonDocument, visit: SchemaVisit) -> Problems:
    """Yield the first pair of branches that seem to share a value, which the ``oneOf`` then rejects."""
    branches = [document.resolve(branch) for branch in list_at(visit.value, "oneOf")[:_MAX_BRANCHES]]
    for (first, schema), (second, other) in combinations(enumerate(branches), 2):
        if schema is not None and other is not None and _may_overlap(document, schema, other):
            yield Problem(
                join_pointer(visit.at, "oneOf", second),
                f'a value may be valid under branches {first + 1} and {second + 1} of the "oneOf", which rejects it; '
                'give each branch a required property with its own "const"',
            )
            return


def _may_overlap(document: JsonDocument, first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return True if two schemas of types and properties seem to share a value; False if unsure."""
    if not all(list_types(schema) and schema.keys() <= _SIMPLE_KEYWORDS for schema in (first, second)):
        return False
    if _are_disjoint(first, second):
        return False
    if _broad_types(first) & _broad_types(second) != {"object"}:
        return True
    properties, other_properties = object_at(first, "properties"), object_at(second, "properties")
    if not (properties and other_properties):
        return False
    required, other_required = (
        {name for name in list_at(schema, "required") if isinstance(name, str)} for schema in (first, second)
    )
    if _rejects_any(second, required) or _rejects_any(first, other_required):
        return False
    inner = (
        (document.resolve(properties.get(name)), document.resolve(other_properties.get(name)))
        for name in required & other_required
    )
    return not any(a is None or b is None or _are_disjoint(a, b) for a, b in inner)


def _rejects_any(schema: dict[str, Any], names: set[str]) -> bool:
    return schema.get("additionalProperties", True) is not True and not names <= object_at(schema, "properties").keys()


def _are_disjoint(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return True if types or values have nothing in common, or if other keywords may keep them apart."""
    values, other_values = _allowed_values(first), _allowed_values(second)
    if values is not None and other_values is not None:
        return values.isdisjoint(other_values)
    types, other_types = _broad_types(first), _broad_types(second)
    if types and other_types and types.isdisjoint(other_types):
        return True
    if values is not None or other_values is not None:
        return False
    return not all(schema.keys() <= _SIMPLE_KEYWORDS for schema in (first, second))


def _broad_types(schema: dict[str, Any]) -> set[str]:
    """Return the types of a schema, with ``number`` for ``integer``, which it includes."""
    return {"number" if kind == "integer" else kind for kind in list_types(schema)}


def _allowed_values(schema: dict[str, Any]) -> frozenset[str] | None:
    if "const" in schema:
        return frozenset({canonical_value(schema["const"])})
    return frozenset(map(canonical_value, list_at(schema, "enum"))) if "enum" in schema else None
