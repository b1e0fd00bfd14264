"""Outermost layer: request ids, metrics, access log, and connection close while draining."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from itertools import count
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.execution.drain_state import DrainState
from contractlog.registry.telemetry import metric_catalogue
from contractlog.registry.telemetry.metric_memory import Histogram, MetricValues, WorkerMetrics

__all__ = ["RequestRecorder", "make_request_id_factory"]

ACCESS_LOG: Final = logging.getLogger("contractlog.access")
_REQUEST_ID: Final = b"x-request-id"
_MAX_REQUEST_ID_LENGTH: Final = 200
_UNCACHED: Final = (b"cache-control", b"no-cache, no-store, must-revalidate")
_NO_SCRIPTS: Final = (b"x-xss-protection", b"1; mode=block")  #: as the reference sends
_LAST: Final = (b"connection", b"close")
_OTHER: Final = "other"
_STATUSES: Final = (200, 201, 202, 204, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 501, 503, 504)
_STATUS_LABELS: Final = {status: str(status or _OTHER) for status in (*_STATUSES, 0)}
_NO_ANSWER: Final = 499  #: status in the log of a request whose client disconnected before the response


def make_request_id_factory() -> Callable[[], bytes]:
    """Return a function that creates unique ids in the form of a UUIDv4: a random prefix and a counter."""
    beginning, numbers = str(uuid4())[:-12].encode(), count(1)

    def new_id() -> bytes:
        return b"%b%012x" % (beginning, next(numbers))

    return new_id


class RequestRecorder:
    """Gives each request an id, counts it, and logs it; the outermost middleware.

    Args:
        app: the app to call.
        meters: the metrics to write.
        routes: (method, template) of all routes; other requests are counted as ``other``.
        draining: whether connections should be closed.
        try_cached: returns the start and the body of a response that needs no other layer; None for all other requests.
        unexpected: creates the response to an unexpected error if none was started; the error is raised again.
        new_id: creates an id for requests that have none.
    """

    def __init__(
        self,
        app: ASGIApp,
        meters: WorkerMetrics,
        routes: Iterable[tuple[str, str]],
        draining: DrainState,
        *,
        try_cached: Callable[[Scope], tuple[Message, Message] | None],
        unexpected: Callable[[Exception], ASGIApp],
        new_id: Callable[[], bytes] | None = None,
    ) -> None:
        self._app = app
        self._draining = draining
        self._try_cached = try_cached
        self._unexpected = unexpected
        self._new_id = new_id or make_request_id_factory()
        self._in_flight = meters.value(metric_catalogue.IN_FLIGHT)
        self._counts, self._seconds = _route_metrics(meters, [*routes, (_OTHER, _OTHER)])
        self._patterns = _compile_templates(self._seconds)
        self._errors = {
            code: meters.value(metric_catalogue.ERRORS, str(code)) for code in sorted({0, *RegistryError.catalogue()})
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request and record it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        request_id = _read_request_id(scope["headers"]) or self._new_id()
        scope["request_id"] = request_id
        cached = self._try_cached(scope)
        if cached is None:
            await self._pass_on(scope, receive, send, started)
            return
        for message in self._complete(scope, cached, started):
            await send(message)

    def finish(self, scope: Scope, response: tuple[Message, Message], started: float) -> tuple[Message, Message]:
        """Complete and record a response that no layer of this app has seen; its request has no id."""
        scope["request_id"] = self._new_id()
        return self._complete(scope, response, started)

    def _complete(self, scope: Scope, response: tuple[Message, Message], started: float) -> tuple[Message, Message]:
        self._mark(response[0], scope["request_id"])
        self._note(scope, response[0]["status"], perf_counter() - started)
        return response

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, started: float) -> None:
        status = _NO_ANSWER

        async def send_marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._mark(message, scope["request_id"])
            await send(message)

        self._in_flight.add()
        try:
            await self._app(scope, receive, send_marked)
        except Exception as error:
            if status == _NO_ANSWER:
                await self._unexpected(error)(scope, receive, send_marked)
            raise
        finally:
            self._in_flight.add(-1)
            self._note(scope, status, perf_counter() - started)

    def _mark(self, start: Message, request_id: bytes) -> None:
        last = (_LAST,) if self._draining.begun else ()
        start["headers"] = [*start["headers"], (_REQUEST_ID, request_id), _UNCACHED, _NO_SCRIPTS, *last]

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        template = scope.get("template") or getattr(scope.get("route"), "path", None) or self._template(scope["path"])
        route = (scope["method"], template)
        if route not in self._counts:
            route = (_OTHER, _OTHER)
        counts = self._counts[route]
        counts[status if status in _STATUS_LABELS else 0].add()
        self._seconds[route[1]].observe(seconds)
        code = scope.get("error_code")
        if code is not None:
            (self._errors.get(code) or self._errors[0]).add()
        if ACCESS_LOG.isEnabledFor(logging.INFO):
            ACCESS_LOG.info(
                "%s %s %d", scope["method"], template, status, extra={"fields": _log_fields(scope, status, seconds)}
            )

    def _template(self, path: str) -> str:
        """Return the route template of a request that was rejected before routing."""
        return next((template for pattern, template in self._patterns if pattern.fullmatch(path)), _OTHER)


def _compile_templates(templates: Iterable[str]) -> list[tuple[re.Pattern[str], str]]:
    """Compile route templates, those with the fewest parameters first: they are more specific."""
    ordered = sorted(set(templates) - {_OTHER}, key=lambda template: (template.count("{"), template))
    return [
        (re.compile("[^/]+".join(map(re.escape, re.split(r"\{[^}]*\}", template)))), template) for template in ordered
    ]


def _route_metrics(
    meters: WorkerMetrics, routes: Iterable[tuple[str, str]]
) -> tuple[dict[tuple[str, str], MetricValues], dict[str, Histogram]]:
    distinct = list(dict.fromkeys(routes))
    counts = {
        (method, template): meters.values(metric_catalogue.REQUESTS, (method, template), _STATUS_LABELS)
        for method, template in distinct
    }
    return counts, {
        template: meters.distribution(metric_catalogue.REQUEST_SECONDS, template) for _, template in distinct
    }


def _read_request_id(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """Return the id that a request carries, if there is exactly one and it is not too long."""
    request_id = b""
    for name, value in headers:
        if name == _REQUEST_ID:
            if request_id:
                return None
            request_id = value.strip()
    return request_id if 0 < len(request_id) <= _MAX_REQUEST_ID_LENGTH else None


def _log_fields(scope: Scope, status: int, seconds: float) -> dict[str, Any]:
    """Return the fields of an access log line: no bodies, queries, or headers with secrets."""
    client = scope.get("client")
    fields = {
        "request_id": scope["request_id"].decode("latin-1"),
        "method": scope["method"],
        "path": scope.get("raw_path", b"").decode("latin-1"),
        "status": status,
        "milliseconds": round(seconds * 1000, 2),
        "client": client[0] if client else None,
        "actor": scope.get("actor"),
        "error_code": scope.get("error_code"),
    }
    return {name: value for name, value in fields.items() if value is not None}
