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
from contractlog.registry.bodies.answers import CompatibilityBody
from contractlog.registry.bodies.requests import RegisterRequest, read
from contractlog.registry.dependencies import CompatibilityDependency, Flag, SubjectPath, VersionPath
from contractlog.registry.documented import documented
from contractlog.registry.problems import Answer, warned
from contractlog.registry.services.compatibility import LATEST
from contractlog.registry.services.compatibility import Answer as Judged

__all__ = ["router"]

router: Final = APIRouter(tags=["compatibility"])
_ERRORS: Final = (BadRequest, PayloadTooLarge, Unprocessable, InvalidSchema, InvalidSubject, TooManyRequests)


@router.post(
    "/compatibility/subjects/{subject}/versions/{version}",
    **documented(CompatibilityBody, *_ERRORS, VersionNotFound, InvalidVersion, body=RegisterRequest),
)
async def check_version(
    request: Request,
    subject: SubjectPath,
    version: VersionPath,
    compatibility: CompatibilityDependency,
    *,
    verbose: Flag = False,
    normalize: Flag = False,  # noqa: ARG001 - checks compare parsed schemas, so spelling does not matter
) -> Answer:
    """Check a schema against one version, at the level of its subject."""
    draft = read(await request.body(), RegisterRequest).draft()
    chosen = LATEST if version is None else version
    return _answer(await compatibility.check(subject, draft, version=chosen, verbose=verbose), verbose=verbose)


@router.post(
    "/compatibility/subjects/{subject}/versions",
    **documented(CompatibilityBody, *_ERRORS, body=RegisterRequest),
)
async def check(
    request: Request,
    subject: SubjectPath,
    compatibility: CompatibilityDependency,
    *,
    verbose: Flag = False,
    normalize: Flag = False,  # noqa: ARG001 - checks compare parsed schemas, so spelling does not matter
) -> Answer:
    """Check a schema against the versions that the level of its subject selects."""
    draft = read(await request.body(), RegisterRequest).draft()
    return _answer(await compatibility.check(subject, draft, verbose=verbose), verbose=verbose)


def _answer(judged: Judged, *, verbose: bool) -> Answer:
    body = CompatibilityBody(judged.compatible, list(judged.messages) if verbose else msgspec.UNSET)
    return warned(Answer(body), judged.warning)
