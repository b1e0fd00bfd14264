"""A finding to be fixed, and a possible fix that is not verified yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.fixes.json_text_edits import Edit

__all__ = ["FixContext", "ProposedFix"]


@dataclass(frozen=True, slots=True)
class FixContext:
    """A finding between two texts, with its position in each."""

    finding: Finding
    backward: bool  #: the candidate is the reader
    text: str
    at: str  #: JSON Pointer into the candidate's text
    earlier_text: str
    earlier_at: str  #: JSON Pointer into the earlier text
    dependency_texts: tuple[str, ...] = ()  #: the texts of the candidate's dependencies
    earlier_other_texts: tuple[str, ...] = ()  #: the other texts of the earlier version


@dataclass(frozen=True, slots=True)
class ProposedFix:
    """A possible fix: a change of the candidate's text that may remove a finding."""

    sentence: str
    edits: Sequence[Edit]
    undo: bool = False  #: undoes the change, so its size is the size of the change
    rank: int = 1  #: lower ranks are tried first among the fixes that are small enough
