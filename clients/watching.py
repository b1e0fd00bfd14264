"""Hooks for whoever counts what a client does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Exchange", "Watch"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that was sent, and what came of it; a call that is tried again makes several."""

    method: str
    route: str  #: the path without names: ``/subjects/{}/versions``; few enough to be a label
    address: str  #: of the registry, without credentials
    attempt: int  #: from 1
    seconds: float
    status: int | None = None  #: None where no answer came
    reason: str | None = None  #: why none came


class Watch(Protocol):
    """Is told what a client does, by the thread or task that does it: it must be quick, and not raise."""

    def exchanged(self, exchange: Exchange) -> None:
        """Take note of a request."""

    def looked_up(self, cache: str, *, hit: bool) -> None:
        """Take note that a memory was asked: ``id``, ``guid`` or ``latest``."""
