"""Response formats of older releases, for clients that compare whole bodies."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from contractlog.compatibility.schema import SchemaType

__all__ = ["Profile"]

_SINCE_8: Final = frozenset({"guid", "ts", "deleted"})


class Profile(StrEnum):
    """The release whose format is used for responses about registrations, versions and ids."""

    CURRENT = "8"
    SEVEN = "7.6"
    FIVE = "5.5"

    def shape(self, body: Struct) -> Struct | dict[str, Any]:
        """Return a schema body in this release's format; other bodies are the same in all releases."""
        omitted = _omitted_members(self).get(type(body))
        if omitted is None:
            return body
        members = msgspec.to_builtins(body)
        if members["schemaType"] == SchemaType.AVRO:
            del members["schemaType"]  # only other types than AVRO were included
        return {name: value for name, value in members.items() if name not in omitted}


@cache
def _omitted_members(profile: Profile) -> Mapping[type[Struct], frozenset[str]]:
    # settings import this module, and are read without a service; bodies import FastAPI, which takes a second
    from contractlog.registry.http.response_bodies import (  # noqa: PLC0415
        RegisteredBody,
        SchemaBody,
        SchemaStringBody,
    )

    match profile:
        case Profile.CURRENT:
            return {}
        case Profile.SEVEN:
            return {
                RegisteredBody: _SINCE_8,
                SchemaBody: _SINCE_8,
                SchemaStringBody: _SINCE_8 | {"subject", "version"},
            }
        case Profile.FIVE:
            return {
                RegisteredBody: _SINCE_8 | {"metadata", "ruleSet", "version", "schemaType", "references", "schema"},
                # rules are never left out: a client without them writes what they forbid
                SchemaBody: _SINCE_8 | {"metadata"},
                SchemaStringBody: _SINCE_8 | {"metadata", "subject", "version"},
            }
