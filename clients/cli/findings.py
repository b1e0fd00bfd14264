"""Findings as the author of a file reads them on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import Final

from contractlog.clients.cli.layout import laid_out
from contractlog.clients.cli.output import harmless
from contractlog.compatibility.level import Direction
from contractlog.compatibility.located import Located

__all__ = ["lines"]

_LONG_LINE: Final = 160


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
    if not found.earlier:
        return found.finding.detail
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
