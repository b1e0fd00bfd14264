"""Search terms of a JSON schema: properties, types, formats, titles, reference targets, tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contractlog.compatibility.field_paths import join_path
from contractlog.compatibility.json_schema.vocabulary import (
    CLOSING_KEYWORDS,
    DEFINITION_KEYWORDS,
    ITEM_KEYWORDS,
    SAME_VALUE_KEYWORDS,
)
from contractlog.compatibility.search_terms import Term, TermKind, load_json, tag_terms

__all__ = ["extract_json_terms"]

_Location = tuple[Any, str]


def extract_json_terms(text: str) -> Iterator[Term]:
    """Yield the terms of a schema."""
    pending: list[_Location] = [(load_json(text), "")]
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
    yield from ((node.get(keyword), f"{path}{{}}") for keyword in CLOSING_KEYWORDS)
    yield from ((node.get(keyword), f"{path}[]") for keyword in ITEM_KEYWORDS)
    yield from ((node.get(keyword), path) for keyword in (*SAME_VALUE_KEYWORDS, "propertyNames", "contains"))
    dependent = node.get("dependentSchemas")
    yield from ((inner, path) for inner in (dependent.values() if isinstance(dependent, dict) else ()))
    for keyword in DEFINITION_KEYWORDS:
        yield from _members(node.get(keyword), f"{path}#{keyword}" if path else f"#{keyword}")


def _members(members: Any, path: str) -> Iterator[_Location]:
    for name, inner in members.items() if isinstance(members, dict) else ():
        yield inner, join_path(path, name)
