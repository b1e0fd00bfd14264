"""Inline tags of an Avro schema: list, add and remove them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.avro.names import qualify_name
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import parse_json, write_json

__all__ = ["Entity", "EntityType", "edit_tags", "list_inline_tags"]

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


def list_inline_tags(text: str) -> dict[Entity, tuple[str, ...]]:
    """Return the tags of each record and field that has any, by full name."""
    tagged_entities = (
        (entity, _read_tags(member)) for entity, member in _walk_entities(parse_json(text, comments=True), "")
    )
    return {entity: tuple(tags) for entity, tags in tagged_entities if tags}


def edit_tags(
    text: str, add: Mapping[Entity, Collection[str]] = _NONE, remove: Mapping[Entity, Collection[str]] = _NONE
) -> str:
    """Return the text with tags added, then others removed; apart from whitespace nothing else changes.

    Raises:
        InvalidSchema: there is no such record or field.
    """
    value = parse_json(text, comments=True)
    for entity, tags in add.items():
        member = _find_element(value, entity)
        member[_TAGS] = list(dict.fromkeys([*_read_tags(member), *tags]))
    for entity, tags in remove.items():
        member = _find_element(value, entity)
        remaining = [tag for tag in _read_tags(member) if tag not in tags]
        if remaining:
            member[_TAGS] = remaining
        else:
            member.pop(_TAGS, None)
    return write_json(value, lambda number: number.text)


def _find_element(value: Any, target: Entity) -> dict[str, Any]:
    """Return the element of an entity; the namespace may be omitted, with or without a leading dot."""
    for entity, member in _walk_entities(value, ""):
        if entity.type is target.type and target.path in _matching_paths(entity):
            return member
    raise InvalidSchema(f"No matching path '{target.path}' found in the schema")


def _matching_paths(entity: Entity) -> tuple[str, ...]:
    parts = entity.path.split(".")
    short = ".".join(parts[-1:] if entity.type is EntityType.RECORD else parts[-2:])
    return (entity.path, short, f".{short}")


def _walk_entities(value: Any, namespace: str) -> Iterator[tuple[Entity, dict[str, Any]]]:
    match value:
        case list():
            for branch in value:
                yield from _walk_entities(branch, namespace)
        case {"type": "record" | "error", "name": str(name), "fields": list() as fields}:
            space = value.get("namespace")
            full = qualify_name(name, space if isinstance(space, str) else namespace)
            yield Entity(full, EntityType.RECORD), value
            for field in fields:
                yield Entity(f"{full}.{field['name']}", EntityType.FIELD), field
                yield from _walk_entities(field["type"], full.rpartition(".")[0])
        case {"type": "array", "items": inner} | {"type": "map", "values": inner}:
            yield from _walk_entities(inner, namespace)
        case _:
            pass


def _read_tags(member: Mapping[str, Any]) -> list[str]:
    tags = member.get(_TAGS)
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
