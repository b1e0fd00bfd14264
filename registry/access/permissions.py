"""Permissions of a caller: read or write, on subjects and on encryption keys, by name or by prefix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from contractlog.compatibility.errors import Denied, KeyDenied
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject, topic_subject

__all__ = [
    "ALL_PERMISSIONS",
    "EVERY_CONTEXT",
    "NO_KEYS",
    "NO_PERMISSIONS",
    "KeyPermissions",
    "Permission",
    "Permissions",
    "SubjectPattern",
    "SubjectRange",
    "explain_pattern_mistake",
    "parse_prefix",
    "topic_permission_subject",
]

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


def explain_pattern_mistake(text: str) -> str | None:
    """Explain why a pattern does not cover the subjects that it seems to; return None if it does.

    >>> explain_pattern_mistake("orders*value")
    '`orders*value` has a star before its end: a star stands at the end alone, as in `orders*`'
    """
    rest = text.removeprefix(EVERY_CONTEXT)
    if "*" in rest[:-1]:
        return f"`{text}` has a star before its end: a star stands at the end alone, as in `{rest.partition('*')[0]}*`"
    if rest == text and text.startswith(":") and not (text.startswith(":.") and ":" in text[2:]):
        return f"`{text}` begins like a context and names none: one is written `:.eu:*`, every one `:*:orders-*`"
    return None


def topic_permission_subject(topic: str, part: str = "value") -> Subject:
    """Return the subject whose permissions apply to a topic: the one that serializers use by default.

    It is in the default context, whatever namespace an association has: serializers look a topic up in every namespace.

    >>> str(topic_permission_subject("orders"))
    'orders-value'
    """
    return Subject(DEFAULT_CONTEXT, topic_subject(topic, part))


class Permission(StrEnum):
    """An operation on a subject, spelled as in error messages."""

    READ = "Read"
    WRITE = "Write"


@dataclass(frozen=True, slots=True)
class SubjectPattern:
    """Subjects, by name or by prefix.

    >>> SubjectPattern.parse("orders-*").covers(Subject.parse("orders-value"))
    True
    >>> SubjectPattern.parse("orders-*").covers(Subject.parse(":.eu:orders-value"))
    False
    """

    ranges: tuple[SubjectRange, ...]
    exact: bool = False  #: whether names must be equal to ``SubjectRange.start``, rather than begin with it

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``orders-value``, ``orders-*``, ``:.eu:*``, ``:*:orders-*``, or ``*`` for everything."""
        if text == "*":
            return cls((SubjectRange(),))
        if text.endswith("*"):
            return cls(parse_prefix(text[:-1]))
        if text.startswith(EVERY_CONTEXT):
            return cls(parse_prefix(text), exact=True)
        subject = Subject.parse(text)
        return cls((SubjectRange(subject.context, subject.name),), exact=True)

    def covers(self, subject: Subject) -> bool:
        """Return True if the pattern covers a subject.

        A context (a subject without a name) is covered if all its subjects are.
        """
        return any(
            subjects.contains(subject) and (not self.exact or (subject.name and subject.name == subjects.start))
            for subjects in self.ranges
        )

    def covers_all(self, subjects: SubjectRange) -> bool:
        """Return True if the pattern covers every subject of a range."""
        return not self.exact and any(subjects.within(covered) for covered in self.ranges)


@dataclass(frozen=True, slots=True)
class KeyPermissions:
    """Permissions on key encryption keys (KEKs) and the keys that they wrap, by patterns of KEK names.

    >>> KeyPermissions.of(["pii-*"], []).permits(Permission.READ, "pii-eu")
    True
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()

    @classmethod
    def of(cls, read: Iterable[str], write: Iterable[str]) -> Self:
        """Build the permissions; permission to write includes reading."""
        written = tuple(write)
        return cls((*read, *written), written)

    def permits_any(self, operation: Permission) -> bool:
        """Return True if the operation is permitted on any KEK at all."""
        return bool(self._patterns(operation))

    def permits_all(self, operation: Permission) -> bool:
        """Return True if the operation is permitted on every KEK."""
        return "*" in self._patterns(operation)

    def permits(self, operation: Permission, name: str) -> bool:
        """Return True if the operation is permitted on a KEK."""
        return any(
            name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
            for pattern in self._patterns(operation)
        )

    def require(self, operation: Permission, name: str) -> None:
        """Raise ``KeyDenied`` unless the operation is permitted on a KEK."""
        if not self.permits(operation, name):
            raise KeyDenied(operation=operation.value, subject=name)

    def _patterns(self, operation: Permission) -> tuple[str, ...]:
        return self.read if operation is Permission.READ else self.write


NO_KEYS: Final = KeyPermissions()


@dataclass(frozen=True, slots=True)
class Permissions:
    """Permissions to read and to write; permission to write includes reading.

    Encryption keys have permissions of their own, which those on subjects do not include.
    """

    read: tuple[SubjectPattern, ...] = ()
    write: tuple[SubjectPattern, ...] = ()
    keys: KeyPermissions = NO_KEYS
    break_glass: tuple[SubjectPattern, ...] = ()  #: protected subjects that may be changed without approvals

    @classmethod
    def of(
        cls,
        read: Iterable[str],
        write: Iterable[str],
        keys: KeyPermissions = NO_KEYS,
        break_glass: Iterable[str] = (),
    ) -> Self:
        """Parse the patterns."""
        written = tuple(map(SubjectPattern.parse, write))
        bypassed = tuple(map(SubjectPattern.parse, break_glass))
        return cls((*map(SubjectPattern.parse, read), *written), written, keys, bypassed)

    def permits_break_glass(self, subject: Subject) -> bool:
        """Return True if the caller may change a protected subject without approvals, giving a reason."""
        return any(pattern.covers(subject) for pattern in self.break_glass)

    def permits_any(self, operation: Permission) -> bool:
        """Return True if the operation is permitted on anything at all."""
        return bool(self._patterns(operation))

    def permits(self, operation: Permission, subject: Subject) -> bool:
        """Return True if the operation is permitted on a subject, or on a context as a whole."""
        return any(pattern.covers(subject) for pattern in self._patterns(operation))

    def permits_association(self, subject: Subject, topic: str, part: str) -> bool:
        """Return True if the caller may see that a subject is bound to a topic.

        This requires read permission on the subject, or on the topic's own subject.
        """
        return self.permits(Permission.READ, subject) or self.permits(
            Permission.READ, topic_permission_subject(topic, part)
        )

    def permits_all(self, operation: Permission, context: str | None = None, start: str = "") -> bool:
        """Return True if the operation is permitted on all subjects with this prefix; by default, on all."""
        return self._covers(operation, SubjectRange(context, start))

    def permits_prefix(self, operation: Permission, prefix: str) -> bool:
        """Return True if the operation is permitted on all subjects of a prefix; never without any permission."""
        return self.permits_any(operation) and all(
            self._covers(operation, subjects) for subjects in parse_prefix(prefix)
        )

    def permits_in_context(self, operation: Permission, context: str) -> bool:
        """Return True if the operation is permitted on anything in a context."""
        return any(
            subjects.has_context(context) for pattern in self._patterns(operation) for subjects in pattern.ranges
        )

    def _covers(self, operation: Permission, subjects: SubjectRange) -> bool:
        return any(pattern.covers_all(subjects) for pattern in self._patterns(operation))

    def require(self, operation: Permission, subject: Subject) -> None:
        """Raise ``Denied`` unless the operation is permitted on a subject."""
        if not self.permits(operation, subject):
            raise Denied(operation=operation.value, subject=str(subject))

    def _patterns(self, operation: Permission) -> tuple[SubjectPattern, ...]:
        return self.read if operation is Permission.READ else self.write


ALL_PERMISSIONS: Final = Permissions.of((), ("*",), KeyPermissions.of((), ("*",)), ("*",))
NO_PERMISSIONS: Final = Permissions()
