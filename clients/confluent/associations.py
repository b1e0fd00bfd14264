"""Associations of subjects with resources, with the classes and names of confluent-kafka."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.clients.confluent.bodies import Body, each, member
from contractlog.clients.confluent.schemas import Schema
from contractlog.clients.confluent.sharing import shared

__all__ = [
    "Association",
    "AssociationCreateOrUpdateInfo",
    "AssociationCreateOrUpdateRequest",
    "AssociationInfo",
    "AssociationResponse",
]


@shared
@dataclass(frozen=True, slots=True)
class Association(Body):
    """Binding of a subject to the key or the value of a resource."""

    subject: str | None = member("subject")
    guid: str | None = member("guid")
    resource_name: str | None = member("resourceName")
    resource_namespace: str | None = member("resourceNamespace")
    resource_id: str | None = member("resourceId")
    resource_type: str | None = member("resourceType")
    association_type: str | None = member("associationType")
    frozen: bool = member("frozen", missing=bool, default=False)


@shared
@dataclass(slots=True)
class AssociationInfo(Body):
    """An association in a response."""

    subject: str | None = member("subject", default=None)
    association_type: str | None = member("associationType", default=None)
    lifecycle: str | None = member("lifecycle", default=None)
    frozen: bool = member("frozen", missing=bool, default=False)
    schema: Schema | None = member("schema", Schema.from_dict, default=None)


@shared
@dataclass(slots=True)
class AssociationCreateOrUpdateInfo(Body):
    """An association to create or update."""

    subject: str | None = member("subject", default=None)
    association_type: str | None = member("associationType", default=None)
    lifecycle: str | None = member("lifecycle", default=None)
    frozen: bool | None = member("frozen", default=None)
    schema: Schema | None = member("schema", Schema.from_dict, default=None)
    normalize: bool | None = member("normalize", default=None)


@shared
@dataclass(slots=True)
class AssociationCreateOrUpdateRequest(Body):
    """Request to create or update the associations of one resource."""

    resource_name: str | None = member("resourceName", default=None)
    resource_namespace: str | None = member("resourceNamespace", default=None)
    resource_id: str | None = member("resourceId", default=None)
    resource_type: str | None = member("resourceType", default=None)
    associations: list[AssociationCreateOrUpdateInfo] | None = member(
        "associations", each(AssociationCreateOrUpdateInfo.from_dict), default=None
    )


@shared
@dataclass(slots=True)
class AssociationResponse(Body):
    """Response with the associations of one resource."""

    resource_name: str | None = member("resourceName", default=None)
    resource_namespace: str | None = member("resourceNamespace", default=None)
    resource_id: str | None = member("resourceId", default=None)
    resource_type: str | None = member("resourceType", default=None)
    associations: list[AssociationInfo] | None = member("associations", each(AssociationInfo.from_dict), default=None)
