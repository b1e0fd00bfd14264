"""Route of the usage of subjects."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    InvalidQuery,
    Overloaded,
    PayloadTooLarge,
    TooManyMembers,
    Unprocessable,
)
from contractlog.registry.features.batch.service import check_member_count
from contractlog.registry.features.subject_usage.bodies import UsageBody, UsageRequest, UsagesBody
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import BoundedInteger, StrictParameters
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.path_values import parse_subject
from contractlog.registry.http.request_bodies import parse_body
from contractlog.registry.http.route_permissions import READ_ANY, requires
from contractlog.registry.http.service_dependencies import UsageDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["usage"], dependencies=[StrictParameters])
_ERRORS: Final = (BadRequest, InvalidQuery, PayloadTooLarge, Unprocessable, TooManyMembers, Overloaded)
_Days = Annotated[int, Query(description="Number of days of fetches."), BoundedInteger("days", 30, 1, 400)]


@router.post("/contractlog/v1/usage", **describe_route(UsagesBody, *_ERRORS, body=UsageRequest))
@requires(READ_ANY)
async def list_usage(request: Request, usage: UsageDependency, *, days: _Days = 30) -> ApiResponse:
    """List the clients and the records of up to 500 subjects, by version.

    Clients are those that fetched a version by id, and absent without read permission on every subject. Topics are
    those that a subject is named after (`orders-value`: the values of `orders`) or associated with, if they were
    audited and the caller may read them. A subject that the caller may not read has an error in its place.
    """
    names = check_member_count(parse_body(await request.body(), UsageRequest).subjects)
    results = await usage.list_usage([partial(parse_subject, name) for name in names], days=days)
    return ApiResponse(UsagesBody([UsageBody.of(each) for each in results]))
