"""Views of a schema: its text as stored or in another format, and its inline tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from contractlog.compatibility.avro.tags import Entity
from contractlog.compatibility.parsing import formatted, inline_tags, supported
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.services.understanding import Understanding
from contractlog.registry.storage.reads import Snapshot

__all__ = ["AS_STORED", "Shown", "View", "Viewing"]

_EVERY_TAG: Final = "*"


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
class Shown:
    """A schema in a view."""

    schema: RegisteredSchema
    tags: Mapping[Entity, tuple[str, ...]] | None = None


class Viewing:
    """Applies views to schemas. Thread-safe."""

    def __init__(self, understanding: Understanding) -> None:
        self._understanding = understanding

    def show(self, snapshot: Snapshot, schema: RegisteredSchema, view: View) -> Shown:
        """Return the schema in a view.

        Raises:
            InvalidSchema: with its references inlined, the text is too long.
        """
        if view.plain or schema.type not in supported():
            return Shown(schema)
        tags = self._tags(schema, view.tags) if view.tags else None
        if view.format:
            text = formatted(self._understanding.stored(snapshot, schema), view.format)
            schema = schema if text is None else replace(schema, text=text)
        return Shown(schema, tags)

    @staticmethod
    def _tags(schema: RegisteredSchema, wanted: frozenset[str]) -> dict[Entity, tuple[str, ...]]:
        found = inline_tags(schema.type, schema.text)
        return {entity: tags for entity, tags in found.items() if _EVERY_TAG in wanted or wanted.intersection(tags)}
