"""Routes of differences between versions."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import (
    BadRequest,
    InvalidQuery,
    InvalidSchema,
    Overloaded,
    PayloadTooLarge,
    SubjectNotFound,
    TooManyRequests,
    Unprocessable,
    VersionNotFound,
)
from contractlog.compatibility.level import Level
from contractlog.registry.features.diff.service import VersionSelector
from contractlog.registry.features.extension_bodies import DifferenceBody
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import (
    StrictParameters,
    enum_schema,
    parse_enum,
    parse_subject_version,
)
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.request_bodies import RegisterRequest, parse_body
from contractlog.registry.http.route_permissions import READ_ALL, requires
from contractlog.registry.http.service_dependencies import DiffDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["diff"], dependencies=[StrictParameters])
_PATH: Final = "/contractlog/v1/diff"
_ERRORS: Final = (InvalidQuery, SubjectNotFound, VersionNotFound, InvalidSchema, TooManyRequests, Overloaded)


async def _parse_earlier(
    earlier: Annotated[
        str, Query(description="The earlier version: `SUBJECT:VERSION`, with a number or `latest`.")
    ] = "",
) -> VersionSelector:
    return parse_subject_version("earlier", earlier)


async def _parse_later(
    later: Annotated[str, Query(description="The later version: `SUBJECT:VERSION`; its subject may differ.")] = "",
) -> VersionSelector:
    return parse_subject_version("later", later)


async def _parse_level(
    level: Annotated[
        str,
        Query(
            description="The level whose findings come first, with suggested fixes; by default, the effective level."
        ),
        enum_schema(Level),
    ] = "",
) -> Level | None:
    return parse_enum("level", level, Level)


async def _parse_policy(
    policy: Annotated[
        str,
        Query(description="The compatibility policy; by default, the effective one of the subject."),
        enum_schema(Policy),
    ] = "",
) -> Policy | None:
    return parse_enum("policy", policy, Policy)


_Earlier = Annotated[VersionSelector, Depends(_parse_earlier)]
_Later = Annotated[VersionSelector, Depends(_parse_later)]
_Level = Annotated[Level | None, Depends(_parse_level)]
_Policy = Annotated[Policy | None, Depends(_parse_policy)]


@router.get(_PATH, **describe_route(DifferenceBody, *_ERRORS, Unprocessable))
@requires(READ_ALL)
async def compare_versions(
    differences: DiffDependency, *, earlier: _Earlier, later: _Later, level: _Level, policy: _Policy
) -> ApiResponse:
    """Compare two versions, each named ``SUBJECT:VERSION``, with a number or ``latest``.

    The response is the output of ``contractlog diff --format json``: the kind of change, all levels that allow it, and
    the findings, those that concern ``level`` first and with suggested fixes. Without ``level`` and ``policy``, those
    in force for the later version's subject apply.
    """
    return ApiResponse((await differences.compare(earlier, later, level=level, policy=policy)).body())


@router.post(
    _PATH, **describe_route(DifferenceBody, *_ERRORS, BadRequest, PayloadTooLarge, Unprocessable, body=RegisterRequest)
)
@requires(READ_ALL)
async def compare_candidate(
    request: Request, differences: DiffDependency, *, earlier: _Earlier, level: _Level, policy: _Policy
) -> ApiResponse:
    """Compare a candidate with a version of its subject; nothing is registered."""
    draft = parse_body(await request.body(), RegisterRequest).draft()
    return ApiResponse((await differences.compare(earlier, draft, level=level, policy=policy)).body())
