"""Interface between the search for fixes and the formats: a case and its possible fixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.mending.edits import Edit, Source, tokens

__all__ = ["Case", "Way", "fitted", "flat"]


@dataclass(frozen=True, slots=True)
class Case:
    """A finding between two texts, with its position in each."""

    finding: Finding
    backward: bool  #: the candidate is the reader
    text: str
    at: str  #: JSON Pointer into the candidate's text
    earlier_text: str
    there: str  #: JSON Pointer into the earlier text
    beside: tuple[str, ...] = ()  #: the texts of the candidate's dependencies
    earlier_beside: tuple[str, ...] = ()  #: the other texts of the earlier version


@dataclass(frozen=True, slots=True)
class Way:
    """A possible fix: a change of the candidate's text that may remove a finding."""

    sentence: str
    edits: Sequence[Edit]
    undo: bool = False  #: undoes the change, so its size is the size of the change
    rank: int = 1  #: lower ranks are tried first among the fixes that are small enough


def fitted(text: str, origin: Source, start: int, target: Source, place: int) -> str:
    """Format a part of one text for another: on one line, or indented like its new surroundings."""
    if "\n" not in text:
        return text
    if "\n" not in target.text.strip():
        return flat(text, spaced=": " in target.text or ", " in target.text)
    return text.replace("\n" + _indent(origin.text, start), "\n" + _indent(target.text, place))


def flat(text: str, *, spaced: bool) -> str:
    r"""Put a JSON text on one line, without comments.

    >>> flat('{ "a" : 1,\n "b":[] }', spaced=True)
    '{"a": 1, "b": []}'
    """
    space = " " if spaced else ""
    return "".join(piece + space if piece in ",:" else piece for piece in tokens(text))


def _indent(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip())]
