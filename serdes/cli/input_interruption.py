"""Interruption of a command that reads input: SIGINT and SIGTERM end the reading, and nothing else."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType, TracebackType
from typing import Any, Final, Self, TextIO, TypeVar

from contractlog.compatibility.errors import UsageError

__all__ = ["Interruption", "read_lines"]

T = TypeVar("T")

_MAX_LINE_CHARACTERS: Final = 64 * 1024 * 1024


class Interruption:
    """Context in which SIGINT and SIGTERM end the reading of input, and nothing else."""

    def __init__(self) -> None:
        self.happened = False
        self._reading = False
        self._previous_handlers: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous_handlers[number] = signal.signal(number, self._record_event)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)

    def read(self, readline: Callable[[], str]) -> str:
        """Return the next line, or an empty string after an interruption, also while waiting."""
        return self.wait(readline) or ""

    def wait(self, call: Callable[[], T]) -> T | None:
        """Return the result of a call that may block, or None after an interruption, also while waiting."""
        self._reading = True
        try:
            return None if self.happened else call()
        except _ReadInterrupted:
            return None
        finally:
            self._reading = False

    def _record_event(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.happened = True
        if self._reading:
            self._reading = False
            raise _ReadInterrupted


class _ReadInterrupted(BaseException):
    """Ends a blocking read; never raised out of this module."""


def read_lines(source: TextIO, interruption: Interruption) -> Iterator[tuple[int, str]]:
    """Yield the non-blank lines with their numbers, until the end or an interruption.

    Raises:
        UsageError: a line is too long, or not UTF-8; to detect that, the source must be opened with
            ``errors="surrogateescape"``.
    """
    number = 0
    while line := interruption.read(partial(source.readline, _MAX_LINE_CHARACTERS + 1)):
        number += 1
        if len(line) > _MAX_LINE_CHARACTERS:
            raise UsageError(f"line {number} has more than {_MAX_LINE_CHARACTERS:,} characters")
        try:
            line.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"line {number} is no UTF-8 (column {error.start + 1})") from None
        if line.strip():
            yield number, line
