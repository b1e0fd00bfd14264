"""A registry with the API of the reference only."""

from __future__ import annotations

from typing import Any


def without_extensions(app: Any) -> Any:
    """Wrap an ASGI app so that the resources below ``/contractlog/`` do not exist."""

    async def plain(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/contractlog/"):
            await app(scope, receive, send)
            return
        headers = [(b"content-type", b"application/vnd.schemaregistry.v1+json")]
        await send({"type": "http.response.start", "status": 404, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"error_code":404,"message":"HTTP 404 Not Found"}'})

    return plain
