"""Interface of the store, as services use it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.storage.health import StoreObserver
from contractlog.registry.storage.model import Append, Stale
from contractlog.registry.storage.prefetch import PrefetchedSnapshot
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = ["Store"]

T = TypeVar("T")


class Store(Protocol):
    """Durable state, shared by all nodes of a registry. All methods are thread-safe."""

    def open_snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a snapshot for queries.

        Raises:
            StoreError, StoreTimeout: the database does not respond.
        """

    def prefetch(self, subject: Subject) -> Future[PrefetchedSnapshot | None]:
        """Prefetch the first queries of a registration, in one batch with those of concurrent registrations.

        The result is None if the subject's history is too long for that.

        Raises:
            StoreError, StoreTimeout: the database does not respond; also raised by the future.
            Overloaded: immediately, if too many wait.
        """

    def append(self, request: Append) -> Future[RegisteredSchema | Stale]:
        """Append a version; when the future is done, it is durable and visible to all.

        Raises:
            Overloaded: immediately, if too many writes wait; nothing was written.
            RegistryError: from the future.
        """

    def transact(self, work: Callable[[Transaction], T], *, contexts: Collection[str] | None = None) -> Future[T]:
        """Run a change under the locks; if it raises, it is rolled back without affecting other writes.

        Args:
            work: the change.
            contexts: all contexts that it touches; None locks everything, which is always safe, but blocks other nodes.
        """

    def on_commit(self, listener: Callable[[frozenset[tuple[str, int]]], None]) -> None:
        """Call the listener with the (context, id) whose responses changed.

        It is called after each commit, and before the futures of the commit's writes are done.
        """

    @property
    def exclusive(self) -> bool:
        """Return True if no other process writes to the database, so that this store commits all changes."""

    def before_commit(self, listener: Callable[[], None]) -> None:
        """Call the listener before each commit; ``on_commit`` follows, unless the commit fails."""

    def watch(self, watch: StoreObserver) -> None:
        """Set the observer of the store's work."""

    def check(self, seconds: float) -> None:
        """Raise ``StoreError`` unless the database responds within the timeout."""

    def silence(self) -> float:
        """Return for how many seconds calls to the database have waited without any response."""

    def close(self) -> None:
        """Commit the waiting writes and release all resources; later writes are rejected."""
