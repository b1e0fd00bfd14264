"""Terminal output of the examples: steps, commands, and one line of progress at a time."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Self, TextIO

__all__ = ["Progress", "Talk", "from_here", "spelled"]

REDRAW_EVERY: Final = 0.2
CLEAR_LINE: Final = "\r\033[K"


class Talk:
    """Output for people on one stream, coloured only on a terminal."""

    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self.watched = stream.isatty()
        self._coloured = self.watched and not os.environ.get("NO_COLOR")
        self._began = time.monotonic()

    @property
    def passed(self) -> float:
        """Seconds since the start: the clock of all output."""
        return time.monotonic() - self._began

    def step(self, number: int, title: str) -> None:
        """Print the heading of a step."""
        self.say("")
        self.say(f"{self._in('1', f'{number}  {title}')}  {self._in('2', f'[{self.passed:.0f} s]')}")

    def say(self, words: str) -> None:
        """Print a line."""
        print(words, file=self._stream, flush=True)

    def tell(self, words: str) -> None:
        """Print lines that belong to a step, indented."""
        for line in words.splitlines():
            self.say(f"   {line}".rstrip())

    def command(self, words: Sequence[str | Path]) -> None:
        """Print a command as it would be typed."""
        self.typed(spelled(words))

    def typed(self, line: str) -> None:
        """Print a line that would be typed."""
        self.say(f"   {self._in('36', '$ ' + line)}")

    def progress(self, what: str, total: int) -> Progress:
        """Begin a progress line."""
        return Progress(self._stream, what, total, watched=self.watched)

    def _in(self, colour: str, words: str) -> str:
        return f"\033[{colour}m{words}\033[0m" if self._coloured else words


class Progress:
    """One line with the count, the total, the speed and the time left; drawn only on a terminal."""

    def __init__(self, stream: TextIO, what: str, total: int, *, watched: bool) -> None:
        self._stream, self._what, self._total, self._watched = stream, what, total, watched
        self._began = self._drawn = time.monotonic()
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._watched:
            self._stream.write(CLEAR_LINE)
            self._stream.flush()

    def add(self, number: int = 1) -> None:
        """Add to the count."""
        self._done += number
        now = time.monotonic()
        if self._watched and now - self._drawn >= REDRAW_EVERY:
            self._drawn = now
            self._draw(now)

    def each(self, things: Sequence[object], *, every: int = 1_000) -> Iterator[range]:
        """Yield slices of a sequence, and count each slice when it is done."""
        for start in range(0, len(things), every):
            part = range(start, min(start + every, len(things)))
            yield part
            self.add(len(part))

    def _draw(self, now: float) -> None:
        speed = self._done / max(now - self._began, 1e-6)
        left = (self._total - self._done) / speed if speed else 0
        line = f"   {self._what}: {self._done:,} of {self._total:,}, {speed:,.0f} a second, {left:.0f} s left"
        self._stream.write(CLEAR_LINE + line)
        self._stream.flush()


def spelled(words: Sequence[str | Path]) -> str:
    """Return a command as it would be typed, with relative file names."""
    return shlex.join(map(from_here, words))


def from_here(word: str | Path) -> str:
    """Return a word of a command; a path below the current folder becomes relative."""
    if isinstance(word, Path) and word.is_absolute() and word.is_relative_to(Path.cwd()):
        return str(word.relative_to(Path.cwd()))
    return str(word)
