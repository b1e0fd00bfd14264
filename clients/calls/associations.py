"""Associations: bindings of subjects to the keys and values of resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from contractlog.clients.calls.body_shapes import ASSOCIATION, require_shape
from contractlog.clients.calls.call import (
    Call,
    PathParameter,
    ResponseBody,
    SubjectLike,
    flag_parameters,
    ignore_body,
    page_parameters,
    query_parameters,
)
from contractlog.compatibility.association_values import Resource
from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.json_text import camel_case
from contractlog.compatibility.schema import SchemaDraft

__all__ = [
    "Association",
    "AssociationDraft",
    "Resource",
    "associations_by_resource_id",
    "associations_by_resource_name",
    "associations_of_many",
    "associations_of_subject",
    "bind",
    "change_associations",
    "ensure_bound",
    "unbind",
]

_RESOURCE: Final = "associations"


@dataclass(frozen=True, slots=True)
class Association:
    """Binding of a subject to the key or the value of a resource."""

    subject: str
    guid: str | None = None
    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    association_type: str | None = None  #: ``key`` or ``value``
    lifecycle: str | None = None  #: ``STRONG``: the resource owns the subject; ``WEAK``: it only uses it
    frozen: bool = False  #: whether it can only be deleted together with its subject
    create_ts: int | None = None  #: milliseconds since 1970, UTC
    update_ts: int | None = None

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Parse an association of a response body."""
        require_shape(body, ASSOCIATION)
        members: dict[str, Any] = {item.name: body.get(camel_case(item.name)) for item in fields(cls)}
        frozen = body.get("frozen")
        owns_subject = body.get("lifecycle") == "STRONG"  # frozen unless the response says otherwise
        return cls(
            **members | {"subject": str(body["subject"]), "frozen": owns_subject if frozen is None else bool(frozen)}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationDraft:
    """An association to create; its schema, if any, is registered under its subject."""

    association_type: str = "value"
    subject: str | None = None  #: None, allowed with a schema: the resource's own subject
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: SchemaDraft | None = None
    normalize: bool | None = None

    def body(self) -> dict[str, Any]:
        """Return the request body."""
        members = {camel_case(item.name): getattr(self, item.name) for item in fields(self)}
        members["schema"] = None if self.schema is None else self.schema.body()
        return {member: value for member, value in members.items() if value is not None}


def associations_of_subject(
    subject: SubjectLike,
    *,
    resource_type: str | None = None,
    association_types: Iterable[str] = (),
    lifecycle: str | None = None,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[Association]]:
    """Return the associations of a subject."""
    query = (*_filter_parameters(resource_type, association_types, lifecycle), *page_parameters(offset, limit))
    return Call("GET", (_RESOURCE, "subjects", PathParameter(subject)), _parse_associations, query)


def associations_by_resource_id(
    resource: str,
    *,
    resource_type: str | None = None,
    association_types: Iterable[str] = (),
    lifecycle: str | None = None,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[Association]]:
    """Return the associations of a resource, by its id."""
    query = (*_filter_parameters(resource_type, association_types, lifecycle), *page_parameters(offset, limit))
    return Call("GET", (_RESOURCE, "resources", PathParameter(resource)), _parse_associations, query)


def associations_by_resource_name(
    name: str,
    *,
    namespace: str = "-",
    resource_type: str | None = None,
    association_types: Iterable[str] = (),
    lifecycle: str | None = None,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[Association]]:
    """Return the associations of a resource, by its name; ``-`` matches any namespace."""
    query = (*_filter_parameters(resource_type, association_types, lifecycle), *page_parameters(offset, limit))
    return Call(
        "GET", (_RESOURCE, "resources", PathParameter(namespace), PathParameter(name)), _parse_associations, query
    )


def bind(resource: Resource, associations: Iterable[AssociationDraft], *, dry_run: bool = False) -> Call[ResponseBody]:
    """Bind subjects to a resource, and register the schemas that are given.

    With a schema, the subject may be left out: the default is the resource's own.

    Raises:
        AssociationTypeExists: the resource already has an association of this type.
        StrongAssociationExists: the subject belongs to another resource.
    """
    return Call("POST", (_RESOURCE,), dict, flag_parameters(dryRun=dry_run), _request_body(resource, associations))


def ensure_bound(
    resource: Resource, associations: Iterable[AssociationDraft], *, dry_run: bool = False
) -> Call[ResponseBody]:
    """Create the associations that a resource does not have yet; existing ones keep subject and lifecycle."""
    path = (_RESOURCE, "resources", PathParameter(resource.id))
    return Call("PUT", path, dict, flag_parameters(dryRun=dry_run), _request_body(resource, associations))


def unbind(
    resource: str,
    *,
    resource_type: str | None = None,
    association_types: Iterable[str] = (),
    lifecycle: str | None = None,
    cascade: bool = False,
    dry_run: bool = False,
) -> Call[None]:
    """Remove the associations of a resource, by its id; ``cascade`` also deletes the subjects it owns.

    Raises:
        AssociationNotFound: the resource has none.
        AssociationFrozen: the resource owns a subject, and ``cascade`` is false.
    """
    query = (
        *_filter_parameters(resource_type, association_types, lifecycle),
        *flag_parameters(cascadeLifecycle=cascade, dryRun=dry_run),
    )
    return Call("DELETE", (_RESOURCE, "resources", PathParameter(resource)), ignore_body, query, repeatable=False)


def associations_of_many(
    resources: Iterable[Mapping[str, Any]], *, schemas: bool = False
) -> Call[list[ResponseBody | RegistryError]]:
    """Return the associations of each resource, or an error; requests are as in ``openapi.yaml``."""
    body = {"requests": [dict(resource) for resource in resources]}
    return Call("POST", (f"{_RESOURCE}:batchGet",), _parse_results, flag_parameters(includeSchemas=schemas), body)


def change_associations(
    requests: Iterable[Mapping[str, Any]], *, dry_run: bool = False
) -> Call[list[ResponseBody | RegistryError]]:
    """Change the associations of many resources, independently; requests are as in ``openapi.yaml``."""
    body = {"requests": [dict(request) for request in requests]}
    return Call(
        "POST", (f"{_RESOURCE}:batchMutate",), _parse_results, flag_parameters(dryRun=dry_run), body, repeatable=False
    )


def _filter_parameters(
    resource_type: str | None, types: Iterable[str], lifecycle: str | None
) -> tuple[tuple[str, str], ...]:
    type_parameters = (("associationType", association_type) for association_type in types)
    return (*query_parameters(resourceType=resource_type, lifecycle=lifecycle), *type_parameters)


def _request_body(resource: Resource, associations: Iterable[AssociationDraft]) -> dict[str, Any]:
    return resource.body() | {"associations": [association.body() for association in associations]}


def _parse_associations(body: list[ResponseBody]) -> list[Association]:
    return [Association.from_body(item) for item in body]


def _parse_results(body: Any) -> list[ResponseBody | RegistryError]:
    return [_parse_result(item) for item in body["results"]]


def _parse_result(item: ResponseBody) -> ResponseBody | RegistryError:
    error = item.get("error")
    if error is None:
        return dict(item["result"])
    return RegistryError.of(int(error["error_code"]), str(error.get("message") or ""))
