"""The registry itself: contexts, version, health and metrics."""

from __future__ import annotations

from contractlog.clients import calls
from contractlog.clients.calls import ResponseBody
from contractlog.clients.endpoints.sender import Sender

__all__ = ["ServiceEndpoints"]


class ServiceEndpoints(Sender):
    """Client methods for the registry itself."""

    def contexts(self, *, prefix: str | None = None, offset: int = 0, limit: int = -1) -> list[str]:
        """Return the names of all contexts."""
        return self.send(calls.contexts(prefix=prefix, offset=offset, limit=limit))

    def delete_context(self, context: str) -> None:
        """Delete a context that has no versions left.

        Raises:
            ContextNotEmpty: the context has versions.
        """
        return self.send(calls.delete_context(context))

    def answers(self) -> bool:
        """Return whether a registry responds; failures are raised."""
        return self.send(calls.answers())

    def clusters(self) -> dict[str, str]:
        """Return the names of the registry's clusters, by kind."""
        return self.send(calls.clusters())

    def server_version(self) -> str:
        """Return the version of the server."""
        return self.send(calls.server_version())

    def deployment(self) -> list[str]:
        """Return the attributes of the deployment."""
        return self.send(calls.deployment())

    def live(self) -> ResponseBody:
        """Return the liveness of the server process."""
        return self.send(calls.live())

    def started(self) -> ResponseBody:
        """Return the startup state of the server process."""
        return self.send(calls.started())

    def ready(self) -> ResponseBody:
        """Return the readiness of the service: ``ready`` or ``degraded``."""
        return self.send(calls.ready())

    def metrics(self) -> str:
        """Return the metrics of the service, in the text format of Prometheus."""
        return self.send(calls.metrics())
