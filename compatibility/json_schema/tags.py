"""Tags inside the text of a JSON schema: which objects and properties have some.

The root is the record ``object``; a property is a field of what it stands in: ``object.address.object.street``, through
lists ``object.legs.array.object.gate``, through combinations ``object.price.oneof.1.object.amount``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from contractlog.compatibility.avro.tags import Entity, EntityType
from contractlog.compatibility.json_text import read

__all__ = ["entities", "inline_tags"]

_TAGS: Final = "confluent:tags"
_COMBINING: Final = ("allOf", "anyOf", "oneOf")


def inline_tags(text: str) -> dict[Entity, tuple[str, ...]]:
    """Return the tags of each object and property that has some."""
    found = ((entity, _tags(value)) for entity, value in entities(read(text)))
    return {entity: tags for entity, tags in found if tags}


def _tags(value: dict[str, Any]) -> tuple[str, ...]:
    tags = value.get(_TAGS)
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


def entities(value: Any, scope: str = "", *, named: bool = False) -> Iterator[tuple[Entity, dict[str, Any]]]:
    """Yield every object and property with its schema, as it stands in the value; references are not followed."""
    if not isinstance(value, dict):
        return
    if not named and _is_object(value):
        yield Entity(f"{scope}object", EntityType.RECORD), value
    properties = value.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        if isinstance(inner, dict):
            path = f"{scope}object.{name}"
            yield Entity(path, EntityType.FIELD), inner
            yield from entities(inner, f"{path}.", named=True)
    yield from _below(value, scope)


def _is_object(value: dict[str, Any]) -> bool:
    return value.get("type") == "object" or isinstance(value.get("properties"), dict)


def _below(value: dict[str, Any], scope: str) -> Iterator[tuple[Entity, dict[str, Any]]]:
    items = value.get("items")
    for inner in items if isinstance(items, list) else [items]:
        yield from entities(inner, f"{scope}array.")
    for keyword in _COMBINING:
        branches = value.get(keyword)
        for place, inner in enumerate(branches if isinstance(branches, list) else ()):
            yield from entities(inner, f"{scope}{keyword.lower()}.{place}.")
