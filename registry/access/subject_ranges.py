"""Subject prefixes, as in the query parameter ``subjectPrefix`` and in permission patterns.

One function parses both, so that a prefix permits exactly what it lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject

__all__ = ["EVERY_CONTEXT", "SubjectRange", "parse_prefix"]

EVERY_CONTEXT: Final = ":*:"  #: in front of a prefix: in every context


@dataclass(frozen=True, slots=True)
class SubjectRange:
    """Subjects with a name prefix: in one context, in all, or in the contexts with a context prefix."""

    context: str | None = None  #: None means every context
    start: str = ""  #: prefix of the subject's name
    open: bool = False  #: whether ``context`` is the prefix of a context's name; the default context never matches it

    def contains(self, subject: Subject) -> bool:
        """Return True if the range has the subject."""
        return self.has_context(subject.context) and subject.name.startswith(self.start)

    def has_context(self, context: str) -> bool:
        """Return True if the range can have subjects of a context."""
        if self.open:
            return context != DEFAULT_CONTEXT and context.startswith(self.context or "")
        return self.context in {None, context}

    def within(self, other: SubjectRange) -> bool:
        """Return True if every subject of this range is in the other range too."""
        if not self.start.startswith(other.start):
            return False
        if other.context is None:
            return True
        if self.open:
            return other.open and (self.context or "").startswith(other.context)
        return self.context is not None and other.has_context(self.context)


def parse_prefix(text: str) -> tuple[SubjectRange, ...]:
    r"""Parse a prefix into the ranges of subjects that have it; no ranges if no subject can have it.

    ``:*:`` before the prefix means every context, ``:.eu:`` that context, no qualifier the default one. An unterminated
    context (``:.e``) means all contexts with that prefix, and subjects of the default context whose names begin so.

    >>> parse_prefix(":.eu:orders-")
    (SubjectRange(context='.eu', start='orders-', open=False),)
    >>> len(parse_prefix(":.")), parse_prefix("\0")
    (2, ())
    """
    if "\0" in text:
        return ()  # no name contains it, and PostgreSQL rejects such text
    if text.startswith(EVERY_CONTEXT):
        return (SubjectRange(None, text.removeprefix(EVERY_CONTEXT)),)
    if text.startswith(":.") and ":" not in text[1:]:
        return SubjectRange(text[1:], open=True), SubjectRange(DEFAULT_CONTEXT, text)
    subject = Subject.parse(text)
    return (SubjectRange(subject.context, subject.name),)
