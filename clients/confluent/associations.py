"""Associations of subjects with resources, with the classes and names of confluent-kafka."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.clients.confluent.bases import prefer_confluent_class
from contractlog.clients.confluent.json_object import JsonObject, list_parser, member
from contractlog.clients.confluent.schema import Schema

__all__ = [
    "Association",
    "AssociationCreateOrUpdateInfo",
    "AssociationCreateOrUpdateRequest",
    "AssociationInfo",
    "AssociationResponse",
]


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class Association(JsonObject):
    """Binding of a subject to the key or the value of a resource."""

    subject: str | None = member("subject")
    guid: str | None = member("guid")
    resource_name: str | None = member("resourceName")
    resource_namespace: str | None = member("resourceNamespace")
    resource_id: str | None = member("resourceId")
    resource_type: str | None = member("resourceType")
    association_type: str | None = member("associationType")
    frozen: bool = member("frozen", missing=bool, default=False)


@prefer_confluent_class
@dataclass(slots=True)
class AssociationInfo(JsonObject):
    """An association in a response."""

    subject: str | None = member("subject", default=None)
    association_type: str | None = member("associationType", default=None)
    lifecycle: str | None = member("lifecycle", default=None)
    frozen: bool = member("frozen", missing=bool, default=False)
    schema: Schema | None = member("schema", Schema.from_dict, default=None)


@prefer_confluent_class
@dataclass(slots=True)
class AssociationCreateOrUpdateInfo(JsonObject):
    """An association to create or update."""

    subject: str | None = member("subject", default=None)
    association_type: str | None = member("associationType", default=None)
    lifecycle: str | None = member("lifecycle", default=None)
    frozen: bool | None = member("frozen", default=None)
    schema: Schema | None = member("schema", Schema.from_dict, default=None)
    normalize: bool | None = member("normalize", default=None)


@prefer_confluent_class
@dataclass(slots=True)
class AssociationCreateOrUpdateRequest(JsonObject):
    """Request to create or update the associations of one resource."""

    resource_name: str | None = member("resourceName", default=None)
    resource_namespace: str | None = member("resourceNamespace", default=None)
    resource_id: str | None = member("resourceId", default=None)
    resource_type: str | None = member("resourceType", default=None)
    associations: list[AssociationCreateOrUpdateInfo] | None = member(
        "associations", list_parser(AssociationCreateOrUpdateInfo.from_dict), default=None
    )


@prefer_confluent_class
@dataclass(slots=True)
class AssociationResponse(JsonObject):
    """Response with the associations of one resource."""

    resource_name: str | None = member("resourceName", default=None)
    resource_namespace: str | None = member("resourceNamespace", default=None)
    resource_id: str | None = member("resourceId", default=None)
    resource_type: str | None = member("resourceType", default=None)
    associations: list[AssociationInfo] | None = member(
        "associations", list_parser(AssociationInfo.from_dict), default=None
    )
