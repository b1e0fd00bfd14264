"""Views of a schema: its text as stored or in another format, and its inline tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import format_schema, list_inline_tags, supported_types
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.compatibility.tags import Entity
from contractlog.registry.access.current_caller import may_read
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.storage.snapshot import Snapshot

__all__ = ["AS_STORED", "RenderedSchema", "View", "ViewRenderer"]

_ANY_TAG: Final = "*"
_UNAVAILABLE: Final = "The schema is not available in this format: its references are missing, or it would be too long"


@dataclass(frozen=True, slots=True)
class View:
    """Requested view of a schema."""

    format: str = ""  #: of the text; formats that a type does not have are ignored, as in the reference
    tags: frozenset[str] = frozenset()  #: return elements with one of these tags; ``*`` is any tag

    @property
    def plain(self) -> bool:
        """Return True if the schema is shown as stored."""
        return not self.format and not self.tags


AS_STORED: Final = View()


@dataclass(frozen=True, slots=True)
class RenderedSchema:
    """A schema in a view."""

    schema: RegisteredSchema
    tags: Mapping[Entity, tuple[str, ...]] | None = None


class ViewRenderer:
    """Applies views to schemas. Thread-safe."""

    def __init__(self, parser: SchemaParser) -> None:
        self._parser = parser

    def show(self, snapshot: Snapshot, schema: RegisteredSchema, view: View) -> RenderedSchema:
        """Return the schema in a view.

        Raises:
            InvalidSchema: with its references inlined, the text is too long.
        """
        if view.plain or schema.type not in supported_types():
            return RenderedSchema(schema)
        tags = self._tags(schema, view.tags) if view.tags else None
        if view.format:
            try:
                text = format_schema(self._parser.parse_stored(snapshot, schema), view.format)
            except InvalidSchema:
                if schema.subject is None or may_read(schema.subject):
                    raise
                raise InvalidSchema(_UNAVAILABLE) from None  # the reason may name subjects
            schema = schema if text is None else replace(schema, text=text)
        return RenderedSchema(schema, tags)

    @staticmethod
    def _tags(schema: RegisteredSchema, requested: frozenset[str]) -> dict[Entity, tuple[str, ...]]:
        all_tags = list_inline_tags(schema.type, schema.text)
        return {
            entity: tags for entity, tags in all_tags.items() if _ANY_TAG in requested or requested.intersection(tags)
        }
