"""Request and response bodies of change requests and waivers."""

from __future__ import annotations

from typing import Any, Self

import msgspec
from msgspec import Struct

from contractlog.compatibility.identifiers import scope_name
from contractlog.registry.features.change_requests.values import ChangeRequest, RequestStatus, StoredWaiver
from contractlog.registry.features.config_and_mode.bodies import ConfigRequest, ModeRequest
from contractlog.registry.http.request_bodies import RegisterRequest

__all__ = [
    "ApprovalRequest",
    "ChangeRequestBody",
    "ChangeRequestsBody",
    "CommentRequest",
    "OpenChangeRequest",
    "WaiverBody",
    "WaiversBody",
]


class DeletionProposalBody(Struct, omit_defaults=True):
    """A deletion of a version, or of all versions of the subject."""

    version: int | None = None
    permanent: bool = False  #: hard-delete what is soft-deleted


class WaiverProposalBody(Struct, omit_defaults=True):
    """A waiver: its user may make one kind of change without approvals for some days."""

    kind: str  #: registration, deletion, settings, association or contract
    days: int
    user: str | None = None  #: absent: the author of the change request


class ProposedChangeBody(Struct, omit_defaults=True):
    """The proposed change: exactly one member, and ``normalize`` beside ``schema``."""

    schema: RegisterRequest | None = None
    normalize: bool = False
    deletion: DeletionProposalBody | None = None
    config: ConfigRequest | None = None
    mode: ModeRequest | None = None
    waiver: WaiverProposalBody | None = None


class ChangeSourceBody(Struct, omit_defaults=True):
    """Origin of a proposal, as CI gives it; the URL is never opened."""

    commit: str | None = None
    url: str | None = None


class OpenChangeRequest(Struct, omit_defaults=True):
    """A change request to open, or its next revision."""

    subject: str  #: or a context, such as ``:.eu:``, for its settings
    change: ProposedChangeBody
    reason: str
    source: ChangeSourceBody | None = None
    days: int | None = None  #: until it expires


class ApprovalRequest(Struct):
    """An approval of what the caller has seen."""

    revision: int


class CommentRequest(Struct):
    """A comment."""

    text: str


class CommentBody(Struct):
    """A comment on a change request."""

    author: str
    at: int
    text: str


class ReachBody(Struct):
    """Clients and data that a change reaches, as far as the caller may read them."""

    clients: list[str] | None  #: that fetched a version within 30 days; null if the caller may not read all subjects
    topics: list[str]  #: of which an audit found records of the subject
    downstream: list[str]  #: datasets that are made from these topics


class ChangeRequestBody(Struct, omit_defaults=True, kw_only=True):
    """A change request; lists leave out the change, the evidence, the comments and what it reaches."""

    id: int
    subject: str
    kind: str  #: registration, deletion, settings or waiver
    author: str
    reason: str
    status: str  #: open, merged, closed or expired
    revision: int
    change: dict[str, Any] | None = None
    source: ChangeSourceBody | None = None
    evidence: dict[str, Any] | None = None
    approvals: list[str] | None = None  #: the users who approved this revision
    approvals_missing: int | None = None  #: 0: it can be merged
    owners: list[str] | None = None
    comments: list[CommentBody] | None = None
    reaches: ReachBody | None = None
    created_at: int  #: milliseconds since 1970, UTC
    updated_at: int
    expires_at: int
    ended_by: str | None = None

    @classmethod
    def of(cls, request: ChangeRequest, now: int) -> Self:
        """Build a member of a list."""
        return cls(
            id=request.id,
            subject=scope_name(request.subject),
            kind=request.kind.value,
            author=request.author,
            reason=request.reason,
            status=request.status_at(now).value,
            revision=request.revision,
            created_at=request.created_at,
            updated_at=request.updated_at,
            expires_at=request.expires_at,
            ended_by=request.ended_by,
        )

    @classmethod
    def of_whole(cls, request: ChangeRequest, now: int, owners: list[str], missing: int, reach: ReachBody) -> Self:
        """Build the response with everything about a change request."""
        body = cls.of(request, now)
        proposal = msgspec.json.decode(request.proposal, type=OpenChangeRequest)
        body.change = msgspec.json.decode(request.proposal)["change"]
        body.source = proposal.source
        body.evidence = msgspec.json.decode(request.evidence)
        body.approvals = list(request.approvers)
        body.approvals_missing = missing if request.status is RequestStatus.OPEN else None
        body.owners = owners
        body.comments = [CommentBody(each.author, each.at, each.text) for each in request.comments]
        body.reaches = reach
        return body


class ChangeRequestsBody(Struct, omit_defaults=True):
    """A page of change requests, the newest first."""

    change_requests: list[ChangeRequestBody]
    next: int | None = None  #: `before` of the next page


class WaiverBody(Struct):
    """A waiver that has not expired."""

    id: int
    subject: str
    kind: str
    user: str
    reason: str
    change_request: int  #: that granted it
    granted_at: int  #: milliseconds since 1970, UTC
    expires_at: int

    @classmethod
    def of(cls, waiver: StoredWaiver) -> Self:
        """Build the body."""
        return cls(
            id=waiver.id,
            subject=scope_name(waiver.subject),
            kind=waiver.kind.value,
            user=waiver.grantee,
            reason=waiver.reason,
            change_request=waiver.request_id,
            granted_at=waiver.granted_at,
            expires_at=waiver.expires_at,
        )


class WaiversBody(Struct):
    """Waivers, those that expire first at the beginning."""

    waivers: list[WaiverBody]
