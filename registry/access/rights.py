"""What a caller may do: read or write, by the beginning of subjects' names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from contractlog.compatibility.errors import Denied
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject

__all__ = ["EVERYTHING", "NOTHING", "Operation", "Pattern", "Rights", "slip", "topic_subject"]

_EVERY_CONTEXT: Final = ":*:"


def slip(text: str) -> str | None:
    """Say why a pattern would not cover what it seems to mean; None where it does.

    >>> slip("orders*value")
    '`orders*value` has a star before its end: a star stands at the end alone, as in `orders*`'
    """
    rest = text.removeprefix(_EVERY_CONTEXT)
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

    context: str | None  #: None: every one
    start: str
    exact: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``orders-value``, ``orders-*``, ``:.eu:*``, ``:*:orders-*`` or ``*``, which means everything."""
        exact = not text.endswith("*")
        start = text if exact else text[:-1]
        if not start:
            return cls(None, "", exact)
        if start.startswith(_EVERY_CONTEXT):
            return cls(None, start.removeprefix(_EVERY_CONTEXT), exact)
        subject = Subject.parse(start)
        return cls(subject.context, subject.name, exact)

    def covers(self, subject: Subject) -> bool:
        """Whether a subject is meant; a context (a subject without a name) is, when all of its subjects are."""
        if self.context not in {None, subject.context}:
            return False
        return subject.name == self.start if self.exact else subject.name.startswith(self.start)

    def covers_all(self, context: str | None, start: str) -> bool:
        """Whether all subjects are meant whose names begin so, in a context, or in every one."""
        return not self.exact and self.context in {None, context} and start.startswith(self.start)


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
        return any(pattern.covers_all(context, start) for pattern in self._patterns(operation))

    def require(self, operation: Operation, subject: Subject) -> None:
        """Raise ``Denied`` unless this may be done to a subject."""
        if not self.may(operation, subject):
            raise Denied(operation=operation.value, subject=str(subject))

    def _patterns(self, operation: Operation) -> tuple[Pattern, ...]:
        return self.read if operation is Operation.READ else self.write


EVERYTHING: Final = Rights.of((), ("*",))
NOTHING: Final = Rights()
