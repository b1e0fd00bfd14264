"""Progress of long work: one line that is rewritten on a terminal, or occasional lines in a log.

It contains the activity, the amount done and in total, the rate, and the estimated time left.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

from contractlog.compatibility.text.number_text import format_time_left

__all__ = ["ProgressLine"]

_CLEAR: Final = "\r\x1b[K"
_UPDATE_SECONDS: Final = 0.1  #: seconds between updates on a terminal
_LOG_SECONDS: Final = 30.0  #: seconds between two lines in a log


class ProgressLine:
    """Progress display of some work; on a terminal, the line is removed afterwards.

    As a context manager, it starts with a total, which is 0 if it is not known in advance.

    Args:
        doing: the activity.
        noun: the unit counted.
        stream: output stream.
        clock: returns the time in seconds.
        announced: whether a log also gets a line at the start and at the end.
        logged: whether anything is written if the stream is not a terminal.
        total: the amount that a context manager starts with.
    """

    def __init__(
        self,
        doing: str,
        noun: str,
        stream: TextIO,
        *,
        clock: Callable[[], float] = time.monotonic,
        announced: bool = False,
        logged: bool = True,
        total: int = 0,
    ) -> None:
        self._doing = doing
        self._noun = noun
        self._stream = stream
        self._clock = clock
        self._terminal = stream.isatty()
        self._announced = announced and not self._terminal
        self._hidden = not (logged or self._terminal)
        self._total, self._done = total, 0
        self._started = self._shown_at = 0.0

    def __enter__(self) -> Self:
        self.start(self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.finish()

    def start(self, total: int) -> None:
        """Start counting towards a total."""
        self._total, self._done = total, 0
        self._started = self._shown_at = self._clock()
        if self._terminal or self._announced:
            self._tell(0, self._started)

    def __call__(self, done: int, total: int = 0) -> None:
        """Update the amount done, and the total if it is now known; show them if an update is due."""
        if self._hidden:
            return
        self._done = done
        self._total = total or self._total
        now = self._clock()
        if now - self._shown_at >= (_UPDATE_SECONDS if self._terminal else _LOG_SECONDS):
            self._tell(done, now)

    def finish(self) -> None:
        """Remove the line from a terminal, or write the last line to a log."""
        if self._terminal:
            self._stream.write(_CLEAR)
            self._stream.flush()
        elif self._announced and self._done:
            self._tell(self._done, self._clock())

    def _tell(self, done: int, now: float) -> None:
        self._shown_at = now
        line = self.text(done, now - self._started)
        self._stream.write(_CLEAR + line if self._terminal else line + "\n")
        self._stream.flush()

    def text(self, done: int, seconds: float) -> str:
        """Return the line for an amount done after some seconds."""
        of_total = f" of {self._total:,}" if self._total else ""
        text = f"{self._doing}: {done:,}{of_total} {self._noun}"
        if not done or seconds <= 0:
            return text
        speed = done / seconds
        if self._total <= done:
            return f"{text}, {speed:,.0f}/s"
        return f"{text}, {speed:,.0f}/s, {format_time_left((self._total - done) / speed)} left"
