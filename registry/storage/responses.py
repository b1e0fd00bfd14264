"""Calls to a database server that have not been answered yet, and what is done about those that take too long.

A slow statement and a server that hangs look alike: nothing comes back. They are told apart by asking once more, over a
connection of its own: a server that answers there is only slow, and the call goes on until its limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Final

__all__ = ["Responses"]

_GRACE_SECONDS: Final = 5.0  #: after the server should have given a statement up itself


@dataclass(slots=True, eq=False)
class Responses:
    """Tracks the calls of one process to one database server; may be used from any thread.

    Attributes:
        patience: seconds after which an unanswered call makes this process ask whether the server answers at all.
        limit: seconds after which a call is given up in any case.
        connect_limit: seconds after which an attempt to connect is given up in any case.
        responds: asks the server, over a connection of its own; None where nothing can be asked.
        away: the server is known not to answer, so that no attempt to connect is worth the time.
    """

    patience: float
    limit: float
    connect_limit: float
    responds: Callable[[], bool] | None = None
    away: bool = False
    last_answer: float = 0.0  #: by the monotonic clock
    _waiting: dict[int, float] = field(default_factory=dict)  #: when each call began, the oldest first
    _numbers: Iterator[int] = field(default_factory=count)

    @classmethod
    def of(cls, *, statement_ms: int, answer_ms: int, connect_ms: int) -> Responses:
        """Make one from settings; the server's own limit for statements ends them first, as long as it is there."""
        limit = statement_ms / 1000 + _GRACE_SECONDS if statement_ms else math.inf
        return cls(answer_ms / 1000, limit, connect_ms / 1000)

    @contextmanager
    def connecting(self) -> Iterator[None]:
        """Track an attempt to connect."""
        number = self.begin()
        answered = False
        try:
            yield
            answered = True
        finally:
            self.end(number, answered=answered)

    def begin(self) -> int:
        """Note that a call begins; returns its number."""
        number = next(self._numbers)
        self._waiting[number] = monotonic()
        return number

    def end(self, number: int, *, answered: bool) -> None:
        """Note that a call has ended."""
        if answered:
            self.last_answer = monotonic()
        del self._waiting[number]

    def silence(self) -> float:
        """Return for how many seconds calls have been waiting while none at all was answered; 0 where none waits."""
        try:
            oldest = next(iter(self._waiting.values()))
        except (StopIteration, RuntimeError):  # none, or another thread has just begun or ended one
            return 0.0
        return monotonic() - max(oldest, self.last_answer)

    def hopeless(self, began: float, limit: float) -> str | None:
        """Return why a call that began then is given up, or None where it may go on waiting.

        Asking the server takes its time, so this blocks for as long as that may take.
        """
        if monotonic() - began >= limit:
            return f"the database did not answer within {limit:g} seconds"
        if self.responds is not None and not self.responds():
            return f"the database has not answered anything for {self.patience:g} seconds"
        return None
