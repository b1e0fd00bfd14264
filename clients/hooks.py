"""Hooks for metrics of a client: requests and cache lookups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Exchange", "Watch"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its outcome; a retried call makes several."""

    method: str
    route: str  #: the path without names: ``/subjects/{}/versions``; usable as a metric label
    address: str  #: of the registry, without credentials
    attempt: int  #: from 1
    seconds: float
    status: int | None = None  #: None without a response
    reason: str | None = None  #: why there is no response
    target: str = field(default="", repr=False)  #: path and query, with names; for neither logs nor metric labels


class Watch(Protocol):
    """Hooks called in the thread or task of the request; they must be quick and must not raise."""

    def exchanged(self, exchange: Exchange) -> None:
        """Record a request."""

    def looked_up(self, cache: str, *, hit: bool) -> None:
        """Record a lookup in a cache: ``id``, ``guid`` or ``latest``."""
