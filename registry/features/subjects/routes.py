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
from contractlog.registry.http.dependencies import ProfileDependency, SubjectsDependency
from contractlog.registry.http.errors import ApiResponse
from contractlog.registry.http.openapi import ANY_JSON, describe_route, list_schema
from contractlog.registry.http.parameters import (
    DeletedFilterQuery,
    DeletedQuery,
    Flag,
    PageQuery,
    QualifiedQuery,
    SubjectPath,
    TextListQuery,
    VersionPath,
    ViewQuery,
)
from contractlog.registry.http.response_bodies import SchemaBody
from contractlog.registry.http.route_permissions import READ_LISTED_IN_EVERY_CONTEXT, READ_SUBJECT, requires
from contractlog.registry.storage.model import Deleted

__all__ = ["router"]

router: Final = APIRouter(tags=["subjects"])
_NAME_ERRORS: Final = (BadRequest, InvalidSubject)
_VERSION_ERRORS: Final = (*_NAME_ERRORS, SubjectNotFound, VersionNotFound, InvalidVersion)
_ALL_CONTEXTS: Final = ":*:"


@router.get("/subjects", **describe_route(list_schema("string")))
@requires(READ_LISTED_IN_EVERY_CONTEXT)
async def list_subjects(
    lookup: SubjectsDependency,
    seen: DeletedFilterQuery,
    page: PageQuery,
    *,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = _ALL_CONTEXTS,
) -> ApiResponse:
    """List subjects; ``:*:`` before a prefix selects every context."""
    return ApiResponse(await lookup.subjects(prefix or _ALL_CONTEXTS, seen, page))


@router.get("/subjects/{subject}/versions", **describe_route(list_schema("integer"), *_NAME_ERRORS, SubjectNotFound))
@requires(READ_SUBJECT)
async def list_versions(
    subject: SubjectPath,
    lookup: SubjectsDependency,
    seen: DeletedFilterQuery,
    page: PageQuery,
    *,
    deleted_as_negative: Annotated[Flag, Query(alias="deletedAsNegative")] = False,
) -> ApiResponse:
    """List the versions of a subject; with ``deletedAsNegative`` deleted ones are negative."""
    if deleted_as_negative and seen is Deleted.EXCLUDED:
        seen = Deleted.INCLUDED
    numbers = await lookup.versions(subject, seen, page)
    return ApiResponse([-number if gone and deleted_as_negative else number for number, gone in numbers])


@router.get(
    "/subjects/{subject}/metadata",
    **describe_route(SchemaBody, *_NAME_ERRORS, SubjectNotFound, SchemaNotUnderSubject, InvalidSchema),
)
@requires(READ_SUBJECT)
async def get_version_by_metadata(
    subject: SubjectPath,
    lookup: SubjectsDependency,
    profile: ProfileDependency,
    *,
    seen: DeletedQuery,
    view: ViewQuery,
    key: TextListQuery,
    value: TextListQuery,
) -> ApiResponse:
    """Return the newest version whose metadata has all given properties.

    Confluent's Python client encodes keys and values twice; if nothing matches, they are decoded once more.
    """
    properties = dict(zip(key, value, strict=False))
    try:
        rendered = await lookup.find_by_properties(subject, properties, seen, view)
    except SchemaNotUnderSubject:
        decoded = _decode_properties(properties)
        if decoded == properties:
            raise
        rendered = await lookup.find_by_properties(subject, decoded, seen, view)
    return ApiResponse(profile.shape(SchemaBody.of(rendered.schema, tags=rendered.tags)))


def _decode_properties(properties: Mapping[str, str]) -> dict[str, str]:
    return {unquote(key): unquote(value) for key, value in properties.items()}


@router.get("/subjects/{subject}/versions/{version}", **describe_route(SchemaBody, *_VERSION_ERRORS, InvalidSchema))
@requires(READ_SUBJECT)
async def get_version(
    subject: SubjectPath,
    version: VersionPath,
    lookup: SubjectsDependency,
    *,
    profile: ProfileDependency,
    seen: DeletedQuery,
    view: ViewQuery,
    qualified: QualifiedQuery,
) -> ApiResponse:
    """Return a version; ``latest`` and -1 select the newest live one."""
    rendered = await lookup.version(subject, version, seen, view)
    return ApiResponse(profile.shape(SchemaBody.of(rendered.schema, qualified=qualified, tags=rendered.tags)))


@router.get(
    "/subjects/{subject}/versions/{version}/schema", **describe_route(ANY_JSON, *_VERSION_ERRORS, InvalidSchema)
)
@requires(READ_SUBJECT)
async def get_version_text(
    subject: SubjectPath, version: VersionPath, lookup: SubjectsDependency, seen: DeletedQuery, view: ViewQuery
) -> ApiResponse:
    """Return only the schema text of a version."""
    return ApiResponse((await lookup.version(subject, version, seen, view)).schema.text.encode())


@router.get(
    "/subjects/{subject}/versions/{version}/referencedby", **describe_route(list_schema("integer"), *_VERSION_ERRORS)
)
@requires(READ_SUBJECT)
async def list_referencing_ids(
    subject: SubjectPath, version: VersionPath, lookup: SubjectsDependency, seen: DeletedQuery, page: PageQuery
) -> ApiResponse:
    """List the ids of schemas that reference a version."""
    return ApiResponse(await lookup.list_referencing_ids(subject, version, seen, page))
