# made by docs/generate.py from clients/blocking/service.py: change that, then `make docs`

"""The registry itself: is it there, what is it, which contexts does it hold."""

from __future__ import annotations

from contractlog.clients import calls
from contractlog.clients.awaited.sender import Sender
from contractlog.clients.calls import Answered

__all__ = ["Service"]


class Service(Sender):
    """Calls about the registry."""

    async def contexts(self, *, prefix: str | None = None, offset: int = 0, limit: int = -1) -> list[str]:
        """Return the names of all contexts."""
        return await self.send(calls.contexts(prefix=prefix, offset=offset, limit=limit))

    async def delete_context(self, context: str) -> None:
        """Delete a context that holds no versions any more.

        Raises:
            ContextNotEmpty: it holds some.
        """
        return await self.send(calls.delete_context(context))

    async def answers(self) -> bool:
        """Return whether a registry answers; whatever keeps it from answering is raised."""
        return await self.send(calls.answers())

    async def clusters(self) -> dict[str, str]:
        """Return the names of the clusters that the registry stands for, by kind."""
        return await self.send(calls.clusters())

    async def server_version(self) -> str:
        """Return the version of the server."""
        return await self.send(calls.server_version())

    async def deployment(self) -> list[str]:
        """Return what is special about the deployment."""
        return await self.send(calls.deployment())

    async def live(self) -> Answered:
        """Return what the process says of being alive."""
        return await self.send(calls.live())

    async def started(self) -> Answered:
        """Return what the process says of having started."""
        return await self.send(calls.started())

    async def ready(self) -> Answered:
        """Return what the service says of being ready: ``ready`` or ``degraded``."""
        return await self.send(calls.ready())

    async def metrics(self) -> str:
        """Return what the service counts, in the text format of Prometheus."""
        return await self.send(calls.metrics())
