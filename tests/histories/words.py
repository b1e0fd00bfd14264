"""Types of a history: operations, journal rows and final tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from histories.contents import Content


@dataclass(slots=True)
class Operation:
    """One request; the journal names it as the actor of what it did."""

    name: str
    client: int
    node: int
    kind: str  #: as in ``model.KINDS``
    subject: str  #: or a scope: empty and ``:.eu:`` are contexts
    began: float
    content: Content | None = None
    version: int | None = None
    schema_id: int | None = None
    flag: bool = False  #: permanent; deleted ones, too
    patch: Mapping[str, Any] = field(default_factory=dict)
    ended: float = float("inf")
    status: int | None = None  #: None: nobody knows what became of it
    body: Any = None
    stale: bool = False  #: the answer says that it came from memory, because the database was away

    @property
    def known(self) -> bool:
        """Whether it was answered, by more than a failure of the server."""
        return self.status is not None and self.status < 500


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the journal."""

    sequence: int
    actor: str
    action: str
    target: str
    before: str | None = None
    after: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Held(NamedTuple):
    """What a version holds."""

    schema_id: int
    content: Content
    deleted: bool


@dataclass(frozen=True, slots=True)
class Tables:
    """What the database holds when all is over."""

    versions: Mapping[str, Mapping[int, tuple[int, bool]]]  #: subject -> version -> (id, deleted)
    schemas: Mapping[tuple[str, int], tuple[str, str]]  #: (context, id) -> (hash, text)
    retired: frozenset[tuple[str, int]]
    settings: Mapping[str, Mapping[str, Any]]  #: scope -> what is set
    current: Mapping[tuple[str, str], int]  #: (context, hash) -> id
    next_ids: Mapping[str, int]
    next_sequence: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that a history left behind."""

    operations: Sequence[Operation]
    journal: Sequence[Line]
    tables: Tables
    followed: Sequence[Sequence[Line]] = ()  #: the journal as it came to each who followed it meanwhile


@dataclass(frozen=True, slots=True)
class Violation:
    """A law that did not hold."""

    law: str
    told: str


def context_of(subject: str) -> str:
    """Return the context of a subject or scope.

    >>> context_of("orders"), context_of(":.eu:orders"), context_of(":.eu:"), context_of("")
    ('.', '.eu', '.eu', '.')
    """
    return subject[1:].partition(":")[0] if subject.startswith(":.") else "."


def scopes_of(subject: str) -> tuple[str, ...]:
    """Return the scopes that decide about a subject, nearest first.

    >>> scopes_of(":.eu:orders"), scopes_of("orders"), scopes_of("")
    ((':.eu:orders', ':.eu:', ':.__GLOBAL:'), ('orders', '', ':.__GLOBAL:'), ('', ':.__GLOBAL:'))
    """
    context = context_of(subject)
    return tuple(dict.fromkeys((subject, "" if context == "." else f":{context}:", ":.__GLOBAL:")))
