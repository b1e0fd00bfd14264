"""Subjects and their versions: list, register, look up, derive and delete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from contractlog.clients.calls.call import (
    MAX_SCHEMA_BYTES,
    Call,
    Pages,
    PathParameter,
    SubjectLike,
    VersionLike,
    flag_parameters,
    page_parameters,
    parse_integers,
    parse_registered,
    parse_strings,
    parse_version,
    pass_body,
    query_parameters,
)
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = [
    "delete_subject",
    "delete_version",
    "derive",
    "each_subject",
    "latest_with_metadata",
    "lookup",
    "referenced_by",
    "register",
    "subjects",
    "text_of_version",
    "version",
    "versions",
]


def register(
    subject: SubjectLike,
    draft: SchemaDraft,
    *,
    normalize: bool = False,
    schema_id: int | None = None,
    version: int | None = None,
) -> Call[RegisteredSchema]:
    """Register a schema under a subject, or return the existing version with its content.

    Args:
        subject: where the schema is registered.
        draft: the schema.
        normalize: whether to store the normalized text.
        schema_id: the requested id; the mode of the subject must be IMPORT.
        version: the requested version number.

    Raises:
        IncompatibleSchema: it is incompatible at the level of the subject.
        InvalidSchema: it is not a valid schema.
        OperationNotPermitted: the mode of the subject forbids it.
    """
    requested = {name: number for name, number in (("id", schema_id), ("version", version)) if number is not None}
    return Call(
        "POST",
        ("subjects", PathParameter(subject), "versions"),
        lambda body: parse_registered({"subject": str(subject)} | body, draft=draft),
        flag_parameters(normalize=normalize),
        draft.body() | requested,
    )


def lookup(
    subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
) -> Call[RegisteredSchema]:
    """Return the version of a subject that has this content.

    Raises:
        SubjectNotFound: the subject has no versions.
        SchemaNotFound: none of its versions has this content.
    """
    return Call(
        "POST",
        ("subjects", PathParameter(subject)),
        lambda body: parse_version(body, draft=draft),
        flag_parameters(normalize=normalize, deleted=deleted),
        draft.body(),
    )


def latest_with_metadata(
    subject: SubjectLike,
    metadata: Mapping[str, str],
    *,
    deleted: bool = False,
    format: str | None = None,  # noqa: A002 - as it is sent
) -> Call[RegisteredSchema]:
    """Return the latest version with all these metadata properties."""
    properties = tuple(pair for key, value in metadata.items() for pair in (("key", key), ("value", value)))
    query = (*properties, *flag_parameters(deleted=deleted), *query_parameters(format=format))
    return Call("GET", ("subjects", PathParameter(subject), "metadata"), parse_version, query)


def subjects(
    *,
    prefix: str | None = None,
    deleted: bool = False,
    deleted_only: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[str]]:
    """Return the names of all subjects, sorted, each once."""
    query = (
        *query_parameters(subjectPrefix=prefix),
        *flag_parameters(deleted=deleted, deletedOnly=deleted_only),
        *page_parameters(offset, limit),
    )
    return Call("GET", ("subjects",), lambda body: list(dict.fromkeys(parse_strings(body))), query)


def each_subject(*, prefix: str | None = None, deleted: bool = False, page: int = 1_000) -> Pages[str]:
    """Iterate over the names of all subjects, page by page; older servers send all of them at once."""
    seen: set[str] = set()
    offset = 0
    while True:
        call = subjects(prefix=prefix, deleted=deleted, offset=offset, limit=page)
        names = yield replace(call, read=parse_strings)  # with repeated names, which count
        new = [name for name in dict.fromkeys(names) if name not in seen]
        if offset and not new:  # the server ignores the offset
            return
        yield new
        if len(names) != page:
            return
        seen.update(new)
        offset += len(names)


def delete_subject(subject: SubjectLike, *, permanent: bool = False) -> Call[list[int]]:
    """Soft delete a subject, or hard delete it if ``permanent``; return the deleted versions."""
    path, query = ("subjects", PathParameter(subject)), flag_parameters(permanent=permanent)
    return Call("DELETE", path, parse_integers, query, repeatable=False)


def version(
    subject: SubjectLike,
    version: VersionLike,
    *,
    deleted: bool = False,
    format: str | None = None,  # noqa: A002 - as it is sent
    qualified: bool = False,
) -> Call[RegisteredSchema]:
    """Return one version of a subject, or its latest, from the registry, not from the cache.

    Raises:
        SubjectNotFound: the subject has no versions.
        VersionNotFound: the subject has no such version.
    """
    query = (
        *flag_parameters(deleted=deleted),
        *query_parameters(format=format, referenceFormat="qualified" if qualified else None),
    )
    return Call("GET", _version_path(subject, version), parse_version, query, max_bytes=MAX_SCHEMA_BYTES)


def text_of_version(
    subject: SubjectLike,
    version: VersionLike,
    *,
    deleted: bool = False,
    format: str | None = None,  # noqa: A002 - as it is sent
) -> Call[str]:
    """Return only the text of a version."""
    query = (*flag_parameters(deleted=deleted), *query_parameters(format=format))
    return Call("GET", (*_version_path(subject, version), "schema"), pass_body, query, text=True)


def versions(
    subject: SubjectLike,
    *,
    deleted: bool = False,
    deleted_only: bool = False,
    deleted_as_negative: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[int]]:
    """Return the version numbers of a subject, ascending."""
    query = (
        *flag_parameters(deleted=deleted, deletedOnly=deleted_only, deletedAsNegative=deleted_as_negative),
        *page_parameters(offset, limit),
    )
    return Call("GET", ("subjects", PathParameter(subject), "versions"), parse_integers, query)


def referenced_by(
    subject: SubjectLike, version: VersionLike, *, deleted: bool = False, offset: int = 0, limit: int = -1
) -> Call[list[int]]:
    """Return the ids of the schemas that reference a version."""
    query = (*flag_parameters(deleted=deleted), *page_parameters(offset, limit))
    return Call("GET", (*_version_path(subject, version), "referencedby"), parse_integers, query)


def derive(
    subject: SubjectLike,
    version: VersionLike,
    *,
    new_version: int | None = None,
    tags_to_add: list[dict[str, Any]] | None = None,
    tags_to_remove: list[dict[str, Any]] | None = None,
    metadata: Metadata | None = None,
    rule_set: RuleSet | None = None,
    rules_to_merge: RuleSet | None = None,
    rules_to_remove: list[str] | None = None,
) -> Call[RegisteredSchema]:
    """Register a new version derived from an existing one, with other tags, metadata or rules."""
    members = {
        "newVersion": new_version,
        "tagsToAdd": tags_to_add,
        "tagsToRemove": tags_to_remove,
        "metadata": None if metadata is None else metadata.body(),
        "ruleSet": None if rule_set is None else rule_set.body(),
        "rulesToMerge": None if rules_to_merge is None else rules_to_merge.body(),
        "rulesToRemove": rules_to_remove,
    }
    return Call(
        "POST",
        (*_version_path(subject, version), "tags"),
        lambda body: parse_registered({"subject": str(subject)} | body),
        body={name: value for name, value in members.items() if value is not None},
        repeatable=False,  # a retry could register a second derived version
    )


def delete_version(subject: SubjectLike, version: VersionLike, *, permanent: bool = False) -> Call[int]:
    """Soft delete a version, or hard delete it if ``permanent``; return its number."""
    return Call("DELETE", _version_path(subject, version), int, flag_parameters(permanent=permanent), repeatable=False)


def _version_path(subject: SubjectLike, version: VersionLike) -> tuple[str, ...]:
    return "subjects", PathParameter(subject), "versions", PathParameter(version)
