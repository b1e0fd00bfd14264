"""Answers of Apicurio Registry 3.3.3 in the reference's API, given by our own service: for fast tests.

``tests/foreign/test_apicurio.py`` compares these answers with those of the real server.
"""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import parse_qs

from contractlog.clients.transport import ASGIApp

JSON: Final = "application/json"
MISSING: Final = {"contractlog", "associations", "v1"}  #: resources that it does not have
INVALID: Final = {"message": "Invalid schema: Syntax violation for Avro artifact.", "error_code": 42201}
Answer = tuple[int, Any]  #: status, and the JSON of the body; None: an empty body


def like_apicurio(app: ASGIApp) -> ASGIApp:
    """Return an app that answers as Apicurio does; ``app`` has the response profile 7.6."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        status, body = await _Request(app, scope, await _read_body(receive)).answer()
        page = isinstance(body, str)
        content = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers = [(b"content-type", b"text/html" if page else JSON.encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    return answer


def _not_found(subject: str) -> Answer:
    return 404, {"message": f"Subject '{subject}' not found.", "error_code": 40401}


class _Request:
    """One request, which our own service answers where Apicurio's answer is the same."""

    def __init__(self, app: ASGIApp, scope: Any, content: bytes) -> None:
        self.app = app
        self.scope = scope
        self.method: str = scope["method"]
        self.path = [segment for segment in scope["path"].split("/") if segment]
        self.query = parse_qs(scope["query_string"].decode())
        self.body: Any = json.loads(content) if content else None

    async def answer(self) -> Answer:  # noqa: C901, PLR0911, PLR0912 - a case for each difference
        """Return the answer of Apicurio."""
        match self.method, self.path:
            case "GET", []:
                return 200, "<!DOCTYPE html><title>API Documentation</title>"
            case _, [resource, *_] if resource in MISSING:
                return 404, None
            case _, ["schemas", "guids", *_]:
                return 404, None
            case "GET", ["contexts"]:
                return 200, [":.:"]
            case "GET", ["schemas"] if "subjectPrefix" in self.query:
                return 200, []
            case "GET", ["config", subject]:
                return await self._config(subject)
            case "PUT", ["config", *_]:
                return await self._set_config()
            case "GET", ["mode", _]:
                return await self._ask(self.method, "/".join(self.path), "defaultToGlobal=true")
            case "PUT", ["mode", _] if self.body == {"mode": "IMPORT"}:
                return 200, self.body  # without effect
            case "DELETE", ["mode"]:
                return 405, None
            case "GET", ["subjects", subject, "versions", _] if not await self._has_versions(subject):
                return _not_found(subject)
            case "POST", ["subjects", _, "versions"]:
                return await self._register()
            case "POST", ["compatibility", "subjects", subject, "versions", *version]:
                return await self._check(subject, version)
        return await self._forward(self.body)

    async def _config(self, subject: str) -> Answer:
        """Return the level of a subject: that of the registry only if it is asked for, and NONE otherwise."""
        status, own = await self._ask("GET", f"config/{subject}")
        if status == 200:
            return status, {"compatibilityLevel": own["compatibilityLevel"]}
        if not await self._has_versions(subject, deleted=True):
            return _not_found(subject)
        general = (await self._ask("GET", "config"))[1]["compatibilityLevel"]
        return 200, {"compatibilityLevel": general if "defaultToGlobal" in self.query else "NONE"}

    async def _set_config(self) -> Answer:
        """Set the level, which it needs, and nothing else."""
        if self.body.get("compatibility") is None:
            return 500, {"message": "Name is null", "error_code": 0}
        status, body = await self._forward({"compatibility": self.body["compatibility"]})
        if status != 200:
            return status, body
        return 200, {"compatibility": body["compatibility"], "normalize": bool(self.body.get("normalize"))}

    async def _register(self) -> Answer:
        """Register under an id and a number of its own, and tell only the id."""
        chosen = {name: value for name, value in self.body.items() if name not in {"id", "version"}}
        status, body = await self._forward(chosen)
        return status, {"id": body["id"]} if status == 200 else body

    async def _check(self, subject: str, version: list[str]) -> Answer:
        """Check a schema without following its references, and without reasons."""
        if not await self._has_versions(subject):
            return (200, {"is_compatible": True}) if version else _not_found(subject)
        for reference in self.body.get("references") or ():
            if self.body.get("schemaType") == "JSON":
                return 500, {"message": f"Unresolved JSON Schema reference: {reference['name']}", "error_code": 0}
            return 422, INVALID
        status, body = await self._forward(self.body)
        if status != 200:
            return status, body
        if any(message.startswith("Invalid schema") for message in body.get("messages") or ()):
            return 422, INVALID
        return 200, {"is_compatible": body["is_compatible"]}

    async def _has_versions(self, subject: str, *, deleted: bool = False) -> bool:
        return (await self._ask("GET", f"subjects/{subject}/versions", "deleted=true" if deleted else ""))[0] == 200

    async def _forward(self, body: Any) -> Answer:
        return await self._ask(self.method, "/".join(self.path), self.scope["query_string"].decode(), body)

    async def _ask(self, method: str, path: str, query: str = "", body: Any = None) -> Answer:
        """Send a request to our own service."""
        content = b"" if body is None else json.dumps(body).encode()
        target = {"method": method, "path": f"/{path}", "raw_path": f"/{path}".encode(), "query_string": query.encode()}
        headers = [(name, value) for name, value in self.scope["headers"] if not name.startswith(b"content-")]
        headers += [(b"content-type", JSON.encode()), (b"content-length", str(len(content)).encode())]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app({**self.scope, **target, "headers": headers}, receive, send)
        text = b"".join(message.get("body", b"") for message in sent[1:])
        return sent[0]["status"], json.loads(text) if text else None


async def _read_body(receive: Any) -> bytes:
    parts = []
    more = True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)
