"""What the services ask of a store."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.storage.availability import Watch
from contractlog.registry.storage.foresight import Foreseen
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Append, Stale
from contractlog.registry.storage.writes import Transaction

__all__ = ["Store"]

T = TypeVar("T")


class Store(Protocol):
    """Durable state, shared by all nodes of a registry. Every method may be called from any thread."""

    def reading(self) -> AbstractContextManager[Snapshot]:
        """Open one state to ask questions of.

        Raises:
            StoreError, StoreTimeout: the database does not answer.
        """

    def foresee(self, subject: Subject) -> Future[Foreseen | None]:
        """Read what a registration asks first, together with what others ask at the same time.

        None where the subject's history is too long for that.

        Raises:
            StoreError, StoreTimeout: the database does not answer; also from the answer.
            Overloaded: at once, when too many wait.
        """

    def append(self, one: Append) -> Future[RegisteredSchema | Stale]:
        """Append a version; the answer is durable and visible to all when it comes.

        Raises:
            Overloaded: at once, when too many writes wait; nothing was written.
            RegistryError: from the answer.
        """

    def change(self, work: Callable[[Transaction], T], *, contexts: Collection[str] | None = None) -> Future[T]:
        """Run a change under the locks; if it raises, nothing of it stays, and others are not affected.

        Args:
            work: what is done.
            contexts: all that it touches; None locks everything, which is always right, and keeps other nodes waiting.
        """

    def on_commit(self, listener: Callable[[frozenset[tuple[str, int]]], None]) -> None:
        """Tell the listener, after each commit and before its answers, which (context, id) changed what they answer."""

    @property
    def alone(self) -> bool:
        """Whether no other process writes to the database: then every change of it is a commit of this store."""

    def before_commit(self, listener: Callable[[], None]) -> None:
        """Tell the listener before each commit; ``on_commit`` follows, unless the commit failed."""

    def watch(self, watch: Watch) -> None:
        """Tell what happens to whoever counts it."""

    def check(self, seconds: float) -> None:
        """Raise ``StoreError`` unless the database has the expected tables, and says so within some seconds."""

    def silence(self) -> float:
        """Return for how many seconds calls to the database have been waiting without any being answered."""

    def close(self) -> None:
        """Commit what waits and free everything; later writes are refused."""
