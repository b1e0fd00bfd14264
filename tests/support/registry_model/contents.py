"""Schemas as symbols: compatibility, spelling, references, metadata and rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

__all__ = [
    "INVALID",
    "NUMBER",
    "PLAIN",
    "RESERVED",
    "TAGGED",
    "Content",
    "Items",
    "Reference",
    "Rejected",
    "Text",
    "index_items",
    "is_readable",
    "merge_layers",
]

Items = tuple[tuple[tuple[str, str], object], ...]  #: metadata or rules: ((part, name), value), in order
Reference = tuple[str, int]  #: a subject as it was sent, and a version

#: ``ab`` and ``ba`` are two spellings of a schema; ``user`` references ``record``, ``inlined`` has both in one text;
#: ``named`` is a ``user`` that references ``inlined``, which defines the same type, so that only its name remains.
#: ``lax`` is invalid by the rules for new schemas, ``broken`` is always invalid.
PLAIN: Final = ("int", "long", "string", "bytes", "ab", "ba", "lax", "object")
TAGGED: Final = ("record", "inlined")  #: kinds whose field may have tags
RESERVED: Final = ("properties", "confluent:reserved")
NUMBER: Final = ("properties", "confluent:version")
INVALID: Final[Items] = ((("domainRules", "bad"), None),)  #: rules that are always rejected
_READS: Final = {("long", "int"), ("string", "bytes"), ("bytes", "string")}  #: reader, writer
_ALIKE: Final = {"ab": "int", "ba": "int", "user": "inlined", "named": "inlined"}


class Rejected(Exception):
    """An error code."""


@dataclass(frozen=True)
class Text:
    """The text of a schema."""

    kind: str
    tags: tuple[str, ...] = ()

    @property
    def normalized(self) -> Text:
        """The text in its normalized spelling."""
        return Text("ab") if self.kind == "ba" else self

    def edit_tags(self, add: tuple[str, ...], remove: tuple[str, ...]) -> Text:
        """Return the text with other tags on its field; only some kinds have this field."""
        if self.kind not in TAGGED:
            raise Rejected(42201)
        return replace(self, tags=tuple(tag for tag in dict.fromkeys((*self.tags, *add)) if tag not in remove))


@dataclass(frozen=True)
class Content:
    """The content of a schema id."""

    text: Text
    references: tuple[Reference, ...] = ()
    metadata: Items = ()
    rules: Items = ()

    @property
    def is_json(self) -> bool:
        """True for JSON schemas; other kinds are Avro."""
        return self.text.kind == "object"

    @property
    def fields(self) -> set[str]:
        """Return the names of its fields."""
        return {"record": {"x"}, "user": {"r"}, "named": {"r"}, "inlined": {"r"}}.get(self.text.kind, set())

    @property
    def reserved(self) -> set[str]:
        """Return the field names that its metadata reserve."""
        return set(filter(None, str(index_items(self.metadata).get(RESERVED, "")).split(",")))

    @property
    def number(self) -> object:
        """The version number in its metadata."""
        return index_items(self.metadata).get(NUMBER)

    @property
    def metadata_and_rules(self) -> object:
        """Metadata without the version number, and rules."""
        return tuple(item for item in self.metadata if item[0] != NUMBER), self.rules

    @property
    def in_storage_order(self) -> Content:
        """The content with sorted metadata, and with rules sorted by their list."""
        return replace(
            self,
            metadata=tuple(sorted(self.metadata, key=lambda item: item[0])),
            rules=tuple(sorted(self.rules, key=lambda item: item[0][0])),
        )

    @property
    def normalized(self) -> Content:
        """The content with normalized text and without repeated references."""
        return replace(self, text=self.text.normalized, references=tuple(sorted(set(self.references))))


def index_items(items: Items) -> dict[tuple[str, str], object]:
    """Return metadata or rules by name."""
    return dict(items)


def merge_layers(*layers: Items | None) -> Items | None:
    """Merge layers: the last item of a name wins and is last; None if all layers are None."""
    merged: Items | None = None
    for layer in layers:
        if layer is not None:
            names = index_items(layer)
            merged = (*(item for item in merged or () if item[0] not in names), *layer)
    return merged


def is_readable(reader: Content, writer: Content) -> bool:
    """Return whether a reader schema can read data of a writer schema."""
    reader_kind, writer_kind = (_ALIKE.get(content.text.kind, content.text.kind) for content in (reader, writer))
    return reader.is_json == writer.is_json and (reader_kind == writer_kind or (reader_kind, writer_kind) in _READS)
