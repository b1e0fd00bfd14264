"""One line on a terminal that tells how far a move is; nothing when nobody watches."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final, Self, TextIO

__all__ = ["Progress"]

_EVERY: Final = 0.2  #: seconds between two looks of the line
_CLEAR: Final = "\r\x1b[K"


class Progress:
    """Writes over itself, and is gone when the work is done."""

    def __init__(self, doing: str, noun: str, stream: TextIO | None = None) -> None:
        self._doing = doing
        self._noun = noun
        self._stream = stream or sys.stderr
        self._shown = self._stream.isatty()
        self._last = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            self._stream.write(_CLEAR)
            self._stream.flush()

    def __call__(self, done: int, total: int = 0) -> None:
        """Show how much is done, and of how much where that is known."""
        now = time.monotonic()
        if not self._shown or now - self._last < _EVERY:
            return
        self._last = now
        of = f" of {total:,}" if total else ""
        self._stream.write(f"{_CLEAR}{self._doing}: {done:,}{of} {self._noun}")
        self._stream.flush()
