"""Asynchronous transport: sends calls over httpx2, like ``transport.py``."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any, TypeVar

from contractlog.clients.calls import Call
from contractlog.clients.response import Response
from contractlog.clients.retry_and_failover import Attempt, NoResponse
from contractlog.clients.step_drivers import drive_async
from contractlog.clients.transport import BoundedBody, HttpTransportBase

__all__ = ["AsyncTransport"]

T = TypeVar("T")


class AsyncTransport(HttpTransportBase):
    """Asynchronous transport; used from one event loop."""

    def __init__(self, url: str | None, **options: Any) -> None:
        super().__init__(url, **options)
        transport = None if self.app is None else self.httpx2.ASGITransport(self.app)
        self._client = self.httpx2.AsyncClient(
            timeout=self.timeout, headers=self.headers, transport=transport, verify=self.verify, proxy=self.proxy
        )

    async def send(self, call: Call[T]) -> T:
        """Send a call, with retries, and return its parsed response."""
        return await drive_async(partial(self._attempt, call), self.start_retries(call))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _attempt(self, call: Call[Any], attempt: Attempt) -> Response | NoResponse:
        if attempt.pause:
            await asyncio.sleep(attempt.pause)
        started = time.monotonic()
        outcome = await self._exchange(call, attempt)
        self.report_attempt(call, attempt, started, outcome)
        return outcome

    async def _exchange(self, call: Call[Any], attempt: Attempt) -> Response | NoResponse:
        deadline = time.monotonic() + attempt.within
        request = self.build_request(call, attempt)
        if self.token_source is not None:
            request["headers"] |= await self.token_source.async_headers(request["timeout"])
        handshake = _TlsHandshake()
        if request["url"].startswith("https:"):
            request["extensions"] = {"trace": handshake.trace}
        try:
            async with (
                handshake,
                asyncio.timeout(deadline - time.monotonic()) as time_limit,
                self._client.stream(**request) as response,
            ):
                body = BoundedBody(response, self.budget, call.max_bytes)
                try:
                    if not body.fault:
                        async for chunk in response.aiter_bytes():
                            if not body.add(chunk):
                                break
                except self.httpx2.DecodingError as error:
                    body.reject_encoding(error)
                return body.response()
        except TimeoutError:
            if not time_limit.expired():  # raised by the application
                raise
            return self.timeout_failure(sent=True)
        except self.httpx2.RequestError as error:
            return self.failure_of(error)


class _TlsHandshake:
    """Closes a connection whose TLS handshake was cancelled, which httpcore2 leaves open."""

    def __init__(self) -> None:
        self._stream: Any = None

    async def trace(self, event: str, info: dict[str, Any]) -> None:
        """Track the TLS handshake by the events of a request, which httpx2's extension ``trace`` reports."""
        if event.endswith("connect_tcp.complete"):
            self._stream = info["return_value"]
        elif event.endswith("start_tls.complete"):
            self._stream = None

    async def __aenter__(self) -> None:
        """Enter the block; no connection is open yet."""

    async def __aexit__(self, *_error: object) -> None:
        if self._stream is not None:
            await self._stream.aclose()
