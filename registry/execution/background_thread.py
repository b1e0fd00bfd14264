"""A background thread that waits for new work: started once, woken, and joined when it is closed."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["BackgroundThread"]


class BackgroundThread:
    """A daemon thread, and the signals for it.

    Args:
        run: the work of the thread; returns soon after ``is_closing`` has become true.
        name: of the thread.
    """

    def __init__(self, run: Callable[[], None], name: str) -> None:
        self._run = run
        self._name = name
        self._due = threading.Event()
        self._closing = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def is_closing(self) -> bool:
        """True from the moment at which the thread should end."""
        return self._closing.is_set()

    def start(self) -> None:
        """Start the thread; has no effect the second time, or after it was told to end."""
        with self._starting:
            if self._thread is None and not self.is_closing:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """Signal new work."""
        self._due.set()

    def wait_for_work(self, seconds: float) -> None:
        """Wait until new work is signalled, the time is over, or the thread should end."""
        self._due.wait(seconds)
        self._due.clear()

    def pause(self, seconds: float) -> bool:
        """Wait, whatever work is signalled; return True if the thread should end."""
        return self._closing.wait(seconds)

    def stop(self) -> None:
        """Tell the thread to end, without waiting for it."""
        with self._starting:
            self._closing.set()
        self._due.set()

    def close(self) -> None:
        """Stop the thread and wait until it has ended."""
        self.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
