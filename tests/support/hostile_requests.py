"""Hostile schemas as requests: each is registered, and its variant is checked against it, over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from support.hostile import HOSTILE, Hostile, written

Told = tuple[int, int | bool | None]  #: the status, and the code of an error or whether it is compatible


@dataclass(frozen=True)
class Request:
    """One hostile request and how it went."""

    what: str
    told: Told
    began: float
    seconds: float


def meet(client: httpx2.Client, name: str) -> Iterator[Request]:
    """Register a hostile schema under a subject of its own, then check its variant against it."""
    hostile = HOSTILE[name]
    subject = f"hostile-{list(HOSTILE).index(name)}"
    references = [_referenced(client, subject, one, hostile) for one in hostile.referenced]
    for what, path, text in (
        ("registered", f"/subjects/{subject}/versions", hostile.text),
        ("checked", f"/compatibility/subjects/{subject}/versions", hostile.variant),
    ):
        body = {"schema": written(text()), "schemaType": hostile.type, "references": references}
        content = json.dumps(body, ensure_ascii=False).encode()
        yield _timed(what, lambda path=path, content=content: client.post(path, content=content))  # type: ignore[misc]


def _referenced(client: httpx2.Client, subject: str, name: str, hostile: Hostile) -> dict[str, Any]:
    """Register what the schema leans on, with what that leans on in turn."""
    text = written(hostile.referenced[name])
    under = f"{subject}-{name}"
    leans_on = [
        {"name": other, "subject": f"{subject}-{other}", "version": 1}
        for other in hostile.referenced
        if other != name and f'"{other}"' in text
    ]
    client.post(f"/subjects/{under}/versions", json={"schema": text, "references": leans_on})
    return {"name": name, "subject": under, "version": 1}


def _timed(what: str, ask: Callable[[], httpx2.Response]) -> Request:
    began = time.perf_counter()
    answer = ask()
    seconds = time.perf_counter() - began
    body = answer.json()
    return Request(what, (answer.status_code, body.get("error_code", body.get("is_compatible"))), began, seconds)
