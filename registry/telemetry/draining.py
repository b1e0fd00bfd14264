"""Whether this process is on its way out."""

from __future__ import annotations

import asyncio

__all__ = ["Draining"]


class Draining:
    """Turns once, from taking requests to finishing those that are there."""

    def __init__(self) -> None:
        self.begun = False
        self._waiting: set[asyncio.Event] = set()

    def begin(self) -> None:
        """Begin; whoever waits is woken, so that long polls end with what they have. On the event loop."""
        self.begun = True
        for event in self._waiting:
            event.set()

    async def wait(self) -> None:
        """Return once it has begun."""
        if self.begun:
            return
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            await event.wait()
        finally:
            self._waiting.discard(event)
