"""Response bodies of contractlog's own resources that have no ``bodies.py`` of their own."""

from __future__ import annotations

from typing import Any, Self, cast

from msgspec import Raw, Struct

from contractlog.contracts.change_log.recorded_change import RecordedChange
from contractlog.registry.features.dependencies.queries import VersionNode
from contractlog.registry.features.search.queries import SearchHit

__all__ = [
    "ChangeBody",
    "ChangesBody",
    "DifferenceBody",
    "EdgeBody",
    "FetchBody",
    "FetchesBody",
    "FindingBody",
    "FixBody",
    "GraphBody",
    "HitBody",
    "HitsBody",
    "NodeBody",
    "PermissionsBody",
    "VersionBody",
]


class ChangeBody(Struct, omit_defaults=True):
    """One entry of the change log: the actor, the action and its target."""

    sequence: int
    at: int  #: milliseconds since 1970, UTC
    actor: str
    action: str
    target: str
    before: str | None = None  #: hashes of the content, or of the settings
    after: str | None = None
    details: dict[str, Any] = {}
    previous_hash: str | None = None  #: hash of the entry before; 64 zeros in the first one
    hash: str | None = None  #: SHA-256 of the other members

    @classmethod
    def of(cls, change: RecordedChange) -> Self:
        """Build the body."""
        details = cast("dict[str, Any]", Raw(change.details.encode())) if change.details else {}  # already JSON
        return cls(
            change.sequence,
            change.at,
            change.actor,
            change.action,
            change.target,
            change.before,
            change.after,
            details,
            change.previous_hash,
            change.hash,
        )


class ChangesBody(Struct):
    """Changes in order, without gaps."""

    changes: list[ChangeBody]
    next: int  #: the next value of `since`
    head: int  #: the number of the newest change
    head_hash: str | None = None  #: its hash, which stands for all changes up to it


class HitBody(Struct):
    """A term that was found in the latest live version of a subject."""

    subject: str
    version: int
    id: int
    kind: str  #: field, type, tag or property
    name: str
    path: str  #: of the field, such as ``customer.addresses[].street``; of a tag, the path that it is set on

    @classmethod
    def of(cls, hit: SearchHit) -> Self:
        """Build the body."""
        return cls(str(hit.subject), hit.version, hit.schema_id, hit.kind.value, hit.name, hit.path)


class HitsBody(Struct, omit_defaults=True, kw_only=True):
    """A page of hits, and the number of the last change in the index."""

    hits: list[HitBody]
    next: str | None = None  #: `after` of the next page
    indexed_to: int
    head: int


class FixBody(Struct):
    """A change of the later schema that removes a finding; it was tested."""

    sentence: str
    text: str  #: of the whole schema after the change


class FindingBody(Struct):
    """One reason why one of two schemas cannot read what the other writes."""

    check: str
    direction: str
    compared_with: str
    pointer: str  #: into the later schema
    line: int | None
    column: int | None
    detail: str
    mend: str
    mends: list[FixBody]


class DifferenceBody(Struct):
    """The differences between a schema and an earlier one."""

    format: str
    earlier: str
    later: str
    level: str
    policy: str
    compatible: bool  #: at this level
    kind: str  #: none, annotation, full, backward, forward or breaking
    levels: list[str]  #: levels that allow the change
    findings: list[FindingBody]


class FetchBody(Struct):
    """The number of times that a client fetched a schema on one day."""

    id: int
    context: str
    client: str
    day: str  #: such as 2026-11-21, UTC
    count: int


class FetchesBody(Struct):
    """Clients that fetched a schema, newest days first."""

    fetches: list[FetchBody]


class NodeBody(Struct):
    """A version in the graph of references."""

    subject: str
    version: int
    id: int
    deleted: bool  #: soft-deleted
    distance: int  #: steps from the requested subject; negative towards dependents


class OpenRequestBody(Struct):
    """An open change request of a subject."""

    id: int
    kind: str  #: registration, deletion, settings or waiver


class PermissionsBody(Struct, omit_defaults=True):
    """Permissions of the caller on a subject."""

    user: str
    subject: str
    read: bool
    write: bool
    #: `all` or `breaking`: the changes that need approvals; absent, as below: none do, or no read or write permission
    protection: str | None = None
    approvals: int | None = None  #: that a protected change needs
    owners: list[str] | None = None  #: users who approve
    waived: dict[str, int] | None = None  #: kinds of changes that waivers permit the caller, until milliseconds UTC
    open_requests: list[OpenRequestBody] | None = None  #: open change requests, the newest first


class VersionBody(Struct):
    """A version, by subject and number."""

    subject: str
    version: int

    @classmethod
    def of(cls, node: VersionNode) -> Self:
        """Build the body."""
        return cls(str(node.subject), node.version)


class EdgeBody(Struct):
    """A reference from one version to another, with the names that the referencing schema uses for it."""

    leaning: VersionBody
    target: VersionBody
    names: list[str]


class GraphBody(Struct):
    """The references around a subject."""

    nodes: list[NodeBody]
    edges: list[EdgeBody]
    truncated: bool
