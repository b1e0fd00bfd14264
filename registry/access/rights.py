"""What a caller may do: read or write, by the beginning of subjects' names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from contractlog.compatibility.errors import Denied
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.registry.access.prefixes import EVERY_CONTEXT, SubjectRange, parse_prefix

__all__ = ["EVERYTHING", "NOTHING", "Operation", "Pattern", "Rights", "slip", "topic_subject"]


def slip(text: str) -> str | None:
    """Say why a pattern would not cover what it seems to mean; None where it does.

    >>> slip("orders*value")
    '`orders*value` has a star before its end: a star stands at the end alone, as in `orders*`'
    """
    rest = text.removeprefix(EVERY_CONTEXT)
    if "*" in rest[:-1]:
        return f"`{text}` has a star before its end: a star stands at the end alone, as in `{rest.partition('*')[0]}*`"
    if rest == text and text.startswith(":") and not (text.startswith(":.") and ":" in text[2:]):
        return f"`{text}` begins like a context and names none: one is written `:.eu:*`, every one `:*:orders-*`"
    return None


def topic_subject(topic: str, part: str = "value") -> Subject:
    """Return the subject whose rights govern a topic: the one that serializers use where nothing else is configured.

    It is in the default context, whatever namespace an association has: serializers look a topic up in every namespace.

    >>> str(topic_subject("orders"))
    'orders-value'
    """
    return Subject(DEFAULT_CONTEXT, f"{topic}-{part}")


class Operation(StrEnum):
    """What is done; written as error messages have it."""

    READ = "Read"
    WRITE = "Write"


@dataclass(frozen=True, slots=True)
class Pattern:
    """Subjects, by name or by how names begin.

    >>> Pattern.parse("orders-*").covers(Subject.parse("orders-value"))
    True
    >>> Pattern.parse("orders-*").covers(Subject.parse(":.eu:orders-value"))
    False
    """

    ranges: tuple[SubjectRange, ...]
    exact: bool = False  #: whether only subjects of exactly this name are meant, not those that begin so

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``orders-value``, ``orders-*``, ``:.eu:*``, ``:*:orders-*`` or ``*``, which means everything."""
        if text == "*":
            return cls((SubjectRange(),))
        if text.endswith("*"):
            return cls(parse_prefix(text[:-1]))
        if text.startswith(EVERY_CONTEXT):
            return cls(parse_prefix(text), exact=True)
        subject = Subject.parse(text)
        return cls((SubjectRange(subject.context, subject.name),), exact=True)

    def covers(self, subject: Subject) -> bool:
        """Whether a subject is meant; a context (a subject without a name) is, when all of its subjects are."""
        return any(one.contains(subject) and (not self.exact or subject.name == one.start) for one in self.ranges)

    def covers_all(self, subjects: SubjectRange) -> bool:
        """Whether all subjects of a range are meant."""
        return not self.exact and any(subjects.within(one) for one in self.ranges)


@dataclass(frozen=True, slots=True)
class Rights:
    """What may be read, and what may be written; what may be written may be read."""

    read: tuple[Pattern, ...] = ()
    write: tuple[Pattern, ...] = ()

    @classmethod
    def of(cls, read: Iterable[str], write: Iterable[str]) -> Self:
        """Read the patterns of both."""
        written = tuple(map(Pattern.parse, write))
        return cls((*map(Pattern.parse, read), *written), written)

    def any(self, operation: Operation) -> bool:
        """Whether there is anything that this may be done to."""
        return bool(self._patterns(operation))

    def may(self, operation: Operation, subject: Subject) -> bool:
        """Whether this may be done to a subject, or to a context as a whole."""
        return any(pattern.covers(subject) for pattern in self._patterns(operation))

    def may_all(self, operation: Operation, context: str | None = None, start: str = "") -> bool:
        """Whether this may be done to all subjects that begin so; without arguments, to everything."""
        return self._covers(operation, SubjectRange(context, start))

    def may_prefix(self, operation: Operation, prefix: str) -> bool:
        """Whether this may be done to all subjects that a prefix stands for; who may do nothing may not ask."""
        return self.any(operation) and all(self._covers(operation, one) for one in parse_prefix(prefix))

    def may_in(self, operation: Operation, context: str) -> bool:
        """Whether there is anything in a context that this may be done to."""
        return any(one.has_context(context) for pattern in self._patterns(operation) for one in pattern.ranges)

    def _covers(self, operation: Operation, subjects: SubjectRange) -> bool:
        return any(pattern.covers_all(subjects) for pattern in self._patterns(operation))

    def require(self, operation: Operation, subject: Subject) -> None:
        """Raise ``Denied`` unless this may be done to a subject."""
        if not self.may(operation, subject):
            raise Denied(operation=operation.value, subject=str(subject))

    def _patterns(self, operation: Operation) -> tuple[Pattern, ...]:
        return self.read if operation is Operation.READ else self.write


EVERYTHING: Final = Rights.of((), ("*",))
NOTHING: Final = Rights()
