"""Routers of all resources, in the order in which their routes are matched."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from contractlog.registry.features.api_docs import routes as api_docs_routes
from contractlog.registry.features.associations import routes as associations_routes
from contractlog.registry.features.batch import routes as batch_routes
from contractlog.registry.features.change_log import routes as change_log_routes
from contractlog.registry.features.change_requests import routes as change_requests_routes
from contractlog.registry.features.compatibility import routes as compatibility_routes
from contractlog.registry.features.config_and_mode import routes as config_routes
from contractlog.registry.features.conformance import routes as conformance_routes
from contractlog.registry.features.contexts import routes as contexts_routes
from contractlog.registry.features.contracts import routes as contracts_routes
from contractlog.registry.features.dek_registry import routes as dek_registry_routes
from contractlog.registry.features.dependencies import routes as dependencies_routes
from contractlog.registry.features.diff import routes as diff_routes
from contractlog.registry.features.fetch_counts import routes as fetches_routes
from contractlog.registry.features.health import routes as health_routes
from contractlog.registry.features.imports import routes as imports_routes
from contractlog.registry.features.lineage import routes as lineage_routes
from contractlog.registry.features.metrics import routes as metrics_routes
from contractlog.registry.features.own_permissions import routes as permissions_routes
from contractlog.registry.features.schemas import routes as schemas_routes
from contractlog.registry.features.search import routes as search_routes
from contractlog.registry.features.server_info import routes as server_info_routes
from contractlog.registry.features.subject_usage import routes as usage_routes
from contractlog.registry.features.subjects import routes as subjects_routes
from contractlog.registry.features.versions import routes as versions_routes

__all__ = ["ROUTERS"]

ROUTERS: Final[tuple[APIRouter, ...]] = tuple(
    module.router
    for module in (
        change_log_routes,
        change_requests_routes,
        search_routes,
        diff_routes,
        dependencies_routes,
        batch_routes,
        fetches_routes,
        usage_routes,
        imports_routes,
        permissions_routes,
        associations_routes,
        schemas_routes,
        subjects_routes,
        versions_routes,
        compatibility_routes,
        config_routes,
        server_info_routes,
        contexts_routes,
        health_routes,
        metrics_routes,
        api_docs_routes,
        conformance_routes,
        contracts_routes,
        lineage_routes,
        dek_registry_routes,
    )
)
