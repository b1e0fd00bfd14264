"""Servers that lack parts of the API, such as the reference and its older releases."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from contractlog.clients.transport import ASGIApp
from contractlog.registry.http.release_profiles import Profile


def remove_extensions(app: ASGIApp) -> ASGIApp:
    """Return an app that, like the reference, has nothing under ``/contractlog/``."""
    return reject_requests(app, lambda method, path: path.startswith("/contractlog/"))


def reject_requests(app: ASGIApp, lacks: Callable[[str, str], bool]) -> ASGIApp:
    """Return an app that rejects some requests with 404, by method and path."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and lacks(scope["method"], scope["path"]):
            headers = [(b"content-type", b"application/vnd.schemaregistry.v1+json")]
            await send({"type": "http.response.start", "status": 404, "headers": headers})
            body = b'{"error_code":404,"message":"HTTP 404 Not Found"}'
            await send({"type": "http.response.body", "body": body})
            return
        await app(scope, receive, send)

    return answer


def imitate_release(app: ASGIApp, release: Profile) -> ASGIApp:
    """Return an app without the endpoints that an older release lacks; ``app`` has its profile."""
    return reject_requests(app, lambda method, path: release_lacks(release, method, path))


def release_lacks(release: Profile, method: str, path: str) -> bool:
    """Return whether an older release does not have an endpoint."""
    missing = {"contractlog", "associations"}  # the first is our own, the other since 8.2
    if release is Profile.FIVE:
        missing |= {"contexts"}  # since 7.0
    resource, _, rest = path.strip("/").partition("/")
    if resource in missing or path.startswith("/schemas/guids/"):  # guids since 8.0
        return True
    if path == "/v1/metadata/deployment" or (method, path) == ("DELETE", "/mode"):  # since 8.1 and 8.2
        return True
    if release is not Profile.FIVE:
        return False
    if path in {"/schemas", "/v1/metadata/version"}:  # since 6.1 and 7.2
        return True
    if resource == "schemas" and rest.startswith("ids/") and rest.endswith("/schema"):  # since 7.3
        return True
    return method == "DELETE" and resource in {"config", "mode"}  # since 7.0 and 7.2


def ignore_member(app: ASGIApp, member: str) -> ASGIApp:
    """Return an app that confirms a member of a config without setting it."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        messages = [await receive()] if scope["type"] == "http" and scope["method"] == "PUT" else []
        body = json.loads(messages[0]["body"]) if messages else {}
        if member in body:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": json.dumps(body).encode()})
            return

        async def receive_again() -> Any:
            return messages.pop() if messages else await receive()

        await app(scope, receive_again, send)

    return answer
