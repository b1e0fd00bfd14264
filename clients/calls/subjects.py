"""Calls about subjects: list, register, look up and delete."""

from __future__ import annotations

from collections.abc import Mapping

from contractlog.clients.calls.call import Call, Named, SubjectLike, flags, given, integers, paged, stored, texts
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
    wanted = {name: number for name, number in (("id", schema_id), ("version", version)) if number is not None}
    return Call(
        "POST",
        ("subjects", Named(subject), "versions"),
        lambda body: RegisteredSchema.from_body({"subject": str(subject)} | body, draft=draft),
        flags(normalize=normalize),
        draft.body() | wanted,
    )


def lookup(
    subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}."""
    return Call(
        "POST",
        ("subjects", Named(subject)),
        lambda body: RegisteredSchema.from_body(body, draft=draft),
        flags(normalize=normalize, deleted=deleted),
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
    asked = tuple(pair for key, value in metadata.items() for pair in (("key", key), ("value", value)))
    query = (*asked, *flags(deleted=deleted), *given(format=format))
    return Call("GET", ("subjects", Named(subject), "metadata"), stored, query)


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
        *given(subjectPrefix=prefix),
        *flags(deleted=deleted, deletedOnly=deleted_only),
        *paged(offset, limit),
    )
    return Call("GET", ("subjects",), texts, query)


def delete_subject(subject: SubjectLike, *, permanent: bool = False) -> Call[list[int]]:
    """DELETE /subjects/{subject}."""
    return Call("DELETE", ("subjects", Named(subject)), integers, flags(permanent=permanent), repeatable=False)
