"""Calls about schemas independent of a subject: by id, by guid, and lists."""

from __future__ import annotations

from collections.abc import Iterable

from contractlog.clients.calls.call import (
    Call,
    PathParameter,
    ResponseBody,
    SubjectLike,
    flag_parameters,
    page_parameters,
    parse_registered,
    parse_strings,
    pass_body,
    query_parameters,
)
from contractlog.compatibility.schema import RegisteredSchema

__all__ = [
    "by_guid",
    "by_id",
    "ids_of_guid",
    "schemas",
    "subjects_of_id",
    "text_of_id",
    "types",
    "versions_of_id",
]


def by_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    format: str | None = None,  # noqa: A002 - as it is sent
    qualified: bool = False,
) -> Call[RegisteredSchema]:
    """GET /schemas/ids/{id}."""
    return Call(
        "GET",
        ("schemas", "ids", PathParameter(schema_id)),
        lambda body: parse_registered(body, schema_id=schema_id),
        query_parameters(subject=subject, format=format, referenceFormat="qualified" if qualified else None),
    )


def text_of_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    format: str | None = None,  # noqa: A002 - as it is sent
) -> Call[str]:
    """GET /schemas/ids/{id}/schema: only the text."""
    path = ("schemas", "ids", PathParameter(schema_id), "schema")
    return Call("GET", path, pass_body, query_parameters(subject=subject, format=format), text=True)


def subjects_of_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    deleted: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[str]]:
    """GET /schemas/ids/{id}/subjects."""
    query = (*query_parameters(subject=subject), *flag_parameters(deleted=deleted), *page_parameters(offset, limit))
    return Call("GET", ("schemas", "ids", PathParameter(schema_id), "subjects"), parse_strings, query)


def versions_of_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    deleted: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[tuple[str, int]]]:
    """GET /schemas/ids/{id}/versions."""
    return Call(
        "GET",
        ("schemas", "ids", PathParameter(schema_id), "versions"),
        lambda body: [(str(use["subject"]), int(use["version"])) for use in body],
        (*query_parameters(subject=subject), *flag_parameters(deleted=deleted), *page_parameters(offset, limit)),
    )


def by_guid(guid: str, *, format: str | None = None) -> Call[RegisteredSchema]:  # noqa: A002 - as it is sent
    """GET /schemas/guids/{guid}; the schema id is 0 if the response has none."""
    return Call(
        "GET",
        ("schemas", "guids", PathParameter(guid)),
        lambda body: parse_registered({"guid": guid} | body, schema_id=int(body.get("id") or 0)),
        query_parameters(format=format),
    )


def ids_of_guid(guid: str) -> Call[list[tuple[str, int]]]:
    """GET /schemas/guids/{guid}/ids: the (context, id) pairs of a content."""
    return Call(
        "GET",
        ("schemas", "guids", PathParameter(guid), "ids"),
        lambda body: [(str(item["context"]), int(item["id"])) for item in body],
    )


def schemas(
    *,
    prefix: str | None = None,
    deleted: bool = False,
    latest_only: bool = False,
    aliases: bool = False,
    rule_type: str | None = None,
    resource_type: str | None = None,
    association_types: Iterable[str] = (),
    lifecycles: Iterable[str] = (),
    offset: int = 0,
    limit: int = -1,
) -> Call[list[RegisteredSchema]]:
    """GET /schemas: versions with their schemas; a registry truncates long lists whatever the limit."""
    query = (
        *query_parameters(subjectPrefix=prefix, ruleType=rule_type, resourceType=resource_type),
        *flag_parameters(deleted=deleted, latestOnly=latest_only, aliases=aliases),
        *(("associationType", value) for value in association_types),
        *(("lifecycle", value) for value in lifecycles),
        *page_parameters(offset, limit),
    )
    return Call("GET", ("schemas",), _parse_schemas, query)


def types() -> Call[list[str]]:
    """GET /schemas/types."""
    return Call("GET", ("schemas", "types"), parse_strings)


def _parse_schemas(body: list[ResponseBody]) -> list[RegisteredSchema]:
    return [parse_registered(item) for item in body]
