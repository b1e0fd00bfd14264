"""For operators: is it alive, is it ready, what does it count."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from contractlog.compatibility.errors import RegistryError, StoreError
from contractlog.registry.dependencies import CacheDependency, HealthDependency, TelemetryDependency
from contractlog.registry.documented import documented
from contractlog.registry.pages.reference import reference
from contractlog.registry.pages.style import CSS
from contractlog.registry.problems import Answer
from contractlog.registry.telemetry.exposition import CONTENT_TYPE, exposition

__all__ = ["router"]

router: Final = APIRouter(tags=["health"])
_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_UNREADY: Final = 503
_NO_CONTENT: Final = 204
DOCS: Final = "/contractlog/v1/docs"
_ALONE: Final = {
    "content-security-policy": "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
}


@router.head("/healthz/live", include_in_schema=False)  # the server leaves the body out
@router.get("/healthz/live", **documented(_OBJECT))
async def live() -> Answer:
    """Answer as long as the process can."""
    return Answer({"status": "live"})


@router.head("/healthz/startup", include_in_schema=False)
@router.get("/healthz/startup", **documented(_OBJECT))
async def startup() -> Answer:
    """Answer once the database was opened: nothing is served before."""
    return Answer({"status": "started"})


@router.head("/healthz/ready", include_in_schema=False)
@router.get("/healthz/ready", **documented(_OBJECT, StoreError))
async def ready(health: HealthDependency, cache: CacheDependency, telemetry: TelemetryDependency) -> Answer:
    """Answer 200 while the database does, and `degraded` while only the cache can; 503 when on the way out.

    A database that does not answer is not waited for: the answer comes within a second.
    """
    if telemetry.draining.begun:
        return Answer({"status": "draining"}, status_code=_UNREADY)
    try:
        await health.check()
    except RegistryError as error:
        able = len(cache) > 0
        words = {"status": "degraded" if able else "unready", "reason": error.message}
        return Answer(words, status_code=200 if able else _UNREADY)
    return Answer({"status": "ready"})


@router.options("/healthz/live", include_in_schema=False)
@router.options("/healthz/startup", include_in_schema=False)
@router.options("/healthz/ready", include_in_schema=False)
async def health_options() -> Response:
    """Name the methods of a health endpoint."""
    return Response(status_code=_NO_CONTENT, headers={"allow": "GET, HEAD, OPTIONS"})


@router.get(DOCS, include_in_schema=False)
async def docs(request: Request) -> Response:
    """Show the API to people; the page loads nothing from elsewhere."""
    return HTMLResponse(reference(request.app.openapi()), headers=_ALONE)


@router.get(f"{DOCS}.css", include_in_schema=False)
async def style() -> Response:
    """Give the page its looks."""
    return Response(CSS, media_type="text/css", headers=_ALONE)


@router.get("/metrics", responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}})
async def metrics(telemetry: TelemetryDependency) -> Answer:
    """Show what is counted, summed up over all workers, in the text format of Prometheus."""
    return Answer(exposition(telemetry.meters), media_type=CONTENT_TYPE)
