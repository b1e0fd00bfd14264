"""Blocking client of a registry: one method per call, with caches."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import TracebackType
from typing import Self, TypeVar

from contractlog.clients.cache import Caching
from contractlog.clients.cached_lookups import CachedLookups, CallSequence, ClientCaches
from contractlog.clients.calls import Call
from contractlog.clients.endpoints.associations import AssociationEndpoints
from contractlog.clients.endpoints.config import ConfigEndpoints
from contractlog.clients.endpoints.extensions import ExtensionEndpoints
from contractlog.clients.endpoints.schemas import SchemaEndpoints
from contractlog.clients.endpoints.service import ServiceEndpoints
from contractlog.clients.endpoints.subjects import SubjectEndpoints
from contractlog.clients.endpoints.versions import VersionEndpoints
from contractlog.clients.hooks import Watch
from contractlog.clients.retry import Retries
from contractlog.clients.settings import DEFAULT_TIMEOUT, Security
from contractlog.clients.transport import ASGIApp, Transport

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(
    SubjectEndpoints,
    VersionEndpoints,
    SchemaEndpoints,
    ConfigEndpoints,
    AssociationEndpoints,
    ServiceEndpoints,
    ExtensionEndpoints,
):
    """Blocking client of a registry, over HTTP or in this process; may be shared by threads.

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
        self._lookups = CachedLookups(ClientCaches(caching, watch))
        self._context: str | None = None

    @property
    def latest_generation(self) -> int:
        """Number of invalidations of the latest-version cache; serializers look up again when it grows."""
        return self._lookups.caches.latest.generation

    @property
    def url(self) -> str:
        """URL of the registry, without credentials; of several, the first."""
        return self._transport.urls[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def with_context(self, context: str) -> Self:
        """Return a client for a context (``.eu``), in which unqualified subject names are resolved.

        Connections and caches are shared; closing either client closes both.
        """
        client = copy(self)
        client._context = context if context.startswith(".") else f".{context}"  # noqa: SLF001 - of the same class
        client._lookups = CachedLookups(self._lookups.caches, client._context)  # noqa: SLF001
        return client

    def forget(self) -> None:
        """Clear all caches."""
        self._lookups.caches.clear()

    def send(self, call: Call[T]) -> T:
        """Send a call of ``calls/`` and return its parsed response."""
        try:
            return self._transport.send(call if self._context is None else call.within(self._context))
        finally:
            self._lookups.invalidate_after(call)

    def send_sequence(self, sequence: CallSequence[T]) -> T:
        """Send the calls that a walk yields, and return its result."""
        try:
            call = next(sequence)
            while True:
                try:
                    result = self.send(call)
                except Exception as error:  # noqa: BLE001 - the walk decides
                    call = sequence.throw(error)
                else:
                    call = sequence.send(result)
        except StopIteration as done:
            value: T = done.value
            return value
