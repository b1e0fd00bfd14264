# made by docs/generate.py from clients/endpoints/service.py: change that, then `make docs`

"""The registry itself: contexts, version, health and metrics."""

from __future__ import annotations

from contractlog.clients import calls
from contractlog.clients.async_endpoints.sender import AsyncSender
from contractlog.clients.calls import ResponseBody

__all__ = ["AsyncServiceEndpoints"]


class AsyncServiceEndpoints(AsyncSender):
    """Client methods for the registry itself."""

    async def contexts(self, *, prefix: str | None = None, offset: int = 0, limit: int = -1) -> list[str]:
        """Return the names of all contexts."""
        return await self.send(calls.contexts(prefix=prefix, offset=offset, limit=limit))

    async def delete_context(self, context: str) -> None:
        """Delete a context that has no versions left.

        Raises:
            ContextNotEmpty: the context has versions.
        """
        return await self.send(calls.delete_context(context))

    async def answers(self) -> bool:
        """Return whether a registry responds; failures are raised."""
        return await self.send(calls.answers())

    async def clusters(self) -> dict[str, str]:
        """Return the names of the registry's clusters, by kind."""
        return await self.send(calls.clusters())

    async def server_version(self) -> str:
        """Return the version of the server."""
        return await self.send(calls.server_version())

    async def deployment(self) -> list[str]:
        """Return the attributes of the deployment."""
        return await self.send(calls.deployment())

    async def live(self) -> ResponseBody:
        """Return the liveness of the server process."""
        return await self.send(calls.live())

    async def started(self) -> ResponseBody:
        """Return the startup state of the server process."""
        return await self.send(calls.started())

    async def ready(self) -> ResponseBody:
        """Return the readiness of the service: ``ready`` or ``degraded``."""
        return await self.send(calls.ready())

    async def metrics(self) -> str:
        """Return the metrics of the service, in the text format of Prometheus."""
        return await self.send(calls.metrics())
