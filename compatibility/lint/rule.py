"""Lint rules as data, their findings, and the changes of a schema text that fix them.

The ids begin with ``LINT_`` and the format, so that they differ from the ids of compatibility checks: an enum without a
default is ``LINT_AVRO_ENUM_DEFAULT_MISSING``, whereas ``AVRO_ENUM_DEFAULT_MISSING`` compares two versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from contractlog.compatibility.fixes.json_text_edits import Edit, JsonSource, JsonSpan
from contractlog.compatibility.json_positions import Position

__all__ = [
    "Change",
    "LintFinding",
    "LintRule",
    "MoveItemFirst",
    "Problem",
    "RemoveItems",
    "SetMember",
    "Severity",
    "UnwrapItem",
]


class Severity(StrEnum):
    """Severity of a rule, the gravest first."""

    ERROR = "error"  #: certainly a mistake: part of the schema has no effect, or no record can be written
    WARNING = "warning"  #: likely to hurt producers or consumers later
    NOTE = "note"  #: a convention, or a question for the owner

    def reaches(self, threshold: Severity) -> bool:
        """Return True if this severity is as grave as a threshold.

        >>> Severity.WARNING.reaches(Severity.NOTE), Severity.NOTE.reaches(Severity.ERROR)
        (True, False)
        """
        order = list(Severity)
        return order.index(self) <= order.index(threshold)


class Change(Protocol):
    """A change of a schema's text that leaves the rest of it as formatted by its author."""

    def edits(self, source: JsonSource) -> list[Edit]:
        """Return the edits of a schema text; empty if the text has no value at the position."""


@dataclass(frozen=True, slots=True)
class SetMember:
    """Addition of a member to the object at a pointer."""

    at: str
    name: str
    text: str
    after: str | None = ""  #: the member that it follows, else it becomes the last one; None: it becomes the first

    def edits(self, source: JsonSource) -> list[Edit]:
        """Return the edit that adds the member."""
        span = source.find(self.at)
        if span is None or not span.is_object:
            return []
        return [source.set_member(span, self.name, self.text, after=self.after)]


@dataclass(frozen=True, slots=True)
class RemoveItems:
    """Removal of items of the list at a pointer, by their index or their text."""

    at: str
    indexes: tuple[int, ...] = ()
    strings: tuple[str, ...] = ()

    def edits(self, source: JsonSource) -> list[Edit]:
        """Return the edits; a list that would be empty is removed with its member."""
        span = source.find(self.at)
        if span is None or not span.is_list:
            return []
        by_text = [index for index, item in enumerate(span.values) if source.string(item) in self.strings]
        indexes = {*self.indexes, *by_text}
        parent, _, name = self.at.rpartition("/")
        owner = source.find(parent)
        if len(indexes) == len(span.values) and owner is not None and owner.is_object:
            return source.remove_member(owner, name)
        return source.remove(span, indexes)


@dataclass(frozen=True, slots=True)
class MoveItemFirst:
    """Move of an item to the start of the list at a pointer."""

    at: str
    index: int

    def edits(self, source: JsonSource) -> list[Edit]:
        """Return the edits that insert the item at the start and remove it where it was."""
        span = source.find(self.at)
        if span is None or not span.is_list:
            return []
        return [source.insert(span, 0, source.slice(span.values[self.index])), *source.remove(span, [self.index])]


@dataclass(frozen=True, slots=True)
class UnwrapItem:
    """Replacement of the list at a pointer by its only item."""

    at: str

    def edits(self, source: JsonSource) -> list[Edit]:
        """Return the edits that remove the brackets and the space inside them."""
        span = source.find(self.at)
        if span is None or len(span.values) != 1:
            return []
        item: JsonSpan = span.values[0]
        return [Edit(span.start, item.start, ""), Edit(item.end, span.end, "")]


class Problem(NamedTuple):
    """Result of a check: a position in the schema, and a sentence with the reason and the remedy."""

    at: str  #: JSON Pointer
    message: str
    changes: tuple[Change, ...] = ()  #: fix it; empty if only the owner can decide


@dataclass(frozen=True, slots=True)
class LintRule:
    """A rule. The meaning of an id never changes; its wording may."""

    id: str
    severity: Severity
    summary: str
    visits: tuple[Any, ...]  #: the kinds of nodes that it checks, as the walk of its format yields them
    check: Callable[[Any, Any], Iterator[Problem]]  #: (document, node) -> problems
    bad: str  #: yields findings of this rule and of no other
    at: str  #: JSON Pointer of the first finding in ``bad``
    good: str  #: the same intent without a finding
    fix: str = ""  #: what `--fix` does, which keeps the schema compatible in both directions; empty: nothing
    subject: str = "orders-value"  #: subject of the examples
    of_folder: bool = False  #: selected only for files about which the caller knows it from the other files


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A violation of a rule in a schema."""

    rule: LintRule
    pointer: str
    position: Position
    message: str
    changes: tuple[Change, ...] = ()
