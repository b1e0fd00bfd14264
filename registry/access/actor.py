"""Who is calling and what they may do: set where a request comes in, read where it takes effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.names import Subject
from contractlog.registry.access.rights import EVERYTHING, Operation, Rights, topic_subject

__all__ = [
    "ANONYMOUS",
    "Caller",
    "current_actor",
    "current_rights",
    "may_read",
    "may_read_binding",
    "may_read_everything",
    "may_read_in",
    "readable",
    "require_alias",
]

ANONYMOUS: Final = "anonymous"


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who is known, or ``anonymous``."""

    name: str
    rights: Rights


#: The name of the caller of this request. Read it before the work goes to another thread.
current_actor: Final[ContextVar[str]] = ContextVar("contractlog_actor", default=ANONYMOUS)

#: What the caller may do, for subjects that only the body of a request names. Without authentication, everything.
current_rights: Final[ContextVar[Rights]] = ContextVar("contractlog_rights", default=EVERYTHING)


def readable(subjects: Iterable[Subject]) -> Iterator[Subject]:
    """Yield the subjects that the caller may read, of those that no request names, but that answer for another."""
    return filter(may_read, subjects)


def may_read_everything() -> bool:
    """Whether the caller may read every subject, so that nothing has to be left out of a list."""
    return current_rights.get().may_all(Operation.READ)


def may_read(subject: Subject) -> bool:
    """Whether the caller may read a subject."""
    return current_rights.get().may(Operation.READ, subject)


def may_read_in(context: str) -> bool:
    """Whether the caller may read anything in a context."""
    return current_rights.get().may_in(Operation.READ, context)


def may_read_binding(subject: Subject, topic: str, part: str) -> bool:
    """Whether the caller may know that a subject is bound to a topic: they may read it, or the topic's own subject."""
    return may_read(subject) or may_read(topic_subject(topic, part))


def require_alias(scope: Subject, alias: str | None) -> None:
    """Raise ``Denied`` unless the caller may write what an alias leads to: requests by the alias will end there."""
    if alias:
        target = Subject.parse(alias)
        meant = target if alias.startswith(":.") else Subject(scope.context, target.name)
        current_rights.get().require(Operation.WRITE, meant)
