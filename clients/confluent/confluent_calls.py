"""Calls whose responses are parsed into confluent-kafka's classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from contractlog.clients import calls
from contractlog.clients.calls import Call
from contractlog.clients.calls.call import (
    PathParameter,
    flag_parameters,
    page_parameters,
    pass_body,
    query_parameters,
    scoped_path,
)
from contractlog.clients.confluent.associations import (
    Association,
    AssociationCreateOrUpdateRequest,
    AssociationResponse,
)
from contractlog.clients.confluent.schema import RegisteredSchema, Schema, SchemaVersion, ServerConfig

__all__ = [
    "associations",
    "bind",
    "by_guid",
    "by_id",
    "check",
    "config",
    "latest_with_metadata",
    "lookup",
    "mode",
    "register",
    "set_config",
    "set_mode",
    "version",
    "versions_of_id",
]

T = TypeVar("T")


def _with_parser(call: Call[Any], read: Callable[[Any], T]) -> Call[T]:
    return Call(call.method, call.segments, read, call.query, call.body, call.repeatable, call.text)


def register(subject: str, schema: Schema, *, normalize: bool) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}/versions; older servers send only the id."""
    return Call(
        "POST",
        ("subjects", PathParameter(subject), "versions"),
        lambda body: RegisteredSchema.from_dict({"subject": subject} | body),
        flag_parameters(normalize=normalize),
        schema.to_dict(),
    )


def lookup(subject: str, schema: Schema, *, normalize: bool, fmt: str | None, deleted: bool) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}; the result has the requested schema, not the one in the response."""

    def read(body: Any) -> RegisteredSchema:
        registered = RegisteredSchema.from_dict(body)
        return RegisteredSchema(registered.subject, registered.version, registered.schema_id, registered.guid, schema)

    query = (*flag_parameters(normalize=normalize, deleted=deleted), *query_parameters(format=fmt))
    return Call("POST", ("subjects", PathParameter(subject)), read, query, schema.to_dict())


def by_id(schema_id: int, subject: str | None, fmt: str | None, reference_format: str | None) -> Call[Schema]:
    """GET /schemas/ids/{id}."""
    query = query_parameters(subject=subject, format=fmt, referenceFormat=reference_format)
    return Call("GET", ("schemas", "ids", PathParameter(schema_id)), Schema.from_dict, query)


def by_guid(guid: str, fmt: str | None) -> Call[Schema]:
    """GET /schemas/guids/{guid}."""
    return _with_parser(calls.by_guid(guid, format=fmt), Schema.from_dict)


def versions_of_id(
    schema_id: int, subject: str | None, *, deleted: bool, offset: int, limit: int
) -> Call[list[SchemaVersion]]:
    """GET /schemas/ids/{id}/versions."""
    call = calls.versions_of_id(schema_id, subject=subject, deleted=deleted, offset=offset, limit=limit)
    return _with_parser(call, lambda body: [SchemaVersion.from_dict(item) for item in body])


def version(subject: str, number: Any, *, deleted: bool = False, fmt: str | None = None) -> Call[RegisteredSchema]:
    """GET /subjects/{subject}/versions/{version}."""
    return _with_parser(calls.version(subject, number, deleted=deleted, format=fmt), RegisteredSchema.from_dict)


def latest_with_metadata(
    subject: str, metadata: dict[str, str], *, deleted: bool, fmt: str | None
) -> Call[RegisteredSchema]:
    """GET /subjects/{subject}/metadata."""
    call = calls.latest_with_metadata(subject, metadata, deleted=deleted, format=fmt)
    return _with_parser(call, RegisteredSchema.from_dict)


def check(subject: str, schema: Schema, number: Any, *, normalize: bool, verbose: bool) -> Call[bool]:
    """POST /compatibility/subjects/{subject}/versions[/{version}]."""
    version_segment = () if number is None else (PathParameter(number),)
    return Call(
        "POST",
        ("compatibility", "subjects", PathParameter(subject), "versions", *version_segment),
        lambda body: bool(body["is_compatible"]),
        flag_parameters(normalize=normalize, verbose=verbose),
        schema.to_dict(),
    )


def config(subject: str | None, *, method: str = "GET") -> Call[ServerConfig]:
    """GET or DELETE /config[/{subject}]."""
    return Call(method, scoped_path("config", subject), ServerConfig.from_dict, repeatable=method == "GET")


def set_config(subject: str | None, body: dict[str, Any]) -> Call[Any]:
    """PUT /config[/{subject}]; returns the response body as it is, like confluent-kafka."""
    return Call("PUT", scoped_path("config", subject), pass_body, body=body)


def mode(subject: str | None, *, method: str = "GET") -> Call[str]:
    """GET or DELETE /mode[/{subject}]."""
    return Call(method, scoped_path("mode", subject), lambda body: str(body["mode"]), repeatable=method == "GET")


def set_mode(subject: str | None, requested: str, *, force: bool) -> Call[str]:
    """PUT /mode[/{subject}]."""
    path = scoped_path("mode", subject)
    return Call("PUT", path, lambda body: str(body["mode"]), flag_parameters(force=force), {"mode": requested})


def associations(
    name: str, namespace: str, kind: str | None, types: Iterable[str] | None, *, offset: int, limit: int
) -> Call[list[Association]]:
    """GET /associations/resources/{namespace}/{name}."""
    query = (
        *query_parameters(resourceType=kind),
        *(("associationType", value) for value in types or ()),
        *page_parameters(offset, limit if limit > 0 else -1),
    )
    path = ("associations", "resources", PathParameter(namespace), PathParameter(name))
    return Call("GET", path, lambda body: [Association.from_dict(value) for value in body], query)


def bind(request: AssociationCreateOrUpdateRequest) -> Call[AssociationResponse]:
    """POST /associations."""
    return Call("POST", ("associations",), AssociationResponse.from_dict, body=request.to_dict())
