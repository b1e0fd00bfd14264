"""Calls about subjects: list, register, look up and delete."""

from __future__ import annotations

from collections.abc import Mapping

from contractlog.clients.calls.call import (
    Call,
    PathParameter,
    SubjectLike,
    flag_parameters,
    page_parameters,
    parse_integers,
    parse_registered,
    parse_strings,
    query_parameters,
)
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["delete_subject", "latest_with_metadata", "lookup", "register", "subjects"]


def register(
    subject: SubjectLike,
    draft: SchemaDraft,
    *,
    normalize: bool = False,
    schema_id: int | None = None,
    version: int | None = None,
) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}/versions; an import requests an exact id or version."""
    requested = {name: number for name, number in (("id", schema_id), ("version", version)) if number is not None}
    return Call(
        "POST",
        ("subjects", PathParameter(subject), "versions"),
        lambda body: RegisteredSchema.from_body({"subject": str(subject)} | body, draft=draft),
        flag_parameters(normalize=normalize),
        draft.body() | requested,
    )


def lookup(
    subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}."""
    return Call(
        "POST",
        ("subjects", PathParameter(subject)),
        lambda body: RegisteredSchema.from_body(body, draft=draft),
        flag_parameters(normalize=normalize, deleted=deleted),
        draft.body(),
    )


def latest_with_metadata(
    subject: SubjectLike,
    metadata: Mapping[str, str],
    *,
    deleted: bool = False,
    format: str | None = None,  # noqa: A002
) -> Call[RegisteredSchema]:
    """GET /subjects/{subject}/metadata: the latest version with all these metadata properties."""
    properties = tuple(pair for key, value in metadata.items() for pair in (("key", key), ("value", value)))
    query = (*properties, *flag_parameters(deleted=deleted), *query_parameters(format=format))
    return Call("GET", ("subjects", PathParameter(subject), "metadata"), parse_registered, query)


def subjects(
    *,
    prefix: str | None = None,
    deleted: bool = False,
    deleted_only: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[str]]:
    """GET /subjects."""
    query = (
        *query_parameters(subjectPrefix=prefix),
        *flag_parameters(deleted=deleted, deletedOnly=deleted_only),
        *page_parameters(offset, limit),
    )
    return Call("GET", ("subjects",), parse_strings, query)


def delete_subject(subject: SubjectLike, *, permanent: bool = False) -> Call[list[int]]:
    """DELETE /subjects/{subject}."""
    return Call(
        "DELETE",
        ("subjects", PathParameter(subject)),
        parse_integers,
        flag_parameters(permanent=permanent),
        repeatable=False,
    )
