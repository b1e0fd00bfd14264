"""Values that the store accepts and returns, beside the vocabulary of ``compatibility/``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from typing import Any, Final, Self, TypeVar

from sqlalchemy import Select

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference, SchemaType

__all__ = [
    "MAX_ID_GAP",
    "WHOLE_LIST",
    "Content",
    "DeletedFilter",
    "Page",
    "PendingAppend",
    "ReferenceTarget",
    "ScopeSettings",
    "Stale",
    "SubjectState",
    "SubjectVersion",
    "scope_chain",
    "subject_key",
]

T = TypeVar("T")
_MAX_ROWS: Final = 2**31 - 1  #: the largest number of rows that every database accepts

#: Largest distance of an id from the next lower one of its context: new ids continue from the highest, and are finite.
MAX_ID_GAP: Final = 1_000_000


class DeletedFilter(Enum):
    """Versions that a query covers: live ones, all, or soft-deleted ones."""

    EXCLUDED = auto()
    INCLUDED = auto()
    ONLY = auto()

    @classmethod
    def of(cls, *, deleted: bool, deleted_only: bool = False) -> DeletedFilter:
        """Convert the two flags of the API; ``deletedOnly`` takes precedence."""
        if deleted_only:
            return cls.ONLY
        return cls.INCLUDED if deleted else cls.EXCLUDED


@dataclass(frozen=True, slots=True)
class SubjectState:
    """A subject's row; ``id`` is None, and ``revision`` 0, before its first version."""

    id: int | None = None
    revision: int = 0


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """Settings of one scope, or those in force for a subject; None means inherited."""

    level: Level | None = None
    normalize: bool | None = None
    compatibility_policy: Policy | None = None  #: STRICT or LENIENT
    compatibility_group: str | None = None
    own_policy: Policy | None = None  #: EXACT, unknown to clients that know two policies; overrides the one above
    mode: Mode | None = None
    alias: str | None = None
    alias_for_deks: str | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    strict_json_schemas: bool | None = None  #: reject new JSON schemas that their meta-schema rejects; ours alone
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None

    @classmethod
    def of_row(cls, row: Any) -> Self:
        """Parse a row, whose columns have the names of the members; null is unset."""
        return cls(
            **{
                name: _COLUMN_PARSERS[name](value) if name in _COLUMN_PARSERS else value
                for name in _SETTING_NAMES
                if (value := getattr(row, name)) is not None
            }
        )

    def members(self) -> dict[str, Any]:
        """Return all members as JSON values; unset ones are None."""
        return {name: _to_json(getattr(self, name)) for name in _SETTING_NAMES}

    @property
    def empty(self) -> bool:
        """Return True if nothing is set."""
        return self is UNSET or self == UNSET

    @property
    def config(self) -> ScopeSettings:
        """All settings except the mode."""
        return self if self.mode is None else replace(self, mode=None)

    @property
    def adds(self) -> bool:
        """Return True if these settings add metadata or rules to drafts."""
        return self is not UNSET and any(getattr(self, name) is not None for name in _DRAFT_ADDITIONS)

    @classmethod
    def merge(cls, chain: Iterable[ScopeSettings]) -> ScopeSettings:
        """Merge scopes, nearest first: each member has the first value that is set.

        Aliases are not inherited. Metadata and rules for drafts come as a whole from the nearest scope with a config.
        """
        chain = tuple(chain)
        if all(settings is UNSET for settings in chain):
            return UNSET
        members = {
            name: next((value for settings in chain if (value := getattr(settings, name)) is not None), None)
            for name in _SETTING_NAMES
            if name not in _NOT_INHERITED
        }
        nearest = next((settings for settings in chain if not settings.config.empty), cls())
        return cls(
            **members,
            alias=chain[0].alias if chain else None,
            alias_for_deks=chain[0].alias_for_deks if chain else None,
            **{name: getattr(nearest, name) for name in _DRAFT_ADDITIONS},
        )


UNSET = ScopeSettings()  #: settings of scopes without any, which are most; compared by identity first

_SETTING_NAMES = tuple(member.name for member in fields(ScopeSettings))
_COLUMN_PARSERS: dict[str, Callable[[str], Any]] = {
    "level": Level,
    "mode": Mode,
    "compatibility_policy": Policy,
    "own_policy": Policy,
    **dict.fromkeys(("default_metadata", "override_metadata"), lambda text: Metadata.from_body(json.loads(text))),
    **dict.fromkeys(("default_rule_set", "override_rule_set"), lambda text: RuleSet.from_body(json.loads(text))),
}
_DRAFT_ADDITIONS = ("default_metadata", "override_metadata", "default_rule_set", "override_rule_set")
_NOT_INHERITED = frozenset({"alias", "alias_for_deks", *_DRAFT_ADDITIONS})


def _to_json(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return value.body() if isinstance(value, Metadata | RuleSet) else value


def scope_chain(subject: Subject) -> tuple[Subject, ...]:
    """Return the scopes whose settings apply to a subject, nearest first.

    >>> [str(scope) for scope in scope_chain(Subject.parse(":.eu:orders"))]
    [':.eu:orders', ':.eu:', ':.__GLOBAL:']
    """
    chain = (subject, Subject(subject.context, ""), Subject(GLOBAL_CONTEXT, ""))
    return tuple(dict.fromkeys(chain))


def subject_key(subject: Subject) -> str:
    """Return the hash by which a subject or scope is indexed; names may be too long for an index."""
    return hashlib.sha256(f"{subject.context}\0{subject.name}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ReferenceTarget:
    """The resolved version of a reference.

    Version numbers are assigned again after a hard delete, ids never: ``schema_id`` reveals that.
    """

    subject_id: int
    version: int
    schema_id: int
    context: str = DEFAULT_CONTEXT


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a schema id, parsed and hashed."""

    text: str
    submitted: str
    type: SchemaType
    hash: str
    normalized_hash: str  #: equal for contents that differ in spelling only
    guid: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    targets: tuple[ReferenceTarget, ...] = ()  #: resolved version of each reference


@dataclass(frozen=True, slots=True)
class PendingAppend:
    """A checked schema that is to be appended as a version of its subject."""

    subject: Subject
    content: Content
    state: SubjectState  #: the subject's row when it was checked
    configured: ScopeSettings  #: the settings it was checked with
    version: int | None = None  #: requested version number
    actor: str = "anonymous"
    schema_id: int | None = None  #: requested id; the version may then have any free number
    details: Mapping[str, Any] = field(
        default_factory=dict, hash=False
    )  #: what it was checked with, for the change log
    named: Subject | None = None  #: the requested name, which may be an alias
    allow_id_gap: bool = False  #: whether the requested id may be far above all others

    @property
    def contexts(self) -> frozenset[str]:
        """The contexts that must not change meanwhile."""
        return frozenset({self.subject.context, *(target.context for target in self.content.targets)})


class Stale:
    """Outcome of a ``PendingAppend`` that has to be checked again: what it was checked with has changed."""


@dataclass(frozen=True, slots=True, order=True)
class SubjectVersion:
    """A version with a given schema id."""

    subject: Subject
    version: int
    deleted: bool


#: The context of unqualified subjects, whose row every write locks first.
FIRST_CONTEXT = DEFAULT_CONTEXT

#: The row that numbers the changes.
CHANGE_LOG_COUNTER = "changes"


@dataclass(frozen=True, slots=True)
class Page:
    """Offset and limit of a page; without a positive limit it extends to the end."""

    offset: int = 0
    limit: int = -1

    @property
    def start(self) -> int:
        """The index of the first item; no list is longer than the largest one."""
        return min(max(self.offset, 0), _MAX_ROWS)

    def of(self, statement: Select[Any]) -> Select[Any]:
        """Return a statement limited to the page."""
        if self.limit > 0:
            statement = statement.limit(min(self.limit, _MAX_ROWS))
        return statement.offset(self.start) if self.start else statement

    def cut(self, items: list[T]) -> list[T]:
        """Return the page of a list."""
        return items[self.start : self.start + self.limit] if self.limit > 0 else items[self.start :]

    def within(self, default: int, maximum: int) -> Page:
        """Return the page with its limit if the server allows that, else with the default."""
        return Page(self.offset, self.limit if 0 < self.limit <= maximum else default)


WHOLE_LIST: Final = Page()
