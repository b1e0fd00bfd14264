"""Request and response bodies of associations, with members in the reference's order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

from msgspec import Struct, convert

from contractlog.compatibility.association_values import TOPIC, Lifecycle, Resource
from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.features.associations.changes import BoundAssociation
from contractlog.registry.features.associations.validation import (
    AssociatedSchema,
    AssociationChange,
    AssociationOperation,
)
from contractlog.registry.http.path_values import parse_subject
from contractlog.registry.http.request_bodies import RegisterRequest
from contractlog.registry.http.response_bodies import ErrorBody, SchemaBody
from contractlog.registry.storage.associations import AssociationFilter, StoredAssociation

__all__ = [
    "MAX_MEMBERS",
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
MAX_MEMBERS: Final = 1_000  #: members of a batch


class AssociationInfoRequest(Struct, rename="camel"):
    """One association of a resource; in a batch, optionally with an operation of its own."""

    op_type: AssociationOperation | None = None
    subject: str | None = None
    association_type: str | None = None
    lifecycle: Lifecycle | None = None
    frozen: bool | None = None
    schema: RegisterRequest | None = None
    normalize: bool | None = None
    cascade_lifecycle: bool | None = None

    def change(self, operation: AssociationOperation, context: str) -> AssociationChange:
        """Build the requested change; subjects without a context are in the given one."""
        schema = self.schema
        return AssociationChange(
            operation=self.op_type or operation,
            type=self.association_type,
            subject=None if self.subject is None else _parse_subject(context, self.subject),
            lifecycle=self.lifecycle,
            frozen=self.frozen,
            schema=None
            if schema is None
            else AssociatedSchema(schema.draft(), bool(self.normalize), schema.requested_id, schema.requested_version),
            cascade=bool(self.cascade_lifecycle),
        )


def _parse_name(text: str | None) -> str | None:
    return None if text in {None, "", _ANY} else text


def _parse_subject(context: str, text: str) -> Subject:
    return parse_subject(text) if text.startswith(":.") else Subject(context, parse_subject(text).name)


class _ResourceRequest(Struct, rename="camel"):
    """Request about a resource."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None

    def resource(self, resource_id: str | None = None) -> Resource:
        """Build the resource; an id from the path takes precedence over the body's."""
        return Resource(
            self.resource_name or "",
            self.resource_namespace or "",
            resource_id or self.resource_id or "",
            self.resource_type or TOPIC,
        )


class AssociationRequest(_ResourceRequest, rename="camel"):
    """A resource and the associations to create, upsert or delete."""

    op_type: AssociationOperation | None = None
    associations: list[AssociationInfoRequest] | None = None

    def changes(self, operation: AssociationOperation, context: str) -> list[AssociationChange]:
        """Build the requested change of each association."""
        return [member.change(self.op_type or operation, context) for member in self.associations or ()]


class AssociationBatchRequest(Struct):
    """Changes of many resources, each independent of the others."""

    requests: list[AssociationRequest] | None = None


class AssociationGetRequest(_ResourceRequest, rename="camel"):
    """A resource whose associations are requested, by its id or by its name."""

    association_types: list[str] | None = None

    def filter(self) -> AssociationFilter:
        """Build the query."""
        return AssociationFilter(
            resource_id=self.resource_id or None,
            name=_parse_name(self.resource_name),
            namespace=_parse_name(self.resource_namespace),
            resource_type=self.resource_type or TOPIC,
            types=tuple(self.association_types or ()),
        )

    def response(self, matches: Iterable[BoundAssociation]) -> AssociationResponseBody:
        """Build the response body."""
        bound = list(matches)
        return AssociationResponseBody.of(bound[0].association.resource if bound else self.resource(), bound)


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
    def of(cls, association: StoredAssociation) -> Self:
        """Build the body."""
        times = {"createTs": association.created_at, "updateTs": association.updated_at}
        return convert(association.body() | {"frozen": _frozen_member(association)} | times, cls)


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
    def of(cls, resource: Resource, bound: Iterable[BoundAssociation]) -> Self:
        """Build the body."""
        return cls(
            resource_name=resource.name,
            resource_namespace=resource.namespace,
            resource_id=resource.id,
            resource_type=resource.type,
            associations=[
                AssociationInfoBody(
                    str(result.association.subject),
                    result.association.association_type,
                    result.association.lifecycle.value,
                    _frozen_member(result.association),
                    None if result.schema is None else SchemaBody.of(result.schema),
                )
                for result in bound
            ],
        )


def _frozen_member(association: StoredAssociation) -> bool | None:
    return None if association.frozen == (association.lifecycle is Lifecycle.STRONG) else association.frozen


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
