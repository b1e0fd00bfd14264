"""Routes of differences between versions."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request

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
from contractlog.compatibility.policy import Policy
from contractlog.registry.features.bodies import DifferenceBody
from contractlog.registry.http.dependencies import DiffDependency
from contractlog.registry.http.errors import ApiResponse
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.request_bodies import RegisterRequest, parse_body
from contractlog.registry.http.route_permissions import READ_ALL, requires
from contractlog.registry.http.strict_parameters import (
    RejectUnknownParameters,
    enum_schema,
    parse_enum,
    parse_subject_version,
)

__all__ = ["router"]

router: Final = APIRouter(tags=["diff"], dependencies=[RejectUnknownParameters])
_PATH: Final = "/contractlog/v1/diff"
_Earlier = Annotated[str, Query(description="`SUBJECT:VERSION`, with a number or `latest`.")]
_Later = Annotated[str, Query(description="`SUBJECT:VERSION`; the subject may be another one.")]
_Level = Annotated[
    str,
    Query(description="The level whose findings come first, with suggested fixes; else the one in force."),
    enum_schema(Level),
]
_Policy = Annotated[str, Query(description="By which it is judged; else what is in force."), enum_schema(Policy)]
_ERRORS: Final = (InvalidQuery, SubjectNotFound, VersionNotFound, InvalidSchema, TooManyRequests, Overloaded)


@router.get(_PATH, **describe_route(DifferenceBody, *_ERRORS, Unprocessable))
@requires(READ_ALL)
async def compare_versions(
    differences: DiffDependency,
    *,
    earlier: _Earlier = "",
    later: _Later = "",
    level: _Level = "",
    policy: _Policy = "",
) -> ApiResponse:
    """Compare two versions, each named ``SUBJECT:VERSION``, with a number or ``latest``.

    The response is the output of ``contractlog diff --format json``: the kind of change, all levels that allow it, and
    the findings, those that concern ``level`` first and with suggested fixes. Without ``level`` and ``policy``, those
    in force for the later version's subject apply.
    """
    result = await differences.compare(
        parse_subject_version("earlier", earlier), parse_subject_version("later", later), **_parse_policy(level, policy)
    )
    return ApiResponse(result.body())


@router.post(
    _PATH, **describe_route(DifferenceBody, *_ERRORS, BadRequest, PayloadTooLarge, Unprocessable, body=RegisterRequest)
)
@requires(READ_ALL)
async def compare_candidate(
    request: Request,
    differences: DiffDependency,
    *,
    earlier: _Earlier = "",
    level: _Level = "",
    policy: _Policy = "",
) -> ApiResponse:
    """Compare a candidate with a version of its subject; nothing is registered."""
    against = parse_subject_version("earlier", earlier)
    draft = parse_body(await request.body(), RegisterRequest).draft()
    return ApiResponse((await differences.compare(against, draft, **_parse_policy(level, policy))).body())


def _parse_policy(level: str, policy: str) -> dict[str, Any]:
    return {"level": parse_enum("level", level, Level), "policy": parse_enum("policy", policy, Policy)}
