"""Calls about schemas independent of a subject: by id, by guid, and lists."""

from __future__ import annotations

from collections.abc import Iterable

from contractlog.clients.calls.call import (
    Answered,
    Call,
    Named,
    SubjectLike,
    anything,
    flags,
    given,
    paged,
    stored,
    texts,
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
        ("schemas", "ids", Named(schema_id)),
        lambda body: stored(body, schema_id=schema_id),
        given(subject=subject, format=format, referenceFormat="qualified" if qualified else None),
    )


def text_of_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    format: str | None = None,  # noqa: A002 - as it is sent
) -> Call[str]:
    """GET /schemas/ids/{id}/schema: only the text."""
    path = ("schemas", "ids", Named(schema_id), "schema")
    return Call("GET", path, anything, given(subject=subject, format=format), text=True)


def subjects_of_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    deleted: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[str]]:
    """GET /schemas/ids/{id}/subjects."""
    query = (*given(subject=subject), *flags(deleted=deleted), *paged(offset, limit))
    return Call("GET", ("schemas", "ids", Named(schema_id), "subjects"), texts, query)


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
        ("schemas", "ids", Named(schema_id), "versions"),
        lambda body: [(str(use["subject"]), int(use["version"])) for use in body],
        (*given(subject=subject), *flags(deleted=deleted), *paged(offset, limit)),
    )


def by_guid(guid: str, *, format: str | None = None) -> Call[RegisteredSchema]:  # noqa: A002 - as it is sent
    """GET /schemas/guids/{guid}; the schema id is 0 if the response has none."""
    return Call(
        "GET",
        ("schemas", "guids", Named(guid)),
        lambda body: stored({"guid": guid} | body, schema_id=int(body.get("id") or 0)),
        given(format=format),
    )


def ids_of_guid(guid: str) -> Call[list[tuple[str, int]]]:
    """GET /schemas/guids/{guid}/ids: the (context, id) pairs of a content."""
    return Call(
        "GET",
        ("schemas", "guids", Named(guid), "ids"),
        lambda body: [(str(one["context"]), int(one["id"])) for one in body],
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
        *given(subjectPrefix=prefix, ruleType=rule_type, resourceType=resource_type),
        *flags(deleted=deleted, latestOnly=latest_only, aliases=aliases),
        *(("associationType", one) for one in association_types),
        *(("lifecycle", one) for one in lifecycles),
        *paged(offset, limit),
    )
    return Call("GET", ("schemas",), _all_stored, query)


def types() -> Call[list[str]]:
    """GET /schemas/types."""
    return Call("GET", ("schemas", "types"), texts)


def _all_stored(body: list[Answered]) -> list[RegisteredSchema]:
    return [stored(one) for one in body]
