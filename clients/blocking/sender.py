"""Base class of the client methods of all resources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from contractlog.clients.calls import Call
from contractlog.clients.remembering import Remembering, Walk

__all__ = ["Sender"]

T = TypeVar("T")


class Sender(ABC):
    """Sends single calls, and walks of several calls with cached responses."""

    _known: Remembering

    @abstractmethod
    def send(self, call: Call[T]) -> T:
        """Send a call of ``calls/`` and return its parsed response."""

    @abstractmethod
    def walk(self, walk: Walk[T]) -> T:
        """Send the calls that a walk yields, and return its result."""
