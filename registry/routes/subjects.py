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
from contractlog.compatibility.names import Subject
from contractlog.registry.bodies.answers import RegisteredBody, SchemaBody
from contractlog.registry.bodies.profiles import Profile
from contractlog.registry.bodies.requests import RegisterRequest, TagsRequest, read
from contractlog.registry.dependencies import (
    Flag,
    LookupDependency,
    ProfileDependency,
    RegistrationDependency,
    RetirementDependency,
    SubjectPath,
    VersionPath,
)
from contractlog.registry.documented import documented, listed
from contractlog.registry.problems import Answer, warned
from contractlog.registry.questions import FormatQuery
from contractlog.registry.services.lookup import Lookup
from contractlog.registry.services.registration import Registration
from contractlog.registry.services.viewing import View

__all__ = ["registered", "router"]

router: Final = APIRouter(tags=["subjects"])

_BAD_BODY: Final = (BadRequest, PayloadTooLarge, Unprocessable)
_WRITE: Final = (InvalidSubject, OperationNotPermitted, Overloaded)
_WORK: Final = (TooManyRequests,)


@router.post(
    "/subjects/{subject}/versions",
    **documented(
        RegisteredBody,
        *_BAD_BODY,
        *_WRITE,
        *_WORK,
        IncompatibleSchema,
        InvalidSchema,
        InvalidRuleSet,
        body=RegisterRequest,
    ),
)
async def register(
    request: Request,
    subject: SubjectPath,
    registration: RegistrationDependency,
    lookup: LookupDependency,
    profile: ProfileDependency,
    *,
    view: FormatQuery,
    normalize: Flag = False,
    force: Flag = False,
) -> Answer:
    """Register a schema under a subject, or return the id it already has.

    The response has the requested format, or the text as stored if formatting fails or takes too much work. A JSON
    schema that its meta-schema rejects is registered with the header `X-Contractlog-Warning`, or rejected if the config
    member `strictJsonSchemas` is set.
    """
    return await registered(
        request, subject, registration, lookup, profile, view=view, normalize=normalize, force=force
    )


async def registered(
    request: Request,
    subject: Subject,
    registration: Registration,
    lookup: Lookup,
    profile: Profile,
    *,
    view: View,
    normalize: bool,
    force: bool = False,
) -> Answer:
    """Register a schema and build the response."""
    body = read(await request.body(), RegisterRequest)
    found = await registration.register(
        subject,
        body.draft(),
        normalize=normalize,
        schema_id=body.wanted_id,
        version=body.wanted_version,
        force=force,
        tags=body.tags(),
    )
    schema = found.schema
    # The schema is registered: an error response would say that it is not.
    with suppress(InvalidSchema, WorkLimitExceeded, TooManyRequests):
        schema = await lookup.shown(schema, view)
    return warned(Answer(profile.shape(RegisteredBody.of(schema, stored=found.stored))), found.warning)


@router.post(
    "/subjects/{subject}/versions/{version}/tags",
    **documented(
        RegisteredBody,
        *_BAD_BODY,
        *_WRITE,
        *_WORK,
        SubjectNotFound,
        VersionNotFound,
        InvalidVersion,
        IncompatibleSchema,
        InvalidSchema,
        InvalidRuleSet,
        body=TagsRequest,
    ),
)
async def change_tags(
    request: Request,
    subject: SubjectPath,
    version: VersionPath,
    registration: RegistrationDependency,
    profile: ProfileDependency,
) -> Answer:
    """Register a new version that differs from an existing one in its tags, metadata or rules."""
    asked = read(await request.body(), TagsRequest).derivation()
    found = await registration.derive(subject, version, asked)
    return warned(Answer(profile.shape(RegisteredBody.of(found.schema, stored=found.stored))), found.warning)


@router.post(
    "/subjects/{subject}",
    **documented(
        SchemaBody,
        *_BAD_BODY,
        InvalidSubject,
        SubjectNotFound,
        SchemaNotUnderSubject,
        InvalidSchema,
        *_WORK,
        body=RegisterRequest,
    ),
)
async def lookup(
    request: Request,
    subject: SubjectPath,
    registration: RegistrationDependency,
    lookup: LookupDependency,
    *,
    profile: ProfileDependency,
    view: FormatQuery,
    normalize: Flag = False,
    deleted: Flag = False,
) -> Answer:
    """Find the version of a subject that has a given schema.

    An unqualified subject may also match one of another context.
    """
    draft = read(await request.body(), RegisterRequest).draft()
    found = await registration.lookup(subject, draft, normalize=normalize, deleted=deleted)
    return Answer(profile.shape(SchemaBody.of(await lookup.shown(found, view))))


@router.delete(
    "/subjects/{subject}",
    **documented(
        listed("integer"),
        SubjectNotFound,
        SubjectSoftDeleted,
        SubjectNotSoftDeleted,
        AssociationExists,
        ReferenceExists,
        *_WRITE,
    ),
)
async def delete_subject(subject: SubjectPath, retirement: RetirementDependency, *, permanent: Flag = False) -> Answer:
    """Delete a subject: soft delete first, then hard delete."""
    return Answer(await retirement.subject(subject, permanent=permanent))


@router.delete(
    "/subjects/{subject}/versions/{version}",
    **documented(
        {"type": "integer"},
        SubjectNotFound,
        VersionNotFound,
        VersionSoftDeleted,
        VersionNotSoftDeleted,
        InvalidVersion,
        NoActiveVersion,
        ReferenceExists,
        *_WRITE,
    ),
)
async def delete_version(
    subject: SubjectPath, version: VersionPath, retirement: RetirementDependency, *, permanent: Flag = False
) -> Answer:
    """Delete a version: soft delete first, then hard delete."""
    return Answer(await retirement.version(subject, version, permanent=permanent))
