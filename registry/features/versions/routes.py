"""Routes of versions: list, read, register, change tags, delete."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    IncompatibleSchema,
    InvalidRuleSet,
    InvalidSchema,
    InvalidSubject,
    InvalidVersion,
    NoActiveVersion,
    OperationNotPermitted,
    Overloaded,
    PayloadTooLarge,
    ReferenceExists,
    SubjectNotFound,
    TooManyRequests,
    Unprocessable,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
    WorkLimitExceeded,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.features.schemas.renderer import View
from contractlog.registry.features.versions.service import VersionService
from contractlog.registry.http.api_response import ApiResponse, add_warning
from contractlog.registry.http.openapi import ANY_JSON, describe_route, list_schema
from contractlog.registry.http.parameters import (
    DeletedFilterQuery,
    DeletedQuery,
    Flag,
    FormatQuery,
    PageQuery,
    QualifiedQuery,
    SubjectPath,
    VersionPath,
    ViewQuery,
)
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.http.request_bodies import RegisterRequest, TagsRequest, parse_body
from contractlog.registry.http.response_bodies import RegisteredBody, SchemaBody
from contractlog.registry.http.route_permissions import READ_SUBJECT, WRITE_SUBJECT, requires
from contractlog.registry.http.service_dependencies import (
    DeletionDependency,
    ProfileDependency,
    RegistrationDependency,
    VersionsDependency,
)
from contractlog.registry.registration.request import RegistrationRequest
from contractlog.registry.registration.service import RegistrationService
from contractlog.registry.storage.store_values import DeletedFilter

__all__ = ["register_and_respond", "router"]

router: Final = APIRouter(tags=["subjects"])

_NAME_ERRORS: Final = (BadRequest, InvalidSubject)
_VERSION_ERRORS: Final = (*_NAME_ERRORS, SubjectNotFound, VersionNotFound, InvalidVersion)
_BODY_ERRORS: Final = (BadRequest, PayloadTooLarge, Unprocessable)
_WRITE_ERRORS: Final = (InvalidSubject, OperationNotPermitted, Overloaded)
_WORK_ERRORS: Final = (TooManyRequests,)


@router.get("/subjects/{subject}/versions", **describe_route(list_schema("integer"), *_NAME_ERRORS, SubjectNotFound))
@requires(READ_SUBJECT)
async def list_versions(
    subject: SubjectPath,
    versions: VersionsDependency,
    deleted: DeletedFilterQuery,
    page: PageQuery,
    *,
    deleted_as_negative: Annotated[Flag, Query(alias="deletedAsNegative")] = False,
) -> ApiResponse:
    """List the versions of a subject; with ``deletedAsNegative`` deleted ones are negative."""
    if deleted_as_negative and deleted is DeletedFilter.EXCLUDED:
        deleted = DeletedFilter.INCLUDED
    numbers = await versions.list_versions(subject, deleted, page)
    return ApiResponse([-number if is_deleted and deleted_as_negative else number for number, is_deleted in numbers])


@router.get(
    "/subjects/{subject}/versions/{version}",
    **describe_route(SchemaBody, *_VERSION_ERRORS, InvalidSchema),
)
@requires(READ_SUBJECT)
async def get_version(
    subject: SubjectPath,
    version: VersionPath,
    versions: VersionsDependency,
    *,
    profile: ProfileDependency,
    deleted: DeletedQuery,
    view: ViewQuery,
    qualified: QualifiedQuery,
) -> ApiResponse:
    """Return a version; ``latest`` and -1 select the newest live one."""
    rendered = await versions.version(subject, version, deleted, view)
    return ApiResponse(profile.shape(SchemaBody.of(rendered.schema, qualified=qualified, tags=rendered.tags)))


@router.get(
    "/subjects/{subject}/versions/{version}/schema", **describe_route(ANY_JSON, *_VERSION_ERRORS, InvalidSchema)
)
@requires(READ_SUBJECT)
async def get_version_text(
    subject: SubjectPath, version: VersionPath, versions: VersionsDependency, deleted: DeletedQuery, view: ViewQuery
) -> ApiResponse:
    """Return only the schema text of a version."""
    return ApiResponse((await versions.version(subject, version, deleted, view)).schema.text.encode())


@router.get(
    "/subjects/{subject}/versions/{version}/referencedby", **describe_route(list_schema("integer"), *_VERSION_ERRORS)
)
@requires(READ_SUBJECT)
async def list_referencing_ids(
    subject: SubjectPath, version: VersionPath, versions: VersionsDependency, deleted: DeletedQuery, page: PageQuery
) -> ApiResponse:
    """List the ids of schemas that reference a version."""
    return ApiResponse(await versions.list_referencing_ids(subject, version, deleted, page))


@router.post(
    "/subjects/{subject}/versions",
    **describe_route(
        RegisteredBody,
        *_BODY_ERRORS,
        *_WRITE_ERRORS,
        *_WORK_ERRORS,
        IncompatibleSchema,
        InvalidSchema,
        InvalidRuleSet,
        body=RegisterRequest,
    ),
)
@requires(WRITE_SUBJECT)
async def register_schema(
    request: Request,
    subject: SubjectPath,
    registration: RegistrationDependency,
    versions: VersionsDependency,
    profile: ProfileDependency,
    *,
    view: FormatQuery,
    normalize: Flag = False,
    force: Flag = False,
) -> ApiResponse:
    """Register a schema under a subject, or return the id it already has.

    The response has the requested format, or the text as stored if formatting fails or takes too much work. A JSON
    schema that its meta-schema rejects is registered with the header `X-Contractlog-Warning`, or rejected if the config
    member `strictJsonSchemas` is set.
    """
    return await register_and_respond(
        request, subject, registration, versions, profile, view=view, normalize=normalize, force=force
    )


async def register_and_respond(
    request: Request,
    subject: Subject,
    registration: RegistrationService,
    versions: VersionService,
    profile: Profile,
    *,
    view: View,
    normalize: bool,
    force: bool = False,
) -> ApiResponse:
    """Register a schema and build the response."""
    body = parse_body(await request.body(), RegisterRequest)
    result = await registration.register(
        RegistrationRequest(
            subject=subject,
            draft=body.draft(),
            normalize=normalize,
            schema_id=body.requested_id,
            version=body.requested_version,
            force=force,
            tags=body.tags(),
        )
    )
    schema = result.schema
    # The schema is registered: an error response would say that it is not.
    with suppress(InvalidSchema, WorkLimitExceeded, TooManyRequests):
        schema = await versions.render(schema, view)
    return add_warning(
        ApiResponse(profile.shape(RegisteredBody.of(schema, with_timestamp=result.stored))), result.warning
    )


@router.post(
    "/subjects/{subject}/versions/{version}/tags",
    **describe_route(
        RegisteredBody,
        *_BODY_ERRORS,
        *_WRITE_ERRORS,
        *_WORK_ERRORS,
        SubjectNotFound,
        VersionNotFound,
        InvalidVersion,
        IncompatibleSchema,
        InvalidSchema,
        InvalidRuleSet,
        body=TagsRequest,
    ),
)
@requires(WRITE_SUBJECT)
async def change_tags(
    request: Request,
    subject: SubjectPath,
    version: VersionPath,
    registration: RegistrationDependency,
    profile: ProfileDependency,
) -> ApiResponse:
    """Register a new version that differs from an existing one in its tags, metadata or rules."""
    derivation = parse_body(await request.body(), TagsRequest).derivation()
    result = await registration.derive(subject, version, derivation)
    return add_warning(
        ApiResponse(profile.shape(RegisteredBody.of(result.schema, with_timestamp=result.stored))), result.warning
    )


@router.delete(
    "/subjects/{subject}/versions/{version}",
    **describe_route(
        {"type": "integer"},
        SubjectNotFound,
        VersionNotFound,
        VersionSoftDeleted,
        VersionNotSoftDeleted,
        InvalidVersion,
        NoActiveVersion,
        ReferenceExists,
        *_WRITE_ERRORS,
    ),
)
@requires(WRITE_SUBJECT)
async def delete_version(
    subject: SubjectPath, version: VersionPath, deletion: DeletionDependency, *, permanent: Flag = False
) -> ApiResponse:
    """Delete a version: soft delete first, then hard delete."""
    return ApiResponse(await deletion.version(subject, version, permanent=permanent))
