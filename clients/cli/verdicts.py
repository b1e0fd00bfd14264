"""Text output of checked files: a verdict per file, then position, detail and fix of each finding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from contractlog.clients.cli.file_check import FileCheck
from contractlog.clients.cli.findings import finding_lines
from contractlog.clients.cli.output import Tone, with_tone
from contractlog.compatibility.level import Level
from contractlog.compatibility.terminal_text import escape_line

__all__ = ["detail_lines", "verdict_line"]

_VERSION: Final = re.compile(r"version (\d+)")
_TONES: Final = {"registered": Tone.PLAIN, "compatible": Tone.GOOD, "incompatible": Tone.BAD, "refused": Tone.BAD}


def verdict_line(check: FileCheck) -> str:
    """Return one line with the file, its verdict, and the versions it was compared with."""
    return with_tone(
        _TONES[check.outcome],
        escape_line(f"{check.file.path}: {_describe_verdict(check)}"),
    )


def detail_lines(check: FileCheck) -> Iterator[str]:
    """Yield the lines below a verdict: findings, messages and notes."""
    for finding in check.findings:
        if check.outcome == "incompatible" or not finding.earlier:
            yield from finding_lines(str(check.file.path), check.file.draft.text, finding)
    if check.outcome == "incompatible" and not any(finding.earlier for finding in check.findings):
        for message in check.messages:
            yield f"    the registry says: {escape_line(message)}"
    if check.outcome == "refused":
        for message in check.messages:
            yield f"    {escape_line(message)}"
    for note in check.notes:
        yield f"    note: {escape_line(note)}"


def _describe_verdict(check: FileCheck) -> str:
    subject = f"`{check.file.subject}`"
    if check.registered is not None:
        registered = check.registered
        return f"registered already, as version {registered.version} of {subject} (id {registered.schema_id})"
    if check.outcome == "refused":
        return f"cannot be registered: new versions of {subject} are refused"
    if check.outcome == "incompatible" and not check.compared:
        return f"rejected by the registry under {subject}"
    if check.level is Level.NONE:
        return f"compatible: level NONE lets {subject} take any schema"
    if not check.compared:
        return f"compatible: {subject} has no version yet"
    with_what = _join_versions(check.compared)
    return f"{check.outcome} with {with_what} of {subject} at level {check.level}"


def _join_versions(names: tuple[str, ...]) -> str:
    """Join registered versions as one range, and preceding files as another.

    >>> _join_versions(("version 1", "version 2", "orders.avsc"))
    'versions 1 to 2 and orders.avsc'
    """
    numbers = [match[1] for match in map(_VERSION.fullmatch, names) if match]
    files = names[len(numbers) :]
    listed = (
        [f"version {numbers[0]}" if len(numbers) == 1 else f"versions {numbers[0]} to {numbers[-1]}"] if numbers else []
    )
    if files:
        listed.append(files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}")
    return " and ".join(listed)
