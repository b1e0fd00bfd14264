"""Calls about the registry itself: contexts, version, health and metrics."""

from __future__ import annotations

from typing import Any

from contractlog.clients.calls.call import Answered, Call, Named, anything, given, nothing, paged, texts

__all__ = [
    "answers",
    "clusters",
    "contexts",
    "delete_context",
    "deployment",
    "live",
    "metrics",
    "ready",
    "server_version",
    "started",
]


def contexts(*, prefix: str | None = None, offset: int = 0, limit: int = -1) -> Call[list[str]]:
    """GET /contexts."""
    return Call("GET", ("contexts",), texts, (*given(contextPrefix=prefix), *paged(offset, limit)))


def delete_context(context: str) -> Call[None]:
    """DELETE /contexts/{context}."""
    return Call("DELETE", ("contexts", Named(context)), nothing, repeatable=False)


def answers(*, written: bool = False) -> Call[bool]:
    """GET / to see that the registry responds; POST if writes are routed differently from reads."""
    return Call("POST" if written else "GET", (), lambda body: isinstance(body, dict), body={} if written else None)


def clusters() -> Call[dict[str, str]]:
    """GET /v1/metadata/id: names of the registry's clusters, by kind."""
    return Call("GET", ("v1", "metadata", "id"), _clusters)


def server_version() -> Call[str]:
    """GET /v1/metadata/version."""
    return Call("GET", ("v1", "metadata", "version"), lambda body: str(body["version"]))


def deployment() -> Call[list[str]]:
    """GET /v1/metadata/deployment: attributes of the deployment."""
    return Call("GET", ("v1", "metadata", "deployment"), lambda body: texts(body["attributes"]))


def live() -> Call[Answered]:
    """GET /healthz/live."""
    return Call("GET", ("healthz", "live"), dict)


def started() -> Call[Answered]:
    """GET /healthz/startup."""
    return Call("GET", ("healthz", "startup"), dict)


def ready() -> Call[Answered]:
    """GET /healthz/ready; retried while the registry is not ready, like every call."""
    return Call("GET", ("healthz", "ready"), dict)


def metrics() -> Call[str]:
    """GET /metrics, in the text format of Prometheus."""
    return Call("GET", ("metrics",), anything, text=True)


def _clusters(body: Any) -> dict[str, str]:
    return {str(kind): str(name) for kind, name in (body["scope"].get("clusters") or {}).items()}
