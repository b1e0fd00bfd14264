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
from contractlog.registry.storage.responses import Responses

__all__ = ["Availability", "Watch"]

_EVERY_SECONDS: Final = 0.25


class Watch(Protocol):
    """Observer of the store's work, for metrics."""

    def queued(self, waiting: int) -> None:
        """Record how many writes wait; called on the writer's thread."""

    def refused(self) -> None:
        """Record that a write was rejected because too many wait."""

    def committed(self, done: int, failed: int, seconds: float) -> None:
        """Record the end of a batch; called on the writer's thread."""

    def database_away(self, *, away: bool) -> None:
        """Record that the database became unavailable, or available again."""

    def disk_full(self, *, full: bool) -> None:
        """Record that the database has no room for a write, or has room again; called on the writer's thread."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A probe of the database, and its start time."""

    began: float
    answer: Future[None]


class Availability:
    """Tracks whether the database is available. Thread-safe.

    Args:
        probe: runs any statement; raises if the database does not answer.
        responses: tracks the calls to the database, if it is a server.
        patience: seconds without any response after which the database counts as unavailable.
    """

    def __init__(
        self, probe: Callable[[], object], *, responses: Responses | None = None, patience: float = 1.0
    ) -> None:
        self._probe = probe
        self._responses = responses
        self._patience = patience if responses is None else responses.patience
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._asked: _Asked | None = None
        self.away = False
        self.watch: Watch | None = None
        if responses is not None:
            responses.responds = self.responds

    def require(self) -> None:
        """Return if the database is available.

        Raises:
            StoreError: immediately, if it is known to be unavailable.
        """
        if self.away:
            raise StoreError(detail="the database is away")

    def responds(self) -> bool:
        """Return True if the database responds at all, even with an error; else mark it unavailable."""
        try:
            return self._answers(self._patience)
        except Exception as error:  # noqa: BLE001 - the error shows whether the database is available
            if _from_the_server(error):
                return True
            self.lost()
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
            answers = self._answers(seconds)
        except Exception as error:
            if not _from_the_server(error):
                self.lost()
            raise
        if not answers:
            raise StoreError(detail=f"the database has not answered within {seconds:g} seconds")

    def _answers(self, seconds: float) -> bool:
        if self.away:
            return False
        asked, began = self._ask(), monotonic()
        try:
            asked.answer.result(seconds)
        except TimeoutError:
            if asked.answer.done():
                return self._answers(seconds)  # the response arrived just now
            if self._responses is not None and self._responses.last_answer >= began:
                return True  # other calls were answered meanwhile
            if monotonic() - asked.began >= self._patience:
                self.lost()
            return False
        return True

    def _ask(self) -> _Asked:
        """Start a probe, or join the running one."""
        with self._lock:
            if self._asked is not None and not self._asked.answer.done():
                return self._asked
            asked = self._asked = _Asked(monotonic(), Future())
            threading.Thread(target=self._answer, args=(asked.answer,), name="contractlog-probe", daemon=True).start()
            return asked

    def _answer(self, answer: Future[None]) -> None:
        try:
            self._probe()
        except BaseException as error:  # noqa: BLE001 - raised again wherever the future is awaited
            answer.set_exception(error)
        else:
            answer.set_result(None)

    def lost(self) -> None:
        """Mark the database unavailable: calls fail from now on, until a probe succeeds."""
        with self._lock:
            if self.away or self._closed.is_set():
                return
            self._turn(away=True)
            threading.Thread(target=self._try, name="contractlog-database", daemon=True).start()

    def close(self) -> None:
        """Stop probing."""
        self._closed.set()

    def _try(self) -> None:
        while not self._closed.wait(_EVERY_SECONDS):
            try:
                self._probe()
            except Exception:  # noqa: BLE001, S112 - any error means that the database is not available yet
                continue
            with self._lock:
                self._turn(away=False)
            return

    def _turn(self, *, away: bool) -> None:
        self.away = away
        if self._responses is not None:
            self._responses.away = away
        if self.watch is not None:
            self.watch.database_away(away=away)


def _from_the_server(error: Exception) -> bool:
    """Return True if an error is the response of a server that is up."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
    return bool(state) and not state.startswith(("57P", "08"))  # it shuts down or starts up, or the connection is lost
