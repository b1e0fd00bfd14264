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
from contractlog.registry.bodies.own import DifferenceBody
from contractlog.registry.bodies.requests import RegisterRequest, read
from contractlog.registry.documented import documented
from contractlog.registry.own import DifferencesDependency
from contractlog.registry.problems import Answer
from contractlog.registry.queries import KnownAlone, named, one_version, said

__all__ = ["router"]

router: Final = APIRouter(tags=["diff"], dependencies=[KnownAlone])
_PATH: Final = "/contractlog/v1/diff"
_Earlier = Annotated[str, Query(description="`SUBJECT:VERSION`, with a number or `latest`.")]
_Later = Annotated[str, Query(description="`SUBJECT:VERSION`; the subject may be another one.")]
_Level = Annotated[
    str,
    Query(description="The level whose findings come first, with suggested fixes; else the one in force."),
    said(Level),
]
_Policy = Annotated[str, Query(description="By which it is judged; else what is in force."), said(Policy)]
_ERRORS: Final = (InvalidQuery, SubjectNotFound, VersionNotFound, InvalidSchema, TooManyRequests, Overloaded)


@router.get(_PATH, **documented(DifferenceBody, *_ERRORS, Unprocessable))
async def difference(
    differences: DifferencesDependency,
    *,
    earlier: _Earlier = "",
    later: _Later = "",
    level: _Level = "",
    policy: _Policy = "",
) -> Answer:
    """Compare two versions, each named ``SUBJECT:VERSION``, with a number or ``latest``.

    The response is the output of ``contractlog diff --format json``: the kind of change, all levels that allow it, and
    the findings, those that concern ``level`` first and with suggested fixes. Without ``level`` and ``policy``, those
    in force for the later version's subject apply.
    """
    found = await differences.between(
        one_version("earlier", earlier), one_version("later", later), **_asked(level, policy)
    )
    return Answer(found.body())


@router.post(
    _PATH, **documented(DifferenceBody, *_ERRORS, BadRequest, PayloadTooLarge, Unprocessable, body=RegisterRequest)
)
async def candidate(
    request: Request,
    differences: DifferencesDependency,
    *,
    earlier: _Earlier = "",
    level: _Level = "",
    policy: _Policy = "",
) -> Answer:
    """Compare a candidate with a version of its subject; nothing is registered."""
    against = one_version("earlier", earlier)
    draft = read(await request.body(), RegisterRequest).draft()
    return Answer((await differences.between(against, draft, **_asked(level, policy))).body())


def _asked(level: str, policy: str) -> dict[str, Any]:
    return {"level": named("level", level, Level), "policy": named("policy", policy, Policy)}
