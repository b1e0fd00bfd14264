"""Subjects and their versions."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    IncompatibleSchema,
    InvalidSchema,
    InvalidSubject,
    InvalidVersion,
    OperationNotPermitted,
    Overloaded,
    PayloadTooLarge,
    ReferenceExists,
    SchemaNotUnderSubject,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    Unprocessable,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)
from contractlog.registry.bodies.answers import RegisteredBody, SchemaBody
from contractlog.registry.bodies.requests import RegisterRequest, read
from contractlog.registry.dependencies import (
    Flag,
    Limit,
    LookupDependency,
    Offset,
    RegistrationDependency,
    RetirementDependency,
    SubjectPath,
    VersionPath,
    page,
)
from contractlog.registry.documented import documented, listed
from contractlog.registry.problems import Answer
from contractlog.registry.storage.values import Seen

__all__ = ["router"]

router: Final = APIRouter(tags=["subjects"])

_BAD_BODY: Final = (BadRequest, PayloadTooLarge, Unprocessable)
_WRITE: Final = (InvalidSubject, OperationNotPermitted, Overloaded)


@router.post(
    "/subjects/{subject}/versions",
    **documented(RegisteredBody, *_BAD_BODY, *_WRITE, IncompatibleSchema, InvalidSchema, body=RegisterRequest),
)
async def register(
    request: Request, subject: SubjectPath, registration: RegistrationDependency, *, normalize: Flag = False
) -> Answer:
    """Register a schema under a subject, or return the id it already has."""
    body = read(await request.body(), RegisterRequest)
    registered = await registration.register(
        subject, body.draft(), normalize=normalize, schema_id=body.wanted_id, version=body.wanted_version
    )
    return Answer(RegisteredBody.of(registered.schema, stored=registered.stored))


@router.post(
    "/subjects/{subject}",
    **documented(SchemaBody, *_BAD_BODY, SubjectNotFound, SchemaNotUnderSubject, InvalidSchema, body=RegisterRequest),
)
async def lookup(
    request: Request,
    subject: SubjectPath,
    registration: RegistrationDependency,
    *,
    normalize: Flag = False,
    deleted: Flag = False,
) -> Answer:
    """Find the version of a subject that holds a schema."""
    draft = read(await request.body(), RegisterRequest).draft()
    return Answer(SchemaBody.of(await registration.lookup(subject, draft, normalize=normalize, deleted=deleted)))


@router.get("/subjects", **documented(listed("string")))
async def subjects(
    lookup: LookupDependency,
    *,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = ":*:",
    deleted: Flag = False,
    deleted_only: Annotated[Flag, Query(alias="deletedOnly")] = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Answer:
    """List subjects; ``:*:`` before a prefix means in every context."""
    seen = Seen.of(deleted=deleted, deleted_only=deleted_only)
    return Answer(page(await lookup.subjects(prefix or ":*:", seen), offset, limit))


@router.get("/subjects/{subject}/versions", **documented(listed("integer"), SubjectNotFound))
async def versions(
    subject: SubjectPath,
    lookup: LookupDependency,
    *,
    deleted: Flag = False,
    deleted_only: Annotated[Flag, Query(alias="deletedOnly")] = False,
    deleted_as_negative: Annotated[Flag, Query(alias="deletedAsNegative")] = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Answer:
    """List the versions of a subject."""
    seen = Seen.of(deleted=deleted or deleted_as_negative, deleted_only=deleted_only)
    found = await lookup.versions(subject, seen)
    numbers = [-number if gone and deleted_as_negative else number for number, gone in found]
    return Answer(page(numbers, offset, limit))


@router.get(
    "/subjects/{subject}/versions/{version}",
    **documented(SchemaBody, SubjectNotFound, VersionNotFound, InvalidVersion),
)
async def version(
    subject: SubjectPath,
    version: VersionPath,
    lookup: LookupDependency,
    *,
    deleted: Flag = False,
    reference_format: Annotated[str, Query(alias="referenceFormat")] = "",
) -> Answer:
    """Show a version; ``latest`` and -1 are the newest live one."""
    found = await lookup.version(subject, version, Seen.of(deleted=deleted))
    return Answer(SchemaBody.of(found, qualified=reference_format == "qualified"))


@router.get(
    "/subjects/{subject}/versions/{version}/schema",
    **documented({"type": "object"}, SubjectNotFound, VersionNotFound, InvalidVersion),
)
async def version_text(
    subject: SubjectPath, version: VersionPath, lookup: LookupDependency, *, deleted: Flag = False
) -> Answer:
    """Show the bare text of a version."""
    return Answer((await lookup.version(subject, version, Seen.of(deleted=deleted))).text.encode())


@router.get(
    "/subjects/{subject}/versions/{version}/referencedby",
    **documented(listed("integer"), SubjectNotFound, VersionNotFound, InvalidVersion),
)
async def referenced_by(
    subject: SubjectPath,
    version: VersionPath,
    lookup: LookupDependency,
    *,
    deleted: Flag = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Answer:
    """List the ids of schemas that lean on a version."""
    return Answer(page(await lookup.referenced_by(subject, version, Seen.of(deleted=deleted)), offset, limit))


@router.delete(
    "/subjects/{subject}",
    **documented(
        listed("integer"), SubjectNotFound, SubjectSoftDeleted, SubjectNotSoftDeleted, ReferenceExists, *_WRITE
    ),
)
async def delete_subject(subject: SubjectPath, retirement: RetirementDependency, *, permanent: Flag = False) -> Answer:
    """Delete a subject: softly first, then for good."""
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
        ReferenceExists,
        *_WRITE,
    ),
)
async def delete_version(
    subject: SubjectPath, version: VersionPath, retirement: RetirementDependency, *, permanent: Flag = False
) -> Answer:
    """Delete a version: softly first, then for good."""
    return Answer(await retirement.version(subject, version, permanent=permanent))
