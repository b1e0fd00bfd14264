"""Routes of the API documentation: OpenAPI document, page and stylesheet."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.docs_page import read_stylesheet, render_page
from contractlog.registry.http.route_permissions import READ_ANY, requires

__all__ = ["router"]

router: Final = APIRouter()
_DOCS_PATH: Final = "/contractlog/v1/docs"
_DOCS_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
}


@router.get("/contractlog/v1/openapi.json", include_in_schema=False)
@requires(READ_ANY)
async def get_openapi(request: Request) -> ApiResponse:
    """Return the description of the API."""
    return ApiResponse(request.app.openapi(), media_type="application/json")


@router.get(_DOCS_PATH, include_in_schema=False)
@requires(READ_ANY)
async def get_docs_page(request: Request) -> Response:
    """Return the API documentation as a page that loads nothing from other sites."""
    state = request.app.state
    if not hasattr(state, "docs_page"):  # rendered once, because that takes tens of milliseconds
        state.docs_page = await asyncio.to_thread(render_page, request.app.openapi())
    return HTMLResponse(state.docs_page, headers=_DOCS_HEADERS)


@router.get(f"{_DOCS_PATH}.css", include_in_schema=False)
@requires(READ_ANY)
async def get_docs_style() -> Response:
    """Return the stylesheet of the page."""
    return Response(read_stylesheet(), media_type="text/css", headers=_DOCS_HEADERS)
