"""The small record schemas that histories register, and their compatibility."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

_TRANSITIVE = "_TRANSITIVE"
_NAMES = "abcd"
_TYPES = ("int", "long", "string")
_READ_AS = {("int", "long")}  #: (writer, reader)


class Field(NamedTuple):
    name: str
    type: str
    default: bool


class Content(NamedTuple):
    """A record with these fields, and the group that its metadata name."""

    fields: tuple[Field, ...]
    group: str

    @property
    def text(self) -> str:
        """The schema."""
        return json.dumps({"type": "record", "name": "R", "fields": [_written(one) for one in self.fields]})

    @property
    def body(self) -> dict[str, Any]:
        """What is posted."""
        return {"schema": self.text, "metadata": {"properties": {"group": self.group}}}

    @classmethod
    def of(cls, body: Any) -> Content:
        """Read it from an answer."""
        fields = json.loads(body["schema"])["fields"]
        return cls(
            tuple(Field(one["name"], one["type"], "default" in one) for one in fields),
            body.get("metadata", {}).get("properties", {}).get("group", ""),
        )


def _written(one: Field) -> dict[str, Any]:
    written: dict[str, Any] = {"name": one.name, "type": one.type}
    return written | ({"default": "" if one.type == "string" else 0} if one.default else {})


def pool(random: Random, size: int) -> list[Content]:
    """Make contents, few enough that clients meet on them; many of them can follow each other."""
    found: dict[Content, None] = {}
    while len(found) < size:
        fields = tuple(
            Field(name, random.choices(_TYPES, (8, 3, 1))[0], random.random() < 0.7)
            for name in _NAMES
            if random.random() < 0.6
        )
        found[Content(fields, random.choice("xy"))] = None
    return list(found)


def reads(reader: Content, writer: Content) -> bool:
    """Whether what one wrote can be read by the other."""
    written = {one.name: one.type for one in writer.fields}
    return all(
        one.default
        if one.name not in written
        else one.type == written[one.name] or (written[one.name], one.type) in _READ_AS
        for one in reader.fields
    )


def compatible(candidate: Content, baseline: Sequence[Content], level: str) -> bool:
    """Whether a content may follow those of the baseline under a level."""
    kind = level.removesuffix(_TRANSITIVE)
    backward = kind not in {"BACKWARD", "FULL"} or all(reads(candidate, one) for one in baseline)
    return backward and (kind not in {"FORWARD", "FULL"} or all(reads(one, candidate) for one in baseline))
