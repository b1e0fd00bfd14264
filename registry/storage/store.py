"""The store, on SQLAlchemy Core; SQLite and PostgreSQL run the same statements."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, insert, literal, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection

from contractlog.compatibility.errors import RegistryError, StoreError, StoreTimeout
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.current_caller import current_actor
from contractlog.registry.storage import tables
from contractlog.registry.storage.batch_append import append_batch, append_version
from contractlog.registry.storage.change_log import ChangeLogEntry, write_entries
from contractlog.registry.storage.database_availability import DatabaseHealth, StoreObserver
from contractlog.registry.storage.engines import Engines
from contractlog.registry.storage.locks import lock_contexts
from contractlog.registry.storage.new_changes import NewChanges, has_aliases, read_new_changes
from contractlog.registry.storage.prefetch import PrefetchedSnapshot, prefetch_subjects
from contractlog.registry.storage.snapshot import CachedSnapshot, Snapshot
from contractlog.registry.storage.store_values import CHANGE_LOG_COUNTER, FIRST_CONTEXT, PendingAppend, Stale
from contractlog.registry.storage.transaction import Transaction
from contractlog.registry.storage.write_guard import UNGUARDED, WriteGuard
from contractlog.registry.storage.writer import Writer

__all__ = ["Store", "create_tables", "is_disk_full", "read_clock"]

T = TypeVar("T")
_LOG: Final = logging.getLogger("contractlog.registry.storage")
_DISK_FULL_STATE: Final = "53100"  #: SQLSTATE of PostgreSQL
#: Error names of SQLite, where a write beyond a quota or a limit is an I/O error.
_DISK_FULL_NAMES: Final = frozenset({"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE"})
_TIMEOUT_STATES: Final = frozenset({"57014", "55P03", "25P03"})  #: PostgreSQL's statement, lock and idle timeouts


def read_clock() -> int:
    """Return the time in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def create_tables(connection: Connection) -> None:
    """Create the tables directly, with the initial rows; for databases in memory."""
    tables.metadata.create_all(connection)
    connection.execute(insert(tables.contexts).values(name=FIRST_CONTEXT, next_schema_id=1))
    connection.execute(insert(tables.change_log_counters).values(name=CHANGE_LOG_COUNTER, next_sequence=1))


@dataclass(frozen=True, slots=True)
class _Change:
    work: Callable[[Transaction], Any]
    actor: str
    contexts: Collection[str] | None
    authority: Any  #: of the caller, for the guard


class _WriteBug(Exception):
    """A write failed before the commit, by a bug of ours (``__cause__``) and not by the database."""


class Store:
    """Durable state, shared by all nodes of a registry. All methods are thread-safe."""

    def __init__(
        self,
        engines: Engines,
        *,
        max_pending_writes: int = 1_000,
        clock: Callable[[], int] = read_clock,
        closing: ExitStack | None = None,
    ) -> None:
        self._engines = engines
        self._clock = clock
        self._closing = closing or ExitStack()
        self._connection_lock: AbstractContextManager[Any] = threading.RLock() if engines.shared else nullcontext()
        self._listeners: list[Callable[[frozenset[tuple[str, int]]], None]] = []
        self._before_commit: list[Callable[[], None]] = []
        self._after_commit: list[Callable[[Sequence[ChangeLogEntry]], None]] = []
        self._writer = Writer(self._commit, limit=max_pending_writes)
        self._prefetcher = Writer(self._prefetch_batch, limit=max_pending_writes, name="contractlog-prefetch")
        self._availability = DatabaseHealth(self._ping, responses=engines.responses)
        self._disk_full = False
        self._guard = UNGUARDED

    def now(self) -> int:
        """Return the time of writes that are made now, in milliseconds since 1970, UTC."""
        return self._clock()

    def guard(self, guard: WriteGuard) -> None:
        """Set the guard that all writes from now on pass."""
        self._guard = guard

    @contextmanager
    def open_snapshot(self) -> Iterator[Snapshot]:
        """Open a snapshot for queries.

        Raises:
            StoreError: the database does not respond.
        """
        self._availability.require()
        try:
            with self._connection_lock, self._connect(self._engines.readers) as connection:
                yield CachedSnapshot(connection)
        except SQLAlchemyError as error:
            raise _translate_read_error(error) from error

    def read_new_changes(self, since: int | None) -> NewChanges:
        """Read what was committed after the change log entry ``since``, by this process or another one.

        Raises:
            StoreError: the database does not respond.
        """
        self._availability.require()
        try:
            with self._connection_lock, self._connect(self._engines.checks) as connection:
                return read_new_changes(connection, since)
        except SQLAlchemyError as error:
            raise _translate_read_error(error) from error

    def has_aliases(self) -> bool:
        """Return whether any subject has an alias.

        Raises:
            StoreError: the database does not respond.
        """
        with self.open_snapshot() as snapshot:
            return has_aliases(snapshot.connection)

    def _connect(self, engine: Engine) -> Connection:
        try:
            return engine.connect()
        except DBAPIError:
            self._availability.responds()  # if not, all others fail immediately from now on
            raise

    def prefetch(self, subject: Subject) -> Future[PrefetchedSnapshot | None]:
        """Prefetch the first queries of a registration, in one batch with those of concurrent registrations.

        The result is None if the subject's history is too long for that.

        Raises:
            StoreError: the database does not respond; also raised by the future.
            Overloaded: immediately, if too many wait.
        """
        self._availability.require()
        return self._prefetcher.submit(subject)

    def _prefetch_batch(self, batch: Sequence[Subject]) -> list[PrefetchedSnapshot | RegistryError | None]:
        try:
            with self.open_snapshot() as snapshot:
                snapshots = prefetch_subjects(snapshot, set(batch))
        except RegistryError as error:
            return [error] * len(batch)
        return [snapshots.get(subject) for subject in batch]

    def append(self, request: PendingAppend) -> Future[RegisteredSchema | Stale]:
        """Append a version; when the future is done, it is durable and visible to all.

        Raises:
            Overloaded: immediately, if too many writes wait; nothing was written.
            RegistryError: from the future.
        """
        self._availability.require()
        authority = self._guard.read_authority()
        if authority is None and not self._guard.protects(request.subject):
            return self._writer.submit(request)
        work = partial(append_version, candidate=request)
        return self._writer.submit(_Change(work, request.actor, request.contexts, authority))

    def transact(
        self, work: Callable[[Transaction], T], *, contexts: Collection[str] | None = None, actor: str | None = None
    ) -> Future[T]:
        """Run a change under the locks; if it raises, it is rolled back without affecting other writes.

        Args:
            work: the change.
            contexts: all contexts that it touches; None locks everything, which is always safe, but blocks other nodes.
            actor: in the change log; None is the caller of the current request.
        """
        self._availability.require()
        return self._writer.submit(_Change(work, actor or current_actor.get(), contexts, self._guard.read_authority()))

    async def change(self, work: Callable[[Transaction], T], *, contexts: Collection[str] | None = None) -> T:
        """Run a change as ``transact`` does, for the caller of the current request, and return its result."""
        return await asyncio.wrap_future(self.transact(work, contexts=contexts))

    def on_commit(self, listener: Callable[[frozenset[tuple[str, int]]], None]) -> None:
        """Call the listener with the (context, id) whose responses changed.

        It is called after each commit, and before the futures of the commit's writes are done.
        """
        self._listeners.append(listener)

    @property
    def exclusive(self) -> bool:
        """Return True if no other process writes to the database, so that this store commits all changes."""
        return self._engines.writer.dialect.name == "sqlite"

    def before_commit(self, listener: Callable[[], None]) -> None:
        """Call the listener before each commit; ``after_commit`` follows, unless the commit fails."""
        self._before_commit.append(listener)

    def after_commit(self, listener: Callable[[Sequence[ChangeLogEntry]], None]) -> None:
        """Call the listener with the entries of each commit, before the futures of its writes are done."""
        self._after_commit.append(listener)

    def watch(self, watch: StoreObserver) -> None:
        """Set the observer of the store's work."""
        self._availability.observer = self._writer.observer = watch

    def check(self, seconds: float) -> None:
        """Raise ``StoreError`` unless the database responds within the timeout."""
        try:
            self._availability.check(seconds)
        except SQLAlchemyError as error:
            raise _translate_read_error(error) from error

    def silence(self) -> float:
        """Return for how many seconds calls to the database have waited without any response."""
        return 0.0 if self._engines.responses is None else self._engines.responses.silence()

    def _ping(self) -> None:
        try:
            self._ask()
        except DBAPIError as error:
            if not error.connection_invalidated or getattr(error.orig, "unanswered", False):
                raise
            self._ask()  # a connection that was lost while idle says nothing about the database

    def _ask(self) -> None:
        with self._connection_lock, self._engines.probe.connect() as connection:
            # No table of a server is read, because it may be locked; SQLite reads its file only to read a table.
            rows = select(tables.contexts.c.name) if connection.dialect.name == "sqlite" else select(literal(1))
            connection.execute(rows.limit(1)).first()

    def close(self) -> None:
        """Commit the waiting writes and release all resources; later writes are rejected."""
        self._prefetcher.close()
        self._writer.close()
        self._availability.close()
        self._engines.dispose()
        self._closing.close()

    def _commit(self, batch: Sequence[Any]) -> list[Any]:
        try:
            outcomes = self._commit_batch(batch)
        except DBAPIError as error:
            self._note_disk(full=is_disk_full(error))
            translated = _translate_error(error)
            is_connection_lost = error.connection_invalidated or error.statement is None
            if len(batch) == 1 or is_connection_lost or self._disk_full or isinstance(translated, StoreTimeout):
                return [translated] * len(batch)
        except SQLAlchemyError as error:
            return [_translate_error(error)] * len(batch)
        except RegistryError as error:
            return [error] * len(batch)
        except _WriteBug as error:
            if len(batch) == 1:
                return [error.__cause__]
        else:
            self._note_disk(full=False)
            return outcomes
        _LOG.warning("a batch of %d writes failed; running them one by one", len(batch))
        return [outcome for work in batch for outcome in self._commit([work])]

    def _note_disk(self, *, full: bool) -> None:
        """Record whether the last write found room on the disk; called on the writer's thread."""
        if full != self._disk_full:
            self._disk_full = full
            if self._availability.observer is not None:
                self._availability.observer.disk_full(full=full)

    def _commit_batch(self, batch: Sequence[Any]) -> list[Any]:
        self._availability.require()  # it may have become unavailable while the writes waited
        with self._connection_lock, self._connect(self._engines.writer) as connection, connection.begin():
            lock_contexts(connection, _touched_contexts(batch))
            try:
                outcomes, touched, entries = _run(connection, batch, self._clock(), self._guard)
            except SQLAlchemyError:
                raise
            except Exception as error:  # a bug in one write; the others must not fail with it
                raise _WriteBug from error
            for about_to in self._before_commit:
                about_to()
        for listener in self._listeners:
            listener(frozenset(touched))
        for after in self._after_commit:
            after(entries)
        return outcomes


def _run(
    connection: Connection, batch: Sequence[Any], now: int, guard: WriteGuard
) -> tuple[list[Any], set[tuple[str, int]], list[ChangeLogEntry]]:
    """Run the writes in order; return their outcomes, the ids whose responses changed, and the entries."""
    outcomes: list[Any] = []
    touched: set[tuple[str, int]] = set()
    lines: list[ChangeLogEntry] = []
    for appends, run in groupby(batch, lambda work: isinstance(work, PendingAppend)):
        if appends:
            done = append_batch(connection, list(run), now)
            outcomes += done.outcomes
            touched |= done.touched
            lines += done.entries
        else:
            for change in run:
                transaction = Transaction(connection, now, change.actor)
                work = partial(guard.run, work=change.work, authority=change.authority)
                outcome = _run_in_savepoint(transaction, work)
                outcomes.append(outcome)
                if not isinstance(outcome, BaseException):
                    touched |= transaction.touched
                    lines += transaction.entries
    write_entries(connection, lines, now)
    return outcomes, touched, lines


def _run_in_savepoint(transaction: Transaction, work: Callable[[Transaction], Any]) -> Any:
    """Run one change within a savepoint, and return the exception if it fails."""
    try:
        with transaction.connection.begin_nested():
            return work(transaction)
    except DBAPIError:
        raise  # the whole batch is run again, one by one
    except Exception as error:  # noqa: BLE001 - raised again where this change's future is awaited
        return error


def _touched_contexts(batch: Sequence[Any]) -> Collection[str] | None:
    """Return the contexts that a batch touches; None if one of its changes may touch anything."""
    touched: set[str] = set()
    for work in batch:
        if work.contexts is None:
            return None
        touched |= set(work.contexts)
    return touched


def _translate_error(error: SQLAlchemyError) -> RegistryError:
    """Return an error without address, statement and parameters, which only the log gets."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    if is_disk_full(error):
        _LOG.error("disk full: the database cannot store what is written; free space, or raise its quota: %s", error)
        is_lost = isinstance(error, DBAPIError) and error.connection_invalidated
        # PostgreSQL crashes if `pg_wal` is full, maybe after it has written the commit.
        return StoreTimeout() if is_lost else StoreError(detail="disk full")
    _LOG.error("the database failed: %s", error)
    if isinstance(error, NoConnection):
        return StoreError(detail="all connections to the database are in use")
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return StoreTimeout()  # the lost response may have been the commit's
    if getattr(cause, "sqlstate", None) in _TIMEOUT_STATES or "database is locked" in str(cause):
        return StoreTimeout()
    return StoreError(detail=type(cause or error).__name__)


def _translate_read_error(error: SQLAlchemyError) -> RegistryError:
    """Return an error of a query, which has no unknown outcome: nothing can have been committed."""
    translated = _translate_error(error)
    return StoreError(detail="operation timed out") if isinstance(translated, StoreTimeout) else translated


def is_disk_full(error: BaseException | None) -> bool:
    """Return True if a disk is full.

    A later error, such as that of a rollback to a savepoint, may hide the cause.
    """
    while error is not None:
        cause = getattr(error, "orig", None)
        if getattr(cause, "sqlstate", None) == _DISK_FULL_STATE:
            return True
        if getattr(cause, "sqlite_errorname", None) in _DISK_FULL_NAMES:
            return True
        error = error.__context__
    return False
