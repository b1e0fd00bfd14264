"""Shapes: what reading and writing depend on, as one comparable value; equal ones are not compared part by part."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from contractlog.compatibility.avro.nodes import Field

__all__ = ["record_shape", "shape_of"]


def shape_of(kind: str, *parts: Hashable) -> Hashable:
    """Return the shape of a type with parts; None when a part has none, since a name in it leads elsewhere."""
    return None if None in parts else (kind, parts)


def record_shape(name: str, aliases: tuple[str, ...], fields: Mapping[str, Field]) -> Hashable:
    """Return a record's shape; a record with a field that could be two of its own fields does not read itself."""
    if any(alias in fields and alias != field.name for field in fields.values() for alias in field.aliases):
        return None
    parts = (
        None if field.type.shape is None else (field.name, field.aliases, field.has_default, field.type.shape)
        for field in fields.values()
    )
    return shape_of("record", name, aliases, *parts)
