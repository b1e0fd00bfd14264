"""Description of a compatibility check: the meaning of its id, with examples."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CheckDescription", "CheckExample"]


@dataclass(frozen=True, slots=True)
class CheckExample:
    """A pair of schema texts, reader and writer, that illustrates a check."""

    reader: str
    writer: str


@dataclass(frozen=True, slots=True)
class CheckDescription:
    """A compatibility check. The meaning of an id never changes; its wording may."""

    id: str
    title: str
    explanation: str
    bad: CheckExample | None = None  #: yields this finding and no other
    good: CheckExample | None = None  #: the same intent without a finding
    of_candidate: bool = False  #: compares the candidate with the previous version, independent of direction
