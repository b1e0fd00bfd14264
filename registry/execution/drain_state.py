"""Drain state of a serving process: it finishes requests in progress before it ends."""

from __future__ import annotations

import asyncio

__all__ = ["DrainState"]


class DrainState:
    """Switches once, from accepting requests to finishing those in progress."""

    def __init__(self) -> None:
        self.begun = False
        self._waiting: set[asyncio.Event] = set()

    def begin(self) -> None:
        """Begin draining and wake long polls, so that they end with what they have. Call on the event loop."""
        self.begun = True
        for event in self._waiting:
            event.set()

    async def wait(self) -> None:
        """Return once draining has begun."""
        if self.begun:
            return
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            await event.wait()
        finally:
            self._waiting.discard(event)
