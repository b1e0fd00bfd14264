"""What every resource of a client builds on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from contractlog.clients.calls import Call
from contractlog.clients.remembering import Remembering, Walk

__all__ = ["Sender"]

T = TypeVar("T")


class Sender(ABC):
    """Sends calls, one or several after each other, and remembers some answers."""

    _known: Remembering

    @abstractmethod
    def send(self, call: Call[T]) -> T:
        """Send any call of ``calls/`` and return what it reads."""

    @abstractmethod
    def walk(self, walk: Walk[T]) -> T:
        """Send the calls that a walk asks for, until it returns."""
