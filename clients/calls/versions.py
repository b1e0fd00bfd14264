"""Calls about the versions of a subject."""

from __future__ import annotations

from typing import Any

from contractlog.clients.calls.call import (
    Call,
    Named,
    SubjectLike,
    VersionLike,
    anything,
    flags,
    given,
    integers,
    paged,
    stored,
)
from contractlog.compatibility.contract import Metadata, RuleSet
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["delete_version", "derive", "referenced_by", "text_of_version", "version", "versions"]


def version(
    subject: SubjectLike,
    number: VersionLike,
    *,
    deleted: bool = False,
    format: str | None = None,  # noqa: A002 - as it is sent
    qualified: bool = False,
) -> Call[RegisteredSchema]:
    """GET /subjects/{subject}/versions/{version}."""
    query = (
        *flags(deleted=deleted),
        *given(format=format, referenceFormat="qualified" if qualified else None),
    )
    return Call("GET", ("subjects", Named(subject), "versions", Named(number)), stored, query)


def text_of_version(
    subject: SubjectLike,
    number: VersionLike,
    *,
    deleted: bool = False,
    format: str | None = None,  # noqa: A002
) -> Call[str]:
    """GET /subjects/{subject}/versions/{version}/schema: only the text."""
    path = ("subjects", Named(subject), "versions", Named(number), "schema")
    return Call("GET", path, anything, (*flags(deleted=deleted), *given(format=format)), text=True)


def versions(
    subject: SubjectLike,
    *,
    deleted: bool = False,
    deleted_only: bool = False,
    deleted_as_negative: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[int]]:
    """GET /subjects/{subject}/versions."""
    query = (
        *flags(deleted=deleted, deletedOnly=deleted_only, deletedAsNegative=deleted_as_negative),
        *paged(offset, limit),
    )
    return Call("GET", ("subjects", Named(subject), "versions"), integers, query)


def referenced_by(
    subject: SubjectLike, number: VersionLike, *, deleted: bool = False, offset: int = 0, limit: int = -1
) -> Call[list[int]]:
    """GET /subjects/{subject}/versions/{version}/referencedby."""
    path = ("subjects", Named(subject), "versions", Named(number), "referencedby")
    return Call("GET", path, integers, (*flags(deleted=deleted), *paged(offset, limit)))


def derive(
    subject: SubjectLike,
    number: VersionLike,
    *,
    version: int | None = None,
    tags_to_add: list[dict[str, Any]] | None = None,
    tags_to_remove: list[dict[str, Any]] | None = None,
    metadata: Metadata | None = None,
    rule_set: RuleSet | None = None,
    rules_to_merge: RuleSet | None = None,
    rules_to_remove: list[str] | None = None,
) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}/versions/{version}/tags: a new version derived from this one."""
    members = {
        "newVersion": version,
        "tagsToAdd": tags_to_add,
        "tagsToRemove": tags_to_remove,
        "metadata": None if metadata is None else metadata.body(),
        "ruleSet": None if rule_set is None else rule_set.body(),
        "rulesToMerge": None if rules_to_merge is None else rules_to_merge.body(),
        "rulesToRemove": rules_to_remove,
    }
    return Call(
        "POST",
        ("subjects", Named(subject), "versions", Named(number), "tags"),
        lambda body: stored({"subject": str(subject)} | body),
        body={name: value for name, value in members.items() if value is not None},
        repeatable=False,  # a retry could register a second derived version
    )


def delete_version(subject: SubjectLike, number: VersionLike, *, permanent: bool = False) -> Call[int]:
    """DELETE /subjects/{subject}/versions/{version}."""
    path = ("subjects", Named(subject), "versions", Named(number))
    return Call("DELETE", path, int, flags(permanent=permanent), repeatable=False)
