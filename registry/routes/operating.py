"""Operational routes: health probes, metrics and the API documentation."""

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


@router.head("/healthz/live", include_in_schema=False)  # the server omits the body
@router.get("/healthz/live", **documented(_OBJECT))
async def live() -> Answer:
    """Return 200 as long as the process can answer."""
    return Answer({"status": "live"})


@router.head("/healthz/startup", include_in_schema=False)
@router.get("/healthz/startup", **documented(_OBJECT))
async def startup() -> Answer:
    """Return 200 once the database has been opened: nothing is served before."""
    return Answer({"status": "started"})


@router.head("/healthz/ready", include_in_schema=False)
@router.get("/healthz/ready", **documented(_OBJECT, StoreError))
async def ready(health: HealthDependency, cache: CacheDependency, telemetry: TelemetryDependency) -> Answer:
    """Return `ready` if the database answers, `degraded` if only the cache can (both 200); else 503.

    While the process shuts down, the response is 503. It does not wait for a database that does not answer: it comes
    within a second.
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
    """Return the methods that a health endpoint allows."""
    return Response(status_code=_NO_CONTENT, headers={"allow": "GET, HEAD, OPTIONS"})


@router.get(DOCS, include_in_schema=False)
async def docs(request: Request) -> Response:
    """Return the API documentation as a page that loads nothing from other sites."""
    return HTMLResponse(reference(request.app.openapi()), headers=_ALONE)


@router.get(f"{DOCS}.css", include_in_schema=False)
async def style() -> Response:
    """Return the stylesheet of the page."""
    return Response(CSS, media_type="text/css", headers=_ALONE)


@router.get("/metrics", responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}})
async def metrics(telemetry: TelemetryDependency) -> Answer:
    """Return the metrics, summed over all workers, in the text format of Prometheus."""
    return Answer(exposition(telemetry.meters), media_type=CONTENT_TYPE)
