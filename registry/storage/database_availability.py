"""Availability of the database: calls that wait for a server, and a circuit breaker.

A slow statement and a server that hangs look alike: no response arrives. A probe over a separate connection tells them
apart: a server that responds there is only slow, and the call continues until its limit. Once the database is
unreachable, calls fail immediately while one thread keeps probing.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Final, Protocol

from contractlog.compatibility.errors import StoreError

__all__ = ["DatabaseHealth", "PendingCalls", "StoreObserver", "WaitingTime"]

_GRACE_SECONDS: Final = 5.0  #: after the server should have cancelled a statement itself


class WaitingTime:
    """Seconds that threads of this process have waited for a response. Thread-safe.

    A wait that ends much later than it should means that this process was busy or suspended: a response may have
    arrived that no thread could read yet. Such a wait counts twice as long as it should have been, at most.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._counted_until = clock()
        self._lock = threading.Lock()
        self.seconds = 0.0

    def add(self, expected: float) -> float:
        """Count the time since the last call, during a wait of an expected length; return the sum."""
        with self._lock:
            now = self._clock()
            self.seconds += min(now - self._counted_until, 2 * expected)
            self._counted_until = now
            return self.seconds


@dataclass(slots=True, eq=False)
class PendingCalls:
    """Tracks the calls of one process to one database server. Thread-safe.

    Attributes:
        probe_after_seconds: seconds without response after which this process checks whether the server responds.
        limit: seconds after which a call is given up in any case.
        connect_limit: seconds after which an attempt to connect is given up in any case.
        responds: probes the server over a separate connection; None if that is not possible.
        unavailable: the server is known to be unavailable, so that no attempt to connect is made.
    """

    probe_after_seconds: float
    limit: float
    connect_limit: float
    responds: Callable[[], bool] | None = None
    unavailable: bool = False
    last_response: float = 0.0  #: by the monotonic clock
    _waiting: dict[int, float] = field(default_factory=dict)  #: start of each call, the oldest first
    _numbers: Iterator[int] = field(default_factory=count)

    @classmethod
    def of(cls, *, statement_ms: int, answer_ms: int, connect_ms: int) -> PendingCalls:
        """Create it from settings.

        The limit exceeds the server's own statement timeout, so that a server that responds ends statements itself.
        """
        limit = statement_ms / 1000 + _GRACE_SECONDS if statement_ms else math.inf
        return cls(answer_ms / 1000, limit, connect_ms / 1000)

    @contextmanager
    def connecting(self) -> Iterator[None]:
        """Track an attempt to connect."""
        number = self.begin()
        responded = False
        try:
            yield
            responded = True
        finally:
            self.end(number, responded=responded)

    def begin(self) -> int:
        """Record the start of a call, and return its number."""
        number = next(self._numbers)
        self._waiting[number] = monotonic()
        return number

    def end(self, number: int, *, responded: bool) -> None:
        """Record the end of a call."""
        if responded:
            self.last_response = monotonic()
        del self._waiting[number]

    def silence(self) -> float:
        """Return for how many seconds calls have waited without any response; 0 if none waits."""
        try:
            oldest = next(iter(self._waiting.values()))
        except (StopIteration, RuntimeError):  # no call, or another thread has just begun or ended one
            return 0.0
        return monotonic() - max(oldest, self.last_response)

    def reason_to_give_up(self, waited: float, limit: float) -> str | None:
        """Return why a call that has waited so many seconds must be given up, or None if it may continue.

        This blocks while the server is probed.
        """
        if waited >= limit:
            return f"the database did not respond within {limit:g} seconds"
        if self.responds is not None and not self.responds():
            return f"the database has not responded for {self.probe_after_seconds:g} seconds"
        return None


_PROBE_INTERVAL_SECONDS: Final = 0.25
_WAIT_SECONDS: Final = 0.05  #: of each wait for a probe, so that a busy process is noticed


class StoreObserver(Protocol):
    """Observer of the store's work, for metrics."""

    def record_queue(self, waiting: int) -> None:
        """Record how many writes wait; called on the writer's thread."""

    def record_rejection(self) -> None:
        """Record that a write was rejected because too many wait."""

    def record_batch(self, done: int, failed: int, seconds: float) -> None:
        """Record the end of a batch; called on the writer's thread."""

    def database_unavailable(self, *, unavailable: bool) -> None:
        """Record that the database became unavailable, or available again."""

    def disk_full(self, *, full: bool) -> None:
        """Record that the database has no room for a write, or has room again; called on the writer's thread."""


@dataclass(frozen=True, slots=True)
class _Probe:
    """A probe of the database, and for how long it was waited for."""

    waited: WaitingTime
    outcome: Future[None]


class DatabaseHealth:
    """Tracks whether the database is available. Thread-safe.

    Args:
        probe: runs any statement; raises if the database does not respond.
        responses: tracks the calls to the database, if it is a server.
        probe_after_seconds: seconds without any response after which the database counts as unavailable.
        clock: seconds, to measure how long responses are waited for.
    """

    def __init__(
        self,
        probe: Callable[[], object],
        *,
        responses: PendingCalls | None = None,
        probe_after_seconds: float = 1.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._probe = probe
        self._clock = clock
        self._responses = responses
        self._probe_after_seconds = probe_after_seconds if responses is None else responses.probe_after_seconds
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._probe_running: _Probe | None = None
        self._threads: set[threading.Thread] = set()
        self.unavailable = False
        self.observer: StoreObserver | None = None
        if responses is not None:
            responses.responds = self.responds

    def require(self) -> None:
        """Return if the database is available.

        Raises:
            StoreError: immediately, if it is known to be unavailable.
        """
        if self.unavailable:
            raise StoreError(detail="the database is unavailable")

    def responds(self) -> bool:
        """Return True if the database responds at all, even with an error; else mark it unavailable."""
        try:
            return self._responds_within(self._probe_after_seconds)
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
            responds = self._responds_within(seconds)
        except Exception as error:
            if not _is_server_response(error):
                self.mark_unavailable()
            raise
        if not responds:
            raise StoreError(detail=f"the database has not responded within {seconds:g} seconds")

    def _responds_within(self, seconds: float) -> bool:
        if self.unavailable:
            return False
        probe, began = self._start_probe(), monotonic()
        waited = WaitingTime(self._clock)
        while not probe.outcome.done() and waited.seconds < seconds:
            wait([probe.outcome], _WAIT_SECONDS)
            waited.add(_WAIT_SECONDS)
            probe.waited.add(_WAIT_SECONDS)
        if probe.outcome.done():
            probe.outcome.result()
            return True
        if self._responses is not None and self._responses.last_response >= began:
            return True  # other calls were responded meanwhile
        if probe.waited.seconds >= self._probe_after_seconds:
            self.mark_unavailable()
        return False

    def _start_probe(self) -> _Probe:
        """Start a probe, or join the running one."""
        with self._lock:
            if self._probe_running is not None and not self._probe_running.outcome.done():
                return self._probe_running
            if self._closed.is_set():
                raise StoreError(detail="the registry is shutting down")
            probe = self._probe_running = _Probe(WaitingTime(self._clock), Future())
            self._start_thread("contractlog-probe", self._run_probe, probe.outcome)
            return probe

    def _start_thread(self, name: str, target: Callable[..., None], *arguments: object) -> None:
        """Start a thread; the caller has the lock."""
        self._threads = {thread for thread in self._threads if thread.is_alive()}
        thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
        self._threads.add(thread)
        thread.start()

    def _run_probe(self, outcome: Future[None]) -> None:
        try:
            self._probe()
        except BaseException as error:  # noqa: BLE001 - raised again wherever the future is awaited
            outcome.set_exception(error)
        else:
            outcome.set_result(None)

    def mark_unavailable(self) -> None:
        """Mark the database unavailable: calls fail from now on, until a probe succeeds."""
        with self._lock:
            if self.unavailable or self._closed.is_set():
                return
            self._set_unavailable(unavailable=True)
            self._start_thread("contractlog-database", self._probe_until_available)

    def close(self) -> None:
        """Stop probing.

        A running probe of a server is left behind, as the server may hang. Any other is awaited: without a server, its
        connection may be the one that the rest of the store has, and must not be used after the store is closed.
        """
        with self._lock:
            self._closed.set()
            threads = self._threads
        if self._responses is None:
            for thread in threads:
                thread.join()

    def _probe_until_available(self) -> None:
        while not self._closed.wait(_PROBE_INTERVAL_SECONDS):
            try:
                self._probe()
            except Exception:  # noqa: BLE001, S112 - any error means that the database is not available yet
                continue
            with self._lock:
                self._set_unavailable(unavailable=False)
            return

    def _set_unavailable(self, *, unavailable: bool) -> None:
        self.unavailable = unavailable
        if self._responses is not None:
            self._responses.unavailable = unavailable
        if self.observer is not None:
            self.observer.database_unavailable(unavailable=unavailable)


def _is_server_response(error: Exception) -> bool:
    """Return True if an error is the response of a server that is up."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
    return bool(state) and not state.startswith(("57P", "08"))  # it shuts down or starts up, or the connection is lost
