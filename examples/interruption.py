"""Deferral of Ctrl-C and similar signals while C code of the Kafka client runs.

Exceptions raised in callbacks of the client are lost.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Final

__all__ = ["INTERRUPTION_GUARD", "InterruptionGuard", "install_signal_handlers"]


class InterruptionGuard:
    """Context manager that defers an interruption until its block ends, then raises ``KeyboardInterrupt``."""

    def __init__(self) -> None:
        self._depth = 0
        self._interrupted = False

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._interrupted and not self._depth:
            self._interrupted = False
            raise KeyboardInterrupt

    def handle_signal(self, signal_number: int, frame: FrameType | None) -> None:
        """Raise ``KeyboardInterrupt``, or remember the signal if a block is running."""
        del signal_number, frame
        if not self._depth:
            raise KeyboardInterrupt
        self._interrupted = True


INTERRUPTION_GUARD: Final = InterruptionGuard()  #: one per process, as signal handlers are


def install_signal_handlers() -> None:
    """Handle SIGINT, SIGTERM and SIGHUP alike, so that the program first stops what it started."""
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, INTERRUPTION_GUARD.handle_signal)
