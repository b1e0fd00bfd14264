"""Route of the metrics."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.route_permissions import READ_ANY, requires
from contractlog.registry.http.service_dependencies import AuditMetricsDependency, TelemetryDependency
from contractlog.registry.telemetry.metric_memory import CONTENT_TYPE, render_metrics

__all__ = ["router"]

router: Final = APIRouter(tags=["health"])


@router.get("/metrics", responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}})
@requires(READ_ANY)
async def get_metrics(telemetry: TelemetryDependency, audits: AuditMetricsDependency) -> ApiResponse:
    """Return the metrics of the service, summed over all workers, and of audits."""
    return ApiResponse(render_metrics(telemetry.meters, await audits.read()), media_type=CONTENT_TYPE)
