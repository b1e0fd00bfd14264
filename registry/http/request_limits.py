"""Limits on every request: size and time of its body, steps of its work.

Plain ASGI, because each layer that creates request objects costs more than a route.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contractlog.compatibility.errors import PayloadTooLarge, RegistryError, RequestTimeout
from contractlog.compatibility.step_budget import StepBudget
from contractlog.registry.access.current_caller import ANONYMOUS
from contractlog.registry.execution.work_limits import RequestAbandoned, RequestWork, current_work
from contractlog.registry.http.errors import error_response
from contractlog.registry.http.password_failure_limits import parse_network

__all__ = ["BodyLimit", "WorkLimits", "caller_key"]

_MAX_DISCARDED_BYTES: Final = 64 * 1024 * 1024
_LARGE_BODY_TIME_FACTOR: Final = 10


class BodyLimit:
    """Middleware that rejects bodies that are too large with 413, and too slow ones with 408.

    Too large a body is rejected immediately if the request declares its length, else once the limit is exceeded.
    """

    def __init__(self, app: ASGIApp, limit: int, seconds: float, larger: Mapping[str, int]) -> None:
        self._app = app
        self._limit = limit
        self._seconds = seconds
        self._larger = larger  #: limits of paths that accept larger bodies, and allow ten times as much time

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the body while it is received."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit, seconds = self._limit, self._seconds
        if scope["path"] in self._larger:
            limit, seconds = self._larger[scope["path"]], seconds * _LARGE_BODY_TIME_FACTOR
        body = _Body(receive, limit, seconds)
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if announced.isdigit() and int(announced) > limit:
            refused = await self._discard_body(body, limit, waits=_expects_continue(scope))
            await error_response(refused)(scope, receive, body.closing(send))
        else:
            await self._app(scope, body.receive, body.closing(send))

    async def _discard_body(self, body: _Body, limit: int, *, waits: bool) -> RegistryError:
        """Discard some of the body before rejecting it, and return the error.

        Many clients look for a response only after they sent everything. A client that waits for ``100 Continue`` gets
        the response immediately, as the last one on its connection.
        """
        if waits:
            body.last = True
            return PayloadTooLarge(limit=limit)
        try:
            while body.received < _MAX_DISCARDED_BYTES:
                message = await body.next()
                if message["type"] == "http.disconnect" or not message.get("more_body"):
                    break
        except RequestTimeout as late:
            return late
        return PayloadTooLarge(limit=limit)


def _expects_continue(scope: Scope) -> bool:
    return any(name == b"expect" and value.lower() == b"100-continue" for name, value in scope["headers"])


class _Body:
    """A request's body while it is received: counted, with a deadline that runs from the first read."""

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self._receive = receive
        self._limit = limit
        self._seconds = seconds
        self._deadline: float | None = None
        self._whole = False
        self.last = False
        self.received = 0

    async def receive(self) -> Message:
        """Receive the next message.

        Raises:
            PayloadTooLarge: the body now exceeds the limit.
            RequestTimeout: the time is over.
        """
        message = await self.next()
        if self.received > self._limit:
            raise PayloadTooLarge(limit=self._limit)
        return message

    async def next(self) -> Message:
        """Receive the next message, whatever the size of the body.

        After the end of the body, wait without a time limit: the next message is the client's disconnect.

        Raises:
            RequestTimeout: the time is over.
        """
        if self._whole:
            return await self._receive()
        self._deadline = self._deadline or asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(self._deadline) as timeout:
                message = await self._receive()
        except TimeoutError:
            if not timeout.expired():
                raise
            self.last = True
            raise RequestTimeout(seconds=self._seconds) from None
        self.received += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        return message

    def closing(self, send: Send) -> Send:
        """Return a ``send`` that adds ``Connection: close`` to the response if ``last`` is set."""

        async def send_response(message: Message) -> None:
            if self.last and message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        return send_response


class WorkLimits:
    """Middleware that limits the work of each request, and ends it when the caller disconnects.

    The request's ``RequestWork`` is in a context variable, where services find it.
    """

    def __init__(self, app: ASGIApp, steps: int) -> None:
        self._app = app
        self._steps = steps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; an abandoned one gets no response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        work = RequestWork(caller_key(scope), StepBudget(self._steps), receive)
        token = current_work.set(work)
        try:
            await self._app(scope, receive, send)
        except RequestAbandoned:
            return
        finally:
            work.close()
            current_work.reset(token)


def caller_key(scope: Scope) -> str:
    """Return the name of an authenticated caller, else the network that the request came from."""
    actor, client = scope.get("actor") or ANONYMOUS, scope.get("client")
    return parse_network(client[0]) if actor == ANONYMOUS and client else str(actor)
