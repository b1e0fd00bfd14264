"""Request and response bodies of associations, with members in the reference's order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

from msgspec import Struct

from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.names import Subject
from contractlog.registry.bodies.answers import ErrorBody, SchemaBody
from contractlog.registry.bodies.requests import RegisterRequest
from contractlog.registry.paths import subject_of
from contractlog.registry.services.association_changes import Bound
from contractlog.registry.services.association_rules import NewSchema, Operation, Wish
from contractlog.registry.storage.associations import TOPIC, Association, Lifecycle, Resource, Wanted

__all__ = [
    "MOST",
    "AssociationBatchGetRequest",
    "AssociationBatchRequest",
    "AssociationBody",
    "AssociationGetRequest",
    "AssociationInfoBody",
    "AssociationInfoRequest",
    "AssociationRequest",
    "AssociationResponseBody",
    "AssociationResultBody",
    "AssociationResultsBody",
]

_ANY: Final = "-"  #: wildcard for a name or a namespace
MOST: Final = 1_000  #: members of a batch


class AssociationInfoRequest(Struct, rename="camel"):
    """One association of a resource; in a batch, optionally with an operation of its own."""

    op_type: Operation | None = None
    subject: str | None = None
    association_type: str | None = None
    lifecycle: Lifecycle | None = None
    frozen: bool | None = None
    schema: RegisterRequest | None = None
    normalize: bool | None = None
    cascade_lifecycle: bool | None = None

    def wish(self, operation: Operation, context: str) -> Wish:
        """Build the requested change; subjects without a context are in the given one."""
        schema = self.schema
        return Wish(
            operation=self.op_type or operation,
            type=self.association_type,
            subject=None if self.subject is None else _subject_in(context, self.subject),
            lifecycle=self.lifecycle,
            frozen=self.frozen,
            schema=None
            if schema is None
            else NewSchema(schema.draft(), bool(self.normalize), schema.wanted_id, schema.wanted_version),
            cascade=bool(self.cascade_lifecycle),
        )


def _named(text: str | None) -> str | None:
    return None if text in {None, "", _ANY} else text


def _subject_in(context: str, text: str) -> Subject:
    return subject_of(text) if text.startswith(":.") else Subject(context, subject_of(text).name)


class AssociationRequest(Struct, rename="camel"):
    """A resource and the associations to create, upsert or delete."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    op_type: Operation | None = None
    associations: list[AssociationInfoRequest] | None = None

    def resource(self, resource_id: str | None = None) -> Resource:
        """Build the resource; an id from the path takes precedence over the body's."""
        return Resource(
            self.resource_name or "",
            self.resource_namespace or "",
            resource_id or self.resource_id or "",
            self.resource_type or TOPIC,
        )

    def wishes(self, operation: Operation, context: str) -> list[Wish]:
        """Build the requested change of each association."""
        return [one.wish(self.op_type or operation, context) for one in self.associations or ()]


class AssociationBatchRequest(Struct):
    """Changes of many resources, each independent of the others."""

    requests: list[AssociationRequest] | None = None


class AssociationGetRequest(Struct, rename="camel"):
    """A resource whose associations are requested, by its id or by its name."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    association_types: list[str] | None = None

    def wanted(self) -> Wanted:
        """Build the query."""
        return Wanted(
            resource_id=self.resource_id or None,
            name=_named(self.resource_name),
            namespace=_named(self.resource_namespace),
            resource_type=self.resource_type or TOPIC,
            types=tuple(self.association_types or ()),
        )

    def answer(self, found: Iterable[Bound]) -> AssociationResponseBody:
        """Build the response body."""
        bound = list(found)
        resource = bound[0].association.resource if bound else None
        asked = Resource(
            self.resource_name or "", self.resource_namespace or "", self.resource_id or "", self.resource_type or TOPIC
        )
        return AssociationResponseBody.of(resource or asked, bound)


class AssociationBatchGetRequest(Struct):
    """Requests for the associations of many resources."""

    requests: list[AssociationGetRequest] | None = None


class AssociationBody(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """An association; ``frozen`` is present if it differs from the lifecycle's default (STRONG: true)."""

    subject: str
    guid: str
    resource_name: str
    resource_namespace: str
    resource_id: str
    resource_type: str
    association_type: str
    lifecycle: str
    frozen: bool | None = None
    create_ts: int
    update_ts: int

    @classmethod
    def of(cls, one: Association) -> Self:
        """Build the body."""
        return cls(
            subject=str(one.subject),
            guid=one.guid,
            resource_name=one.resource.name,
            resource_namespace=one.resource.namespace,
            resource_id=one.resource.id,
            resource_type=one.resource.type,
            association_type=one.type,
            lifecycle=one.lifecycle.value,
            frozen=_frozen(one),
            create_ts=one.created_at,
            update_ts=one.updated_at,
        )


class AssociationInfoBody(Struct, omit_defaults=True, rename="camel"):
    """An association of the resource that the enclosing body names."""

    subject: str
    association_type: str
    lifecycle: str
    frozen: bool | None = None
    schema: SchemaBody | None = None


class AssociationResponseBody(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """A resource and its associations."""

    resource_name: str = ""
    resource_namespace: str = ""
    resource_id: str = ""
    resource_type: str
    associations: list[AssociationInfoBody] = []

    @classmethod
    def of(cls, resource: Resource, bound: Iterable[Bound]) -> Self:
        """Build the body."""
        return cls(
            resource_name=resource.name,
            resource_namespace=resource.namespace,
            resource_id=resource.id,
            resource_type=resource.type,
            associations=[
                AssociationInfoBody(
                    str(one.association.subject),
                    one.association.type,
                    one.association.lifecycle.value,
                    _frozen(one.association),
                    None if one.schema is None else SchemaBody.of(one.schema),
                )
                for one in bound
            ],
        )


def _frozen(one: Association) -> bool | None:
    return None if one.frozen == (one.lifecycle is Lifecycle.STRONG) else one.frozen


class AssociationResultBody(Struct, omit_defaults=True):
    """The result of one member of a batch: an error or a result."""

    error: ErrorBody | None = None
    result: AssociationResponseBody | None = None

    @classmethod
    def failed(cls, error: RegistryError) -> Self:
        """Build the body of a failed member."""
        return cls(error=ErrorBody(error.error_code, error.message))


class AssociationResultsBody(Struct, omit_defaults=True):
    """The results of a batch, in the order of its members."""

    results: list[AssociationResultBody] = []
