"""Counter of the fetches of each schema by each client: in memory, and stored in batches.

Counts are stored at least every half minute, and when the process ends; if it is killed, only the counts of the last
half minute are lost.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.access.current_caller import ANONYMOUS, current_actor
from contractlog.registry.execution.background_thread import BackgroundThread
from contractlog.registry.features.fetch_counts import queries
from contractlog.registry.features.fetch_counts.queries import FetchKey
from contractlog.registry.storage.store import Store

__all__ = ["MAX_ANONYMOUS_CLIENTS", "MAX_CLIENTS", "OTHER_CLIENTS", "UNKNOWN_CLIENT", "FetchCounter"]

_LOG: Final = logging.getLogger("contractlog.registry.fetches")
UNKNOWN_CLIENT: Final = "unknown"  #: a client that does not identify itself
OTHER_CLIENTS: Final = "others"  #: clients beyond the limit of distinct ones of a caller
MAX_CLIENTS: Final = 200  #: distinct clients of each authenticated caller per process and day
MAX_ANONYMOUS_CLIENTS: Final = 1_000  #: the same of all anonymous callers, who cannot be told apart
_MAX_ALL_CLIENTS: Final = 50_000  #: distinct clients of all callers
_MAX_COUNTS: Final = 40_000  #: counts in memory
_MAX_COUNTS_OF_CALLER: Final = 10_000  #: counts of one caller in memory; half of them are stored immediately
_MAX_NAME_CHARACTERS: Final = 128
_MAX_KEY_BYTES: Final = (
    512  #: of a header that are compared; longer, because surrounding white space is no part of a name
)
_DAY: Final = 86_400
_RETENTION_DAYS: Final = 400
_CLIENT_HEADERS: Final = {
    b"x-contractlog-client": 3,
    b"confluent-client-version": 2,
    b"user-agent": 1,
}  #: by precedence

Headers = Iterable[tuple[bytes, bytes]]


class FetchCounter:
    """A bounded table in memory, and the thread that stores it.

    Each caller has limits of their own, so that none can use up the names or the memory of others.

    Args:
        store: receives the counts.
        every: seconds between two writes.
        clock: seconds since 1970, UTC.
    """

    def __init__(self, store: Store, *, every: float = 30.0, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._every = every
        self._clock = clock
        self._counts: dict[FetchKey, int] = {}
        self._counts_by_caller: dict[str, int] = {}  #: number of keys in ``_counts``
        self._clients: dict[tuple[str, bytes], str] = {}
        self._clients_by_caller: dict[str, int] = {}  #: number of keys in ``_clients``
        self._clients_day = 0  #: the day of ``_clients``
        self._lock = threading.Lock()
        self._thread = BackgroundThread(self._run, "contractlog-fetches")

    def count(self, context: str, schema_id: int, headers: Headers, actor: str | None = None) -> None:
        """Count one fetch, by the caller of this request or by ``actor``; never blocks on I/O."""
        precedence, name = 0, b""
        for header, value in headers:
            if header in _CLIENT_HEADERS and _CLIENT_HEADERS[header] > precedence:
                precedence, name = _CLIENT_HEADERS[header], value
        day = int(self._clock()) // _DAY
        caller = actor or current_actor.get()
        with self._lock:
            # Equal to ``FetchKey(...)``, and cheaper.
            key: Any = (context, schema_id, self._client(caller, name[:_MAX_KEY_BYTES], day), day)
            if key in self._counts:
                self._counts[key] += 1
            else:
                self._add_key(FetchKey(*key), caller)

    def _add_key(self, key: FetchKey, caller: str) -> None:
        """Begin a count, unless the caller or all callers have too many; the calling method holds the lock."""
        own = self._counts_by_caller.get(caller, 0)
        if own < _MAX_COUNTS_OF_CALLER and len(self._counts) < _MAX_COUNTS:
            self._counts[key] = 1
            self._counts_by_caller[caller] = own + 1
        if own >= _MAX_COUNTS_OF_CALLER // 2 or len(self._counts) >= _MAX_COUNTS // 2:
            self._thread.wake()

    @property
    def today(self) -> int:
        """The current day, in days since 1970-01-01, UTC."""
        return int(self._clock()) // _DAY

    def pending(self) -> dict[FetchKey, int]:
        """Return the counts that are not stored yet."""
        with self._lock:
            return dict(self._counts)

    def start(self) -> None:
        """Start storing counts; has no effect the second time."""
        self._thread.start()

    def close(self) -> None:
        """Store the remaining counts, and stop."""
        self._thread.close()
        self.flush()

    def flush(self) -> None:
        """Store the counts; those that cannot be stored stay in memory for the next time."""
        with self._lock:
            counts, self._counts, self._counts_by_caller = self._counts, {}, {}
        if not counts:
            return
        try:
            work = partial(queries.add_counts, counts=counts, oldest_day=self.today - _RETENTION_DAYS)
            self._store.transact(work, contexts=()).result()
        except RegistryError:
            with self._lock:
                for key, number in counts.items():
                    if key in self._counts or len(self._counts) < _MAX_COUNTS:
                        self._counts[key] = self._counts.get(key, 0) + number

    def _client(self, actor: str, name: bytes, day: int) -> str:
        """Return the name of a client; the calling method holds the lock."""
        if day != self._clients_day:
            self._clients, self._clients_by_caller, self._clients_day = {}, {}, day
        key = (actor, name)
        client = self._clients.get(key)
        if client is None:
            own = self._clients_by_caller.get(actor, 0)
            limit = MAX_ANONYMOUS_CLIENTS if actor == ANONYMOUS else MAX_CLIENTS
            if own >= limit or len(self._clients) >= _MAX_ALL_CLIENTS:
                return _client_name(actor, OTHER_CLIENTS.encode())
            client = self._clients[key] = _client_name(*key)
            self._clients_by_caller[actor] = own + 1
        return client

    def _run(self) -> None:
        while not self._thread.is_closing:
            self._thread.wait_for_work(self._every)
            try:
                self.flush()
            except Exception:  # noqa: BLE001 - counting continues
                _LOG.exception("fetches could not be stored")


def _client_name(actor: str, name: bytes) -> str:
    text = "".join(c if c.isprintable() else "?" for c in name.decode("latin-1").strip()) or UNKNOWN_CLIENT
    return (text if actor == ANONYMOUS else f"{actor} ({text})")[:_MAX_NAME_CHARACTERS]
