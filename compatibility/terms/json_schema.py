"""Search terms of a JSON schema: properties, types, formats, titles, reference targets, tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from contractlog.compatibility.terms.words import Term, TermKind, joined, tagged

__all__ = ["json_terms"]

_ONE: Final = ("not", "if", "then", "else", "propertyNames", "contains")
_SEVERAL: Final = ("allOf", "anyOf", "oneOf")
_LISTS: Final = ("items", "prefixItems", "additionalItems", "unevaluatedItems")
_REST: Final = ("additionalProperties", "unevaluatedProperties")
_DEFINITIONS: Final = ("$defs", "definitions")

_Place = tuple[Any, str]


def json_terms(root: Any) -> Iterator[Term]:
    """Yield the terms of a schema parsed as JSON."""
    pending: list[_Place] = [(root, "")]
    while pending:
        node, path = pending.pop()
        if isinstance(node, list):
            pending += [(inner, path) for inner in reversed(node)]
        elif isinstance(node, dict):
            yield from tagged(node, path)
            yield from _types(node, path)
            yield from _properties(node, path)
            pending += reversed(list(_below(node, path)))


def _types(node: dict[str, Any], path: str) -> Iterator[Term]:
    kind = node.get("type")
    for word in (*(kind if isinstance(kind, list) else [kind]), node.get("format"), node.get("title")):
        if isinstance(word, str):
            yield Term(TermKind.TYPE, word, word, path)
    target = node.get("$ref")
    if isinstance(target, str):
        yield Term(TermKind.TYPE, target, target, path)
        short = target.rpartition("/")[2]
        if short not in {"", target}:
            yield Term(TermKind.TYPE, short, target, path)


def _properties(node: dict[str, Any], path: str) -> Iterator[Term]:
    properties = node.get("properties")
    for name in properties if isinstance(properties, dict) else ():
        yield Term(TermKind.FIELD, name, name, joined(path, name))


def _below(node: dict[str, Any], path: str) -> Iterator[_Place]:
    yield from _members(node.get("properties"), path)
    yield from _members(node.get("patternProperties"), path)
    yield from ((node.get(keyword), f"{path}{{}}") for keyword in _REST)
    yield from ((node.get(keyword), f"{path}[]") for keyword in _LISTS)
    yield from ((node.get(keyword), path) for keyword in (*_SEVERAL, *_ONE))
    dependent = node.get("dependentSchemas")
    yield from ((inner, path) for inner in (dependent.values() if isinstance(dependent, dict) else ()))
    for keyword in _DEFINITIONS:
        yield from _members(node.get(keyword), f"{path}#{keyword}" if path else f"#{keyword}")


def _members(members: Any, path: str) -> Iterator[_Place]:
    for name, inner in members.items() if isinstance(members, dict) else ():
        yield inner, joined(path, name)
