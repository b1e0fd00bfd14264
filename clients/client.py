"""A client that waits: one method per call, and a memory of what does not change."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import TracebackType
from typing import Self, TypeVar

from contractlog.clients.blocking.associations import Associations
from contractlog.clients.blocking.levels import Levels
from contractlog.clients.blocking.own import Own
from contractlog.clients.blocking.schemas import Schemas
from contractlog.clients.blocking.service import Service
from contractlog.clients.blocking.subjects import Subjects
from contractlog.clients.blocking.versions import Versions
from contractlog.clients.cache import Caching
from contractlog.clients.calls import Call
from contractlog.clients.conversation import Retries
from contractlog.clients.remembering import Memory, Remembering, Walk
from contractlog.clients.settings import DEFAULT_TIMEOUT, Security
from contractlog.clients.transport import ASGIApp, Transport
from contractlog.clients.watching import Watch

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Subjects, Versions, Schemas, Levels, Associations, Service, Own):
    """A registry, spoken to over HTTP or in this process; may be shared by threads.

    Every failure is an exception of ``compatibility/errors.py``: those that the service raises, ``Unreachable`` when
    no answer came, ``UnreadableAnswer`` when it was none of a registry.

    Args:
        url: of the registry, credentials included where it asks for them; several are separated by commas.
        app: an ASGI application to speak to in this process, in place of a URL.
        timeout: seconds for a whole call, all attempts included.
        headers: sent with every request.
        retries: how often, and how patiently, lost calls are repeated.
        security: name and password, or a token; certificates, and whom to trust.
        proxy: the URL of a proxy; None takes the one that ``HTTPS_PROXY`` and the like name, if any.
        caching: how much is remembered, and for how long.
        watch: is told of every request, and of what the memory knew.
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
        self._transport = Transport(
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
        """How often it was forgotten which versions are the newest; serializers ask again when it grows."""
        return self._known.memory.latest.generation

    @property
    def url(self) -> str:
        """Where the registry answers, without credentials."""
        return self._transport.urls[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all connections."""
        self._transport.close()

    def with_context(self, context: str) -> Self:
        """Return the registry as it is seen inside a context (``.eu``): plain names mean the subjects there.

        Connections and memory are shared; closing one closes both.
        """
        inside = copy(self)
        inside._context = context if context.startswith(".") else f".{context}"  # noqa: SLF001 - of our own kind
        inside._known = Remembering(self._known.memory, inside._context)  # noqa: SLF001
        return inside

    def forget(self) -> None:
        """Forget everything that was remembered."""
        self._known.memory.clear()

    def send(self, call: Call[T]) -> T:
        """Send any call of ``calls/`` and return what it reads."""
        try:
            return self._transport.send(call if self._context is None else call.within(self._context))
        finally:
            self._known.sent(call)

    def walk(self, walk: Walk[T]) -> T:
        """Send the calls that a walk asks for, until it returns."""
        try:
            call = next(walk)
            while True:
                try:
                    result = self.send(call)
                except Exception as error:  # noqa: BLE001 - the walk decides
                    call = walk.throw(error)
                else:
                    call = walk.send(result)
        except StopIteration as done:
            value: T = done.value
            return value
