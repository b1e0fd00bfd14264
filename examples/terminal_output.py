"""Terminal output of the examples: steps, commands, and one line of progress at a time."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Self, TextIO

__all__ = ["Progress", "TerminalOutput", "format_argument", "format_command"]

REDRAW_SECONDS: Final = 0.2
CLEAR_LINE: Final = "\r\033[K"


class TerminalOutput:
    """Output for people on one stream, coloured only on a terminal."""

    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self.is_terminal = stream.isatty()
        self._coloured = self.is_terminal and not os.environ.get("NO_COLOR")
        self._start_time = time.monotonic()

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the start of the program."""
        return time.monotonic() - self._start_time

    def print_step(self, step_number: int, title: str) -> None:
        """Print the heading of a step."""
        self.print_line("")
        heading = self._apply_colour("1", f"{step_number}  {title}")
        self.print_line(f"{heading}  {self._apply_colour('2', f'[{self.elapsed_seconds:.0f} s]')}")

    def print_line(self, text: str) -> None:
        """Print a line."""
        print(text, file=self._stream, flush=True)

    def print_indented(self, text: str) -> None:
        """Print lines of a step, indented."""
        for line in text.splitlines():
            self.print_line(f"   {line}".rstrip())

    def print_command(self, command: Sequence[str | Path]) -> None:
        """Print a command as a user would type it."""
        self.print_shell_line(format_command(command))

    def print_shell_line(self, line: str) -> None:
        """Print a line of shell as a user would type it."""
        self.print_line(f"   {self._apply_colour('36', '$ ' + line)}")

    def start_progress(self, activity: str, total: int) -> Progress:
        """Start a line of progress."""
        return Progress(self._stream, activity, total, is_terminal=self.is_terminal)

    def _apply_colour(self, colour: str, text: str) -> str:
        return f"\033[{colour}m{text}\033[0m" if self._coloured else text


class Progress:
    """A line with count, total, speed and time left, which is drawn only on a terminal."""

    def __init__(self, stream: TextIO, activity: str, total: int, *, is_terminal: bool) -> None:
        self._stream, self._activity, self._total, self._is_terminal = stream, activity, total, is_terminal
        self._start_time = self._last_redraw = time.monotonic()
        self._done_count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            self._stream.write(CLEAR_LINE)
            self._stream.flush()

    def add_done(self, count: int = 1) -> None:
        """Add to the count."""
        self._done_count += count
        now = time.monotonic()
        if self._is_terminal and now - self._last_redraw >= REDRAW_SECONDS:
            self._last_redraw = now
            self._draw(now)

    def iterate_slices(self, items: Sequence[object], *, slice_size: int = 1_000) -> Iterator[range]:
        """Yield ranges of indices of a sequence, and count each when its items are done."""
        for start in range(0, len(items), slice_size):
            indices = range(start, min(start + slice_size, len(items)))
            yield indices
            self.add_done(len(indices))

    def _draw(self, now: float) -> None:
        per_second = self._done_count / max(now - self._start_time, 1e-6)
        seconds_left = (self._total - self._done_count) / per_second if per_second else 0
        count = f"{self._done_count:,} of {self._total:,}"
        speed = f"{per_second:,.0f} a second, {seconds_left:.0f} s left"
        self._stream.write(f"{CLEAR_LINE}   {self._activity}: {count}, {speed}")
        self._stream.flush()


def format_command(command: Sequence[str | Path]) -> str:
    """Return a command as a user would type it, with relative file names."""
    return shlex.join(map(format_argument, command))


def format_argument(argument: str | Path) -> str:
    """Return an argument as text; a path below the current folder becomes relative."""
    if isinstance(argument, Path) and argument.is_absolute() and argument.is_relative_to(Path.cwd()):
        return str(argument.relative_to(Path.cwd()))
    return str(argument)
