"""Routes that read subjects and their versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import unquote

from fastapi import APIRouter, Query

from contractlog.compatibility.errors import (
    BadRequest,
    InvalidSchema,
    InvalidSubject,
    InvalidVersion,
    SchemaNotUnderSubject,
    SubjectNotFound,
    VersionNotFound,
)
from contractlog.registry.bodies.answers import SchemaBody
from contractlog.registry.dependencies import Flag, LookupDependency, ProfileDependency, SubjectPath, VersionPath
from contractlog.registry.documented import ANYTHING, documented, listed
from contractlog.registry.problems import Answer
from contractlog.registry.questions import DeletedQuery, Many, PageQuery, Qualified, SeenQuery, ViewQuery
from contractlog.registry.storage.values import Seen

__all__ = ["router"]

router: Final = APIRouter(tags=["subjects"])
_NAMED: Final = (BadRequest, InvalidSubject)
_ABSENT: Final = (*_NAMED, SubjectNotFound, VersionNotFound, InvalidVersion)
_EVERY_CONTEXT: Final = ":*:"


@router.get("/subjects", **documented(listed("string")))
async def subjects(
    lookup: LookupDependency,
    seen: SeenQuery,
    page: PageQuery,
    *,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = _EVERY_CONTEXT,
) -> Answer:
    """List subjects; ``:*:`` before a prefix selects every context."""
    return Answer(await lookup.subjects(prefix or _EVERY_CONTEXT, seen, page))


@router.get("/subjects/{subject}/versions", **documented(listed("integer"), *_NAMED, SubjectNotFound))
async def versions(
    subject: SubjectPath,
    lookup: LookupDependency,
    seen: SeenQuery,
    page: PageQuery,
    *,
    deleted_as_negative: Annotated[Flag, Query(alias="deletedAsNegative")] = False,
) -> Answer:
    """List the versions of a subject; with ``deletedAsNegative`` deleted ones are negative."""
    if deleted_as_negative and seen is Seen.LIVE:
        seen = Seen.ALL
    found = await lookup.versions(subject, seen, page)
    return Answer([-number if gone and deleted_as_negative else number for number, gone in found])


@router.get(
    "/subjects/{subject}/metadata",
    **documented(SchemaBody, *_NAMED, SubjectNotFound, SchemaNotUnderSubject, InvalidSchema),
)
async def with_metadata(
    subject: SubjectPath,
    lookup: LookupDependency,
    profile: ProfileDependency,
    *,
    seen: DeletedQuery,
    view: ViewQuery,
    key: Many,
    value: Many,
) -> Answer:
    """Return the newest version whose metadata has all these properties.

    Python's client encodes keys and values twice: if nothing matches, the decoded values are tried.
    """
    wanted = dict(zip(key, value, strict=False))
    try:
        shown = await lookup.with_properties(subject, wanted, seen, view)
    except SchemaNotUnderSubject:
        again = _decoded(wanted)
        if again == wanted:
            raise
        shown = await lookup.with_properties(subject, again, seen, view)
    return Answer(profile.shape(SchemaBody.of(shown.schema, tags=shown.tags)))


def _decoded(properties: Mapping[str, str]) -> dict[str, str]:
    return {unquote(key): unquote(value) for key, value in properties.items()}


@router.get("/subjects/{subject}/versions/{version}", **documented(SchemaBody, *_ABSENT, InvalidSchema))
async def version(
    subject: SubjectPath,
    version: VersionPath,
    lookup: LookupDependency,
    *,
    profile: ProfileDependency,
    seen: DeletedQuery,
    view: ViewQuery,
    qualified: Qualified,
) -> Answer:
    """Return a version; ``latest`` and -1 are the newest live one."""
    shown = await lookup.version(subject, version, seen, view)
    return Answer(profile.shape(SchemaBody.of(shown.schema, qualified=qualified, tags=shown.tags)))


@router.get("/subjects/{subject}/versions/{version}/schema", **documented(ANYTHING, *_ABSENT, InvalidSchema))
async def version_text(
    subject: SubjectPath, version: VersionPath, lookup: LookupDependency, seen: DeletedQuery, view: ViewQuery
) -> Answer:
    """Return only the schema text of a version."""
    return Answer((await lookup.version(subject, version, seen, view)).schema.text.encode())


@router.get("/subjects/{subject}/versions/{version}/referencedby", **documented(listed("integer"), *_ABSENT))
async def referenced_by(
    subject: SubjectPath, version: VersionPath, lookup: LookupDependency, seen: DeletedQuery, page: PageQuery
) -> Answer:
    """List the ids of schemas that reference a version."""
    return Answer(await lookup.referenced_by(subject, version, seen, page))
