"""Full names that an Avro schema defines, and those that it uses without a definition."""

from __future__ import annotations

from typing import Any

from contractlog.compatibility.avro.names import qualify_name
from contractlog.compatibility.avro.types import NAMED_TYPES, PRIMITIVES
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import parse_json
from contractlog.compatibility.reference_names import ExternalName, SchemaNames

__all__ = ["definition_name", "list_avro_names", "locate_inner_types"]


def list_avro_names(text: str) -> SchemaNames:
    """Return the full names in a schema; none if the text is not JSON.

    >>> list_avro_names('{"type": "map", "values": "com.acme.Money"}').external
    (ExternalName(name='com.acme.Money', path='', simple_name=''),)

    A name without dots is one of the enclosing namespace; if nothing defines that, one without a namespace.
    """
    try:
        schema = parse_json(text, comments=True)
    except InvalidSchema:  # reported when the schema is parsed
        return SchemaNames()
    defined: dict[str, None] = {}
    used: dict[str, tuple[ExternalName, str]] = {}
    pending: list[tuple[Any, str, str]] = [(schema, "", "")]  # types, each with the namespace around it and its pointer
    while pending:
        node, namespace, at = pending.pop()
        if isinstance(node, str) and node not in PRIMITIVES:
            name = qualify_name(node, namespace)
            used.setdefault(name, (ExternalName(name, simple_name="" if name == node else node), at))
        elif isinstance(node, list):
            pending += reversed([(branch, namespace, f"{at}/{index}") for index, branch in enumerate(node)])
        elif isinstance(node, dict):
            name = definition_name(node, namespace)
            if name:
                defined.setdefault(name)
                namespace = name.rpartition(".")[0]
            pending += [(inner, namespace, at + tail) for tail, inner in reversed(locate_inner_types(node))]
    external = [use for use in used.values() if defined.keys().isdisjoint((use[0].name, use[0].simple_name))]
    root = definition_name(schema, "") if isinstance(schema, dict) else ""
    record = schema if isinstance(schema, str) and schema not in PRIMITIVES else root
    names, pointers = tuple(name for name, _ in external), tuple(at for _, at in external)
    return SchemaNames(root, root, record, tuple(defined), names, pointers)


def definition_name(node: dict[str, Any], namespace: str) -> str:
    """Return the full name that an object defines; empty if it defines none."""
    kind, name, own = node.get("type"), node.get("name"), node.get("namespace")
    if not (isinstance(kind, str) and kind in NAMED_TYPES and isinstance(name, str)):
        return ""
    return qualify_name(name, own if isinstance(own, str) else namespace)


def locate_inner_types(node: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the types directly inside an object, each with its pointer relative to the object."""
    match node:
        case {"type": str(kind)} if kind in NAMED_TYPES:
            fields = node.get("fields")
            return [
                (f"/fields/{index}/type", field.get("type"))
                for index, field in enumerate(fields if isinstance(fields, list) else ())
                if isinstance(field, dict)
            ]
        case {"type": "array"}:
            return [("/items", node.get("items"))]
        case {"type": "map"}:
            return [("/values", node.get("values"))]
        case _:
            return [("/type", node.get("type"))]
