"""Asynchronous client of a registry, with the methods of ``client.py``."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import TracebackType
from typing import Self, TypeVar

from contractlog.clients.atransport import AsyncTransport
from contractlog.clients.awaited.associations import Associations
from contractlog.clients.awaited.levels import Levels
from contractlog.clients.awaited.own import Own
from contractlog.clients.awaited.schemas import Schemas
from contractlog.clients.awaited.service import Service
from contractlog.clients.awaited.subjects import Subjects
from contractlog.clients.awaited.versions import Versions
from contractlog.clients.cache import Caching
from contractlog.clients.calls import Call
from contractlog.clients.conversation import Retries
from contractlog.clients.remembering import Memory, Remembering, Walk
from contractlog.clients.settings import DEFAULT_TIMEOUT, Security
from contractlog.clients.transport import ASGIApp
from contractlog.clients.watching import Watch

__all__ = ["AsyncRegistry"]

T = TypeVar("T")


class AsyncRegistry(Subjects, Versions, Schemas, Levels, Associations, Service, Own):
    """Asynchronous client of a registry, over HTTP or in this process; used from one event loop.

    Every failure is an exception of ``compatibility/errors.py``: those that the service raises, ``Unreachable`` if
    there was no response, ``UnreadableAnswer`` if the response was not that of a registry.

    Args:
        url: URL of the registry, with credentials if needed; several URLs are separated by commas.
        app: an ASGI application to call in this process, instead of a URL.
        timeout: seconds for a whole call, retries included.
        headers: sent with every request.
        retries: number of attempts of a failed call, and the pauses between them.
        security: user and password, or a token; client certificate and trusted CA.
        proxy: URL of a proxy; None uses the one in ``HTTPS_PROXY`` and the like, if any.
        caching: sizes and lifetimes of the caches.
        watch: hooks called for every request and every cache lookup.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        app: ASGIApp | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        headers: Mapping[str, str] | None = None,
        retries: Retries | None = None,
        security: Security | None = None,
        proxy: str | None = None,
        caching: Caching | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._transport = AsyncTransport(
            url,
            app=app,
            timeout=timeout,
            headers=headers,
            retries=retries,
            security=security,
            proxy=proxy,
            watch=watch,
        )
        self._known = Remembering(Memory(caching, watch))
        self._context: str | None = None

    @property
    def latest_generation(self) -> int:
        """Number of invalidations of the latest-version cache; serializers look up again when it grows."""
        return self._known.memory.latest.generation

    @property
    def url(self) -> str:
        """URL of the registry, without credentials; of several, the first."""
        return self._transport.urls[0]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.close()

    def with_context(self, context: str) -> Self:
        """Return a client for a context (``.eu``), in which unqualified subject names are resolved.

        Connections and caches are shared; closing either client closes both.
        """
        inside = copy(self)
        inside._context = context if context.startswith(".") else f".{context}"  # noqa: SLF001 - of the same class
        inside._known = Remembering(self._known.memory, inside._context)  # noqa: SLF001
        return inside

    def forget(self) -> None:
        """Clear all caches."""
        self._known.memory.clear()

    async def send(self, call: Call[T]) -> T:
        """Send a call of ``calls/`` and return its parsed response."""
        try:
            return await self._transport.send(call if self._context is None else call.within(self._context))
        finally:
            self._known.sent(call)

    async def walk(self, walk: Walk[T]) -> T:
        """Send the calls that a walk yields, and return its result."""
        try:
            call = next(walk)
            while True:
                try:
                    result = await self.send(call)
                except Exception as error:  # noqa: BLE001 - the walk decides
                    call = walk.throw(error)
                else:
                    call = walk.send(result)
        except StopIteration as done:
            value: T = done.value
            return value
