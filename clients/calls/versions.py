"""Calls about the versions of a subject."""

from __future__ import annotations

from typing import Any

from contractlog.clients.calls.call import (
    Call,
    PathParameter,
    SubjectLike,
    VersionLike,
    flag_parameters,
    page_parameters,
    parse_integers,
    parse_registered,
    pass_body,
    query_parameters,
)
from contractlog.compatibility.data_contract import Metadata, RuleSet
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
        *flag_parameters(deleted=deleted),
        *query_parameters(format=format, referenceFormat="qualified" if qualified else None),
    )
    return Call("GET", ("subjects", PathParameter(subject), "versions", PathParameter(number)), parse_registered, query)


def text_of_version(
    subject: SubjectLike,
    number: VersionLike,
    *,
    deleted: bool = False,
    format: str | None = None,  # noqa: A002
) -> Call[str]:
    """GET /subjects/{subject}/versions/{version}/schema: only the text."""
    path = ("subjects", PathParameter(subject), "versions", PathParameter(number), "schema")
    return Call(
        "GET", path, pass_body, (*flag_parameters(deleted=deleted), *query_parameters(format=format)), text=True
    )


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
        *flag_parameters(deleted=deleted, deletedOnly=deleted_only, deletedAsNegative=deleted_as_negative),
        *page_parameters(offset, limit),
    )
    return Call("GET", ("subjects", PathParameter(subject), "versions"), parse_integers, query)


def referenced_by(
    subject: SubjectLike, number: VersionLike, *, deleted: bool = False, offset: int = 0, limit: int = -1
) -> Call[list[int]]:
    """GET /subjects/{subject}/versions/{version}/referencedby."""
    path = ("subjects", PathParameter(subject), "versions", PathParameter(number), "referencedby")
    return Call("GET", path, parse_integers, (*flag_parameters(deleted=deleted), *page_parameters(offset, limit)))


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
        ("subjects", PathParameter(subject), "versions", PathParameter(number), "tags"),
        lambda body: parse_registered({"subject": str(subject)} | body),
        body={name: value for name, value in members.items() if value is not None},
        repeatable=False,  # a retry could register a second derived version
    )


def delete_version(subject: SubjectLike, number: VersionLike, *, permanent: bool = False) -> Call[int]:
    """DELETE /subjects/{subject}/versions/{version}."""
    path = ("subjects", PathParameter(subject), "versions", PathParameter(number))
    return Call("DELETE", path, int, flag_parameters(permanent=permanent), repeatable=False)
