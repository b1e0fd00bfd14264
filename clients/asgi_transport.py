"""Blocking transport to an ASGI application in this process, run by an event loop in its own thread."""

from __future__ import annotations

import asyncio
import threading

import httpx2

from contractlog.clients.transport import ASGIApp

__all__ = ["BlockingASGITransport"]


class BlockingASGITransport(httpx2.BaseTransport):
    """Blocking httpx2 transport that passes requests to an ASGI application."""

    def __init__(self, app: ASGIApp) -> None:
        self._inner = httpx2.ASGITransport(app)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="contractlog-in-process", daemon=True)
        self._thread.start()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the application's response with its whole body; cancel it at the read timeout.

        Raises:
            ReadTimeout: there was no response in time.
        """
        future = asyncio.run_coroutine_threadsafe(self._send_request(request), self._loop)
        try:
            return future.result(request.extensions.get("timeout", {}).get("read"))
        except TimeoutError:
            if future.done():  # raised by the application
                raise
            future.cancel()
            raise httpx2.ReadTimeout("the application does not respond", request=request) from None

    async def _send_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        content = await response.aread()
        return httpx2.Response(response.status_code, headers=response.headers, content=content)

    @staticmethod
    async def _cancel_tasks() -> None:
        """Cancel all tasks of the loop, and wait for them to end."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def close(self) -> None:
        """Cancel running requests, stop the loop and join its thread."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._cancel_tasks(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
