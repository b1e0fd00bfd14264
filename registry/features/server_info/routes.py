"""Routes of the service itself: root, version, cluster ids, deployment."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Any, Final

from fastapi import APIRouter

from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.route_permissions import READ_ANY, requires
from contractlog.registry.http.service_dependencies import SettingsDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["service"])
_OBJECT: Final[dict[str, Any]] = {"type": "object"}


@router.get("/", **describe_route(_OBJECT))
@router.post("/", **describe_route(_OBJECT))
@requires(READ_ANY)
async def get_root() -> ApiResponse:
    """Return an empty object, which shows that the service is running."""
    return ApiResponse(b"{}")


@router.get("/v1/metadata/id", **describe_route(_OBJECT))
@requires(READ_ANY)
async def get_cluster_ids(settings: SettingsDependency) -> ApiResponse:
    """Return the ids of the registry cluster and of its Kafka cluster."""
    clusters = {"kafka-cluster": settings.kafka_cluster_id, "schema-registry-cluster": settings.cluster_id}
    named = {kind: name for kind, name in clusters.items() if name}
    return ApiResponse({"id": "", "scope": {"path": [], "clusters": named}})


@router.get("/v1/metadata/deployment", **describe_route(_OBJECT))
@requires(READ_ANY)
async def get_deployment() -> ApiResponse:
    """Return the attributes of this deployment, which are always empty."""
    return ApiResponse({"attributes": []})


@router.get("/v1/metadata/version", **describe_route(_OBJECT))
@requires(READ_ANY)
async def get_version() -> ApiResponse:
    """Return the version of the service."""
    return ApiResponse({"version": version_of("contractlog"), "commitId": ""})
