"""Whether the database can be reached: once it cannot, nobody waits for a connection, and one thread goes on trying."""

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
    """Whoever counts what the store does."""

    def queued(self, waiting: int) -> None:
        """So many writes wait now; on the writer's thread."""

    def refused(self) -> None:
        """A write was refused because too many wait."""

    def committed(self, done: int, failed: int, seconds: float) -> None:
        """A batch came to its end; on the writer's thread."""

    def database_away(self, *, away: bool) -> None:
        """The database went away, or came back."""

    def disk_full(self, *, full: bool) -> None:
        """The database has no room for what was written, or has room again; on the writer's thread."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question to the database, and when it was asked."""

    began: float
    answer: Future[None]


class Availability:
    """Knows whether the database is away; may be used from any thread.

    Args:
        probe: asks the database for anything; raises when it does not answer.
        responses: tracks the calls to the database, where it is a server.
        patience: seconds after which a database that has not answered anything counts as away.
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
        """Return while the database is there.

        Raises:
            StoreError: at once, when it is known to be away.
        """
        if self.away:
            raise StoreError(detail="the database is away")

    def responds(self) -> bool:
        """Whether the database answers at all, if only with an error; one that does not is lost."""
        try:
            return self._answers(self._patience)
        except Exception as error:  # noqa: BLE001 - it says whether the database is there
            if _from_the_server(error):
                return True
            self.lost()
            return False

    def check(self, seconds: float) -> None:
        """Return when the database answers.

        Args:
            seconds: how long to wait for that.

        Raises:
            StoreError: it is away, or has not answered.
            Exception: what it answered.
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
                return self._answers(seconds)  # the answer came in this moment
            if self._responses is not None and self._responses.last_answer >= began:
                return True  # others were answered meanwhile
            if monotonic() - asked.began >= self._patience:
                self.lost()
            return False
        return True

    def _ask(self) -> _Asked:
        """Ask the database, or join whoever is asking."""
        with self._lock:
            if self._asked is not None and not self._asked.answer.done():
                return self._asked
            asked = self._asked = _Asked(monotonic(), Future())
            threading.Thread(target=self._answer, args=(asked.answer,), name="contractlog-probe", daemon=True).start()
            return asked

    def _answer(self, answer: Future[None]) -> None:
        try:
            self._probe()
        except BaseException as error:  # noqa: BLE001 - it is raised again to whoever waits for the answer
            answer.set_exception(error)
        else:
            answer.set_result(None)

    def lost(self) -> None:
        """Note that the database cannot be reached; from now on others are refused, until it can."""
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
        if self._responses is not None:
            self._responses.away = away
        if self.watch is not None:
            self.watch.database_away(away=away)


def _from_the_server(error: Exception) -> bool:
    """Whether an error is the answer of a database that serves others."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
    return bool(state) and not state.startswith(("57P", "08"))  # it ends or starts, or the connection is lost
