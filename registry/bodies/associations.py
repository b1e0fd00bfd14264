"""HTTP bodies about associations: what comes in and what goes out, members in the reference's order."""

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

_ANY: Final = "-"  #: in place of a name or a namespace
MOST: Final = 1_000  #: members of a batch


class AssociationInfoRequest(Struct, rename="camel"):
    """One association of a resource; in a batch with what shall become of it."""

    op_type: Operation | None = None
    subject: str | None = None
    association_type: str | None = None
    lifecycle: Lifecycle | None = None
    frozen: bool | None = None
    schema: RegisterRequest | None = None
    normalize: bool | None = None
    cascade_lifecycle: bool | None = None

    def wish(self, operation: Operation, context: str) -> Wish:
        """Make what is asked; subjects without a context are in the given one."""
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
    """The associations that a resource shall have."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    op_type: Operation | None = None
    associations: list[AssociationInfoRequest] | None = None

    def resource(self, resource_id: str | None = None) -> Resource:
        """Make the resource; an id from the path goes before the body's."""
        return Resource(
            self.resource_name or "",
            self.resource_namespace or "",
            resource_id or self.resource_id or "",
            self.resource_type or TOPIC,
        )

    def wishes(self, operation: Operation, context: str) -> list[Wish]:
        """Make what is asked of each association."""
        return [one.wish(self.op_type or operation, context) for one in self.associations or ()]


class AssociationBatchRequest(Struct):
    """Changes of many resources, each by itself."""

    requests: list[AssociationRequest] | None = None


class AssociationGetRequest(Struct, rename="camel"):
    """A resource whose associations are asked for, by its id or by its name."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    association_types: list[str] | None = None

    def wanted(self) -> Wanted:
        """Make the question."""
        return Wanted(
            resource_id=self.resource_id or None,
            name=_named(self.resource_name),
            namespace=_named(self.resource_namespace),
            resource_type=self.resource_type or TOPIC,
            types=tuple(self.association_types or ()),
        )

    def answer(self, found: Iterable[Bound]) -> AssociationResponseBody:
        """Shape what was found."""
        bound = list(found)
        resource = bound[0].association.resource if bound else None
        asked = Resource(
            self.resource_name or "", self.resource_namespace or "", self.resource_id or "", self.resource_type or TOPIC
        )
        return AssociationResponseBody.of(resource or asked, bound)


class AssociationBatchGetRequest(Struct):
    """Questions about many resources."""

    requests: list[AssociationGetRequest] | None = None


class AssociationBody(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """An association; ``frozen`` is shown where it is not what the lifecycle says."""

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
        """Shape the answer."""
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
    """An association of a resource that is named above it."""

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
        """Shape the answer."""
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
    """What became of one member of a batch."""

    error: ErrorBody | None = None
    result: AssociationResponseBody | None = None

    @classmethod
    def failed(cls, error: RegistryError) -> Self:
        """Shape what was refused."""
        return cls(error=ErrorBody(error.error_code, error.message))


class AssociationResultsBody(Struct, omit_defaults=True):
    """What became of a batch, in its order."""

    results: list[AssociationResultBody] = []
