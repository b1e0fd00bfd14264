"""Routes that look up or check many schemas in one request."""

from __future__ import annotations

from functools import partial
from typing import Final

from fastapi import APIRouter, Request

from contractlog.compatibility.errors import (
    BadRequest,
    InvalidQuery,
    Overloaded,
    PayloadTooLarge,
    TooManyMembers,
    TooManyRequests,
    Unprocessable,
)
from contractlog.registry.bodies.many import (
    CheckedBody,
    CheckManyBody,
    CheckManyRequest,
    CheckMemberRequest,
    LookedUpBody,
    LookupManyBody,
    LookupManyRequest,
    LookupMemberRequest,
    member,
    members,
)
from contractlog.registry.documented import documented
from contractlog.registry.own import ManyDependency
from contractlog.registry.problems import Answer
from contractlog.registry.queries import KnownAlone
from contractlog.registry.services.many import bounded

__all__ = ["router"]

router: Final = APIRouter(tags=["batches"], dependencies=[KnownAlone])
_ERRORS: Final = (BadRequest, InvalidQuery, PayloadTooLarge, Unprocessable, TooManyMembers, TooManyRequests, Overloaded)


@router.post("/contractlog/v1/lookup", **documented(LookupManyBody, *_ERRORS, body=LookupManyRequest))
async def lookup_many(request: Request, many: ManyDependency) -> Answer:
    """Look up the versions of up to 500 schemas.

    The response has one result for each member, in order: its version and id, or the error that a single request would
    return. Nothing is registered.
    """
    asked = bounded(members(await request.body()))
    found = await many.lookup([partial(member, one, LookupMemberRequest) for one in asked])
    return Answer(LookupManyBody([LookedUpBody.of(one) for one in found]))


@router.post("/contractlog/v1/check", **documented(CheckManyBody, *_ERRORS, body=CheckManyRequest))
async def check_many(request: Request, many: ManyDependency) -> Answer:
    """Check up to 500 schemas, each as if the compatible ones before it were registered.

    A later member may therefore succeed an earlier one of its subject, and may reference earlier ones: by the number
    that their version would get, or by -1, the latest. The response has one result for each member, in order: its
    verdict, or the error that a single request would return. Nothing is registered.
    """
    asked = bounded(members(await request.body()))
    found = await many.check([partial(member, one, CheckMemberRequest) for one in asked])
    return Answer(await many.shaped(lambda: CheckManyBody([CheckedBody.of(one) for one in found])))
