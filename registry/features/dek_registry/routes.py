"""Routes of the DEK registry.

KEKs belong to no context: the parameter ``context``, which newer clients send with them, has no effect, as in the
reference.
"""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    Denied,
    InvalidKeyField,
    InvalidSubject,
    InvalidVersion,
    KeyExists,
    KeyGenerationFailed,
    KeyNotFound,
    KeyNotSoftDeleted,
    KeyReferenced,
    KeySoftDeleted,
    NotFound,
    Overloaded,
    PayloadTooLarge,
    TooManyKeys,
    Unprocessable,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.contracts.encryption.algorithms import DekAlgorithm
from contractlog.registry.features.dek_registry.bodies import (
    CreateDekRequest,
    CreateKekRequest,
    DekBody,
    KekBody,
    UpdateKekRequest,
)
from contractlog.registry.features.dek_registry.deks import FIRST_VERSION, DekSelection
from contractlog.registry.features.dek_registry.key_values import validate_kek_name, validate_subject
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import enum_schema
from contractlog.registry.http.openapi import describe_route, list_schema
from contractlog.registry.http.parameters import Flag, PageQuery, TextListQuery, TextPath, VersionPath
from contractlog.registry.http.request_bodies import parse_body
from contractlog.registry.http.route_permissions import READ_ANY_KEY, READ_KEY, WRITE_ANY_KEY, WRITE_KEY, requires
from contractlog.registry.http.service_dependencies import DeksDependency, KeksDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["encryption keys"])
_KEKS: Final = "/dek-registry/v1/keks"
_KEK: Final = _KEKS + "/{kek}"
_DEKS: Final = _KEK + "/deks"
_DEK: Final = _DEKS + "/{subject}"
_VERSIONS: Final = _DEK + "/versions"
_VERSION: Final = _VERSIONS + "/{version}"
_NO_CONTENT: Final = 204
_ALGORITHMS: Final = [algorithm.value for algorithm in DekAlgorithm]
_KEK_ERRORS: Final = (BadRequest, InvalidKeyField, KeyNotFound, Overloaded)
_DEK_ERRORS: Final = (*_KEK_ERRORS, Denied, InvalidSubject)
_BODY_ERRORS: Final = (PayloadTooLarge, Unprocessable)

_Deleted = Annotated[Flag, Query(description="`true` includes soft-deleted keys.")]
_Permanent = Annotated[Flag, Query(description="`true` hard-deletes keys that were soft-deleted before.")]
_TestSharing = Annotated[
    Flag,
    Query(alias="testSharing", description="`true` requires that the registry can wrap keys with this shared KEK."),
]
_Rewrap = Annotated[Flag, Query(description="`true` wraps an existing key again, or replaces its wrapped form.")]


async def _parse_kek(kek: TextPath) -> str:
    return validate_kek_name(kek)


async def _parse_subject(subject: TextPath) -> Subject:
    return validate_subject(subject)


async def _parse_algorithm(
    algorithm: Annotated[
        str,
        Query(description="Only keys of this algorithm; for one version, `AES256_GCM` if it is empty."),
        enum_schema(_ALGORITHMS),
    ] = "",
) -> DekAlgorithm | None:
    if algorithm and algorithm not in _ALGORITHMS:
        raise NotFound
    return DekAlgorithm(algorithm) if algorithm else None


_KekName = Annotated[str, Depends(_parse_kek)]
_Subject = Annotated[Subject, Depends(_parse_subject)]
_Algorithm = Annotated[DekAlgorithm | None, Depends(_parse_algorithm)]


async def _parse_selection(kek: _KekName, subject: _Subject, algorithm: _Algorithm) -> DekSelection:
    return DekSelection(kek, subject, algorithm)


_Selection = Annotated[DekSelection, Depends(_parse_selection)]


@router.get(_KEKS, **describe_route(list_schema("string"), Overloaded))
@requires(READ_ANY_KEY)
async def list_keks(
    keks: KeksDependency,
    page: PageQuery,
    prefixes: Annotated[TextListQuery, Query(alias="subjectPrefix")],
    *,
    deleted: _Deleted = False,
) -> ApiResponse:
    """List the names of KEKs; with ``subjectPrefix``, of those with DEKs for such subjects."""
    return ApiResponse(await keks.list_names([prefix for prefix in prefixes if prefix], page, deleted=deleted))


@router.post(
    _KEKS,
    **describe_route(
        KekBody,
        *_BODY_ERRORS,
        BadRequest,
        Denied,
        InvalidKeyField,
        KeyExists,
        KeyGenerationFailed,
        Overloaded,
        TooManyKeys,
        body=CreateKekRequest,
    ),
)
@requires(WRITE_ANY_KEY)
async def create_kek(request: Request, keks: KeksDependency, *, test: _TestSharing = False) -> ApiResponse:
    """Create a KEK, or undelete an equal one that was soft-deleted."""
    body = parse_body(await request.body(), CreateKekRequest)
    return ApiResponse(KekBody.of(await keks.create(body.kek(), test=test)))


@router.get(_KEK, **describe_route(KekBody, *_KEK_ERRORS))
@requires(READ_KEY)
async def get_kek(kek: _KekName, keks: KeksDependency, *, deleted: _Deleted = False) -> ApiResponse:
    """Return a KEK."""
    return ApiResponse(KekBody.of(await keks.get(kek, deleted=deleted)))


@router.put(_KEK, **describe_route(KekBody, *_KEK_ERRORS, *_BODY_ERRORS, KeyGenerationFailed, body=UpdateKekRequest))
@requires(WRITE_KEY)
async def update_kek(
    request: Request, kek: _KekName, keks: KeksDependency, *, test: _TestSharing = False
) -> ApiResponse:
    """Change the KMS properties, the description or the sharing of a KEK."""
    body = parse_body(await request.body(), UpdateKekRequest)
    return ApiResponse(KekBody.of(await keks.update(kek, body, test=test)))


@router.delete(_KEK, **describe_route({}, *_KEK_ERRORS, KeyNotSoftDeleted, KeyReferenced, status=_NO_CONTENT))
@requires(WRITE_KEY)
async def delete_kek(kek: _KekName, keks: KeksDependency, *, permanent: _Permanent = False) -> ApiResponse:
    """Soft-delete a KEK without live DEKs.

    With ``permanent``, a soft-deleted KEK without any DEKs is hard-deleted.
    """
    await keks.delete(kek, permanent=permanent)
    return ApiResponse(b"", status_code=_NO_CONTENT)


@router.post(_KEK + "/test", **describe_route(KekBody, *_KEK_ERRORS, KeyGenerationFailed))
@requires(WRITE_KEY)
async def test_kek(kek: _KekName, keks: KeksDependency) -> ApiResponse:
    """Require that the registry can wrap keys with a shared KEK."""
    return ApiResponse(KekBody.of(await keks.test(kek)))


@router.post(_KEK + "/undelete", **describe_route({}, *_KEK_ERRORS, status=_NO_CONTENT))
@requires(WRITE_KEY)
async def undelete_kek(kek: _KekName, keks: KeksDependency) -> ApiResponse:
    """Undelete a KEK."""
    await keks.undelete(kek)
    return ApiResponse(b"", status_code=_NO_CONTENT)


@router.get(_DEKS, **describe_route(list_schema("string"), *_KEK_ERRORS))
@requires(READ_KEY)
async def list_dek_subjects(
    kek: _KekName, keks: KeksDependency, page: PageQuery, *, deleted: _Deleted = False
) -> ApiResponse:
    """List the subjects that have DEKs under a KEK, as far as the caller may read them."""
    return ApiResponse(await keks.list_subjects(kek, page, deleted=deleted))


_CREATE_DEK: Final = describe_route(
    DekBody,
    *_BODY_ERRORS,
    *_DEK_ERRORS,
    KeyExists,
    KeyGenerationFailed,
    TooManyKeys,
    body=CreateDekRequest,
)


@router.post(_DEKS, **_CREATE_DEK)
@requires(WRITE_KEY)
async def create_dek_by_body(
    request: Request, kek: _KekName, deks: DeksDependency, *, rewrap: _Rewrap = False
) -> ApiResponse:
    """Create a DEK for the subject in the body, as older clients do."""
    body = parse_body(await request.body(), CreateDekRequest)
    created = await deks.create(kek, validate_subject(body.subject), body, rewrap=rewrap)
    return ApiResponse(DekBody.of(created.dek, created.key))


@router.post(_DEK, **_CREATE_DEK)
@requires(WRITE_KEY)
async def create_dek(
    request: Request, kek: _KekName, subject: _Subject, deks: DeksDependency, *, rewrap: _Rewrap = False
) -> ApiResponse:
    """Create a DEK, or undelete an equal one that was soft-deleted; the subject in the body has no effect."""
    body = parse_body(await request.body(), CreateDekRequest)
    created = await deks.create(kek, subject, body, rewrap=rewrap)
    return ApiResponse(DekBody.of(created.dek, created.key))


@router.get(_DEK, **describe_route(DekBody, *_DEK_ERRORS, KeyGenerationFailed))
@requires(READ_KEY)
async def get_dek(selection: _Selection, deks: DeksDependency, *, deleted: _Deleted = False) -> ApiResponse:
    """Return version 1 of a DEK."""
    result = await deks.get(selection, FIRST_VERSION, deleted=deleted)
    return ApiResponse(DekBody.of(result.dek, result.key))


@router.delete(_DEK, **describe_route({}, *_DEK_ERRORS, KeyNotSoftDeleted, status=_NO_CONTENT))
@requires(WRITE_KEY)
async def delete_dek(selection: _Selection, deks: DeksDependency, *, permanent: _Permanent = False) -> ApiResponse:
    """Soft-delete all versions of a DEK; with ``permanent``, hard-delete them if all are soft-deleted."""
    await deks.delete(selection, permanent=permanent)
    return ApiResponse(b"", status_code=_NO_CONTENT)


@router.post(_DEK + "/undelete", **describe_route({}, *_DEK_ERRORS, KeySoftDeleted, status=_NO_CONTENT))
@requires(WRITE_KEY)
async def undelete_dek(selection: _Selection, deks: DeksDependency) -> ApiResponse:
    """Undelete all versions of a DEK."""
    await deks.undelete(selection)
    return ApiResponse(b"", status_code=_NO_CONTENT)


@router.get(_VERSIONS, **describe_route(list_schema("integer"), *_DEK_ERRORS))
@requires(READ_KEY)
async def list_dek_versions(
    selection: _Selection, deks: DeksDependency, page: PageQuery, *, deleted: _Deleted = False
) -> ApiResponse:
    """List the versions of a DEK."""
    return ApiResponse(await deks.list_versions(selection, page, deleted=deleted))


@router.get(_VERSION, **describe_route(DekBody, *_DEK_ERRORS, InvalidVersion, KeyGenerationFailed))
@requires(READ_KEY)
async def get_dek_version(
    selection: _Selection, version: VersionPath, deks: DeksDependency, *, deleted: _Deleted = False
) -> ApiResponse:
    """Return a version of a DEK."""
    result = await deks.get(selection, version, deleted=deleted)
    return ApiResponse(DekBody.of(result.dek, result.key))


@router.delete(_VERSION, **describe_route({}, *_DEK_ERRORS, InvalidVersion, KeyNotSoftDeleted, status=_NO_CONTENT))
@requires(WRITE_KEY)
async def delete_dek_version(
    selection: _Selection, version: VersionPath, deks: DeksDependency, *, permanent: _Permanent = False
) -> ApiResponse:
    """Soft-delete a version of a DEK; with ``permanent``, hard-delete a soft-deleted one."""
    await deks.delete_version(selection, version, permanent=permanent)
    return ApiResponse(b"", status_code=_NO_CONTENT)


@router.post(
    _VERSION + "/undelete", **describe_route({}, *_DEK_ERRORS, InvalidVersion, KeySoftDeleted, status=_NO_CONTENT)
)
@requires(WRITE_KEY)
async def undelete_dek_version(selection: _Selection, version: VersionPath, deks: DeksDependency) -> ApiResponse:
    """Undelete a version of a DEK."""
    await deks.undelete_version(selection, version)
    return ApiResponse(b"", status_code=_NO_CONTENT)
