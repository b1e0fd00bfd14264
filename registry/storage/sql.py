"""The store, on SQLAlchemy Core; SQLite and PostgreSQL run the same statements."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, insert, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection

from contractlog.compatibility.errors import RegistryError, StoreError, StoreTimeout
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.actor import current_actor
from contractlog.registry.storage import tables
from contractlog.registry.storage.appends import append
from contractlog.registry.storage.availability import Availability, Watch
from contractlog.registry.storage.engines import Engines
from contractlog.registry.storage.foresight import Foreseen, foresee
from contractlog.registry.storage.lines import Line, write_down
from contractlog.registry.storage.locks import lock
from contractlog.registry.storage.reads import Fixed, Snapshot
from contractlog.registry.storage.values import FIRST_CONTEXT, JOURNAL, Append, Stale
from contractlog.registry.storage.writer import Writer
from contractlog.registry.storage.writes import Transaction

__all__ = ["SqlStore", "create_tables"]

T = TypeVar("T")
_LOG: Final = logging.getLogger("contractlog.registry.storage")
_DISK_FULL_STATE: Final = "53100"  #: SQLSTATE of PostgreSQL
#: Error names of SQLite, where a write beyond a quota or a limit is an I/O error.
_DISK_FULL_NAMES: Final = frozenset({"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE"})
_TIMEOUT_STATES: Final = frozenset({"57014", "55P03", "25P03"})  #: PostgreSQL's statement, lock and idle timeouts


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


def create_tables(connection: Connection) -> None:
    """Create the tables directly, with the initial rows; for databases in memory."""
    tables.metadata.create_all(connection)
    connection.execute(insert(tables.contexts).values(name=FIRST_CONTEXT, next_schema_id=1))
    connection.execute(insert(tables.journal).values(name=JOURNAL, next_sequence=1))


@dataclass(frozen=True, slots=True)
class _Change:
    work: Callable[[Transaction], Any]
    actor: str
    contexts: Collection[str] | None


class _BrokenDown(Exception):
    """A write failed before the commit, by a bug of ours (``__cause__``) and not by the database."""


class SqlStore:
    """The store, on several engines; implements ``protocol.Store``."""

    def __init__(
        self,
        engines: Engines,
        *,
        max_pending_writes: int = 1_000,
        clock: Callable[[], int] = _milliseconds,
        closing: ExitStack | None = None,
    ) -> None:
        self._engines = engines
        self._clock = clock
        self._closing = closing or ExitStack()
        self._turns: AbstractContextManager[Any] = threading.RLock() if engines.shared else nullcontext()
        self._listeners: list[Callable[[frozenset[tuple[str, int]]], None]] = []
        self._before: list[Callable[[], None]] = []
        self._writer = Writer(self._commit, limit=max_pending_writes)
        self._foreseeing = Writer(self._foresee, limit=max_pending_writes, name="contractlog-foresight")
        self._availability = Availability(self._ping, responses=engines.responses)
        self._disk_full = False

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """Open a snapshot for queries."""
        self._availability.require()
        try:
            with self._turns, self._connected(self._engines.readers) as connection:
                yield Fixed(connection)
        except SQLAlchemyError as error:
            raise _translated(error) from error

    def _connected(self, engine: Engine) -> Connection:
        try:
            return engine.connect()
        except DBAPIError:
            self._availability.lost()
            raise

    def foresee(self, subject: Subject) -> Future[Foreseen | None]:
        """Prefetch the first queries of a registration."""
        self._availability.require()
        return self._foreseeing.submit(subject)

    def _foresee(self, batch: Sequence[Subject]) -> list[Foreseen | RegistryError | None]:
        try:
            with self.reading() as snapshot:
                found = foresee(snapshot, set(batch))
        except RegistryError as error:
            return [error] * len(batch)
        return [found.get(subject) for subject in batch]

    def append(self, one: Append) -> Future[RegisteredSchema | Stale]:
        """Append a version."""
        self._availability.require()
        return self._writer.submit(one)

    def change(self, work: Callable[[Transaction], T], *, contexts: Collection[str] | None = None) -> Future[T]:
        """Run a change under the locks."""
        self._availability.require()
        return self._writer.submit(_Change(work, current_actor.get(), contexts))

    def on_commit(self, listener: Callable[[frozenset[tuple[str, int]]], None]) -> None:
        """Call the listener with the ids whose responses changed, after each commit."""
        self._listeners.append(listener)

    @property
    def alone(self) -> bool:
        """Return True if no other process writes to the database, as with a locked SQLite file."""
        return self._engines.writer.dialect.name == "sqlite"

    def before_commit(self, listener: Callable[[], None]) -> None:
        """Call the listener before each commit."""
        self._before.append(listener)

    def watch(self, watch: Watch) -> None:
        """Set the observer of the store's work."""
        self._availability.watch = self._writer.watch = watch

    def check(self, seconds: float) -> None:
        """Raise ``StoreError`` unless the database responds."""
        try:
            self._availability.check(seconds)
        except SQLAlchemyError as error:
            raise _translated(error) from error

    def silence(self) -> float:
        """Return for how many seconds the database has not responded."""
        return 0.0 if self._engines.responses is None else self._engines.responses.silence()

    def _ping(self) -> None:
        try:
            self._ask()
        except DBAPIError as error:
            if not error.connection_invalidated or getattr(error.orig, "unanswered", False):
                raise
            self._ask()  # a connection that was lost while idle says nothing about the database

    def _ask(self) -> None:
        with self._turns, self._engines.probe.connect() as connection:
            connection.execute(select(tables.contexts.c.name).limit(1)).first()

    def close(self) -> None:
        """Commit the waiting writes and release all resources."""
        self._foreseeing.close()
        self._writer.close()
        self._availability.close()
        self._engines.dispose()
        self._closing.close()

    def _commit(self, batch: Sequence[Any]) -> list[Any]:
        try:
            outcomes = self._transact(batch)
        except DBAPIError as error:
            self._note_disk(full=_lacks_room(error))
            translated = _translated(error)
            lost = error.connection_invalidated or error.statement is None
            if len(batch) == 1 or lost or self._disk_full or isinstance(translated, StoreTimeout):
                return [translated] * len(batch)
        except SQLAlchemyError as error:
            return [_translated(error)] * len(batch)
        except RegistryError as error:
            return [error] * len(batch)
        except _BrokenDown as error:
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
            if self._availability.watch is not None:
                self._availability.watch.disk_full(full=full)

    def _transact(self, batch: Sequence[Any]) -> list[Any]:
        self._availability.require()  # it may have become unavailable while the writes waited
        with self._turns, self._connected(self._engines.writer) as connection, connection.begin():
            lock(connection, _contexts(batch))
            try:
                outcomes, touched = _run(connection, batch, self._clock())
            except SQLAlchemyError:
                raise
            except Exception as error:  # a bug in one write; the others must not fail with it
                raise _BrokenDown from error
            for about_to in self._before:
                about_to()
        for listener in self._listeners:
            listener(frozenset(touched))
        return outcomes


def _run(connection: Connection, batch: Sequence[Any], now: int) -> tuple[list[Any], set[tuple[str, int]]]:
    """Run the writes in order; return one outcome each, and the ids whose responses changed."""
    outcomes: list[Any] = []
    touched: set[tuple[str, int]] = set()
    lines: list[Line] = []
    for appends, run in groupby(batch, lambda work: isinstance(work, Append)):
        if appends:
            done = append(connection, list(run), now)
            outcomes += done.outcomes
            touched |= done.touched
            lines += done.lines
        else:
            for change in run:
                transaction = Transaction(connection, now, change.actor)
                outcome = _apart(transaction, change.work)
                outcomes.append(outcome)
                if not isinstance(outcome, BaseException):
                    touched |= transaction.touched
                    lines += transaction.lines
    write_down(connection, lines, now)
    return outcomes, touched


def _apart(transaction: Transaction, work: Callable[[Transaction], Any]) -> Any:
    """Run one change within a savepoint, and return the exception if it fails."""
    try:
        with transaction.connection.begin_nested():
            return work(transaction)
    except DBAPIError:
        raise  # the whole batch is run again, one by one
    except Exception as error:  # noqa: BLE001 - raised again where this change's future is awaited
        return error


def _contexts(batch: Sequence[Any]) -> Collection[str] | None:
    """Return the contexts that a batch touches; None if one of its changes may touch anything."""
    touched: set[str] = set()
    for work in batch:
        if work.contexts is None:
            return None
        touched |= set(work.contexts)
    return touched


def _translated(error: SQLAlchemyError) -> RegistryError:
    """Return an error without address, statement and parameters, which only the log gets."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    if _lacks_room(error):
        _LOG.error("disk full: the database cannot store what is written; free space, or raise its quota: %s", error)
        return StoreError(detail="disk full")
    _LOG.error("the database failed: %s", error)
    if isinstance(error, NoConnection):
        return StoreError(detail="all connections to the database are in use")
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return StoreTimeout()  # the lost response may have been the commit's
    if getattr(cause, "sqlstate", None) in _TIMEOUT_STATES or "database is locked" in str(cause):
        return StoreTimeout()
    return StoreError(detail=type(cause or error).__name__)


def _lacks_room(error: BaseException | None) -> bool:
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
