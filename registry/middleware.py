"""What surrounds every request; plain ASGI, because each layer that makes request objects costs more than a route."""

from __future__ import annotations

import re
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contractlog.compatibility.errors import PayloadTooLarge, RegistryError, StoreError, StoreTimeout
from contractlog.registry.cache import ByteCache
from contractlog.registry.paths import routed
from contractlog.registry.problems import MEDIA_TYPE, problem
from contractlog.registry.telemetry.state import Telemetry

__all__ = ["BodyLimit", "HotSchemas", "RawPaths"]

_DRAINED_AT_MOST: Final = 64 * 1024 * 1024
#: Says that an answer came from memory because the database was away, and may be older than five seconds.
STALE: Final = (b"x-contractlog-stale", b"database-away")
_AWAY: Final = frozenset({StoreError.code, StoreTimeout.code})
_SCHEMA_PATH: Final = re.compile(r"/schemas/ids/([1-9][0-9]{0,9})")


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


class HotSchemas:
    """``GET /schemas/ids/{id}`` is answered from memory, where it is known; the bytes are the route's."""

    def __init__(self, app: ASGIApp, cache: ByteCache, telemetry: Telemetry) -> None:
        self._app = app
        self._cache = cache
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]:
            match = _SCHEMA_PATH.fullmatch(scope["path"])
            key = (".", int(match[1])) if match else None
            body = self._cache.get(key) if key else None
            if body is not None:
                scope["template"] = "/schemas/ids/{schema_id}"
                self._telemetry.hits.add()
                await _send(send, body)
                return
            if key is not None and self._cache.stale(key) is not None:
                await self._ask(key, scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _ask(self, key: tuple[str, int], scope: Scope, receive: Receive, send: Send) -> None:
        """Ask for a fresh answer, and make do with the old one when the database is away."""
        replaced = False

        async def send_or_replace(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and scope.get("error_code") in _AWAY:
                body = self._cache.stale(key)
                if body is not None:
                    replaced = True
                    del scope["error_code"]
                    self._telemetry.stale.add()
                    await _send(send, body, STALE)
            if not replaced:
                await send(message)

        await self._app(scope, receive, send_or_replace)


async def _send(send: Send, body: bytes, *more: tuple[bytes, bytes]) -> None:
    headers = [(b"content-length", str(len(body)).encode()), (b"content-type", MEDIA_TYPE.encode()), *more]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
