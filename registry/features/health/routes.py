"""Routes of health probes."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Response

from contractlog.compatibility.errors import RegistryError, StoreError
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.route_permissions import PUBLIC, requires
from contractlog.registry.http.service_dependencies import CacheDependency, HealthDependency, TelemetryDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["health"])
_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_UNAVAILABLE: Final = 503
_NO_CONTENT: Final = 204


@router.head("/healthz/live", include_in_schema=False)  # the server omits the body
@router.get("/healthz/live", **describe_route(_OBJECT))
@requires(PUBLIC)
async def get_liveness() -> ApiResponse:
    """Return 200 while the process can respond."""
    return ApiResponse({"status": "live"})


@router.head("/healthz/startup", include_in_schema=False)
@router.get("/healthz/startup", **describe_route(_OBJECT))
@requires(PUBLIC)
async def get_startup() -> ApiResponse:
    """Return 200 once the database is open; before that, the port is closed."""
    return ApiResponse({"status": "started"})


@router.head("/healthz/ready", include_in_schema=False)
@router.get("/healthz/ready", **describe_route(_OBJECT, StoreError))
@requires(PUBLIC)
async def get_readiness(
    health: HealthDependency, cache: CacheDependency, telemetry: TelemetryDependency
) -> ApiResponse:
    """Return `ready` if the database responds, `degraded` if only the cache is available; else 503.

    `ready` and `degraded` are 200. While the process shuts down, the response is 503. The response comes within a
    second, even if the database does not respond.
    """
    if telemetry.draining.begun:
        return ApiResponse({"status": "draining"}, status_code=_UNAVAILABLE)
    try:
        await health.check()
    except RegistryError as error:
        able = len(cache) > 0
        status = {"status": "degraded" if able else "unready", "reason": error.message}
        return ApiResponse(status, status_code=200 if able else _UNAVAILABLE)
    return ApiResponse({"status": "ready"})


@router.options("/healthz/live", include_in_schema=False)
@router.options("/healthz/startup", include_in_schema=False)
@router.options("/healthz/ready", include_in_schema=False)
@requires(PUBLIC)
async def get_health_options() -> Response:
    """Return the methods that a health endpoint allows."""
    return Response(status_code=_NO_CONTENT, headers={"allow": "GET, HEAD, OPTIONS"})
