"""The registry itself: version, health and metrics."""

from __future__ import annotations

from typing import Any

from contractlog.clients.calls.call import (
    Call,
    ResponseBody,
    parse_strings,
    pass_body,
)

__all__ = [
    "clusters",
    "deployment",
    "live",
    "metrics",
    "ping",
    "ready",
    "server_version",
    "started",
]


def ping(*, as_write: bool = False) -> Call[bool]:
    """Return whether a registry responds; failures are raised.

    If ``as_write``, the request is one that a proxy routes like a write.
    """
    return Call("POST" if as_write else "GET", (), lambda body: isinstance(body, dict), body={} if as_write else None)


def clusters() -> Call[dict[str, str]]:
    """Return the names of the registry's clusters, by kind."""
    return Call("GET", ("v1", "metadata", "id"), _parse_clusters)


def server_version() -> Call[str]:
    """Return the version of the server."""
    return Call("GET", ("v1", "metadata", "version"), lambda body: str(body["version"]))


def deployment() -> Call[list[str]]:
    """Return the attributes of the deployment."""
    return Call("GET", ("v1", "metadata", "deployment"), lambda body: parse_strings(body["attributes"]))


def live() -> Call[ResponseBody]:
    """Return the liveness of the server process."""
    return Call("GET", ("healthz", "live"), dict)


def started() -> Call[ResponseBody]:
    """Return the startup state of the server process."""
    return Call("GET", ("healthz", "startup"), dict)


def ready() -> Call[ResponseBody]:
    """Return the readiness of the service: ``ready`` or ``degraded``."""
    return Call("GET", ("healthz", "ready"), dict)


def metrics() -> Call[str]:
    """Return the metrics of the service, in the text format of Prometheus."""
    return Call("GET", ("metrics",), pass_body, text=True)


def _parse_clusters(body: Any) -> dict[str, str]:
    return {str(kind): str(name) for kind, name in (body["scope"].get("clusters") or {}).items()}
