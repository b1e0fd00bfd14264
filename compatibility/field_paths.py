"""Paths of values, such as ``legs[].carrier``, of positions in schemas."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_positions import split_pointer
from contractlog.compatibility.json_text import parse_json, parse_pointer

__all__ = ["find_field_path", "join_path"]

_DEFINITIONS: Final = frozenset({"$defs", "definitions"})
_ITEMS: Final = frozenset({"items", "prefixItems"})
_VALUES: Final = frozenset({"values", "additionalProperties"})


def join_path(path: str, name: str) -> str:
    """Return the path of a field within its parent."""
    return f"{path}.{name}" if path else name


def find_field_path(text: str, pointer: str) -> str | None:
    """Return the path of the values that a position in a schema describes; empty: the whole value.

    It is the one that audits and lineage use. None: the position is in a referenced schema or in a definition, which
    several fields may use.

    >>> schema = '{"type":"record","name":"T","fields":[{"name":"legs","type":{"type":"array","items":"string"}}]}'
    >>> find_field_path(schema, "/fields/0/type/items")
    'legs[]'
    """
    name, inner = split_pointer(pointer)
    try:
        node, tokens = _parse(text), parse_pointer(inner)
    except InvalidSchema:
        return None
    path = keyword = ""
    for token in tokens:
        is_keyword = isinstance(node, dict) and keyword != "properties"
        if is_keyword and token in _DEFINITIONS:
            return None
        try:
            node = node[int(token)] if isinstance(node, list) else node[token]
        except (LookupError, TypeError, ValueError):
            break
        path += _name_keyword(token, node) if is_keyword else _name_entry(token, node, keyword)
        keyword = token if is_keyword else ""
    return None if name else path.removeprefix(".")


def _name_keyword(keyword: str, node: Any) -> str:
    """Return the part of the path that the value of a keyword adds."""
    if keyword in _VALUES and not isinstance(node, bool):
        return "{}"
    return "[]" if keyword in _ITEMS and not isinstance(node, list) else ""


def _name_entry(entry: str, node: Any, keyword: str) -> str:
    """Return the part of the path that an entry of a keyword adds: a property, field, item or branch."""
    if keyword == "properties":
        return f".{entry}"
    if keyword == "fields" and isinstance(node, dict):
        return f".{node.get('name')}"
    return "[]" if keyword in _ITEMS else ""


@lru_cache(maxsize=4)
def _parse(text: str) -> Any:
    return parse_json(text, comments=True)
