"""Whether the database can be reached: once it cannot, nobody waits for a connection, and one thread goes on trying."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Protocol

from contractlog.compatibility.errors import StoreError

__all__ = ["Availability", "Watch"]

_EVERY_SECONDS: Final = 0.25


class Watch(Protocol):
    """Whoever counts what the store does."""

    def queued(self, waiting: int) -> None:
        """So many writes wait now; on the writer's thread."""

    def refused(self) -> None:
        """A write was refused because too many wait."""

    def committed(self, done: int, failed: int, seconds: float) -> None:
        """A batch came to its end; on the writer's thread."""

    def database_away(self, *, away: bool) -> None:
        """The database went away, or came back."""


class Availability:
    """Knows whether the database is away; may be used from any thread.

    Args:
        probe: asks the database for anything; raises when it does not answer.
    """

    def __init__(self, probe: Callable[[], object]) -> None:
        self._probe = probe
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.away = False
        self.watch: Watch | None = None

    def require(self) -> None:
        """Return while the database is there.

        Raises:
            StoreError: at once, when it is known to be away.
        """
        if self.away:
            raise StoreError(detail="the database is away")

    def lost(self) -> None:
        """Note that no connection could be made; from now on others are refused, until one can."""
        with self._lock:
            if self.away or self._closed.is_set():
                return
            self._turn(away=True)
            threading.Thread(target=self._try, name="contractlog-database", daemon=True).start()

    def close(self) -> None:
        """Stop trying."""
        self._closed.set()

    def _try(self) -> None:
        while not self._closed.wait(_EVERY_SECONDS):
            try:
                self._probe()
            except Exception:  # noqa: BLE001, S112 - whatever it is, the database is not there yet
                continue
            with self._lock:
                self._turn(away=False)
            return

    def _turn(self, *, away: bool) -> None:
        self.away = away
        if self.watch is not None:
            self.watch.database_away(away=away)
