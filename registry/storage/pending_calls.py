"""Pending calls to a database server, and the decision to give up those that take too long.

A slow statement and a server that hangs look alike: no response arrives. A probe over a separate connection tells them
apart: a server that responds there is only slow, and the call continues until its limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Final

__all__ = ["PendingCalls"]

_GRACE_SECONDS: Final = 5.0  #: after the server should have cancelled a statement itself


@dataclass(slots=True, eq=False)
class PendingCalls:
    """Tracks the calls of one process to one database server. Thread-safe.

    Attributes:
        patience: seconds without response after which this process checks whether the server responds at all.
        limit: seconds after which a call is given up in any case.
        connect_limit: seconds after which an attempt to connect is given up in any case.
        responds: probes the server over a separate connection; None if that is not possible.
        away: the server is known to be unavailable, so that no attempt to connect is made.
    """

    patience: float
    limit: float
    connect_limit: float
    responds: Callable[[], bool] | None = None
    away: bool = False
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
        answered = False
        try:
            yield
            answered = True
        finally:
            self.end(number, answered=answered)

    def begin(self) -> int:
        """Record the start of a call, and return its number."""
        number = next(self._numbers)
        self._waiting[number] = monotonic()
        return number

    def end(self, number: int, *, answered: bool) -> None:
        """Record the end of a call."""
        if answered:
            self.last_response = monotonic()
        del self._waiting[number]

    def silence(self) -> float:
        """Return for how many seconds calls have waited without any response; 0 if none waits."""
        try:
            oldest = next(iter(self._waiting.values()))
        except (StopIteration, RuntimeError):  # no call, or another thread has just begun or ended one
            return 0.0
        return monotonic() - max(oldest, self.last_response)

    def reason_to_give_up(self, began: float, limit: float) -> str | None:
        """Return why a call with this start time must be given up, or None if it may continue.

        This blocks while the server is probed.
        """
        if monotonic() - began >= limit:
            return f"the database did not answer within {limit:g} seconds"
        if self.responds is not None and not self.responds():
            return f"the database has not answered anything for {self.patience:g} seconds"
        return None
