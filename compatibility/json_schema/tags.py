"""Inline tags of a JSON schema: list, add and remove them.

The root is the record ``object``; a property is a field of its parent: ``object.address.object.street``, through lists
``object.legs.array.object.gate``, through combinations ``object.price.oneof.1.object.amount``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.avro.tags import Entity, EntityType
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import parse_json, write_json

__all__ = ["edit_tags", "inline_tags", "list_entities"]

_TAGS: Final = "confluent:tags"
_NO_TAGS: Final[Mapping[Entity, Collection[str]]] = MappingProxyType({})
_COMBINING_KEYWORDS: Final = ("allOf", "anyOf", "oneOf")


def inline_tags(text: str) -> dict[Entity, tuple[str, ...]]:
    """Return the tags of each object and property that has any."""
    tags_by_entity = ((entity, _tags_of(value)) for entity, value in list_entities(parse_json(text)))
    return {entity: tags for entity, tags in tags_by_entity if tags}


def edit_tags(
    text: str, add: Mapping[Entity, Collection[str]] = _NO_TAGS, remove: Mapping[Entity, Collection[str]] = _NO_TAGS
) -> str:
    """Return the text with tags added, then others removed; apart from whitespace nothing else changes.

    Raises:
        InvalidSchema: there is no such object or property.
    """
    root = parse_json(text)
    for entity, tags in add.items():
        value = _find_entity(root, entity)
        value[_TAGS] = list(dict.fromkeys([*_tags_of(value), *tags]))
    for entity, tags in remove.items():
        value = _find_entity(root, entity)
        remaining = [tag for tag in _tags_of(value) if tag not in tags]
        if remaining:
            value[_TAGS] = remaining
        else:
            value.pop(_TAGS, None)
    return write_json(root, lambda number: number.text)


def _find_entity(root: Any, wanted: Entity) -> dict[str, Any]:
    for candidate, value in list_entities(root):
        if candidate == wanted:
            return value
    raise InvalidSchema(f"No matching path '{wanted.path}' found in the schema")


def _tags_of(value: dict[str, Any]) -> tuple[str, ...]:
    tags = value.get(_TAGS)
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


def list_entities(value: Any, scope: str = "", *, named: bool = False) -> Iterator[tuple[Entity, dict[str, Any]]]:
    """Yield every object and property with its schema within the value; references are not followed."""
    if not isinstance(value, dict):
        return
    if not named and _is_object(value):
        yield Entity(f"{scope}object", EntityType.RECORD), value
    properties = value.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        if isinstance(inner, dict):
            path = f"{scope}object.{name}"
            yield Entity(path, EntityType.FIELD), inner
            yield from list_entities(inner, f"{path}.", named=True)
    yield from _list_inner_entities(value, scope)


def _is_object(value: dict[str, Any]) -> bool:
    return value.get("type") == "object" or isinstance(value.get("properties"), dict)


def _list_inner_entities(value: dict[str, Any], scope: str) -> Iterator[tuple[Entity, dict[str, Any]]]:
    items = value.get("items")
    for inner in items if isinstance(items, list) else [items]:
        yield from list_entities(inner, f"{scope}array.")
    for keyword in _COMBINING_KEYWORDS:
        branches = value.get(keyword)
        for index, inner in enumerate(branches if isinstance(branches, list) else ()):
            yield from list_entities(inner, f"{scope}{keyword.lower()}.{index}.")
