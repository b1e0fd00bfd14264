"""One line on a terminal: what, how much of how much, how fast, how long still. Nothing when nobody watches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TextIO

__all__ = ["ProgressLine"]

_MINUTE: Final = 60
_HOUR: Final = 3600
_CLEAR: Final = "\r\x1b[K"


class ProgressLine:
    """Writes over itself while work is done, and is gone afterwards."""

    def __init__(self, doing: str, noun: str, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._doing = doing
        self._noun = noun
        self._stream = stream
        self._clock = clock
        self._shown = stream.isatty()
        self._total = 0
        self._started = 0.0

    def start(self, total: int) -> None:
        """Begin to count to a total."""
        self._total = total
        self._started = self._clock()
        self(0)

    def __call__(self, done: int) -> None:
        """Show how much is done."""
        if self._shown:
            self._stream.write(_CLEAR + self.text(done))
            self._stream.flush()

    def finish(self) -> None:
        """Take the line away."""
        if self._shown:
            self._stream.write(_CLEAR)
            self._stream.flush()

    def text(self, done: int) -> str:
        """Return the line."""
        said = f"{self._doing}: {done:,} of {self._total:,} {self._noun}"
        seconds = self._clock() - self._started
        if not done or seconds <= 0:
            return said
        speed = done / seconds
        left = (self._total - done) / speed
        return f"{said}, {speed:,.0f}/s, {_duration(left)} left"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole >= _HOUR:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{whole // _MINUTE} min {whole % _MINUTE} s" if whole >= _MINUTE else f"{whole} s"
