"""Ctrl-C and its like, kept out of the C code of the Kafka client, which loses an exception raised in its callbacks."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Final

__all__ = ["HELD", "Held", "listen"]


class Held:
    """While it is entered, an interruption waits; it is raised as ``KeyboardInterrupt`` when the block is left."""

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
        """Be told of a signal."""
        del number, frame
        if not self._depth:
            raise KeyboardInterrupt
        self._happened = True


HELD: Final = Held()  #: signals are of the whole process, and so is this


def listen() -> None:
    """Let SIGINT, SIGTERM and SIGHUP end the program alike: in order, what was started is stopped."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, HELD.note)
