"""Resolution of JSON Pointers in a JSON schema to the enclosing schemas and their keywords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.fixes.edits import JsonSource, JsonSpan
from contractlog.compatibility.json_schema.vocabulary import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS
from contractlog.compatibility.json_text import parse_pointer

__all__ = ["SchemaPair", "find_schema_pairs"]

_MAX_PAIRS: Final = 3


@dataclass(frozen=True, slots=True)
class SchemaPair:
    """Two corresponding schemas, and the pointer tokens within them that a finding is about."""

    candidate: JsonSpan
    earlier: JsonSpan
    tails: tuple[tuple[str, ...], ...]  #: an empty tail stands for the whole schema


def find_schema_pairs(candidate: JsonSource, at: str, earlier: JsonSource, earlier_at: str) -> list[SchemaPair]:
    """Return the pairs of schemas that a finding may be about, innermost first.

    If one side lacks something, its pointer ends at the enclosing schema.

    >>> candidate = JsonSource('{"properties": {"a": {"maximum": 1}}}')
    >>> earlier = JsonSource('{"properties": {"a": {}}}')
    >>> [pair.tails for pair in find_schema_pairs(candidate, "/properties/a/maximum", earlier, "/properties/a")]
    [(('maximum',),), (('properties', 'a'),)]
    """
    candidate_chain, earlier_chain = _enclosing_schemas(candidate, at), _enclosing_schemas(earlier, earlier_at)
    depth = min(len(candidate_chain), len(earlier_chain))
    pairs = [
        SchemaPair(
            candidate_chain[index][0],
            earlier_chain[index][0],
            tuple({candidate_chain[index][1]: None, earlier_chain[index][1]: None}),
        )
        for index in reversed(range(depth))
    ]
    if len(candidate_chain) != len(earlier_chain) and depth < max(len(candidate_chain), len(earlier_chain)) - 1:
        # the pointers lead into different parts of the texts
        pairs.insert(0, SchemaPair(candidate_chain[-1][0], earlier_chain[-1][0], ((),)))
    return [_drop_empty_tails(pair, innermost=index == 0) for index, pair in enumerate(pairs[:_MAX_PAIRS])]


def _drop_empty_tails(pair: SchemaPair, *, innermost: bool) -> SchemaPair:
    """Drop empty tails if there are others, and for all levels but the innermost."""
    tails = tuple(tail for tail in pair.tails if tail)
    return SchemaPair(pair.candidate, pair.earlier, tails or (((),) if innermost else ()))


def _enclosing_schemas(source: JsonSource, pointer: str) -> list[tuple[JsonSpan, tuple[str, ...]]]:
    """Return the schemas along a pointer, each with the tokens that follow it."""
    parts = parse_pointer(pointer)
    schemas: list[tuple[JsonSpan, tuple[str, ...]]] = []
    schema: JsonSpan | None = source.root
    while schema is not None:
        tail, next_schema = _next_schema(schema, parts)
        parts = parts[len(tail) :]
        schemas.append((schema, tail))
        schema = next_schema
    return schemas


def _next_schema(span: JsonSpan, parts: list[str]) -> tuple[tuple[str, ...], JsonSpan | None]:
    """Return the tokens from a schema to the next one, and that schema; None if there is none."""
    if not parts or not span.is_object:
        return tuple(parts), None
    keyword = parts[0]
    value = span.member(keyword)
    if value is None:
        return tuple(parts), None
    is_schema = keyword in SCHEMA_KEYWORDS or keyword == "items"
    if is_schema and not value.is_list:
        return (keyword,), value
    if len(parts) > 1 and (keyword in SCHEMA_MAP_KEYWORDS or keyword == "dependentRequired"):
        return tuple(parts[:2]), value.member(parts[1])
    if len(parts) > 1 and (is_schema or keyword in SCHEMA_LIST_KEYWORDS) and value.is_list and parts[1].isdecimal():
        index = int(parts[1])
        return tuple(parts[:2]), value.values[index] if index < len(value.values) else None
    return tuple(parts), None
