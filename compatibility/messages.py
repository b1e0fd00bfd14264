"""Messages of the reference implementation for a verdict, as in ``verbose=true`` and error details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from contractlog.compatibility.checks import SCHEMA_TYPE_CHANGED
from contractlog.compatibility.finding import Comparison, Verdict
from contractlog.compatibility.level import Direction

__all__ = ["details", "messages"]

_MAX_SCHEMA: Final = 10 * 1024
_SIDES: Final = {
    Direction.BACKWARD: {"reader": "new", "writer": "old"},
    Direction.FORWARD: {"reader": "old", "writer": "new"},
}


def messages(verdict: Verdict, *, validate_fields: bool = False, also: Sequence[str] = ()) -> list[str]:
    """Return the reference implementation's messages for a verdict; empty for a compatible one.

    One message for each difference, then the earlier version and its schema (only after the last direction of the
    level), then the settings. The messages in ``also`` come first.
    """
    if verdict.compatible and not also:
        return []
    told = [*also]
    told += [text for comparison in verdict.comparisons for text in _told(comparison, verdict)]
    return [*told, f"{{validateFields: '{str(validate_fields).lower()}', compatibility: '{verdict.level}'}}"]


def details(verdict: Verdict, *, validate_fields: bool = False, also: Sequence[str] = ()) -> str:
    """Return the same list as formatted in the message of a rejected registration."""
    return f"[{', '.join(messages(verdict, validate_fields=validate_fields, also=also))}]"


def _told(comparison: Comparison, verdict: Verdict) -> Iterator[str]:
    sides = _SIDES[comparison.direction]
    yield from (finding.message.format(**sides) for finding in comparison.findings if finding.message)
    last = comparison.direction is verdict.level.directions[-1]
    if last and comparison.findings[0].check != SCHEMA_TYPE_CHANGED.id:
        yield from _earlier(comparison)


def _earlier(comparison: Comparison) -> Iterator[str]:
    text = comparison.earlier_text
    if comparison.version is not None:
        yield f"{{oldSchemaVersion: {comparison.version}}}"
    if len(text) > _MAX_SCHEMA:
        yield f"{{oldSchema: <truncated> '{text[:_MAX_SCHEMA]}...'}}"
    else:
        yield f"{{oldSchema: '{text}'}}"
