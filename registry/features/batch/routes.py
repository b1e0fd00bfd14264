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
from contractlog.registry.features.batch.bodies import (
    CheckedBody,
    CheckManyBody,
    CheckManyRequest,
    CheckMemberRequest,
    LookedUpBody,
    LookupManyBody,
    LookupManyRequest,
    LookupMemberRequest,
    parse_member,
    parse_members,
)
from contractlog.registry.features.batch.service import check_member_count
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import StrictParameters
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.route_permissions import READ_ALL, requires
from contractlog.registry.http.service_dependencies import BatchDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["batches"], dependencies=[StrictParameters])
_ERRORS: Final = (BadRequest, InvalidQuery, PayloadTooLarge, Unprocessable, TooManyMembers, TooManyRequests, Overloaded)


@router.post("/contractlog/v1/lookup", **describe_route(LookupManyBody, *_ERRORS, body=LookupManyRequest))
@requires(READ_ALL)
async def look_up_schemas(request: Request, batch: BatchDependency) -> ApiResponse:
    """Look up the versions of up to 500 schemas.

    The response has one result for each member, in order: its version and id, or the error that a single request would
    return. Nothing is registered.
    """
    raw_members = check_member_count(parse_members(await request.body()))
    results = await batch.lookup([partial(parse_member, member, LookupMemberRequest) for member in raw_members])
    return ApiResponse(LookupManyBody([LookedUpBody.of(member) for member in results]))


@router.post("/contractlog/v1/check", **describe_route(CheckManyBody, *_ERRORS, body=CheckManyRequest))
@requires(READ_ALL)
async def check_schemas(request: Request, batch: BatchDependency) -> ApiResponse:
    """Check up to 500 schemas, each as if the compatible ones before it were registered.

    A later member can therefore follow an earlier one in the same subject, and can reference earlier ones by the
    version that they would get, or by -1 (the latest). The response has one result for each member, in order: its
    verdict, or the error that a single request would return. Nothing is registered.
    """
    raw_members = check_member_count(parse_members(await request.body()))
    results = await batch.check([partial(parse_member, member, CheckMemberRequest) for member in raw_members])
    return ApiResponse(await batch.run(lambda: CheckManyBody([CheckedBody.of(member) for member in results])))
