"""Prefixes of subjects, as ``subjectPrefix`` and the patterns of rights write them.

One function reads them: what a prefix permits and what it lists can then not differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject

__all__ = ["EVERY_CONTEXT", "SubjectRange", "parse_prefix"]

EVERY_CONTEXT: Final = ":*:"  #: before a prefix: in every context


@dataclass(frozen=True, slots=True)
class SubjectRange:
    """All subjects whose names begin alike, in one context, in every one, or in those whose names begin alike."""

    context: str | None = None  #: None: every context
    start: str = ""  #: of the subject's name
    open: bool = False  #: whether ``context`` is the start of a name, of all contexts but the default one

    def contains(self, subject: Subject) -> bool:
        """Whether a subject is one of these."""
        return self.has_context(subject.context) and subject.name.startswith(self.start)

    def has_context(self, context: str) -> bool:
        """Whether subjects of a context can be among these."""
        if self.open:
            return context != DEFAULT_CONTEXT and context.startswith(self.context or "")
        return self.context in {None, context}

    def within(self, other: SubjectRange) -> bool:
        """Whether every subject that could be one of these is one of the other's."""
        if not self.start.startswith(other.start):
            return False
        if other.context is None:
            return True
        if self.open:
            return other.open and (self.context or "").startswith(other.context)
        return self.context is not None and other.has_context(self.context)


def parse_prefix(text: str) -> tuple[SubjectRange, ...]:
    r"""Read a prefix; together the ranges are what it stands for, and without any no subject can have it.

    ``:*:`` before the prefix means in every context, ``:.eu:`` in that one, nothing in the default one. A context that
    is not written to its end means all that begin so, and subjects of the default context whose names do.

    >>> parse_prefix(":.eu:orders-")
    (SubjectRange(context='.eu', start='orders-', open=False),)
    >>> len(parse_prefix(":.")), parse_prefix("\0")
    (2, ())
    """
    if "\0" in text:
        return ()  # no name holds it, and PostgreSQL takes no such text
    if text.startswith(EVERY_CONTEXT):
        return (SubjectRange(None, text.removeprefix(EVERY_CONTEXT)),)
    if text.startswith(":.") and ":" not in text[1:]:
        return SubjectRange(text[1:], open=True), SubjectRange(DEFAULT_CONTEXT, text)
    subject = Subject.parse(text)
    return (SubjectRange(subject.context, subject.name),)
