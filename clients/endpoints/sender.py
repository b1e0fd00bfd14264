"""Base class of the client methods of all resources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from contractlog.clients.cached_lookups import CachedLookups, CallSequence
from contractlog.clients.calls import Call

__all__ = ["Sender"]

T = TypeVar("T")


class Sender(ABC):
    """Sends single calls, and walks of several calls with cached responses."""

    _lookups: CachedLookups

    @abstractmethod
    def send(self, call: Call[T]) -> T:
        """Send a call of ``calls/`` and return its parsed response."""

    @abstractmethod
    def send_sequence(self, sequence: CallSequence[T]) -> T:
        """Send the calls that a walk yields, and return its result."""
