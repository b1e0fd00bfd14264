"""Circuit breaker for the database.

Once the database is unreachable, calls fail immediately while one thread keeps probing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic
from typing import Final, Protocol

from contractlog.compatibility.errors import StoreError
from contractlog.registry.storage.pending_calls import PendingCalls

__all__ = ["DatabaseHealth", "StoreObserver"]

_PROBE_INTERVAL_SECONDS: Final = 0.25


class StoreObserver(Protocol):
    """Observer of the store's work, for metrics."""

    def record_queue(self, waiting: int) -> None:
        """Record how many writes wait; called on the writer's thread."""

    def record_rejection(self) -> None:
        """Record that a write was rejected because too many wait."""

    def record_batch(self, done: int, failed: int, seconds: float) -> None:
        """Record the end of a batch; called on the writer's thread."""

    def database_away(self, *, away: bool) -> None:
        """Record that the database became unavailable, or available again."""

    def disk_full(self, *, full: bool) -> None:
        """Record that the database has no room for a write, or has room again; called on the writer's thread."""


@dataclass(frozen=True, slots=True)
class _Probe:
    """A probe of the database, and its start time."""

    began: float
    answer: Future[None]


class DatabaseHealth:
    """Tracks whether the database is available. Thread-safe.

    Args:
        probe: runs any statement; raises if the database does not answer.
        responses: tracks the calls to the database, if it is a server.
        patience: seconds without any response after which the database counts as unavailable.
    """

    def __init__(
        self, probe: Callable[[], object], *, responses: PendingCalls | None = None, patience: float = 1.0
    ) -> None:
        self._probe = probe
        self._responses = responses
        self._patience = patience if responses is None else responses.patience
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._probe_running: _Probe | None = None
        self.away = False
        self.observer: StoreObserver | None = None
        if responses is not None:
            responses.responds = self.responds

    def require(self) -> None:
        """Return if the database is available.

        Raises:
            StoreError: immediately, if it is known to be unavailable.
        """
        if self.away:
            raise StoreError(detail="the database is unavailable")

    def responds(self) -> bool:
        """Return True if the database responds at all, even with an error; else mark it unavailable."""
        try:
            return self._responds_within(self._patience)
        except Exception as error:  # noqa: BLE001 - the error shows whether the database is available
            if _is_server_response(error):
                return True
            self.mark_unavailable()
            return False

    def check(self, seconds: float) -> None:
        """Return as soon as the database responds.

        Args:
            seconds: timeout.

        Raises:
            StoreError: it is unavailable, or has not responded in time.
            Exception: the error with which it responded.
        """
        self.require()
        try:
            answers = self._responds_within(seconds)
        except Exception as error:
            if not _is_server_response(error):
                self.mark_unavailable()
            raise
        if not answers:
            raise StoreError(detail=f"the database has not answered within {seconds:g} seconds")

    def _responds_within(self, seconds: float) -> bool:
        if self.away:
            return False
        asked, began = self._start_probe(), monotonic()
        try:
            asked.answer.result(seconds)
        except TimeoutError:
            if asked.answer.done():
                return self._responds_within(seconds)  # the response arrived just now
            if self._responses is not None and self._responses.last_response >= began:
                return True  # other calls were answered meanwhile
            if monotonic() - asked.began >= self._patience:
                self.mark_unavailable()
            return False
        return True

    def _start_probe(self) -> _Probe:
        """Start a probe, or join the running one."""
        with self._lock:
            if self._probe_running is not None and not self._probe_running.answer.done():
                return self._probe_running
            asked = self._probe_running = _Probe(monotonic(), Future())
            threading.Thread(
                target=self._run_probe, args=(asked.answer,), name="contractlog-probe", daemon=True
            ).start()
            return asked

    def _run_probe(self, answer: Future[None]) -> None:
        try:
            self._probe()
        except BaseException as error:  # noqa: BLE001 - raised again wherever the future is awaited
            answer.set_exception(error)
        else:
            answer.set_result(None)

    def mark_unavailable(self) -> None:
        """Mark the database unavailable: calls fail from now on, until a probe succeeds."""
        with self._lock:
            if self.away or self._closed.is_set():
                return
            self._set_away(away=True)
            threading.Thread(target=self._probe_until_available, name="contractlog-database", daemon=True).start()

    def close(self) -> None:
        """Stop probing."""
        self._closed.set()

    def _probe_until_available(self) -> None:
        while not self._closed.wait(_PROBE_INTERVAL_SECONDS):
            try:
                self._probe()
            except Exception:  # noqa: BLE001, S112 - any error means that the database is not available yet
                continue
            with self._lock:
                self._set_away(away=False)
            return

    def _set_away(self, *, away: bool) -> None:
        self.away = away
        if self._responses is not None:
            self._responses.away = away
        if self.observer is not None:
            self.observer.database_away(away=away)


def _is_server_response(error: Exception) -> bool:
    """Return True if an error is the response of a server that is up."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
    return bool(state) and not state.startswith(("57P", "08"))  # it shuts down or starts up, or the connection is lost
