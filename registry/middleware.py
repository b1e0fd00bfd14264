"""What surrounds every request; plain ASGI, because each layer that makes request objects costs more than a route."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contractlog.compatibility.errors import PayloadTooLarge, RegistryError
from contractlog.registry.cache import ByteCache
from contractlog.registry.paths import routed
from contractlog.registry.problems import MEDIA_TYPE, problem

__all__ = ["BodyLimit", "HotSchemas", "RawPaths", "RequestIds"]

_REQUEST_ID: Final = b"x-request-id"
_LONGEST_REQUEST_ID: Final = 200
_DRAINED_AT_MOST: Final = 64 * 1024 * 1024
_SCHEMA_PATH: Final = re.compile(r"/schemas/ids/([1-9][0-9]{0,9})")


class RequestIds:
    """Answers carry the request's id, or a new one, and say that they must not be cached on the way."""

    def __init__(self, app: ASGIApp, new_id: Callable[[], str] = lambda: str(uuid.uuid4())) -> None:
        self._app = app
        self._new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = [value.strip() for name, value in scope["headers"] if name == _REQUEST_ID and value.strip()]
        usable = len(given) == 1 and len(given[0]) <= _LONGEST_REQUEST_ID
        request_id = given[0] if usable else self._new_id().encode()
        headers = [(_REQUEST_ID, request_id), (b"cache-control", b"no-cache, no-store, must-revalidate")]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *headers]
            await send(message)

        await self._app(scope, receive, send_with_headers)


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
                scope["path"], scope["query_string"] = routed(raw, scope.get("query_string", b""))
            except RegistryError as error:
                await problem(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class HotSchemas:
    """``GET /schemas/ids/{id}`` is answered from memory, where it is known; the bytes are the route's."""

    def __init__(self, app: ASGIApp, cache: ByteCache) -> None:
        self._app = app
        self._cache = cache

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]:
            match = _SCHEMA_PATH.fullmatch(scope["path"])
            body = self._cache.get((".", int(match[1]))) if match else None
            if body is not None:
                headers = [(b"content-length", str(len(body)).encode()), (b"content-type", MEDIA_TYPE.encode())]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                await send({"type": "http.response.body", "body": body})
                return
        await self._app(scope, receive, send)
