"""All routes under ``/contractlog/v1`` except audits and the service's own state."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from contractlog.registry.features.batch import routes as batch_routes
from contractlog.registry.features.change_log import routes as change_log_routes
from contractlog.registry.features.dependencies import routes as dependencies_routes
from contractlog.registry.features.diff import routes as diff_routes
from contractlog.registry.features.fetch_log import routes as fetch_log_routes
from contractlog.registry.features.imports import routes as imports_routes
from contractlog.registry.features.permissions import routes as permissions_routes
from contractlog.registry.features.search import routes as search_routes

__all__ = ["ROUTERS"]

ROUTERS: Final[tuple[APIRouter, ...]] = tuple(
    module.router
    for module in (
        change_log_routes,
        search_routes,
        diff_routes,
        dependencies_routes,
        batch_routes,
        fetch_log_routes,
        imports_routes,
        permissions_routes,
    )
)
