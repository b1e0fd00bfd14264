"""The registry itself: is it there, what is it, which contexts does it hold."""

from __future__ import annotations

from contractlog.clients import calls
from contractlog.clients.blocking.sender import Sender
from contractlog.clients.calls import Answered

__all__ = ["Service"]


class Service(Sender):
    """Calls about the registry."""

    def contexts(self, *, prefix: str | None = None, offset: int = 0, limit: int = -1) -> list[str]:
        """Return the names of all contexts."""
        return self.send(calls.contexts(prefix=prefix, offset=offset, limit=limit))

    def delete_context(self, context: str) -> None:
        """Delete a context that holds no versions any more.

        Raises:
            ContextNotEmpty: it holds some.
        """
        return self.send(calls.delete_context(context))

    def answers(self) -> bool:
        """Return whether a registry answers; whatever keeps it from answering is raised."""
        return self.send(calls.answers())

    def clusters(self) -> dict[str, str]:
        """Return the names of the clusters that the registry stands for, by kind."""
        return self.send(calls.clusters())

    def server_version(self) -> str:
        """Return the version of the server."""
        return self.send(calls.server_version())

    def deployment(self) -> list[str]:
        """Return what is special about the deployment."""
        return self.send(calls.deployment())

    def live(self) -> Answered:
        """Return what the process says of being alive."""
        return self.send(calls.live())

    def started(self) -> Answered:
        """Return what the process says of having started."""
        return self.send(calls.started())

    def ready(self) -> Answered:
        """Return what the service says of being ready: ``ready`` or ``degraded``."""
        return self.send(calls.ready())

    def metrics(self) -> str:
        """Return what the service counts, in the text format of Prometheus."""
        return self.send(calls.metrics())
