"""Findings of a comparison, and the verdict that sums them up for a level."""

from __future__ import annotations

from dataclasses import dataclass, field

from contractlog.compatibility.level import Direction, Level

__all__ = ["Comparison", "Finding", "Verdict"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason why a reader schema cannot read what a writer schema wrote."""

    check: str  #: catalogue id, e.g. ``AVRO_FIELD_DEFAULT_MISSING``
    reader_at: str  #: JSON Pointer into the reader schema, e.g. ``/fields/2``
    writer_at: str  #: JSON Pointer into the writer schema, to the position that the reader is compared with
    detail: str  #: for people; nothing may parse it
    #: the reference's message: a format string with slots ``{reader}`` and ``{writer}``, other braces escaped
    message: str = ""
    fix: str = ""  #: suggested fix, as a sentence for the author of the candidate
    writer_fix: str = ""  #: the same if the candidate is the writer; ``find_differences`` copies it to ``fix``
    #: further messages of the reference that come next, about other positions that fail for a reason reported before
    later_messages: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The findings between a candidate and one earlier version, in one direction."""

    direction: Direction
    findings: tuple[Finding, ...]
    version: int | None = None  #: number of the earlier version, if it has one
    earlier_text: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a compatibility check at a level; compatible if it has no findings."""

    level: Level
    comparisons: tuple[Comparison, ...] = ()  #: only those with findings, in the order of the reference's messages

    @property
    def compatible(self) -> bool:
        """True if the candidate is compatible."""
        return not any(comparison.findings for comparison in self.comparisons)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in order."""
        return tuple(finding for comparison in self.comparisons for finding in comparison.findings)
