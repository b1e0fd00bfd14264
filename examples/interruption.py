"""Deferral of Ctrl-C and similar signals while the Kafka client's C code runs.

The client loses an exception that is raised in its callbacks.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Final

__all__ = ["HELD", "Held", "listen"]


class Held:
    """Context that defers an interruption, and raises it as ``KeyboardInterrupt`` when the block is left."""

    def __init__(self) -> None:
        self._depth = 0
        self._happened = False

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._happened and not self._depth:
            self._happened = False
            raise KeyboardInterrupt

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        del number, frame
        if not self._depth:
            raise KeyboardInterrupt
        self._happened = True


HELD: Final = Held()  #: one for the process, like signals


def listen() -> None:
    """Handle SIGINT, SIGTERM and SIGHUP alike: the program ends after stopping what it started."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, HELD.note)
