"""Routes of compatibility checks."""

from __future__ import annotations

from typing import Final

import msgspec
from fastapi import APIRouter, Request

from contractlog.compatibility.errors import (
    BadRequest,
    InvalidSchema,
    InvalidSubject,
    InvalidVersion,
    PayloadTooLarge,
    TooManyRequests,
    Unprocessable,
    VersionNotFound,
)
from contractlog.registry.features.compatibility.service import LATEST, CheckResult
from contractlog.registry.http.api_response import ApiResponse, add_warning
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.parameters import Flag, SubjectPath, VersionPath
from contractlog.registry.http.request_bodies import RegisterRequest, parse_body
from contractlog.registry.http.response_bodies import CompatibilityBody
from contractlog.registry.http.route_permissions import READ_SUBJECT, requires
from contractlog.registry.http.service_dependencies import CompatibilityDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["compatibility"])
_ERRORS: Final = (BadRequest, PayloadTooLarge, Unprocessable, InvalidSchema, InvalidSubject, TooManyRequests)


@router.post(
    "/compatibility/subjects/{subject}/versions/{version}",
    **describe_route(CompatibilityBody, *_ERRORS, VersionNotFound, InvalidVersion, body=RegisterRequest),
)
@requires(READ_SUBJECT)
async def check_compatibility_with_version(
    request: Request,
    subject: SubjectPath,
    version: VersionPath,
    compatibility: CompatibilityDependency,
    *,
    verbose: Flag = False,
    normalize: Flag = False,  # noqa: ARG001 - checks compare parsed schemas, so spelling does not matter
) -> ApiResponse:
    """Check a schema against one version, at the level of its subject."""
    draft = parse_body(await request.body(), RegisterRequest).draft()
    selected = LATEST if version is None else version
    return _build_response(
        await compatibility.check(subject, draft, version=selected, verbose=verbose), verbose=verbose
    )


@router.post(
    "/compatibility/subjects/{subject}/versions",
    **describe_route(CompatibilityBody, *_ERRORS, body=RegisterRequest),
)
@requires(READ_SUBJECT)
async def check_compatibility(
    request: Request,
    subject: SubjectPath,
    compatibility: CompatibilityDependency,
    *,
    verbose: Flag = False,
    normalize: Flag = False,  # noqa: ARG001 - checks compare parsed schemas, so spelling does not matter
) -> ApiResponse:
    """Check a schema against the versions that the level of its subject selects."""
    draft = parse_body(await request.body(), RegisterRequest).draft()
    return _build_response(await compatibility.check(subject, draft, verbose=verbose), verbose=verbose)


def _build_response(result: CheckResult, *, verbose: bool) -> ApiResponse:
    body = CompatibilityBody(result.compatible, list(result.messages) if verbose else msgspec.UNSET)
    return add_warning(ApiResponse(body), result.warning)
