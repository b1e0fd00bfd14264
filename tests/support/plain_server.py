"""Servers that lack a part of the API: the reference's, and older releases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contractlog.clients.transport import ASGIApp


def without_extensions(app: ASGIApp) -> ASGIApp:
    """Return an app that answers like the reference's: it has nothing under ``/contractlog/``."""
    return without(app, lambda method, path: path.startswith("/contractlog/"))


def without(app: ASGIApp, lacks: Callable[[str, str], bool]) -> ASGIApp:
    """Return an app that lacks the requests of a method and a path."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and lacks(scope["method"], scope["path"]):
            headers = [(b"content-type", b"application/vnd.schemaregistry.v1+json")]
            await send({"type": "http.response.start", "status": 404, "headers": headers})
            body = b'{"error_code":404,"message":"HTTP 404 Not Found"}'
            await send({"type": "http.response.body", "body": body})
            return
        await app(scope, receive, send)

    return answer
