"""Search terms of an Avro schema: fields, aliases, type names (short and full), logical types, tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from contractlog.compatibility.terms.words import Term, TermKind, joined, tagged

__all__ = ["avro_terms"]

_PRIMITIVE: Final = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
_NAMED: Final = frozenset({"record", "error", "enum", "fixed"})


class _Place(NamedTuple):
    node: Any
    path: str
    namespace: str


def avro_terms(root: Any) -> Iterator[Term]:
    """Yield the terms of a schema parsed as JSON, from beginning to end."""
    pending = [_Place(root, "", "")]
    while pending:
        node, path, namespace = pending.pop()
        if isinstance(node, str):
            yield from _type(node if node in _PRIMITIVE else _full(node, namespace), path)
        elif isinstance(node, list):
            pending += [_Place(branch, path, namespace) for branch in reversed(node)]
        elif isinstance(node, dict):
            yield from tagged(node, path)
            yield from _of_object(node, path, namespace, pending)


def _of_object(node: dict[str, Any], path: str, namespace: str, pending: list[_Place]) -> Iterator[Term]:
    kind, name, logical = node.get("type"), node.get("name"), node.get("logicalType")
    if isinstance(logical, str):
        yield Term(TermKind.TYPE, logical, logical, path)
    if isinstance(kind, str) and kind in _NAMED and isinstance(name, str):
        given = node.get("namespace")
        full = _full(name, given if isinstance(given, str) else namespace)
        yield from _type(full, path)
        fields = node.get("fields")
        inner = full.rpartition(".")[0]
        places = [_Place(field, path, inner) for field in fields] if isinstance(fields, list) else []
        yield from _fields(places, pending)
    elif kind == "array":
        yield from _type("array", path)
        pending.append(_Place(node.get("items"), f"{path}[]", namespace))
    elif kind == "map":
        yield from _type("map", path)
        pending.append(_Place(node.get("values"), f"{path}{{}}", namespace))
    else:
        pending.append(_Place(kind, path, namespace))


def _fields(places: list[_Place], pending: list[_Place]) -> Iterator[Term]:
    """Yield the terms of a record's fields; those of the field types follow after all of them."""
    types: list[_Place] = []
    for node, path, namespace in places:
        name = node.get("name") if isinstance(node, dict) else None
        if not isinstance(name, str):
            continue
        there = joined(path, name)
        aliases = node.get("aliases")
        for word in (name, *(aliases if isinstance(aliases, list) else ())):
            if isinstance(word, str):
                yield Term(TermKind.FIELD, word, word, there)
        yield from tagged(node, there)
        types.append(_Place(node.get("type"), there, namespace))
    pending += reversed(types)


def _type(full: str, path: str) -> Iterator[Term]:
    yield Term(TermKind.TYPE, full, full, path)
    short = full.rpartition(".")[2]
    if short != full:
        yield Term(TermKind.TYPE, short, full, path)


def _full(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"
