"""Findings as the author of a file meets them: place, sentence, and the mends that were tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any, Final

from contractlog.clients.cli.layout import laid_out
from contractlog.clients.cli.output import harmless
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.level import Direction
from contractlog.compatibility.mends import Mend
from contractlog.compatibility.positions import Position, candidate_at, place

__all__ = ["Located", "lines", "located"]

_LONG_LINE: Final = 160


@dataclass(frozen=True, slots=True)
class Located:
    """A finding, and where in the file the author meets it."""

    finding: Finding
    direction: Direction
    earlier: str  #: the version it was compared with, in words
    pointer: str
    position: Position | None  #: None where it points into a schema that the file leans on
    mends: tuple[Mend, ...] = ()  #: tried, the one to take first

    @property
    def mend(self) -> str:
        """What removes the finding, in a sentence: as it was tried, else as the check has it."""
        return self.mends[0].sentence if self.mends else self.finding.mend

    def body(self) -> dict[str, Any]:
        """Write the finding for machines."""
        return {
            "check": self.finding.check,
            "direction": self.direction.value,
            "compared_with": self.earlier,
            "pointer": self.pointer,
            "line": None if self.position is None else self.position.line,
            "column": None if self.position is None else self.position.column,
            "detail": self.finding.detail,
            "mend": self.mend,
            "mends": [{"sentence": mend.sentence, "text": mend.text} for mend in self.mends],
        }


def located(finding: Finding, direction: Direction, earlier: str, text: str, mends: tuple[Mend, ...] = ()) -> Located:
    """Find the place of a finding in the text of the file."""
    return Located(
        finding, direction, earlier, candidate_at(finding, direction), place(text, finding, direction), mends
    )


def lines(file: str, text: str, found: Located) -> Iterator[str]:
    """Yield the lines that tell a finding of a file."""
    where = f"{file}:{found.position}" if found.position else f"leaned on by {file}"
    yield f"    {harmless(where)}  at {harmless(found.pointer or '/')}  {found.finding.check}"
    yield f"        {harmless(_sentence(found))}"
    if found.mend:
        yield f"        mend: {harmless(found.mend)}"
    for mend in found.mends[:1]:
        yield from (f"        {line}" for line in _edit(text, mend.text))
    for mend in found.mends[1:]:
        yield f"        or: {harmless(mend.sentence)}"


def _sentence(found: Located) -> str:
    reads = (
        f"it cannot read what {found.earlier} wrote"
        if found.direction is Direction.BACKWARD
        else f"{found.earlier} cannot read what it writes"
    )
    return f"{reads}: {found.finding.detail}"


def _edit(before: str, after: str) -> Iterator[str]:
    """Yield the difference of two texts line by line; texts in long lines are laid out for it."""
    if any(len(line) > _LONG_LINE for text in (before, after) for line in text.split("\n")):
        before, after = laid_out(before), laid_out(after)
    told = unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    yield from (harmless(line) for line in list(told)[2:])
