"""Application factory: builds the app from settings and a store; contains no other logic."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.metadata import version
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Scope

from contractlog.registry.access.current_caller import ANONYMOUS, Principal
from contractlog.registry.access.permissions import ALL_PERMISSIONS
from contractlog.registry.database import open_store
from contractlog.registry.features.change_log.webhooks import parse_webhooks
from contractlog.registry.features.routers import ROUTERS
from contractlog.registry.http import errors, host_and_origin_checks, metrics_token
from contractlog.registry.http.access_control import AccessControl
from contractlog.registry.http.access_control import create_middleware as access_middleware
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.context_paths import ContextPathMiddleware
from contractlog.registry.http.fastpath.cached_reads import CachedSchemaById
from contractlog.registry.http.fastpath.direct_responses import DirectResponses
from contractlog.registry.http.fastpath.plain_registrations import PlainRegistrations
from contractlog.registry.http.fastpath.plain_version_reads import PlainVersionReads
from contractlog.registry.http.fastpath.validated_responses import ValidatedResponses
from contractlog.registry.http.host_and_origin_checks import CrossSite
from contractlog.registry.http.openapi import customize_openapi, operation_id
from contractlog.registry.http.request_limits import BodyLimit, WorkLimits
from contractlog.registry.http.request_recorder import RequestRecorder
from contractlog.registry.http.route_permissions import RoutePermissions
from contractlog.registry.services import Services, create_owners, create_services
from contractlog.registry.settings import Settings
from contractlog.registry.storage.store import Store
from contractlog.registry.telemetry.recorded_metrics import Telemetry
from contractlog.registry.transfer.report import IMPORT_PATH

__all__ = ["create_app"]

_ROUTES_LOCK: Final = threading.Lock()
_UNRESTRICTED: Final = Principal(ANONYMOUS, ALL_PERMISSIONS)  #: every caller, if there is no authentication


def create_app(
    settings: Settings | None = None, store: Store | None = None, telemetry: Telemetry | None = None
) -> FastAPI:
    """Create the service.

    The store is opened immediately from the settings' database, unless one is passed in. It is closed when the app's
    lifespan ends; where nothing runs the lifespan, call ``app.state.close()``. ``app.state.drain()`` announces the
    shutdown: each following response is the last one on its connection, and long polls return.
    """
    settings = settings or Settings()
    telemetry = telemetry or Telemetry(version=version("contractlog"))
    # before anything is opened: settings and files may be invalid
    cross_site_layer = host_and_origin_checks.create_middleware(settings)
    parse_webhooks(settings)
    permissions = RoutePermissions(ROUTERS)
    access_layers = [*metrics_token.create_middleware(settings), *access_middleware(settings, permissions)]
    owners = create_owners(settings)
    services = create_services(settings, store or open_store(settings), telemetry, owners)
    app = _Service(
        title="contractlog registry",
        version=version("contractlog"),
        description="Paths under `/contractlog/v1` are extensions; all others are those of Confluent Schema Registry.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # FastAPI's own route would respond to HEAD, which no other path does
        generate_unique_id_function=operation_id,
        redirect_slashes=False,
        default_response_class=ApiResponse,
        telemetry={"tracing": False, "metrics": False, "logs": False},
        middleware=[Middleware(WorkLimits, steps=settings.request_steps)],
        lifespan=_lifespan(services),
    )
    app.state.around = [
        cross_site_layer,
        Middleware(ContextPathMiddleware),
        *access_layers,
        *_fastpath_middleware(services),
    ]
    app.router.routes.append(PlainRegistrations(services.registration, services.versions, services.profile))
    errors.install_error_handlers(app, old_conflict_code=settings.old_conflict_code)
    app.router.routes.extend(_shared_routes())
    app.state.services = services
    app.state.direct_responses = None  # until the first request
    app.state.close = partial(_close, services)
    app.state.drain = services.drain
    customize_openapi(app)
    return app


def _close(services: Services) -> None:
    services.close()


@cache
def _shared_routes() -> list[BaseRoute]:
    """Return the documented routes, shared by all apps: FastAPI takes 0.1 s to build them."""
    routes = APIRouter(default_response_class=ApiResponse, generate_unique_id_function=operation_id)
    for router in ROUTERS:
        routes.include_router(router)
    return routes.routes


def _fastpath_middleware(services: Services) -> Iterator[Middleware]:
    yield Middleware(
        CachedSchemaById,
        cache=services.cache,
        telemetry=services.telemetry,
        counts=services.fetch_counter,
        silence=services.store.silence,
    )
    settings = services.settings
    yield Middleware(
        BodyLimit,
        limit=settings.max_body_bytes,
        seconds=settings.body_seconds,
        larger={IMPORT_PATH: settings.max_import_bytes},
    )
    yield Middleware(ValidatedResponses, memory=services.memory, checks=services.checks, telemetry=services.telemetry)
    yield Middleware(PlainVersionReads, versions=services.versions, profile=services.profile)


class _Service(FastAPI):
    """FastAPI with our own layers around it; the most frequent requests bypass all of FastAPI's layers."""

    def build_middleware_stack(self) -> ASGIApp:
        telemetry: Telemetry = self.state.services.telemetry
        # FastAPI creates routes inside a warnings filter that all threads share: two apps must not do it at the same
        # time.
        with _ROUTES_LOCK:
            for route in self.router.routes:
                getattr(route, "effective_candidates", list)()
        layers: dict[type, Any] = {}
        stack = super().build_middleware_stack()
        for layer in reversed(self.state.around):
            stack = layers[layer.cls] = layer.cls(stack, *layer.args, **layer.kwargs)
        access = layers.get(AccessControl)
        host_was_allowed = layers[CrossSite].hosts.was_allowed

        def identify(scope: Scope, function: Callable[[Scope], Principal | None]) -> Principal | None:
            return function(scope) if host_was_allowed(scope) else None

        reader = partial(identify, function=access.identify_reader if access else _unrestricted_caller)
        recorder = RequestRecorder(
            stack,
            telemetry.meters,
            _route_templates(self),
            telemetry.draining,
            try_cached=partial(layers[CachedSchemaById].try_cached, reader=reader),
            unexpected=errors.unexpected_error_response,
        )
        self.state.direct_responses = DirectResponses(
            cached=layers[CachedSchemaById],
            validated=layers[ValidatedResponses],
            checks=self.state.services.checks,
            identify=partial(identify, function=access.identify if access else _unrestricted_caller),
            version=(lambda: access.version) if access else (lambda: None),
            finish=recorder.finish,
            is_open=lambda: not telemetry.draining.begun,
        )
        return recorder


def _unrestricted_caller(_scope: Scope) -> Principal:
    return _UNRESTRICTED


def _route_templates(app: FastAPI) -> Iterator[tuple[str, str]]:
    for route in app.routes:
        for inner in getattr(getattr(route, "original_router", None), "routes", [route]):
            yield from ((method, inner.path) for method in sorted(inner.methods))


def _lifespan(services: Services) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        services.start()
        yield
        services.close()

    return lifespan
