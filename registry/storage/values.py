"""What goes into the store and comes out of it, beside the vocabulary of ``compatibility/``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from typing import Any, Final

from contractlog.compatibility.contract import Metadata, RuleSet
from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.names import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import Reference, SchemaType

__all__ = [
    "MAX_ID_GAP",
    "Append",
    "Configured",
    "Content",
    "Holder",
    "Recorded",
    "Seen",
    "Stale",
    "SubjectState",
    "Target",
    "key_of",
    "scopes",
]


#: How far an id may be above the next lower one of its context: new ids go on from the highest, and they are finite.
MAX_ID_GAP: Final = 1_000_000


class Seen(Enum):
    """Which versions a question is about."""

    LIVE = auto()
    ALL = auto()
    DELETED = auto()

    @classmethod
    def of(cls, *, deleted: bool, deleted_only: bool = False) -> Seen:
        """Read the two flags of the API; ``deletedOnly`` wins."""
        if deleted_only:
            return cls.DELETED
        return cls.ALL if deleted else cls.LIVE


@dataclass(frozen=True, slots=True)
class SubjectState:
    """A subject's row; ``id`` is None, and ``revision`` 0, before its first version."""

    id: int | None = None
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Configured:
    """What is set at one scope, or at all scopes above a subject together; None means inherit."""

    level: Level | None = None
    normalize: bool | None = None
    compatibility_policy: Policy | None = None  #: STRICT or LENIENT
    compatibility_group: str | None = None
    own_policy: Policy | None = None  #: EXACT, which clients that know two policies never meet; it goes before theirs
    mode: Mode | None = None
    alias: str | None = None
    alias_for_deks: str | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    strict_json_schemas: bool | None = None  #: refuse new JSON schemas that their meta-schema rejects; ours alone
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is set."""
        return self is UNSET or self == UNSET

    @property
    def config(self) -> Configured:
        """What is set beside the mode."""
        return self if self.mode is None else replace(self, mode=None)

    @property
    def adds(self) -> bool:
        """Whether drafts get metadata or rules from here."""
        return self is not UNSET and any(getattr(self, name) is not None for name in _ADDED)

    @classmethod
    def inherited(cls, chain: Iterable[Configured]) -> Configured:
        """Fold scopes, nearest first: each member is the first that is set.

        Aliases are a subject's own. What is added to drafts comes as a whole from the nearest scope with a config.
        """
        chain = tuple(chain)
        if all(one is UNSET for one in chain):
            return UNSET
        members = {
            name: next((value for one in chain if (value := getattr(one, name)) is not None), None)
            for name in (member.name for member in fields(cls))
            if name not in _OWN
        }
        nearest = next((one for one in chain if not one.config.empty), cls())
        return cls(
            **members,
            alias=chain[0].alias if chain else None,
            alias_for_deks=chain[0].alias_for_deks if chain else None,
            **{name: getattr(nearest, name) for name in _ADDED},
        )


UNSET = Configured()  #: what a scope has at which nothing is set; most have it, and are known by this very object

_ADDED = ("default_metadata", "override_metadata", "default_rule_set", "override_rule_set")
_OWN = frozenset({"alias", "alias_for_deks", *_ADDED})


def scopes(subject: Subject) -> tuple[Subject, ...]:
    """The scopes that decide about a subject, nearest first.

    >>> [str(scope) for scope in scopes(Subject.parse(":.eu:orders"))]
    [':.eu:orders', ':.eu:', ':.__GLOBAL:']
    """
    chain = (subject, Subject(subject.context, ""), Subject(GLOBAL_CONTEXT, ""))
    return tuple(dict.fromkeys(chain))


def key_of(subject: Subject) -> str:
    """The hash under which a subject or scope is indexed; names may be longer than what an index holds."""
    return hashlib.sha256(f"{subject.context}\0{subject.name}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference led to. Numbers are given again after a hard deletion, ids never are: the id tells whether."""

    subject_id: int
    version: int
    schema_id: int
    context: str = DEFAULT_CONTEXT


@dataclass(frozen=True, slots=True)
class Content:
    """What a schema id stands for, understood and hashed."""

    text: str
    submitted: str
    type: SchemaType
    hash: str
    normalized_hash: str  #: equal for contents that differ in spelling only
    guid: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    targets: tuple[Target, ...] = ()  #: of each reference


@dataclass(frozen=True, slots=True)
class Append:
    """A judged content that asks to become the next version of its subject."""

    subject: Subject
    content: Content
    state: SubjectState  #: the subject as it was judged
    configured: Configured  #: the settings it was judged by
    version: int | None = None  #: the number that was asked for
    actor: str = "anonymous"
    schema_id: int | None = None  #: the id that was asked for; then any free number will do
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)  #: what it was judged by, for the journal
    named: Subject | None = None  #: the name it was asked for by, where that is an alias
    allow_id_gap: bool = False  #: whether the id that was asked for may be far above all others

    @property
    def contexts(self) -> frozenset[str]:
        """The contexts that must stay as they are meanwhile."""
        return frozenset({self.subject.context, *(target.context for target in self.content.targets)})


class Stale:
    """The answer to an ``Append`` whose subject, settings or references changed since it was judged: judge again."""


@dataclass(frozen=True, slots=True, order=True)
class Holder:
    """A version that holds a schema id."""

    subject: Subject
    version: int
    deleted: bool


@dataclass(frozen=True, slots=True)
class Recorded:
    """A conformance entry as it is stored."""

    entry: str
    recorded_at: int


#: The lock row and counter of unqualified subjects.
FIRST_CONTEXT = DEFAULT_CONTEXT

#: The row from which changes get their numbers.
JOURNAL = "changes"
