"""Response bodies, as in ``openapi.yaml``: members in the reference's order, empty ones omitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from msgspec import UNSET, Struct, UnsetType

from contractlog.compatibility.schema import RegisteredSchema
from contractlog.compatibility.tags import Entity
from contractlog.registry.http.request_bodies import ReferenceBody, SchemaEntityBody, SchemaTagsBody

__all__ = [
    "CompatibilityBody",
    "ContextIdBody",
    "ErrorBody",
    "RegisteredBody",
    "SchemaBody",
    "SchemaStringBody",
    "SubjectVersionBody",
]


Tags = Mapping[Entity, tuple[str, ...]] | None


class ErrorBody(Struct):
    """The body of every error response."""

    error_code: int
    message: str


class RegisteredBody(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """The response to a registration."""

    id: int
    version: int
    guid: str | None = None
    schema_type: str
    references: list[ReferenceBody] = []
    metadata: dict[str, Any] = {}
    rule_set: dict[str, Any] = {}
    schema: str
    ts: int | None = None
    deleted: bool | None = None

    @classmethod
    def of(cls, schema: RegisteredSchema, *, with_timestamp: bool) -> Self:
        """Build the body; timestamps are included only for versions that are returned as stored."""
        return cls(
            id=schema.schema_id,
            version=schema.version or 0,
            ts=schema.timestamp if with_timestamp else None,
            deleted=schema.deleted if with_timestamp else None,
            **_content_members(schema),
        )


class SchemaBody(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """A version of a subject."""

    subject: str
    version: int
    id: int
    guid: str | None = None
    schema_type: str
    references: list[ReferenceBody] = []
    metadata: dict[str, Any] = {}
    rule_set: dict[str, Any] = {}
    schema: str
    schema_tags: list[SchemaTagsBody] = []
    ts: int | None = None
    deleted: bool

    @classmethod
    def of(cls, schema: RegisteredSchema, *, qualified: bool = False, tags: Tags = None) -> Self:
        """Build the body."""
        return cls(
            schema_tags=_tag_bodies(tags),
            subject=str(schema.subject),
            version=schema.version or 0,
            id=schema.schema_id,
            ts=schema.timestamp,
            deleted=schema.deleted,
            **_content_members(schema, qualified=qualified),
        )


class SchemaStringBody(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """A schema by id or guid, with one of the versions that use it."""

    subject: str | None = None
    version: int | None = None
    guid: str | None = None
    schema_type: str
    references: list[ReferenceBody] = []
    metadata: dict[str, Any] = {}
    rule_set: dict[str, Any] = {}
    schema: str
    schema_tags: list[SchemaTagsBody] = []
    max_id: int | None = None
    ts: int | None = None
    deleted: bool

    @classmethod
    def of(
        cls,
        schema: RegisteredSchema,
        *,
        max_id: int | None = None,
        qualified: bool = False,
        tags: Tags = None,
        with_subject: bool = True,
    ) -> Self:
        """Build the body; by guid no subject is included, because it could be one of any context."""
        return cls(
            subject=str(schema.subject) if with_subject else None,
            version=schema.version if with_subject else None,
            max_id=max_id,
            schema_tags=_tag_bodies(tags),
            ts=schema.timestamp,
            deleted=schema.deleted,
            **_content_members(schema, qualified=qualified),
        )


def _tag_bodies(tags: Tags) -> list[SchemaTagsBody]:
    return [
        SchemaTagsBody(SchemaEntityBody(entity.path, entity.type), list(names))
        for entity, names in (tags or {}).items()
    ]


def _content_members(schema: RegisteredSchema, *, qualified: bool = False) -> dict[str, Any]:
    return {
        "guid": schema.guid,
        "schema_type": schema.type.value,
        "references": [
            ReferenceBody(
                reference.name,
                _qualify_subject(reference.subject, schema) if qualified else reference.subject,
                reference.version,
            )
            for reference in schema.references
        ],
        "metadata": schema.metadata.body() if schema.metadata else {},
        "rule_set": schema.rule_set.body() if schema.rule_set else {},
        "schema": schema.text,
    }


def _qualify_subject(subject: str, schema: RegisteredSchema) -> str:
    context = schema.subject.context if schema.subject else "."
    return subject if subject.startswith(":.") or context == "." else f":{context}:{subject}"


class SubjectVersionBody(Struct):
    """A version that uses an id."""

    subject: str
    version: int


class ContextIdBody(Struct):
    """An id that a guid has in a context."""

    context: str
    id: int


class CompatibilityBody(Struct):
    """The result of a compatibility check; ``verbose`` adds ``messages``, empty if compatible."""

    is_compatible: bool
    messages: list[str] | UnsetType = UNSET
