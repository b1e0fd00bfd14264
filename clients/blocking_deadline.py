"""Deadline of one attempt of the blocking client, which bounds all its network steps together.

The timeouts of httpx2 apply to each read and write separately: a server that sends one byte now and then, or repeats
``100 Continue``, never exceeds them. ``TimeLimit`` instead gives each step the time that remains until the deadline.
The asynchronous client does not need this, because ``asyncio.timeout`` can cancel any step.

The deadline does not bound TLS to a registry through a proxy that itself uses TLS: there, the timeout applies to each
read.
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

_CHUNK_BYTES: Final = 16 * 1024  #: bytes of one write; the remaining time is computed again for each write


class TimeLimit(threading.local):
    """Deadline of the attempt that runs in the current thread; each thread has its own."""

    def __init__(self) -> None:
        self.deadline = math.inf

    def apply_to(self, client: httpx2.Client) -> None:
        """Apply this deadline to all connections of a client, including those through proxies.

        httpx2 has no parameter for the network backend of httpcore2, so this replaces the backend of each pool.
        """
        for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001 - see above
            if isinstance(transport, httpx2.HTTPTransport):
                pool: Any = transport._pool  # noqa: SLF001 - see above
                pool._network_backend = _DeadlineBackend(pool._network_backend, self)  # noqa: SLF001 - see above

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the network steps of this thread within the block; a nested block cannot extend the deadline."""
        outer_deadline = self.deadline
        self.deadline = min(outer_deadline, time.monotonic() + seconds)
        try:
            yield
        finally:
            self.deadline = outer_deadline

    @property
    def exceeded(self) -> bool:
        """True if the deadline has passed."""
        return time.monotonic() > self.deadline

    def remaining(self, timeout: float | None, timeout_error: type[httpx2.TimeoutException]) -> float | None:
        """Return the seconds that the next step may take, at most ``timeout``.

        Raises:
            TimeoutException: the deadline has passed; the exception is a ``timeout_error``.
        """
        if self.deadline == math.inf:
            return timeout
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise timeout_error("the time of the whole call is over")
        return seconds if timeout is None else min(seconds, timeout)


class _DeadlineBackend:
    """Network backend of httpcore2 whose connections obey a deadline."""

    def __init__(self, inner: Any, limit: TimeLimit) -> None:
        self._inner = inner
        self._limit = limit

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> _DeadlineStream:
        """Connect to the first address of a host that accepts the connection.

        Each attempt gets an equal share of the remaining time, so an address that does not respond leaves time for
        the others.
        """
        addresses = self._resolve_addresses(host, port, timeout)
        for number, address in enumerate(addresses, 1):
            remaining = self._limit.remaining(timeout, httpx2.ConnectTimeout)
            share = None if remaining is None else remaining / (1 + len(addresses) - number)
            try:
                return _DeadlineStream(self._inner.connect_tcp(address, port, timeout=share, **options), self._limit)
            except Exception:
                if number == len(addresses):
                    raise
        raise AssertionError  # unreachable: there is at least one address

    def _resolve_addresses(self, host: str, port: int, timeout: float | None) -> list[str]:
        """Return the IP addresses of a host, resolved in a thread, because the resolver has no timeout."""
        try:
            ipaddress.ip_address(host)
        except ValueError:
            results: SimpleQueue[list[Any] | Exception] = SimpleQueue()
            threading.Thread(target=_resolve_host, args=(host, port, results), name="resolver", daemon=True).start()
            try:
                result = results.get(timeout=self._limit.remaining(timeout, httpx2.ConnectTimeout))
            except Empty:
                raise httpx2.ConnectTimeout(f"the name {host} is not resolved in time") from None
            if isinstance(result, Exception):
                raise httpx2.ConnectError(str(result)) from result
            return list(dict.fromkeys(address[4][0] for address in result))
        return [host]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _resolve_host(host: str, port: int, results: SimpleQueue[list[Any] | Exception]) -> None:
    try:
        results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except (OSError, UnicodeError) as error:
        results.put(error)


class _DeadlineStream:
    """Network stream of httpcore2 that obeys a deadline."""

    def __init__(self, inner: Any, limit: TimeLimit) -> None:
        self._inner = inner
        self._limit = limit

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read at most ``max_bytes``; wait until there are some."""
        content: bytes = self._inner.read(max_bytes, timeout=self._limit.remaining(timeout, httpx2.ReadTimeout))
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write the whole buffer."""
        for start in range(0, len(buffer), _CHUNK_BYTES):
            remaining = self._limit.remaining(timeout, httpx2.WriteTimeout)
            self._inner.write(buffer[start : start + _CHUNK_BYTES], timeout=remaining)

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _DeadlineStream:
        """Start TLS; the standard library applies the timeout to the whole handshake."""
        remaining = self._limit.remaining(timeout, httpx2.ConnectTimeout)
        return _DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, remaining), self._limit)

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        """Return a property of the connection."""
        return self._inner.get_extra_info(info)
