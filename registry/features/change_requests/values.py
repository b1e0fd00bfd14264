"""Change requests as values, and the invariant of protected subjects.

A protected subject never changes without the approvals that are required at the moment of the change, a valid waiver,
or a break-glass entry in the change log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.owners_file import OwnerRule, Protection
from contractlog.registry.access.permissions import topic_permission_subject

__all__ = [
    "ActionKind",
    "ChangeRequest",
    "Comment",
    "Effect",
    "RequestStatus",
    "StoredWaiver",
    "count_missing_approvals",
    "find_effects",
    "needs_approval",
]


class ActionKind(StrEnum):
    """Kind of a change that is proposed, waived or made."""

    REGISTRATION = "registration"
    DELETION = "deletion"
    SETTINGS = "settings"
    ASSOCIATION = "association"  #: waivers only
    CONTRACT = "contract"  #: waivers only
    WAIVER = "waiver"  #: change requests only


class RequestStatus(StrEnum):
    """State of a change request."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"
    EXPIRED = "expired"  #: not stored: an open one after its last moment


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a change request."""

    author: str
    at: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRequest:
    """A proposed change, with the approvals of its current revision; times are in milliseconds."""

    id: int
    subject: Subject
    kind: ActionKind
    author: str
    reason: str
    status: RequestStatus
    revision: int
    proposal: str  #: JSON
    evidence: str  #: JSON
    content_hash: str | None  #: of the proposed version
    base: str  #: hash of the state that the proposal was checked against
    created_at: int
    updated_at: int
    expires_at: int
    ended_by: str | None = None
    approvers: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()

    def status_at(self, now: int) -> RequestStatus:
        """Return the state at a time."""
        expired = self.status is RequestStatus.OPEN and now >= self.expires_at
        return RequestStatus.EXPIRED if expired else self.status

    def covers(self, effect: Effect) -> bool:
        """Return True if the effect is one that this change request proposes."""
        return self.subject == effect.subject and _includes(self.kind, effect.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWaiver:
    """Permission of a user to make one kind of change to a subject without approvals for some time."""

    id: int
    subject: Subject
    kind: ActionKind
    grantee: str
    reason: str
    request_id: int  #: the change request that granted it
    granted_at: int
    expires_at: int

    def permits(self, effect: Effect, actor: str, now: int) -> bool:
        """Return True if the waiver permits an effect."""
        matches = self.subject == effect.subject and self.grantee == actor and _includes(self.kind, effect.kind)
        return matches and self.granted_at <= now < self.expires_at


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect on a subject, or on the settings of a context."""

    subject: Subject
    kind: ActionKind
    breaking: bool = True  #: False: a new version that was checked as compatible
    after: str | None = None  #: hash of the content of a new version


class _Entry(Protocol):
    """An entry of the change log."""

    @property
    def action(self) -> str:
        """The kind of change."""

    @property
    def target(self) -> str:
        """The version or scope that was changed."""

    @property
    def after(self) -> str | None:
        """Hash of the new content or settings."""

    @property
    def details(self) -> Mapping[str, Any]:
        """More facts."""


_BYPASS: Final = "bypass"  #: member of entries of versions that were not checked for compatibility


def find_effects(entry: _Entry) -> list[Effect]:
    """Return the effects that a change log entry records; none if it concerns no subject and no settings."""
    resource, _, verb = entry.action.partition(".")
    if resource == "version" and "replaced_by" not in entry.details:  # that is a part of the registration
        name, _, number = entry.target.rpartition("/")
        registered = verb == "registered"
        bypass = entry.details.get(_BYPASS)
        first = bypass == "NONE" and number == "1"  # nothing earlier could have been broken
        kind = ActionKind.REGISTRATION if registered else ActionKind.DELETION
        breaking = not registered or (bypass is not None and not first)
        return [Effect(Subject.parse(name), kind, breaking, entry.after)]
    if resource == "settings":
        return [Effect(Subject.parse(entry.target), ActionKind.SETTINGS)]
    if resource == "association" and "subject" in entry.details:
        # Producers of the topic write what the bound subject says, instead of what the topic's own subject says.
        topic = topic_permission_subject(entry.details["topic"], entry.details["part"])
        bound = Subject.parse(entry.details["subject"])
        return [Effect(subject, ActionKind.ASSOCIATION) for subject in dict.fromkeys((bound, topic))]
    if resource == "contract" and "topic" in entry.details:
        subject = topic_permission_subject(entry.details["topic"])
        return [Effect(subject, ActionKind.CONTRACT, entry.details.get("breaking") is not False)]
    if entry.action == "waiver.granted":
        return [Effect(Subject.parse(entry.target), ActionKind.WAIVER)]
    return []


def needs_approval(rule: OwnerRule, effect: Effect) -> bool:
    """Return True if an effect on a subject of the rule needs approvals."""
    return effect.breaking or rule.protect is Protection.ALL


def count_missing_approvals(rules: Iterable[OwnerRule], author: str, approvers: Iterable[str]) -> int:
    """Return how many approvals are missing; those by the author do not count."""
    counted = frozenset(approvers) - {author}
    return max((rule.count_missing(counted) for rule in rules), default=0)


def _includes(kind: ActionKind, effect: ActionKind) -> bool:
    """Return True if an effect may be part of a change; the last deletion also deletes the settings."""
    return kind is effect or (kind is ActionKind.DELETION and effect is ActionKind.SETTINGS)
