"""Bounded estimates of a document's size and of the number of errors that a schema may find in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from contractlog.serdes.json_schema.texts import At, Texts

__all__ = ["few_errors", "size"]

_UNBOUNDED: Final = 2**63
_CHARACTERS: Final = 16  #: characters of a string that count as one part
_MOST_SIZE: Final = 20_000
_MOST_ERRORS: Final = 2_000
_MOST_COPIED: Final = 200_000  #: size times errors, as each error may hold a copy of the document
_PATTERN: Final = 10  #: errors that the match of a pattern counts for
_WITH_PATTERNS: Final = ("pattern", "format", "patternProperties")
_SAME_VALUE: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "dependentSchemas")
_REFERRING: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_MEMBERS: Final = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEMS: Final = ("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains")


def size(value: Any, most: int = _UNBOUNDED) -> int:
    """Count the parts of a document, with long names and strings as several; stop soon after ``most``."""
    counted = 0
    waiting = [value]
    while waiting and counted <= most:
        inner = waiting.pop()
        counted += 1
        if isinstance(inner, dict):
            counted += sum(map(len, inner)) // _CHARACTERS
            waiting += inner.values()
        elif isinstance(inner, list):
            waiting += inner
        elif isinstance(inner, str):
            counted += len(inner) // _CHARACTERS
    return counted


def few_errors(texts: Texts, value: Any) -> bool:
    """Return whether a schema certainly finds few errors in a document."""
    large = size(value, _MOST_SIZE)
    left = min(_MOST_ERRORS, _MOST_COPIED // large)
    if large > _MOST_SIZE:
        return False
    waiting = [(texts.root, value)]
    while waiting:
        at, inner = waiting.pop()
        node = at.node
        left -= 1
        if not isinstance(node, dict):
            continue
        if any(word in node for word in _REFERRING):
            target = texts.target(at)
            if target is None:
                return False
            waiting.append((target, inner))
        left -= _PATTERN * sum(word in node for word in _WITH_PATTERNS)
        for each in _applied(at, inner):
            waiting.append(each)
            if len(waiting) > left:
                return False
        if left < 0:
            return False
    return left >= 0


def _applied(at: At, value: Any) -> Iterator[tuple[At, Any]]:
    """Yield the schemas that may apply to a value or to its parts, each with that value."""
    for word in _SAME_VALUE:
        yield from ((inner, value) for inner in _under(at, word))
    if isinstance(value, dict):
        yield from ((at.under("properties", name), value[name]) for name in _names(at, "properties") if name in value)
        for word in _MEMBERS:
            if word in at.node:
                yield from ((at.under(word), member) for member in value.values())
        for pattern in _names(at, "patternProperties"):
            yield from ((at.under("patternProperties", pattern), member) for member in value.values())
    elif isinstance(value, list):
        for word in _ITEMS:
            if isinstance(at.node.get(word), list):
                yield from zip(_under(at, word), value, strict=False)
            elif word in at.node:
                yield from ((at.under(word), item) for item in value)


def _under(at: At, word: str) -> Iterator[At]:
    asked = at.node.get(word)
    if isinstance(asked, list):
        yield from (at.under(word, place) for place in range(len(asked)))
    elif isinstance(asked, dict) and word.startswith("depend"):
        yield from (at.under(word, name) for name, inner in asked.items() if isinstance(inner, dict))
    elif word in at.node:
        yield at.under(word)


def _names(at: At, word: str) -> Iterator[str]:
    asked = at.node.get(word)
    return iter(asked if isinstance(asked, dict) else ())
