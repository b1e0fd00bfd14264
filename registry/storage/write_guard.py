"""Guard that every write passes, inside the transaction that makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.storage.transaction import Transaction

__all__ = ["UNGUARDED", "WriteGuard"]


class WriteGuard(Protocol):
    """Decides on writes by the change log entries that they add."""

    def read_authority(self) -> Any:
        """Return the special authority of the caller of this request, for ``run``; None without one."""

    def protects(self, subject: Subject) -> bool:
        """Return True if new versions of a subject must pass ``run`` one by one, not in a batch."""

    def run(self, transaction: Transaction, work: Callable[[Transaction], Any], authority: Any) -> Any:
        """Run a change and return its result; raise to roll it back."""


class _Unguarded:
    """Guard that permits everything."""

    def read_authority(self) -> None:
        return None

    def protects(self, subject: Subject) -> bool:  # noqa: ARG002 - as in the protocol
        return False

    def run(self, transaction: Transaction, work: Callable[[Transaction], Any], authority: Any) -> Any:  # noqa: ARG002 - as in the protocol
        return work(transaction)


UNGUARDED: Final[WriteGuard] = _Unguarded()
