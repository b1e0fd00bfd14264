"""What surrounds every request; plain ASGI, because each layer that makes request objects costs more than a route."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contractlog.compatibility.errors import PayloadTooLarge, RegistryError, RequestTimeout
from contractlog.registry.paths import routed
from contractlog.registry.problems import problem

__all__ = ["BodyLimit", "RawPaths"]

_DRAINED_AT_MOST: Final = 64 * 1024 * 1024
_LONGER: Final = 10


class BodyLimit:
    """Requests whose body is too large get 413: at once when they say so, else when it shows; too slow ones get 408."""

    def __init__(self, app: ASGIApp, limit: int, seconds: float, larger: Mapping[str, int]) -> None:
        self._app = app
        self._limit = limit
        self._seconds = seconds
        self._larger = larger  #: limits of paths that take more, and have ten times as long for it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the body as it comes in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit, seconds = self._limit, self._seconds
        if scope["path"] in self._larger:
            limit, seconds = self._larger[scope["path"]], seconds * _LONGER
        body = _Body(receive, limit, seconds)
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if announced.isdigit() and int(announced) > limit:
            refused = await self._refused(body, limit, waits=_waits(scope))
            await problem(refused)(scope, receive, body.closing(send))
        else:
            await self._app(scope, body.receive, body.closing(send))

    async def _refused(self, body: _Body, limit: int, *, waits: bool) -> RegistryError:
        """Read on for a while before answering: many clients look for an answer only after they sent everything.

        One that waits for a word before it sends gets the answer at once, as the last of the connection.
        """
        if waits:
            body.last = True
            return PayloadTooLarge(limit=limit)
        try:
            while body.received < _DRAINED_AT_MOST:
                message = await body.next()
                if message["type"] == "http.disconnect" or not message.get("more_body"):
                    break
        except RequestTimeout as late:
            return late
        return PayloadTooLarge(limit=limit)


def _waits(scope: Scope) -> bool:
    return any(name == b"expect" and value.lower() == b"100-continue" for name, value in scope["headers"])


class _Body:
    """A request's body as it comes in: counted, and waited for until the time is over, from the first look on."""

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self._receive = receive
        self._limit = limit
        self._seconds = seconds
        self._deadline: float | None = None
        self._whole = False
        self.last = False
        self.received = 0

    async def receive(self) -> Message:
        """Receive what comes next.

        Raises:
            PayloadTooLarge: the body is over the limit now.
            RequestTimeout: the time is over.
        """
        message = await self.next()
        if self.received > self._limit:
            raise PayloadTooLarge(limit=self._limit)
        return message

    async def next(self) -> Message:
        """Receive what comes next, however much it is; behind the body is the client's going away, whenever it goes.

        Raises:
            RequestTimeout: the time is over.
        """
        if self._whole:
            return await self._receive()
        self._deadline = self._deadline or asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(self._deadline) as patience:
                message = await self._receive()
        except TimeoutError:
            if not patience.expired():
                raise
            self.last = True
            raise RequestTimeout(seconds=self._seconds) from None
        self.received += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        return message

    def closing(self, send: Send) -> Send:
        """Return what sends an answer; after a body that came too late it is the last one of the connection."""

        async def sent(message: Message) -> None:
            if self.last and message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        return sent


class RawPaths:
    """Routes see the path as it was sent, so an encoded slash stays inside its segment."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Put the raw path where routes look for it."""
        if scope["type"] == "http":
            raw = scope.get("raw_path") or scope["path"].encode()
            try:
                scope["path"], scope["query_string"] = routed(raw, scope.get("query_string", b""), scope["method"])
            except RegistryError as error:
                await problem(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)
