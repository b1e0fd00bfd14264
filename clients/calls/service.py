"""Calls about the registry itself: contexts, version, health and metrics."""

from __future__ import annotations

from typing import Any

from contractlog.clients.calls.call import (
    Call,
    PathParameter,
    ResponseBody,
    ignore_body,
    page_parameters,
    parse_strings,
    pass_body,
    query_parameters,
)

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
    return Call(
        "GET", ("contexts",), parse_strings, (*query_parameters(contextPrefix=prefix), *page_parameters(offset, limit))
    )


def delete_context(context: str) -> Call[None]:
    """DELETE /contexts/{context}."""
    return Call("DELETE", ("contexts", PathParameter(context)), ignore_body, repeatable=False)


def answers(*, written: bool = False) -> Call[bool]:
    """GET / to see that the registry responds; POST if writes are routed differently from reads."""
    return Call("POST" if written else "GET", (), lambda body: isinstance(body, dict), body={} if written else None)


def clusters() -> Call[dict[str, str]]:
    """GET /v1/metadata/id: names of the registry's clusters, by kind."""
    return Call("GET", ("v1", "metadata", "id"), _parse_clusters)


def server_version() -> Call[str]:
    """GET /v1/metadata/version."""
    return Call("GET", ("v1", "metadata", "version"), lambda body: str(body["version"]))


def deployment() -> Call[list[str]]:
    """GET /v1/metadata/deployment: attributes of the deployment."""
    return Call("GET", ("v1", "metadata", "deployment"), lambda body: parse_strings(body["attributes"]))


def live() -> Call[ResponseBody]:
    """GET /healthz/live."""
    return Call("GET", ("healthz", "live"), dict)


def started() -> Call[ResponseBody]:
    """GET /healthz/startup."""
    return Call("GET", ("healthz", "startup"), dict)


def ready() -> Call[ResponseBody]:
    """GET /healthz/ready; retried while the registry is not ready, like every call."""
    return Call("GET", ("healthz", "ready"), dict)


def metrics() -> Call[str]:
    """GET /metrics, in the text format of Prometheus."""
    return Call("GET", ("metrics",), pass_body, text=True)


def _parse_clusters(body: Any) -> dict[str, str]:
    return {str(kind): str(name) for kind, name in (body["scope"].get("clusters") or {}).items()}
