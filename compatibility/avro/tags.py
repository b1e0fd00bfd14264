"""Inline tags of an Avro schema: list, add and remove them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.avro.naming import qualified
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import read, write

__all__ = ["Entity", "EntityType", "inline_tags", "tagged"]

_TAGS: Final = "confluent:tags"
_NONE: Final[Mapping[Entity, Collection[str]]] = MappingProxyType({})


class EntityType(StrEnum):
    """Kind of schema element that can have tags."""

    RECORD = "sr_record"
    FIELD = "sr_field"


@dataclass(frozen=True, slots=True)
class Entity:
    """A schema element: record ``flights.Leg``, or its field ``flights.Leg.gate`` or ``Leg.gate``."""

    path: str
    type: EntityType


def inline_tags(text: str) -> dict[Entity, tuple[str, ...]]:
    """Return the tags of each record and field that has any, by full name."""
    found = ((entity, _tags(member)) for entity, member in _entities(read(text, comments=True), ""))
    return {entity: tuple(tags) for entity, tags in found if tags}


def tagged(
    text: str, add: Mapping[Entity, Collection[str]] = _NONE, remove: Mapping[Entity, Collection[str]] = _NONE
) -> str:
    """Return the text with tags added, then others removed; apart from whitespace nothing else changes.

    Raises:
        InvalidSchema: there is no such record or field.
    """
    value = read(text, comments=True)
    for entity, tags in add.items():
        member = _find(value, entity)
        member[_TAGS] = list(dict.fromkeys([*_tags(member), *tags]))
    for entity, tags in remove.items():
        member = _find(value, entity)
        left = [tag for tag in _tags(member) if tag not in tags]
        if left:
            member[_TAGS] = left
        else:
            member.pop(_TAGS, None)
    return write(value, lambda number: number.text)


def _find(value: Any, wanted: Entity) -> dict[str, Any]:
    """Return the element of an entity; the namespace may be omitted, with or without a leading dot."""
    for entity, member in _entities(value, ""):
        if entity.type is wanted.type and wanted.path in _paths(entity):
            return member
    raise InvalidSchema(f"No matching path '{wanted.path}' found in the schema")


def _paths(entity: Entity) -> tuple[str, ...]:
    parts = entity.path.split(".")
    short = ".".join(parts[-1:] if entity.type is EntityType.RECORD else parts[-2:])
    return (entity.path, short, f".{short}")


def _entities(value: Any, namespace: str) -> Iterator[tuple[Entity, dict[str, Any]]]:
    match value:
        case list():
            for branch in value:
                yield from _entities(branch, namespace)
        case {"type": "record" | "error", "name": str(name), "fields": list() as fields}:
            space = value.get("namespace")
            full = qualified(name, space if isinstance(space, str) else namespace)
            yield Entity(full, EntityType.RECORD), value
            for field in fields:
                yield Entity(f"{full}.{field['name']}", EntityType.FIELD), field
                yield from _entities(field["type"], full.rpartition(".")[0])
        case {"type": "array", "items": inner} | {"type": "map", "values": inner}:
            yield from _entities(inner, namespace)
        case _:
            pass


def _tags(member: Mapping[str, Any]) -> list[str]:
    tags = member.get(_TAGS)
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
