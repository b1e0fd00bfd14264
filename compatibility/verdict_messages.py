"""Messages of the reference implementation for a verdict, as in ``verbose=true`` and error details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from contractlog.compatibility.common_check_catalogue import SCHEMA_TYPE_CHANGED
from contractlog.compatibility.finding import Comparison, Verdict
from contractlog.compatibility.level import Direction

__all__ = ["format_details", "format_messages"]

_MAX_SCHEMA: Final = 10 * 1024
_SIDES: Final = {
    Direction.BACKWARD: {"reader": "new", "writer": "old"},
    Direction.FORWARD: {"reader": "old", "writer": "new"},
}


def format_messages(
    verdict: Verdict, *, validate_fields: bool = False, extra_messages: Sequence[str] = ()
) -> list[str]:
    """Return the reference implementation's messages for a verdict; empty for a compatible one.

    One message for each difference, then the earlier version and its schema (only after the last direction of the
    level), then the settings. ``extra_messages`` come first.
    """
    if verdict.compatible and not extra_messages:
        return []
    lines = [*extra_messages]
    lines += [text for comparison in verdict.comparisons for text in _format_comparison(comparison, verdict)]
    return [*lines, f"{{validateFields: '{str(validate_fields).lower()}', compatibility: '{verdict.level}'}}"]


def format_details(verdict: Verdict, *, validate_fields: bool = False, extra_messages: Sequence[str] = ()) -> str:
    """Return the same list as formatted in the message of a rejected registration."""
    return f"[{', '.join(format_messages(verdict, validate_fields=validate_fields, extra_messages=extra_messages))}]"


def _format_comparison(comparison: Comparison, verdict: Verdict) -> Iterator[str]:
    sides = _SIDES[comparison.direction]
    for finding in comparison.findings:
        yield from (text.format(**sides) for text in (finding.message, *finding.later_messages) if text)
    last = comparison.direction is verdict.level.directions[-1]
    if last and comparison.findings[0].check != SCHEMA_TYPE_CHANGED.id:
        yield from _format_earlier_version(comparison)


def _format_earlier_version(comparison: Comparison) -> Iterator[str]:
    text = comparison.earlier_text
    if comparison.version is not None:
        yield f"{{oldSchemaVersion: {comparison.version}}}"
    if len(text) > _MAX_SCHEMA:
        yield f"{{oldSchema: <truncated> '{text[:_MAX_SCHEMA]}...'}}"
    else:
        yield f"{{oldSchema: '{text}'}}"
