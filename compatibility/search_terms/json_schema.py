"""Search terms of a JSON schema: properties, types, formats, titles, reference targets, tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from contractlog.compatibility.search_terms.term import Term, TermKind, join_path, tag_terms

__all__ = ["extract_json_terms"]

_SINGLE_SCHEMA: Final = ("not", "if", "then", "else", "propertyNames", "contains")
_SCHEMA_LISTS: Final = ("allOf", "anyOf", "oneOf")
_ITEM_SCHEMAS: Final = ("items", "prefixItems", "additionalItems", "unevaluatedItems")
_OTHER_PROPERTIES: Final = ("additionalProperties", "unevaluatedProperties")
_DEFINITIONS: Final = ("$defs", "definitions")

_Location = tuple[Any, str]


def extract_json_terms(root: Any) -> Iterator[Term]:
    """Yield the terms of a schema parsed as JSON."""
    pending: list[_Location] = [(root, "")]
    while pending:
        node, path = pending.pop()
        if isinstance(node, list):
            pending += [(inner, path) for inner in reversed(node)]
        elif isinstance(node, dict):
            yield from tag_terms(node, path)
            yield from _type_terms(node, path)
            yield from _property_terms(node, path)
            pending += reversed(list(_inner_schemas(node, path)))


def _type_terms(node: dict[str, Any], path: str) -> Iterator[Term]:
    kind = node.get("type")
    for name in (*(kind if isinstance(kind, list) else [kind]), node.get("format"), node.get("title")):
        if isinstance(name, str):
            yield Term(TermKind.TYPE, name, name, path)
    target = node.get("$ref")
    if isinstance(target, str):
        yield Term(TermKind.TYPE, target, target, path)
        short = target.rpartition("/")[2]
        if short not in {"", target}:
            yield Term(TermKind.TYPE, short, target, path)


def _property_terms(node: dict[str, Any], path: str) -> Iterator[Term]:
    properties = node.get("properties")
    for name in properties if isinstance(properties, dict) else ():
        yield Term(TermKind.FIELD, name, name, join_path(path, name))


def _inner_schemas(node: dict[str, Any], path: str) -> Iterator[_Location]:
    yield from _members(node.get("properties"), path)
    yield from _members(node.get("patternProperties"), path)
    yield from ((node.get(keyword), f"{path}{{}}") for keyword in _OTHER_PROPERTIES)
    yield from ((node.get(keyword), f"{path}[]") for keyword in _ITEM_SCHEMAS)
    yield from ((node.get(keyword), path) for keyword in (*_SCHEMA_LISTS, *_SINGLE_SCHEMA))
    dependent = node.get("dependentSchemas")
    yield from ((inner, path) for inner in (dependent.values() if isinstance(dependent, dict) else ()))
    for keyword in _DEFINITIONS:
        yield from _members(node.get(keyword), f"{path}#{keyword}" if path else f"#{keyword}")


def _members(members: Any, path: str) -> Iterator[_Location]:
    for name, inner in members.items() if isinstance(members, dict) else ():
        yield inner, join_path(path, name)
