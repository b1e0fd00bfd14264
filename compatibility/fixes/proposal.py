"""Interface between the search for fixes and the formats: a case and its possible fixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.fixes.edits import Edit, JsonSource, split_tokens

__all__ = ["FixContext", "ProposedFix", "fit_layout", "flatten_json"]


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


def fit_layout(text: str, origin: JsonSource, start: int, target: JsonSource, target_start: int) -> str:
    """Format a part of one text for another: on one line, or indented like its new surroundings."""
    if "\n" not in text:
        return text
    if "\n" not in target.text.strip():
        return flatten_json(text, spaced=": " in target.text or ", " in target.text)
    return text.replace("\n" + _indentation_at(origin.text, start), "\n" + _indentation_at(target.text, target_start))


def flatten_json(text: str, *, spaced: bool) -> str:
    r"""Put a JSON text on one line, without comments.

    >>> flatten_json('{ "a" : 1,\n "b":[] }', spaced=True)
    '{"a": 1, "b": []}'
    """
    space = " " if spaced else ""
    return "".join(piece + space if piece in ",:" else piece for piece in split_tokens(text))


def _indentation_at(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip())]
