"""Routes of contexts: list them, delete an empty one."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from contractlog.compatibility.errors import (
    BadRequest,
    ContextNotEmpty,
    InvalidSubject,
    OperationNotPermitted,
    Overloaded,
)
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.openapi import describe_route, list_schema
from contractlog.registry.http.parameters import PageQuery, TextPath
from contractlog.registry.http.path_values import parse_context
from contractlog.registry.http.route_permissions import READ_ANY, WRITE_CONTEXT, requires
from contractlog.registry.http.service_dependencies import ContextsDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["contexts"])
_NO_CONTENT: Final = 204


@router.get("/contexts", **describe_route(list_schema("string")))
@requires(READ_ANY)
async def list_contexts(
    contexts: ContextsDependency,
    page: PageQuery,
    *,
    prefix: Annotated[str, Query(alias="contextPrefix")] = "",
) -> ApiResponse:
    """List the contexts, the default context first."""
    return ApiResponse(await contexts.list_contexts(prefix, page))


@router.delete(
    "/contexts/{context}",
    **describe_route(
        {}, BadRequest, InvalidSubject, ContextNotEmpty, OperationNotPermitted, Overloaded, status=_NO_CONTENT
    ),
)
@requires(WRITE_CONTEXT)
async def delete_context(context: TextPath, contexts: ContextsDependency) -> Response:
    """Delete a context that no longer has versions; its ids are not reused."""
    await contexts.delete(parse_context(context))
    return Response(status_code=_NO_CONTENT)
