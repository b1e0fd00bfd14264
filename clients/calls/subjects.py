"""Subjects and their versions."""

from __future__ import annotations

from contractlog.clients.calls.call import Call, SubjectLike, VersionLike, flags, integers, stored, texts
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["delete_subject", "delete_version", "lookup", "referenced_by", "register", "subjects", "version", "versions"]


def register(subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}/versions."""
    return Call(
        "POST",
        ("subjects", str(subject), "versions"),
        lambda body: RegisteredSchema.from_body({"subject": str(subject)} | body, draft=draft),
        flags(normalize=normalize),
        draft.body(),
    )


def lookup(
    subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}."""
    return Call(
        "POST",
        ("subjects", str(subject)),
        lambda body: RegisteredSchema.from_body(body, draft=draft),
        flags(normalize=normalize, deleted=deleted),
        draft.body(),
    )


def version(subject: SubjectLike, number: VersionLike, *, deleted: bool = False) -> Call[RegisteredSchema]:
    """GET /subjects/{subject}/versions/{version}."""
    return Call(
        "GET",
        ("subjects", str(subject), "versions", str(number)),
        stored,
        flags(deleted=deleted),
    )


def versions(subject: SubjectLike, *, deleted: bool = False) -> Call[list[int]]:
    """GET /subjects/{subject}/versions."""
    return Call("GET", ("subjects", str(subject), "versions"), integers, flags(deleted=deleted))


def subjects(*, prefix: str | None = None, deleted: bool = False) -> Call[list[str]]:
    """GET /subjects."""
    wanted = () if prefix is None else (("subjectPrefix", prefix),)
    return Call("GET", ("subjects",), texts, wanted + flags(deleted=deleted))


def referenced_by(subject: SubjectLike, number: VersionLike) -> Call[list[int]]:
    """GET /subjects/{subject}/versions/{version}/referencedby."""
    return Call("GET", ("subjects", str(subject), "versions", str(number), "referencedby"), integers)


def delete_subject(subject: SubjectLike, *, permanent: bool = False) -> Call[list[int]]:
    """DELETE /subjects/{subject}."""
    return Call("DELETE", ("subjects", str(subject)), integers, flags(permanent=permanent), repeatable=False)


def delete_version(subject: SubjectLike, number: VersionLike, *, permanent: bool = False) -> Call[int]:
    """DELETE /subjects/{subject}/versions/{version}."""
    return Call(
        "DELETE",
        ("subjects", str(subject), "versions", str(number)),
        int,
        flags(permanent=permanent),
        repeatable=False,
    )
