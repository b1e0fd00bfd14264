"""Response bodies of ``GET /schemas``: a version with its aliases and associations."""

from __future__ import annotations

from typing import Any, Self

import msgspec
from msgspec import Struct

from contractlog.registry.bodies.answers import SchemaBody
from contractlog.registry.bodies.associations import AssociationBody
from contractlog.registry.bodies.profiles import Profile
from contractlog.registry.bodies.requests import ReferenceBody
from contractlog.registry.storage.extended import Extended

__all__ = ["ExtendedSchemaBody"]


class ExtendedSchemaBody(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """A version, the aliases of its subject, and the subject's associations."""

    subject: str
    version: int
    id: int
    guid: str | None = None
    schema_type: str | None = None
    references: list[ReferenceBody] = []
    metadata: dict[str, Any] = {}
    rule_set: dict[str, Any] = {}
    schema: str
    ts: int | None = None
    deleted: bool | None = None
    aliases: list[str] = []
    associations: list[AssociationBody] = []

    @classmethod
    def of(cls, one: Extended, profile: Profile) -> Self:
        """Build the body."""
        shown = msgspec.to_builtins(profile.shape(SchemaBody.of(one.schema)))
        if profile is Profile.CURRENT:
            shown["associations"] = [msgspec.to_builtins(AssociationBody.of(found)) for found in one.associations]
        return msgspec.convert(shown | {"aliases": list(one.aliases)}, cls)
