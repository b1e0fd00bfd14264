"""Inline tags of records and fields, for formats whose schemas are JSON: list, add and remove them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import parse_json, write_json

__all__ = ["Entity", "EntityType", "InlineTags", "TagsByEntity", "read_tags"]

_TAGS_KEYWORD: Final = "confluent:tags"


class EntityType(StrEnum):
    """Kind of schema element that can have tags."""

    RECORD = "sr_record"
    FIELD = "sr_field"


@dataclass(frozen=True, slots=True)
class Entity:
    """A schema element: record ``flights.Leg``, or its field ``flights.Leg.gate`` or ``Leg.gate``."""

    path: str
    type: EntityType


TagsByEntity = Mapping[Entity, Collection[str]]


def read_tags(element: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the inline tags of an element."""
    tags = element.get(_TAGS_KEYWORD)
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


@dataclass(frozen=True, slots=True)
class InlineTags:
    """Reader and writer of the tags inside a schema's text."""

    list_entities: Callable[[Any], Iterator[tuple[Entity, dict[str, Any]]]]  #: of a parsed text, with their elements
    names: Callable[[Entity], Collection[str]] = lambda entity: (entity.path,)  #: every path by which an entity goes
    comments: bool = False  #: the text may have comments

    def list_tags(self, text: str) -> dict[Entity, tuple[str, ...]]:
        """Return the tags of each entity that has any."""
        entities = self.list_entities(parse_json(text, comments=self.comments))
        return {entity: tags for entity, element in entities if (tags := read_tags(element))}

    def edit_tags(self, text: str, add: TagsByEntity, remove: TagsByEntity) -> str:
        """Return the text with tags added, then others removed; apart from whitespace nothing else changes.

        Raises:
            InvalidSchema: there is no such record or field.
        """
        root = parse_json(text, comments=self.comments)
        for entity, tags in add.items():
            element = self._find_element(root, entity)
            element[_TAGS_KEYWORD] = list(dict.fromkeys([*read_tags(element), *tags]))
        for entity, tags in remove.items():
            element = self._find_element(root, entity)
            element[_TAGS_KEYWORD] = [tag for tag in read_tags(element) if tag not in tags]
            if not element[_TAGS_KEYWORD]:
                del element[_TAGS_KEYWORD]
        return write_json(root, lambda number: number.text)

    def _find_element(self, root: Any, target: Entity) -> dict[str, Any]:
        for entity, element in self.list_entities(root):
            if entity.type is target.type and target.path in self.names(entity):
                return element
        raise InvalidSchema(f"No matching path '{target.path}' found in the schema")
