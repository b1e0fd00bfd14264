"""Progress line of an import, export or verification."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final, Self, TextIO

__all__ = ["TransferProgress"]

_EVERY: Final = 0.2  #: seconds between two updates
_CLEAR: Final = "\r\x1b[K"


class TransferProgress:
    """Progress line that overwrites itself and is cleared at the end."""

    def __init__(self, doing: str, noun: str, total: int = 0, stream: TextIO | None = None) -> None:
        self._doing = doing
        self._noun = noun
        self._total = total
        self._stream = stream or sys.stderr
        self._is_shown = self._stream.isatty()
        self._last = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._is_shown:
            self._stream.write(_CLEAR)
            self._stream.flush()

    def __call__(self, done: int, total: int = 0) -> None:
        """Show how much is done, and the total if it is known."""
        now = time.monotonic()
        if not self._is_shown or now - self._last < _EVERY:
            return
        self._last = now
        total = total or self._total
        of = f" of {total:,}" if total else ""
        self._stream.write(f"{_CLEAR}{self._doing}: {done:,}{of} {self._noun}")
        self._stream.flush()
