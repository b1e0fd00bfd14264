"""Text output of checked files: a verdict per file, then position, detail and fix of each finding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from contractlog.clients.cli.examine import Examined
from contractlog.clients.cli.findings import lines
from contractlog.clients.cli.output import Tone, harmless, toned
from contractlog.compatibility.level import Level

__all__ = ["details", "verdict_line"]

_NUMBERED: Final = re.compile(r"version (\d+)")
_TONES: Final = {"registered": Tone.PLAIN, "compatible": Tone.GOOD, "incompatible": Tone.BAD, "refused": Tone.BAD}


def verdict_line(examined: Examined) -> str:
    """Return one line with the file, its verdict, and the versions it was compared with."""
    return toned(
        _TONES[examined.outcome],
        harmless(f"{examined.file.path}: {_verdict(examined)}"),
    )


def details(examined: Examined) -> Iterator[str]:
    """Yield the lines below a verdict: findings, messages and notes."""
    for found in examined.findings:
        if examined.outcome == "incompatible" or not found.earlier:
            yield from lines(str(examined.file.path), examined.file.draft.text, found)
    if examined.outcome == "incompatible" and not any(found.earlier for found in examined.findings):
        for message in examined.messages:
            yield f"    the registry says: {harmless(message)}"
    if examined.outcome == "refused":
        for message in examined.messages:
            yield f"    {harmless(message)}"
    for note in examined.notes:
        yield f"    note: {harmless(note)}"


def _verdict(examined: Examined) -> str:
    subject = f"`{examined.file.subject}`"
    if examined.registered is not None:
        known = examined.registered
        return f"registered already, as version {known.version} of {subject} (id {known.schema_id})"
    if examined.outcome == "refused":
        return f"cannot be registered: new versions of {subject} are refused"
    if examined.outcome == "incompatible" and not examined.compared:
        return f"rejected by the registry under {subject}"
    if examined.level is Level.NONE:
        return f"compatible: level NONE lets {subject} take any schema"
    if not examined.compared:
        return f"compatible: {subject} has no version yet"
    with_what = _listed(examined.compared)
    return f"{examined.outcome} with {with_what} of {subject} at level {examined.level}"


def _listed(names: tuple[str, ...]) -> str:
    """Join registered versions as one range, and preceding files as another.

    >>> _listed(("version 1", "version 2", "orders.avsc"))
    'versions 1 to 2 and orders.avsc'
    """
    numbers = [match[1] for match in map(_NUMBERED.fullmatch, names) if match]
    files = names[len(numbers) :]
    listed = (
        [f"version {numbers[0]}" if len(numbers) == 1 else f"versions {numbers[0]} to {numbers[-1]}"] if numbers else []
    )
    if files:
        listed.append(files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}")
    return " and ".join(listed)
