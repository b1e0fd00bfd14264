"""Search terms of an Avro schema: fields, aliases, type names (short and full), logical types, tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from contractlog.compatibility.avro.names import qualify_name
from contractlog.compatibility.avro.types import NAMED_TYPES, PRIMITIVES
from contractlog.compatibility.field_paths import join_path
from contractlog.compatibility.search_terms import Term, TermKind, load_json, tag_terms

__all__ = ["extract_avro_terms"]


class _Location(NamedTuple):
    node: Any
    path: str
    namespace: str


def extract_avro_terms(text: str) -> Iterator[Term]:
    """Yield the terms of a schema, from beginning to end."""
    pending = [_Location(load_json(text), "", "")]
    while pending:
        node, path, namespace = pending.pop()
        if isinstance(node, str):
            yield from _type_terms(node if node in PRIMITIVES else qualify_name(node, namespace), path)
        elif isinstance(node, list):
            pending += [_Location(branch, path, namespace) for branch in reversed(node)]
        elif isinstance(node, dict):
            yield from tag_terms(node, path)
            yield from _object_terms(node, path, namespace, pending)


def _object_terms(node: dict[str, Any], path: str, namespace: str, pending: list[_Location]) -> Iterator[Term]:
    kind, name, logical = node.get("type"), node.get("name"), node.get("logicalType")
    if isinstance(logical, str):
        yield Term(TermKind.TYPE, logical, logical, path)
    if isinstance(kind, str) and kind in NAMED_TYPES and isinstance(name, str):
        written_namespace = node.get("namespace")
        full = qualify_name(name, written_namespace if isinstance(written_namespace, str) else namespace)
        yield from _type_terms(full, path)
        fields = node.get("fields")
        inner = full.rpartition(".")[0]
        locations = [_Location(field, path, inner) for field in fields] if isinstance(fields, list) else []
        yield from _field_terms(locations, pending)
    elif kind == "array":
        yield from _type_terms("array", path)
        pending.append(_Location(node.get("items"), f"{path}[]", namespace))
    elif kind == "map":
        yield from _type_terms("map", path)
        pending.append(_Location(node.get("values"), f"{path}{{}}", namespace))
    else:
        pending.append(_Location(kind, path, namespace))


def _field_terms(locations: list[_Location], pending: list[_Location]) -> Iterator[Term]:
    """Yield the terms of a record's fields; those of the field types follow after all of them."""
    types: list[_Location] = []
    for node, path, namespace in locations:
        name = node.get("name") if isinstance(node, dict) else None
        if not isinstance(name, str):
            continue
        field_path = join_path(path, name)
        aliases = node.get("aliases")
        for field_name in (name, *(aliases if isinstance(aliases, list) else ())):
            if isinstance(field_name, str):
                yield Term(TermKind.FIELD, field_name, field_name, field_path)
        yield from tag_terms(node, field_path)
        types.append(_Location(node.get("type"), field_path, namespace))
    pending += reversed(types)


def _type_terms(full: str, path: str) -> Iterator[Term]:
    yield Term(TermKind.TYPE, full, full, path)
    short = full.rpartition(".")[2]
    if short != full:
        yield Term(TermKind.TYPE, short, full, path)
