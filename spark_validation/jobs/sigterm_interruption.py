"""SIGTERM handled as Ctrl-C, so that work cleans up before it ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["interrupt_on_sigterm"]


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` on SIGTERM in the block; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
