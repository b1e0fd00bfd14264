"""Response formats of older releases, for clients that compare whole bodies."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from contractlog.compatibility.schema import SchemaType
from contractlog.registry.http.response_bodies import RegisteredBody, SchemaBody, SchemaStringBody

__all__ = ["Profile"]

_SINCE_8: Final = frozenset({"guid", "ts", "deleted"})


class Profile(StrEnum):
    """The release whose format is used for responses about registrations, versions and ids."""

    CURRENT = "8"
    SEVEN = "7.6"
    FIVE = "5.5"

    def shape(self, body: Struct) -> Struct | dict[str, Any]:
        """Return a schema body in this release's format; other bodies are the same in all releases."""
        omitted = _OMITTED_MEMBERS[self].get(type(body))
        if omitted is None:
            return body
        members = msgspec.to_builtins(body)
        if members["schemaType"] == SchemaType.AVRO:
            del members["schemaType"]  # only other types than AVRO were included
        return {name: value for name, value in members.items() if name not in omitted}


_OMITTED_MEMBERS: Final[Mapping[Profile, Mapping[type[Struct], frozenset[str]]]] = {
    Profile.CURRENT: {},
    Profile.SEVEN: {
        RegisteredBody: _SINCE_8,
        SchemaBody: _SINCE_8,
        SchemaStringBody: _SINCE_8 | {"subject", "version"},
    },
    Profile.FIVE: {
        RegisteredBody: _SINCE_8 | {"metadata", "ruleSet", "version", "schemaType", "references", "schema"},
        SchemaBody: _SINCE_8 | {"metadata"},  # rules are never left out: a client without them writes what they forbid
        SchemaStringBody: _SINCE_8 | {"metadata", "subject", "version"},
    },
}
