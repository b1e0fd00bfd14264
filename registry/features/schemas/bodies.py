"""Response bodies of ``GET /schemas``: a version with its aliases and associations."""

from __future__ import annotations

from typing import Any, Self

import msgspec
from msgspec import Struct

from contractlog.registry.features.associations.bodies import AssociationBody
from contractlog.registry.features.schemas.queries import ListedSchema
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.http.request_bodies import ReferenceBody
from contractlog.registry.http.response_bodies import SchemaBody

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
    def of(cls, listed: ListedSchema, profile: Profile) -> Self:
        """Build the body."""
        members = msgspec.to_builtins(profile.shape(SchemaBody.of(listed.schema)))
        if profile is Profile.CURRENT:
            members["associations"] = [
                msgspec.to_builtins(AssociationBody.of(association)) for association in listed.associations
            ]
        return msgspec.convert(members | {"aliases": list(listed.aliases)}, cls)
