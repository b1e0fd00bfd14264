"""Calls about associations: bindings of subjects to the keys and values of resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from contractlog.clients.calls.call import (
    Answered,
    Call,
    Named,
    SubjectLike,
    flags,
    given,
    nothing,
    paged,
)
from contractlog.clients.values import Association, AssociationDraft, Resource
from contractlog.compatibility.errors import RegistryError

__all__ = [
    "associations_by_resource_id",
    "associations_by_resource_name",
    "associations_of_many",
    "associations_of_subject",
    "bind",
    "change_many",
    "ensure_bound",
    "unbind",
]

_ASSOCIATIONS: Final = "associations"


def associations_of_subject(
    subject: SubjectLike,
    *,
    resource_type: str | None = None,
    association_types: Iterable[str] = (),
    lifecycle: str | None = None,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[Association]]:
    """GET /associations/subjects/{subject}."""
    query = (*_which(resource_type, association_types, lifecycle), *paged(offset, limit))
    return Call("GET", (_ASSOCIATIONS, "subjects", Named(subject)), _list, query)


def associations_by_resource_id(
    resource: str,
    *,
    resource_type: str | None = None,
    association_types: Iterable[str] = (),
    lifecycle: str | None = None,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[Association]]:
    """GET /associations/resources/{resource}."""
    query = (*_which(resource_type, association_types, lifecycle), *paged(offset, limit))
    return Call("GET", (_ASSOCIATIONS, "resources", Named(resource)), _list, query)


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
    """GET /associations/resources/{namespace}/{name}; namespace ``-`` matches any."""
    query = (*_which(resource_type, association_types, lifecycle), *paged(offset, limit))
    return Call("GET", (_ASSOCIATIONS, "resources", Named(namespace), Named(name)), _list, query)


def bind(resource: Resource, associations: Iterable[AssociationDraft], *, dry_run: bool = False) -> Call[Answered]:
    """POST /associations: bind subjects to a resource, and register the schemas that are given."""
    return Call("POST", (_ASSOCIATIONS,), dict, flags(dryRun=dry_run), _body(resource, associations))


def ensure_bound(
    resource: Resource, associations: Iterable[AssociationDraft], *, dry_run: bool = False
) -> Call[Answered]:
    """PUT /associations/resources/{resource}: create the associations that a resource does not have yet."""
    path = (_ASSOCIATIONS, "resources", Named(resource.id))
    return Call("PUT", path, dict, flags(dryRun=dry_run), _body(resource, associations))


def unbind(
    resource: str,
    *,
    resource_type: str | None = None,
    association_types: Iterable[str] = (),
    lifecycle: str | None = None,
    cascade: bool = False,
    dry_run: bool = False,
) -> Call[None]:
    """DELETE /associations/resources/{resource}; ``cascade`` also deletes the subjects that it owns."""
    query = (
        *_which(resource_type, association_types, lifecycle),
        *flags(cascadeLifecycle=cascade, dryRun=dry_run),
    )
    return Call("DELETE", (_ASSOCIATIONS, "resources", Named(resource)), nothing, query, repeatable=False)


def associations_of_many(
    resources: Iterable[Mapping[str, Any]], *, schemas: bool = False
) -> Call[list[Answered | RegistryError]]:
    """POST /associations:batchGet."""
    body = {"requests": [dict(one) for one in resources]}
    return Call("POST", (f"{_ASSOCIATIONS}:batchGet",), _results, flags(includeSchemas=schemas), body)


def change_many(
    requests: Iterable[Mapping[str, Any]], *, dry_run: bool = False
) -> Call[list[Answered | RegistryError]]:
    """POST /associations:batchMutate: each request succeeds or fails independently."""
    body = {"requests": [dict(one) for one in requests]}
    return Call("POST", (f"{_ASSOCIATIONS}:batchMutate",), _results, flags(dryRun=dry_run), body, repeatable=False)


def _which(resource_type: str | None, types: Iterable[str], lifecycle: str | None) -> tuple[tuple[str, str], ...]:
    named = (("associationType", one) for one in types)
    return (*given(resourceType=resource_type, lifecycle=lifecycle), *named)


def _body(resource: Resource, associations: Iterable[AssociationDraft]) -> dict[str, Any]:
    return resource.body() | {"associations": [one.body() for one in associations]}


def _list(body: list[Answered]) -> list[Association]:
    return [Association.from_body(one) for one in body]


def _results(body: Any) -> list[Answered | RegistryError]:
    return [_result(one) for one in body["results"]]


def _result(one: Answered) -> Answered | RegistryError:
    error = one.get("error")
    if error is None:
        return dict(one["result"])
    return RegistryError.of(int(error["error_code"]), str(error.get("message") or ""))
