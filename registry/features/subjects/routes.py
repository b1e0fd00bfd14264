"""Routes of subjects: list them, look up a schema under one, delete one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import unquote

from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import (
    AssociationExists,
    BadRequest,
    InvalidSchema,
    InvalidSubject,
    OperationNotPermitted,
    Overloaded,
    PayloadTooLarge,
    ReferenceExists,
    SchemaNotUnderSubject,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    TooManyRequests,
    Unprocessable,
)
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.openapi import describe_route, list_schema
from contractlog.registry.http.parameters import (
    DeletedFilterQuery,
    DeletedQuery,
    Flag,
    FormatQuery,
    PageQuery,
    SubjectPath,
    TextListQuery,
    ViewQuery,
)
from contractlog.registry.http.request_bodies import RegisterRequest, parse_body
from contractlog.registry.http.response_bodies import SchemaBody
from contractlog.registry.http.route_permissions import (
    READ_LISTED_IN_EVERY_CONTEXT,
    READ_SUBJECT,
    WRITE_SUBJECT,
    requires,
)
from contractlog.registry.http.service_dependencies import (
    DeletionDependency,
    ProfileDependency,
    RegistrationDependency,
    SubjectsDependency,
    VersionsDependency,
)

__all__ = ["router"]

router: Final = APIRouter(tags=["subjects"])
_NAME_ERRORS: Final = (BadRequest, InvalidSubject)
_BODY_ERRORS: Final = (BadRequest, PayloadTooLarge, Unprocessable)
_ALL_CONTEXTS: Final = ":*:"


@router.get("/subjects", **describe_route(list_schema("string")))
@requires(READ_LISTED_IN_EVERY_CONTEXT)
async def list_subjects(
    subjects: SubjectsDependency,
    deleted: DeletedFilterQuery,
    page: PageQuery,
    *,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = _ALL_CONTEXTS,
) -> ApiResponse:
    """List subjects; ``:*:`` before a prefix selects every context."""
    return ApiResponse(await subjects.list_subjects(prefix or _ALL_CONTEXTS, deleted, page))


@router.get(
    "/subjects/{subject}/metadata",
    **describe_route(SchemaBody, *_NAME_ERRORS, SubjectNotFound, SchemaNotUnderSubject, InvalidSchema),
)
@requires(READ_SUBJECT)
async def get_version_by_metadata(
    subject: SubjectPath,
    versions: VersionsDependency,
    profile: ProfileDependency,
    *,
    deleted: DeletedQuery,
    view: ViewQuery,
    key: TextListQuery,
    value: TextListQuery,
) -> ApiResponse:
    """Return the newest version whose metadata has all given properties.

    Confluent's Python client encodes keys and values twice; if nothing matches, they are decoded once more.
    """
    properties = dict(zip(key, value, strict=False))
    try:
        rendered = await versions.find_by_properties(subject, properties, deleted, view)
    except SchemaNotUnderSubject:
        decoded = _decode_properties(properties)
        if decoded == properties:
            raise
        rendered = await versions.find_by_properties(subject, decoded, deleted, view)
    return ApiResponse(profile.shape(SchemaBody.of(rendered.schema, tags=rendered.tags)))


def _decode_properties(properties: Mapping[str, str]) -> dict[str, str]:
    return {unquote(key): unquote(value) for key, value in properties.items()}


@router.post(
    "/subjects/{subject}",
    **describe_route(
        SchemaBody,
        *_BODY_ERRORS,
        InvalidSubject,
        SubjectNotFound,
        SchemaNotUnderSubject,
        InvalidSchema,
        TooManyRequests,
        body=RegisterRequest,
    ),
)
@requires(READ_SUBJECT)
async def look_up_schema(
    request: Request,
    subject: SubjectPath,
    registration: RegistrationDependency,
    versions: VersionsDependency,
    *,
    profile: ProfileDependency,
    view: FormatQuery,
    normalize: Flag = False,
    deleted: Flag = False,
) -> ApiResponse:
    """Find the version of a subject that has a given schema.

    An unqualified subject may also match one of another context.
    """
    draft = parse_body(await request.body(), RegisterRequest).draft()
    version = await registration.lookup(subject, draft, normalize=normalize, deleted=deleted)
    return ApiResponse(profile.shape(SchemaBody.of(await versions.render(version, view))))


@router.delete(
    "/subjects/{subject}",
    **describe_route(
        list_schema("integer"),
        SubjectNotFound,
        SubjectSoftDeleted,
        SubjectNotSoftDeleted,
        AssociationExists,
        ReferenceExists,
        InvalidSubject,
        OperationNotPermitted,
        Overloaded,
    ),
)
@requires(WRITE_SUBJECT)
async def delete_subject(subject: SubjectPath, deletion: DeletionDependency, *, permanent: Flag = False) -> ApiResponse:
    """Delete a subject: soft delete first, then hard delete."""
    return ApiResponse(await deletion.subject(subject, permanent=permanent))
