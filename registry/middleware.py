"""What surrounds every request; plain ASGI, because each layer that makes request objects costs more than a route."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contractlog.compatibility.errors import PayloadTooLarge, RegistryError
from contractlog.registry.paths import routed
from contractlog.registry.problems import problem

__all__ = ["BodyLimit", "RawPaths"]

_DRAINED_AT_MOST: Final = 64 * 1024 * 1024


class BodyLimit:
    """Requests whose body is too large get 413: at once when they say so, else when it shows."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the body as it comes in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if announced.isdigit() and int(announced) > self._limit:
            await self._refuse(scope, receive, send)
            return
        received = 0

        async def receive_limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit:
                raise PayloadTooLarge(limit=self._limit)
            return message

        await self._app(scope, receive_limited, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read on for a while before answering: many clients look for an answer only after they sent everything."""
        drained = 0
        while drained < _DRAINED_AT_MOST:
            message = await receive()
            drained += len(message.get("body", b""))
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                break
        await problem(PayloadTooLarge(limit=self._limit))(scope, receive, send)


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
