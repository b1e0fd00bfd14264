"""Text output of findings: position, detail and suggested fixes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from typing import Final

from contractlog.clients.cli.json_format import format_json
from contractlog.compatibility.level import Direction
from contractlog.compatibility.located_finding import LocatedFinding
from contractlog.compatibility.terminal_text import escape_line

__all__ = ["finding_lines"]

_LONGEST_LINE: Final = 10_000  #: characters; a text with a longer line is reformatted before its diff is shown


def finding_lines(file: str, text: str, finding: LocatedFinding) -> Iterator[str]:
    """Yield the output lines of a finding in a file."""
    where = f"{file}:{finding.position}" if finding.position else f"referenced by {file}"
    yield f"    {escape_line(where)}  at {escape_line(finding.pointer or '/')}  {finding.finding.check}"
    yield f"        {escape_line(_describe_finding(finding))}"
    if finding.fix:
        yield f"        fix: {escape_line(finding.fix)}"
    for mend in finding.fixes[:1]:
        yield from (f"        {line}" for line in _diff_lines(text, mend.text))
    for mend in finding.fixes[1:]:
        yield f"        or: {escape_line(mend.sentence)}"


def _describe_finding(finding: LocatedFinding) -> str:
    if not finding.earlier:
        return finding.finding.detail
    reads = (
        f"the new schema cannot read what {finding.earlier} wrote"
        if finding.direction is Direction.BACKWARD
        else f"{finding.earlier} cannot read what the new schema writes"
    )
    return f"{reads}: {finding.finding.detail}"


def _diff_lines(before: str, after: str) -> Iterator[str]:
    """Yield the diff of two texts as a hunk that ``patch`` can apply to the file.

    If a line is too long to read, both texts are reformatted first, and the diff has no hunk header.
    """
    if max(map(len, before.split("\n"))) > _LONGEST_LINE:
        formatted = unified_diff(format_json(before).split("\n"), format_json(after).split("\n"), n=1, lineterm="")
        yield from (_escape_diff_line(line) for line in formatted if not line.startswith(("---", "+++", "@@")))
        return
    if before.count("\r\n") == before.count("\n"):
        after = re.sub(r"(?<!\r)\n", "\r\n", after) if "\r\n" in before else after
    for line in list(unified_diff(_split_lines(before), _split_lines(after), n=1))[2:]:
        yield _escape_diff_line(line.removesuffix("\n"))
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _split_lines(text: str) -> list[str]:
    """Split a text into lines like ``patch``, with line ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _escape_diff_line(line: str) -> str:
    """Escape a line except for tabs and the CR of a CRLF, which ``patch`` needs."""
    inner = line.removesuffix("\r")
    return "\t".join(map(escape_line, inner.split("\t"))) + line[len(inner) :]
