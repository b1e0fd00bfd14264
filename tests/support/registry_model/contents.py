"""Schemas as symbols: what reads what, what is spelled otherwise, what leans on what, and what stands beside them."""

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
    "Refused",
    "Text",
    "overlaid",
    "readable",
    "valued",
]

Items = tuple[tuple[tuple[str, str], object], ...]  #: metadata or rules: ((part, name), value), in order
Reference = tuple[str, int]  #: a subject as it was sent, and a version

#: ``ab`` and ``ba`` are one schema in two spellings; ``user`` leans on ``record``, ``inlined`` is both in one text;
#: ``named`` is what ``user`` becomes where it leans on ``inlined``, which defines it alike: nothing but its name.
#: ``lax`` is none by the rules for new schemas, ``broken`` is none by any.
PLAIN: Final = ("int", "long", "string", "bytes", "ab", "ba", "lax", "object")
TAGGED: Final = ("record", "inlined")  #: their field may have tags
RESERVED: Final = ("properties", "confluent:reserved")
NUMBER: Final = ("properties", "confluent:version")
INVALID: Final[Items] = ((("domainRules", "bad"), None),)  #: rules that nobody can store
_READS: Final = {("long", "int"), ("string", "bytes"), ("bytes", "string")}  #: reader, writer
_ALIKE: Final = {"ab": "int", "ba": "int", "user": "inlined", "named": "inlined"}


class Refused(Exception):
    """An error code."""


@dataclass(frozen=True)
class Text:
    """The text of a schema."""

    kind: str
    tags: tuple[str, ...] = ()

    @property
    def normalized(self) -> Text:
        """The same in the one spelling."""
        return Text("ab") if self.kind == "ba" else self

    def edited(self, add: tuple[str, ...], remove: tuple[str, ...]) -> Text:
        """Return it with other tags on the field; only some have this field."""
        if self.kind not in TAGGED:
            raise Refused(42201)
        return replace(self, tags=tuple(tag for tag in dict.fromkeys((*self.tags, *add)) if tag not in remove))


@dataclass(frozen=True)
class Content:
    """What an id stands for."""

    text: Text
    references: tuple[Reference, ...] = ()
    metadata: Items = ()
    rules: Items = ()

    @property
    def json(self) -> bool:
        """Whether it is a JSON schema; all else is Avro."""
        return self.text.kind == "object"

    @property
    def fields(self) -> set[str]:
        """Return the names of its fields."""
        return {"record": {"x"}, "user": {"r"}, "named": {"r"}, "inlined": {"r"}}.get(self.text.kind, set())

    @property
    def reserved(self) -> set[str]:
        """Return the names that its metadata keep for later."""
        return set(filter(None, str(valued(self.metadata).get(RESERVED, "")).split(",")))

    @property
    def number(self) -> object:
        """What its metadata tell as its number."""
        return valued(self.metadata).get(NUMBER)

    @property
    def beside(self) -> object:
        """What counts beside the text, but for the number."""
        return tuple(item for item in self.metadata if item[0] != NUMBER), self.rules

    @property
    def settled(self) -> Content:
        """The same with what has no order in one order: names in metadata; rules only within their list."""
        return replace(
            self,
            metadata=tuple(sorted(self.metadata, key=lambda item: item[0])),
            rules=tuple(sorted(self.rules, key=lambda item: item[0][0])),
        )

    @property
    def normalized(self) -> Content:
        """The same in the one spelling, with each reference once."""
        return replace(self, text=self.text.normalized, references=tuple(sorted(set(self.references))))


def valued(items: Items) -> dict[tuple[str, str], object]:
    """Return metadata or rules by name."""
    return dict(items)


def overlaid(*layers: Items | None) -> Items | None:
    """Lay them over each other: the last one of a name stays, at the place of the last; None where all are None."""
    found: Items | None = None
    for layer in layers:
        if layer is not None:
            named = valued(layer)
            found = (*(item for item in found or () if item[0] not in named), *layer)
    return found


def readable(reader: Content, writer: Content) -> bool:
    """Whether what the writer wrote can be read."""
    new, old = (_ALIKE.get(one.text.kind, one.text.kind) for one in (reader, writer))
    return reader.json == writer.json and (new == old or (new, old) in _READS)
