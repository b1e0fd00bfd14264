"""How the examples speak on a terminal: steps, the commands they run, and one line of progress at a time."""

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
    """Words for people, on one stream; colours only where somebody looks."""

    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self.watched = stream.isatty()
        self._coloured = self.watched and not os.environ.get("NO_COLOR")
        self._began = time.monotonic()

    @property
    def passed(self) -> float:
        """Seconds since the talk began: the one clock of all that is said."""
        return time.monotonic() - self._began

    def step(self, number: int, title: str) -> None:
        """Begin a step."""
        self.say("")
        self.say(f"{self._in('1', f'{number}  {title}')}  {self._in('2', f'[{self.passed:.0f} s]')}")

    def say(self, words: str) -> None:
        """Say a sentence."""
        print(words, file=self._stream, flush=True)

    def tell(self, words: str) -> None:
        """Say a sentence that belongs to a step."""
        for line in words.splitlines():
            self.say(f"   {line}".rstrip())

    def command(self, words: Sequence[str | Path]) -> None:
        """Show a command as one would type it."""
        self.typed(spelled(words))

    def typed(self, line: str) -> None:
        """Show a line that one would type."""
        self.say(f"   {self._in('36', '$ ' + line)}")

    def progress(self, what: str, total: int) -> Progress:
        """Begin to count something."""
        return Progress(self._stream, what, total, watched=self.watched)

    def _in(self, colour: str, words: str) -> str:
        return f"\033[{colour}m{words}\033[0m" if self._coloured else words


class Progress:
    """One line that says what, how much of how much, how fast, and how long still; drawn only on a terminal."""

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
        """Count some more."""
        self._done += number
        now = time.monotonic()
        if self._watched and now - self._drawn >= REDRAW_EVERY:
            self._drawn = now
            self._draw(now)

    def each(self, things: Sequence[object], *, every: int = 1_000) -> Iterator[range]:
        """Go through things in slices, counting each slice when it is done."""
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
    """Return a command as one would type it, files named from here."""
    return shlex.join(map(from_here, words))


def from_here(word: str | Path) -> str:
    """Return a word of a command; a file is named from the folder we are in."""
    if isinstance(word, Path) and word.is_absolute() and word.is_relative_to(Path.cwd()):
        return str(word.relative_to(Path.cwd()))
    return str(word)
