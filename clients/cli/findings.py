"""Text output of findings: position, detail and suggested fixes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from typing import Final

from contractlog.clients.cli.layout import laid_out
from contractlog.clients.cli.output import harmless
from contractlog.compatibility.level import Direction
from contractlog.compatibility.located import Located

__all__ = ["lines"]

_LONGEST_LINE: Final = 10_000  #: characters; a text with a longer line is reformatted before its diff is shown


def lines(file: str, text: str, found: Located) -> Iterator[str]:
    """Yield the output lines of a finding in a file."""
    where = f"{file}:{found.position}" if found.position else f"leaned on by {file}"
    yield f"    {harmless(where)}  at {harmless(found.pointer or '/')}  {found.finding.check}"
    yield f"        {harmless(_sentence(found))}"
    if found.mend:
        yield f"        fix: {harmless(found.mend)}"
    for mend in found.mends[:1]:
        yield from (f"        {line}" for line in _edit(text, mend.text))
    for mend in found.mends[1:]:
        yield f"        or: {harmless(mend.sentence)}"


def _sentence(found: Located) -> str:
    if not found.earlier:
        return found.finding.detail
    reads = (
        f"the new schema cannot read what {found.earlier} wrote"
        if found.direction is Direction.BACKWARD
        else f"{found.earlier} cannot read what the new schema writes"
    )
    return f"{reads}: {found.finding.detail}"


def _edit(before: str, after: str) -> Iterator[str]:
    """Yield the diff of two texts as a hunk that ``patch`` can apply to the file.

    If a line is too long to read, both texts are reformatted first, and the diff has no hunk header.
    """
    if max(map(len, before.split("\n"))) > _LONGEST_LINE:
        laid = unified_diff(laid_out(before).split("\n"), laid_out(after).split("\n"), n=1, lineterm="")
        yield from (_shown(line) for line in laid if not line.startswith(("---", "+++", "@@")))
        return
    if before.count("\r\n") == before.count("\n"):
        after = re.sub(r"(?<!\r)\n", "\r\n", after) if "\r\n" in before else after
    for line in list(unified_diff(_kept_lines(before), _kept_lines(after), n=1))[2:]:
        yield _shown(line.removesuffix("\n"))
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _kept_lines(text: str) -> list[str]:
    """Split a text into lines like ``patch``, with line ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _shown(line: str) -> str:
    """Escape a line except for tabs and the CR of a CRLF, which ``patch`` needs."""
    inner = line.removesuffix("\r")
    return "\t".join(map(harmless, inner.split("\t"))) + line[len(inner) :]
