"""Elements of an Avro schema that can have tags: records and their fields, by full name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from contractlog.compatibility.avro.names import qualify_name
from contractlog.compatibility.tags import Entity, EntityType, InlineTags

__all__ = ["AVRO_TAGS"]


def _names(entity: Entity) -> tuple[str, ...]:
    """Return the paths of an entity: the namespace may be omitted, with or without a leading dot."""
    parts = entity.path.split(".")
    short = ".".join(parts[-1:] if entity.type is EntityType.RECORD else parts[-2:])
    return (entity.path, short, f".{short}")


def _list_entities(value: Any, namespace: str = "") -> Iterator[tuple[Entity, dict[str, Any]]]:
    match value:
        case list():
            for branch in value:
                yield from _list_entities(branch, namespace)
        case {"type": "record" | "error", "name": str(name), "fields": list() as fields}:
            space = value.get("namespace")
            full = qualify_name(name, space if isinstance(space, str) else namespace)
            yield Entity(full, EntityType.RECORD), value
            for field in fields:
                yield Entity(f"{full}.{field['name']}", EntityType.FIELD), field
                yield from _list_entities(field["type"], full.rpartition(".")[0])
        case {"type": "array", "items": inner} | {"type": "map", "values": inner}:
            yield from _list_entities(inner, namespace)
        case _:
            pass


AVRO_TAGS: Final = InlineTags(_list_entities, _names, comments=True)
