"""Hostile schemas as HTTP requests: a registration, and a check of the variant."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from support.hostile_schemas import HOSTILE, Hostile, format_schema

ResponseSummary = tuple[int, int | bool | None]  #: the status, and the error code or whether the variant is compatible


@dataclass(frozen=True)
class Request:
    """A hostile request, the response and its time."""

    action: str
    summary: ResponseSummary
    start_time: float
    seconds: float


def send_hostile_requests(client: httpx2.Client, name: str) -> Iterator[Request]:
    """Register a hostile schema under a new subject, then check its variant against it."""
    hostile = HOSTILE[name]
    subject = f"hostile-{list(HOSTILE).index(name)}"
    references = [
        _register_dependency(client, subject, dependency_name, hostile) for dependency_name in hostile.referenced
    ]
    for action, path, text in (
        ("registered", f"/subjects/{subject}/versions", hostile.text),
        ("checked", f"/compatibility/subjects/{subject}/versions", hostile.variant),
    ):
        body = {"schema": format_schema(text()), "schemaType": hostile.type, "references": references}
        content = json.dumps(body, ensure_ascii=False).encode()
        yield _send_timed(action, lambda path=path, content=content: client.post(path, content=content))  # type: ignore[misc]


def _register_dependency(client: httpx2.Client, subject: str, name: str, hostile: Hostile) -> dict[str, Any]:
    """Register a dependency of the schema, with references to its own dependencies."""
    text = format_schema(hostile.referenced[name])
    dependency_subject = f"{subject}-{name}"
    references = [
        {"name": other, "subject": f"{subject}-{other}", "version": 1}
        for other in hostile.referenced
        if other != name and f'"{other}"' in text
    ]
    client.post(f"/subjects/{dependency_subject}/versions", json={"schema": text, "references": references})
    return {"name": name, "subject": dependency_subject, "version": 1}


def _send_timed(action: str, send: Callable[[], httpx2.Response]) -> Request:
    start_time = time.perf_counter()
    response = send()
    seconds = time.perf_counter() - start_time
    body = response.json()
    return Request(
        action, (response.status_code, body.get("error_code", body.get("is_compatible"))), start_time, seconds
    )
