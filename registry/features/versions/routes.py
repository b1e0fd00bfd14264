"""Routes that register, look up and delete versions of subjects."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from fastapi import APIRouter, Request

from contractlog.compatibility.errors import (
    AssociationExists,
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
    SchemaNotUnderSubject,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    TooManyRequests,
    Unprocessable,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
    WorkLimitExceeded,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.features.schemas.views import View
from contractlog.registry.features.subjects.service import SubjectService
from contractlog.registry.http.errors import ApiResponse, add_warning
from contractlog.registry.http.openapi import describe_route, list_schema
from contractlog.registry.http.parameters import Flag, FormatQuery, SubjectPath, VersionPath
from contractlog.registry.http.request_bodies import RegisterRequest, TagsRequest, parse_body
from contractlog.registry.http.response_bodies import RegisteredBody, SchemaBody
from contractlog.registry.http.response_profiles import Profile
from contractlog.registry.http.route_permissions import READ_SUBJECT, WRITE_SUBJECT, requires
from contractlog.registry.http.services import (
    DeletionDependency,
    ProfileDependency,
    RegistrationDependency,
    SubjectsDependency,
)
from contractlog.registry.registration.request import RegistrationRequest
from contractlog.registry.registration.service import RegistrationService

__all__ = ["register_and_respond", "router"]

router: Final = APIRouter(tags=["subjects"])

_BODY_ERRORS: Final = (BadRequest, PayloadTooLarge, Unprocessable)
_WRITE_ERRORS: Final = (InvalidSubject, OperationNotPermitted, Overloaded)
_WORK_ERRORS: Final = (TooManyRequests,)


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
    lookup: SubjectsDependency,
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
        request, subject, registration, lookup, profile, view=view, normalize=normalize, force=force
    )


async def register_and_respond(
    request: Request,
    subject: Subject,
    registration: RegistrationService,
    lookup: SubjectService,
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
        schema = await lookup.render(schema, view)
    return add_warning(ApiResponse(profile.shape(RegisteredBody.of(schema, stored=result.stored))), result.warning)


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
        ApiResponse(profile.shape(RegisteredBody.of(result.schema, stored=result.stored))), result.warning
    )


@router.post(
    "/subjects/{subject}",
    **describe_route(
        SchemaBody,
        *_BODY_ERRORS,
        InvalidSubject,
        SubjectNotFound,
        SchemaNotUnderSubject,
        InvalidSchema,
        *_WORK_ERRORS,
        body=RegisterRequest,
    ),
)
@requires(READ_SUBJECT)
async def look_up_schema(
    request: Request,
    subject: SubjectPath,
    registration: RegistrationDependency,
    lookup: SubjectsDependency,
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
    return ApiResponse(profile.shape(SchemaBody.of(await lookup.render(version, view))))


@router.delete(
    "/subjects/{subject}",
    **describe_route(
        list_schema("integer"),
        SubjectNotFound,
        SubjectSoftDeleted,
        SubjectNotSoftDeleted,
        AssociationExists,
        ReferenceExists,
        *_WRITE_ERRORS,
    ),
)
@requires(WRITE_SUBJECT)
async def delete_subject(subject: SubjectPath, deletion: DeletionDependency, *, permanent: Flag = False) -> ApiResponse:
    """Delete a subject: soft delete first, then hard delete."""
    return ApiResponse(await deletion.subject(subject, permanent=permanent))


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
