"""Health check of the database, independent of all other work."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from contractlog.registry.storage.store import Store

__all__ = ["HealthCheck"]

_TIMEOUT_SECONDS: Final = 0.7  #: timeout of the check; a health request gets its response within a second


class HealthCheck:
    """Checks the database on a thread of its own, because those of requests may all be busy."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="contractlog-health")
        self._lock = threading.Lock()
        self._running_check: Future[None] | None = None

    async def check(self) -> None:
        """Return when the database responds; concurrent callers share one check.

        Raises:
            StoreError: it does not respond, or not in time.
        """
        with self._lock:
            if self._running_check is None or self._running_check.done():
                self._running_check = self._thread.submit(self._store.check, _TIMEOUT_SECONDS)
            running_check = self._running_check
        await asyncio.shield(asyncio.wrap_future(running_check))

    def close(self) -> None:
        """Stop checking, and wait for the running check."""
        self._thread.shutdown()
