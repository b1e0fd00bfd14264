"""Elements of a JSON schema that can have tags: objects and their properties.

The root is the record ``object``; a property is a field of its parent: ``object.address.object.street``, through lists
``object.legs.array.object.gate``, through combinations ``object.price.oneof.1.object.amount``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from contractlog.compatibility.json_schema.vocabulary import COMBINING_KEYWORDS
from contractlog.compatibility.tags import Entity, EntityType, InlineTags

__all__ = ["JSON_TAGS"]


def _list_entities(value: Any, scope: str = "", *, named: bool = False) -> Iterator[tuple[Entity, dict[str, Any]]]:
    """Yield every object and property with its schema within the value; references are not followed."""
    if not isinstance(value, dict):
        return
    properties = value.get("properties")
    if not named and (value.get("type") == "object" or isinstance(properties, dict)):
        yield Entity(f"{scope}object", EntityType.RECORD), value
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        if isinstance(inner, dict):
            path = f"{scope}object.{name}"
            yield Entity(path, EntityType.FIELD), inner
            yield from _list_entities(inner, f"{path}.", named=True)
    items = value.get("items")
    for inner in items if isinstance(items, list) else [items]:
        yield from _list_entities(inner, f"{scope}array.")
    for keyword in COMBINING_KEYWORDS:
        branches = value.get(keyword)
        for index, inner in enumerate(branches if isinstance(branches, list) else ()):
            yield from _list_entities(inner, f"{scope}{keyword.lower()}.{index}.")


JSON_TAGS: Final = InlineTags(_list_entities)
