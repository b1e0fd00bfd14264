"""Application factory: builds the app from settings and a store; contains no other logic."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Scope

from contractlog.registry import cross_site, problems
from contractlog.registry.access import metrics_token
from contractlog.registry.access.actor import ANONYMOUS, Caller
from contractlog.registry.access.layer import Access
from contractlog.registry.access.layer import layers as layers_of_access
from contractlog.registry.access.rights import EVERYTHING
from contractlog.registry.cache import ByteCache
from contractlog.registry.cross_site import CrossSite
from contractlog.registry.database import open_store
from contractlog.registry.dependencies import Services
from contractlog.registry.documented import complete, operation_id
from contractlog.registry.hot import HotSchemas, HotVersions
from contractlog.registry.middleware import BodyLimit, RawPaths
from contractlog.registry.own import Own
from contractlog.registry.problems import Answer
from contractlog.registry.remembered import Remembered
from contractlog.registry.routes import (
    associations,
    compatibility,
    conformance,
    levels,
    operating,
    schemas,
    service,
    subjects,
    versions,
)
from contractlog.registry.routes.moving import IMPORT
from contractlog.registry.routes.own import ROUTERS as OWN_ROUTERS
from contractlog.registry.routes.plain import PlainRegistrations
from contractlog.registry.services.associations import Associations
from contractlog.registry.services.compatibility import Compatibility
from contractlog.registry.services.conformance import Conformance
from contractlog.registry.services.contexts import Contexts
from contractlog.registry.services.health import Health
from contractlog.registry.services.ids import Ids
from contractlog.registry.services.judging import Judging
from contractlog.registry.services.levels import Levels
from contractlog.registry.services.lookup import Lookup
from contractlog.registry.services.registration import Registration
from contractlog.registry.services.retirement import Retirement
from contractlog.registry.services.threads import Threads
from contractlog.registry.services.understanding import Understanding
from contractlog.registry.services.viewing import Viewing
from contractlog.registry.services.work import Callers
from contractlog.registry.settings import Settings
from contractlog.registry.storage.protocol import Store
from contractlog.registry.telemetry.requests import Observed
from contractlog.registry.telemetry.state import Telemetry
from contractlog.registry.work_limits import WorkLimits

__all__ = ["create_app"]

_BUILDING: Final = threading.Lock()
_ANYBODY: Final = Caller(ANONYMOUS, EVERYTHING)  #: every caller, if there is no authentication
_SHARE: Final = 4  #: responses by version may use this fraction (1/4) of the cache's memory in addition to it
_CACHED_SECONDS: Final = 5.0  #: how long another node may still serve a schema that was hard-deleted


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
    cross_site_layer = cross_site.layer(settings)  # before anything is opened: settings and files may be invalid
    access_layers = [*metrics_token.layers(settings), *layers_of_access(settings)]
    services = _services(settings, store or open_store(settings), telemetry)
    app = _Service(
        title="contractlog registry",
        version=version("contractlog"),
        description="The schema registry that reads the log. Paths outside `/contractlog/v1` are the reference's.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/contractlog/v1/openapi.json",
        generate_unique_id_function=operation_id,
        redirect_slashes=False,
        default_response_class=Answer,
        telemetry={"tracing": False, "metrics": False, "logs": False},
        middleware=[
            Middleware(
                BodyLimit,
                limit=settings.max_body_bytes,
                seconds=settings.body_seconds,
                larger={IMPORT: settings.max_import_bytes},
            ),
            Middleware(WorkLimits, steps=settings.request_steps),
        ],
        lifespan=_lifespan(services),
    )
    app.state.around = [cross_site_layer, Middleware(RawPaths), *access_layers, *_hot(services)]
    app.router.routes.append(PlainRegistrations(services))
    problems.install(app, old_conflict_code=settings.old_conflict_code)
    for router in OWN_ROUTERS:
        app.include_router(router)
    for module in (associations, schemas, versions, subjects, compatibility, levels, service, operating, conformance):
        app.include_router(module.router)
    app.state.services = services
    app.state.close = services.close
    app.state.drain = services.drain
    complete(app)
    return app


def _hot(services: Services) -> Iterator[Middleware]:
    yield Middleware(
        HotSchemas,
        cache=services.cache,
        telemetry=services.telemetry,
        counts=services.own.counts,
        silence=services.store.silence,
    )
    yield Middleware(
        HotVersions,
        lookup=services.lookup,
        profile=services.profile,
        telemetry=services.telemetry,
        remembered=services.remembered,
    )


class _Service(FastAPI):
    """FastAPI with our own layers around it; the most frequent requests bypass all of FastAPI's layers."""

    def build_middleware_stack(self) -> ASGIApp:
        telemetry: Telemetry = self.state.services.telemetry
        # FastAPI creates routes inside a warnings filter that all threads share: two apps must not do it at the same
        # time.
        with _BUILDING:
            for route in self.router.routes:
                getattr(route, "effective_candidates", list)()
        layers: dict[type, Any] = {}
        stack = super().build_middleware_stack()
        for layer in reversed(self.state.around):
            stack = layers[layer.cls] = layer.cls(stack, *layer.args, **layer.kwargs)
        may_read = layers[Access].reader if Access in layers else _anybody
        host_is_known = layers[CrossSite].hosts.known

        def reader(scope: Scope) -> Caller | None:
            return may_read(scope) if host_is_known(scope) else None

        return Observed(
            stack,
            telemetry.meters,
            _templates(self),
            telemetry.draining,
            at_once=partial(layers[HotSchemas].at_once, reader=reader),
            unexpected=problems.unexpected,
        )


def _anybody(_scope: Scope) -> Caller:
    return _ANYBODY


def _templates(app: FastAPI) -> Iterator[tuple[str, str]]:
    for route in app.routes:
        for inner in getattr(getattr(route, "original_router", None), "routes", [route]):
            yield from ((method, inner.path) for method in sorted(inner.methods))


def _services(settings: Settings, store: Store, telemetry: Telemetry) -> Services:
    threads = Threads(
        settings.read_threads, max_waiting=settings.max_pending_writes, callers=Callers(settings.caller_steps)
    )
    cache = ByteCache(settings.cache_bytes, seconds=_CACHED_SECONDS, watch=telemetry.cached)
    store.on_commit(cache.forget)
    remembered = _remembered(settings, store)
    store.watch(telemetry)
    understanding = Understanding()
    judging = Judging(understanding, settings.level)
    registration = Registration(store, threads, understanding, judging, allow_id_gap=settings.allow_id_gap)
    viewing = Viewing(understanding)
    return Services(
        settings=settings,
        store=store,
        threads=threads,
        cache=cache,
        remembered=remembered,
        registration=registration,
        associations=Associations(store, threads, registration),
        compatibility=Compatibility(store, threads, understanding, judging),
        lookup=Lookup(store, threads, viewing),
        ids=Ids(store, threads, viewing),
        contexts=Contexts(store),
        retirement=Retirement(store),
        levels=Levels(store, threads, settings.level, mutable=settings.mode_mutability),
        conformance=Conformance(store, threads),
        own=Own.wired(
            store,
            threads,
            cache,
            understanding=understanding,
            judging=judging,
            registration=registration,
            allow_id_gap=settings.allow_id_gap,
        ),
        health=Health(store),
        telemetry=telemetry,
    )


def _remembered(settings: Settings, store: Store) -> Remembered | None:
    """Return the cache of responses by version; None if other nodes can write to the database."""
    if not store.alone:
        return None
    remembered = Remembered(settings.cache_bytes // _SHARE)
    store.before_commit(remembered.close)
    store.on_commit(lambda _touched: remembered.open())
    return remembered


def _lifespan(services: Services) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        services.own.start()
        yield
        services.close()

    return lifespan
