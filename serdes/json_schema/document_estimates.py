"""Bounded estimates of a document's size and of the number of errors that a schema may find in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from contractlog.serdes.json_schema.reference_resolver import SchemaTexts, Subschema

__all__ = ["count_parts", "has_few_errors"]

_NO_LIMIT: Final = 2**63
_CHARACTERS_PER_PART: Final = 16  #: characters of a string that count as one part
_MAX_SIZE: Final = 20_000
_MAX_ERRORS: Final = 2_000
_MAX_COPIED: Final = 200_000  #: size times errors, as each error may hold a copy of the document
_PATTERN_ERRORS: Final = 10  #: errors that the match of a pattern counts for
_PATTERN_KEYWORDS: Final = ("pattern", "format", "patternProperties")
_IN_PLACE_KEYWORDS: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "dependentSchemas")
_REFERENCE_KEYWORDS: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_MEMBER_KEYWORDS: Final = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEM_KEYWORDS: Final = ("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains")


def count_parts(value: Any, maximum: int = _NO_LIMIT) -> int:
    """Count the parts of a document, with long names and strings as several; stop soon after ``most``."""
    counted = 0
    waiting = [value]
    while waiting and counted <= maximum:
        inner = waiting.pop()
        counted += 1
        if isinstance(inner, dict):
            counted += sum(map(len, inner)) // _CHARACTERS_PER_PART
            waiting += inner.values()
        elif isinstance(inner, list):
            waiting += inner
        elif isinstance(inner, str):
            counted += len(inner) // _CHARACTERS_PER_PART
    return counted


def has_few_errors(texts: SchemaTexts, value: Any) -> bool:
    """Return whether a schema certainly finds few errors in a document."""
    large = count_parts(value, _MAX_SIZE)
    left = min(_MAX_ERRORS, _MAX_COPIED // large)
    if large > _MAX_SIZE:
        return False
    waiting = [(texts.root, value)]
    while waiting:
        at, inner = waiting.pop()
        node = at.node
        left -= 1
        if not isinstance(node, dict):
            continue
        if any(word in node for word in _REFERENCE_KEYWORDS):
            target = texts.resolve_reference(at)
            if target is None:
                return False
            waiting.append((target, inner))
        left -= _PATTERN_ERRORS * sum(word in node for word in _PATTERN_KEYWORDS)
        for each in _applicable_schemas(at, inner):
            waiting.append(each)
            if len(waiting) > left:
                return False
        if left < 0:
            return False
    return left >= 0


def _applicable_schemas(at: Subschema, value: Any) -> Iterator[tuple[Subschema, Any]]:
    """Yield the schemas that may apply to a value or to its parts, each with that value."""
    for word in _IN_PLACE_KEYWORDS:
        yield from ((inner, value) for inner in _subschemas_of(at, word))
    if isinstance(value, dict):
        yield from (
            (at.child("properties", name), value[name]) for name in _member_names(at, "properties") if name in value
        )
        for word in _MEMBER_KEYWORDS:
            if word in at.node:
                yield from ((at.child(word), member) for member in value.values())
        for pattern in _member_names(at, "patternProperties"):
            yield from ((at.child("patternProperties", pattern), member) for member in value.values())
    elif isinstance(value, list):
        for word in _ITEM_KEYWORDS:
            if isinstance(at.node.get(word), list):
                yield from zip(_subschemas_of(at, word), value, strict=False)
            elif word in at.node:
                yield from ((at.child(word), item) for item in value)


def _subschemas_of(at: Subschema, word: str) -> Iterator[Subschema]:
    subschemas = at.node.get(word)
    if isinstance(subschemas, list):
        yield from (at.child(word, index) for index in range(len(subschemas)))
    elif isinstance(subschemas, dict) and word.startswith("depend"):
        yield from (at.child(word, name) for name, inner in subschemas.items() if isinstance(inner, dict))
    elif word in at.node:
        yield at.child(word)


def _member_names(at: Subschema, word: str) -> Iterator[str]:
    members = at.node.get(word)
    return iter(members if isinstance(members, dict) else ())
