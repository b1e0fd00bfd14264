"""What engines report, and what it adds up to at a level."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.compatibility.level import Direction, Level

__all__ = ["Comparison", "Finding", "Verdict"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason why a reader cannot follow a writer."""

    check: str  #: catalogue id, e.g. ``AVRO_FIELD_DEFAULT_MISSING``
    reader_at: str  #: JSON Pointer into the reader, e.g. ``/fields/2``
    writer_at: str  #: JSON Pointer into the writer; where the reader looked
    detail: str  #: for people; nothing may parse it
    message: str = (
        ""  #: the reference's own text: a format text with the slots ``{reader}`` and ``{writer}``, all else escaped
    )
    mend: str = ""  #: what would remove this finding, as a sentence for the author of the candidate
    mend_writer: str = ""  #: the same where the candidate is the writer; ``judge`` puts it into ``mend``


@dataclass(frozen=True, slots=True)
class Comparison:
    """The findings between a candidate and one earlier version, in one direction."""

    direction: Direction
    findings: tuple[Finding, ...]
    version: int | None = None  #: the earlier version's number, where it has one
    earlier_text: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Findings folded for a level: an empty one is a yes."""

    level: Level
    comparisons: tuple[Comparison, ...] = ()  #: those that failed, in the order of the reference's messages

    @property
    def compatible(self) -> bool:
        """Whether the candidate may follow."""
        return not any(comparison.findings for comparison in self.comparisons)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in order."""
        return tuple(finding for comparison in self.comparisons for finding in comparison.findings)
