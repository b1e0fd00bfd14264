"""HTTP bodies of contractlog's own resources, as in ``openapi.yaml``."""

from __future__ import annotations

from typing import Any, Self, cast

from msgspec import Raw, Struct

from contractlog.registry.storage.graph import Held
from contractlog.registry.storage.journal import Change
from contractlog.registry.storage.search import Hit

__all__ = [
    "ChangeBody",
    "ChangesBody",
    "DifferenceBody",
    "EdgeBody",
    "FetchBody",
    "FetchesBody",
    "FindingBody",
    "GraphBody",
    "HitBody",
    "HitsBody",
    "MendBody",
    "NodeBody",
    "PermissionsBody",
    "PlaceBody",
]


class ChangeBody(Struct, omit_defaults=True):
    """One line of the journal: who did what to what."""

    sequence: int
    at: int  #: milliseconds since 1970, UTC
    actor: str
    action: str
    target: str
    before: str | None = None  #: hashes of the content, or of the settings
    after: str | None = None
    details: dict[str, Any] = {}

    @classmethod
    def of(cls, change: Change) -> Self:
        """Shape a line."""
        details = cast("dict[str, Any]", Raw(change.details.encode())) if change.details else {}  # JSON already
        return cls(
            change.sequence,
            change.at,
            change.actor,
            change.action,
            change.target,
            change.before,
            change.after,
            details,
        )


class ChangesBody(Struct):
    """Changes in order, without a gap."""

    changes: list[ChangeBody]
    next: int  #: what to ask from next
    head: int  #: the newest change there is


class HitBody(Struct):
    """A word that was found in the latest live version of a subject."""

    subject: str
    version: int
    id: int
    kind: str  #: field, type, tag or property
    name: str
    path: str  #: of the field, as ``customer.addresses[].street``; of a tag the path it was given for

    @classmethod
    def of(cls, hit: Hit) -> Self:
        """Shape a hit."""
        return cls(str(hit.subject), hit.version, hit.schema_id, hit.kind.value, hit.name, hit.path)


class HitsBody(Struct, omit_defaults=True, kw_only=True):
    """A page of what was found, and up to which change the index knows."""

    hits: list[HitBody]
    next: str | None = None  #: `after` of the next page
    indexed_to: int
    head: int


class MendBody(Struct):
    """A change of the later schema that removes a finding; it was tried."""

    sentence: str
    text: str  #: of the whole schema after it


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
    mends: list[MendBody]


class DifferenceBody(Struct):
    """What a schema changes of an earlier one."""

    format: str
    earlier: str
    later: str
    level: str
    policy: str
    compatible: bool  #: at this level
    kind: str  #: none, annotation, full, backward, forward or breaking
    levels: list[str]  #: that admit the change
    findings: list[FindingBody]


class FetchBody(Struct):
    """How often a client fetched a schema on a day."""

    id: int
    context: str
    client: str
    day: str  #: as 2026-11-21, UTC
    count: int


class FetchesBody(Struct):
    """Who fetches a schema, newest days first."""

    fetches: list[FetchBody]


class NodeBody(Struct):
    """A version in the graph of references."""

    subject: str
    version: int
    id: int
    deleted: bool  #: softly
    distance: int  #: steps from the subject that was asked for; negative towards what leans on it


class PermissionsBody(Struct):
    """Permissions of the caller on a subject."""

    user: str
    subject: str
    read: bool
    write: bool


class PlaceBody(Struct):
    """A version, by its name."""

    subject: str
    version: int

    @classmethod
    def of(cls, held: Held) -> Self:
        """Shape a place."""
        return cls(str(held.subject), held.version)


class EdgeBody(Struct):
    """A version leans on another, which its text calls by these names."""

    leaning: PlaceBody
    target: PlaceBody
    names: list[str]


class GraphBody(Struct):
    """The references around a subject."""

    nodes: list[NodeBody]
    edges: list[EdgeBody]
    truncated: bool
