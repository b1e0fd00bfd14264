"""Routes of the change log."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query

from contractlog.compatibility.errors import ChangesAhead, InvalidQuery, Overloaded
from contractlog.registry.features.change_log.parameters import Since, Wait
from contractlog.registry.features.change_log.service import MAX_CHANGES
from contractlog.registry.features.extension_bodies import ChangeBody, ChangesBody
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import BoundedInteger, StrictParameters
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.route_permissions import READ_ALL, requires
from contractlog.registry.http.service_dependencies import ChangeLogDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["changes"], dependencies=[StrictParameters])
_Limit = Annotated[int, Query(description="Maximum number of changes."), BoundedInteger("limit", 100, 1, MAX_CHANGES)]


@router.get("/contractlog/v1/changes", **describe_route(ChangesBody, InvalidQuery, ChangesAhead, Overloaded))
@requires(READ_ALL)
async def list_changes(
    changes: ChangeLogDependency, *, since: Since = 0, limit: _Limit = 100, wait: Wait = 0
) -> ApiResponse:
    """List the changes after ``since``, oldest first and without gaps.

    ``next`` is the value of ``since`` for the next request. With ``wait``, a request without changes waits for one,
    or until the time is over. ``since=latest`` returns the end of the change log and no changes.
    """
    page = await changes.list_after(since, limit=limit, wait=wait)
    bodies = [ChangeBody.of(change) for change in page.changes]
    return ApiResponse(ChangesBody(bodies, page.next_since, page.head.sequence, page.head.hash))
