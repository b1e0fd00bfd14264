"""Middleware that limits the work of each request and ends it when the caller disconnects."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from contractlog.compatibility.steps import Steps
from contractlog.registry.access.principals import ANONYMOUS
from contractlog.registry.execution.request_work import Abandoned, RequestWork, current_work
from contractlog.registry.http.failure_limits import parse_network

__all__ = ["WorkLimits"]


class WorkLimits:
    """Set the request's ``Work`` in a context variable, where services find it; plain ASGI."""

    def __init__(self, app: ASGIApp, steps: int) -> None:
        self._app = app
        self._steps = steps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; an abandoned one gets no response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        work = RequestWork(_caller_key(scope), Steps(self._steps), receive)
        token = current_work.set(work)
        try:
            await self._app(scope, receive, send)
        except Abandoned:
            return
        finally:
            work.close()
            current_work.reset(token)


def _caller_key(scope: Scope) -> str:
    """Return the name of an authenticated caller, else the network that the request came from."""
    actor, client = scope.get("actor") or ANONYMOUS, scope.get("client")
    return parse_network(client[0]) if actor == ANONYMOUS and client else str(actor)
