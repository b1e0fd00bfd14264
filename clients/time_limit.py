"""A time limit for everything that a blocking HTTP call does on the network.

The limits of httpx2 hold for each read and write alone: a server that sends one byte now and then, or ``100 Continue``
again and again, is never late. Here every step gets what is left of the whole call's time. The asynchronous client
needs none of this, as ``asyncio.timeout`` ends whatever is waited for.

One thing is left out: TLS to a registry through a proxy that itself speaks TLS, where the limit holds for each read.
"""

from __future__ import annotations

import ipaddress
import math
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any, Final

import httpx2

__all__ = ["TimeLimit"]

_PIECE: Final = 16 * 1024  # bytes written at once: the peer takes them whole, or it is late


class TimeLimit(threading.local):
    """When the call that runs in this thread has to be over."""

    def __init__(self) -> None:
        self.at = math.inf

    def impose(self, client: httpx2.Client) -> None:
        """Let all connections of a client, also those through proxies, obey this limit.

        httpcore2 takes a network backend, but httpx2 passes none on; so its pools are given theirs afterwards.
        """
        for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001 - see above
            if isinstance(transport, httpx2.HTTPTransport):
                pool: Any = transport._pool  # noqa: SLF001 - see above
                pool._network_backend = _Backend(pool._network_backend, self)  # noqa: SLF001 - see above

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit what this thread does inside the block."""
        before = self.at
        self.at = min(before, time.monotonic() + seconds)
        try:
            yield
        finally:
            self.at = before

    @property
    def exceeded(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.at

    def left(self, timeout: float | None, late: type[httpx2.TimeoutException]) -> float | None:
        """Return the seconds that the next step may take, at most ``timeout``.

        Raises:
            TimeoutException: of the class ``late``: the time is over.
        """
        if self.at == math.inf:
            return timeout
        seconds = self.at - time.monotonic()
        if seconds <= 0:
            raise late("the time of the whole call is over")
        return seconds if timeout is None else min(seconds, timeout)


class _Backend:
    """A network backend of httpcore2 whose connections obey a limit."""

    def __init__(self, inner: Any, limit: TimeLimit) -> None:
        self._inner = inner
        self._limit = limit

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> _Stream:
        """Connect to the first address of a host that answers; the others share the time that is left."""
        addresses = self._addresses(host, port, timeout)
        for number, address in enumerate(addresses, 1):
            left = self._limit.left(timeout, httpx2.ConnectTimeout)
            share = None if left is None else left / (1 + len(addresses) - number)
            try:
                return _Stream(self._inner.connect_tcp(address, port, timeout=share, **options), self._limit)
            except Exception:
                if number == len(addresses):
                    raise
        raise AssertionError  # there is at least one address

    def _addresses(self, host: str, port: int, timeout: float | None) -> list[str]:
        """Resolve a name; a thread waits for the resolver, which has no limit of its own."""
        try:
            ipaddress.ip_address(host)
        except ValueError:
            answers: SimpleQueue[list[Any] | Exception] = SimpleQueue()
            threading.Thread(target=_resolve, args=(host, port, answers), name="resolver", daemon=True).start()
            try:
                answer = answers.get(timeout=self._limit.left(timeout, httpx2.ConnectTimeout))
            except Empty:
                raise httpx2.ConnectTimeout(f"the name {host} is not resolved in time") from None
            if isinstance(answer, Exception):
                raise httpx2.ConnectError(str(answer)) from answer
            return list(dict.fromkeys(address[4][0] for address in answer))
        return [host]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _resolve(host: str, port: int, answers: SimpleQueue[list[Any] | Exception]) -> None:
    try:
        answers.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except (OSError, UnicodeError) as error:
        answers.put(error)


class _Stream:
    """A network stream of httpcore2 that obeys a limit."""

    def __init__(self, inner: Any, limit: TimeLimit) -> None:
        self._inner = inner
        self._limit = limit

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what has come, or wait for it."""
        content: bytes = self._inner.read(max_bytes, timeout=self._limit.left(timeout, httpx2.ReadTimeout))
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of it."""
        for start in range(0, len(buffer), _PIECE):
            left = self._limit.left(timeout, httpx2.WriteTimeout)
            self._inner.write(buffer[start : start + _PIECE], timeout=left)

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        """Shake hands; the standard library holds the time for all of it."""
        left = self._limit.left(timeout, httpx2.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._limit)

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        """Return a fact about the connection."""
        return self._inner.get_extra_info(info)
