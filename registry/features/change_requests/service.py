"""Change requests: opened with evidence, approved by owners, merged as approved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import msgspec

from contractlog.compatibility.errors import (
    ApprovalDenied,
    ApprovalsMissing,
    ChangeRequestMoved,
    ChangeRequestNotFound,
    InvalidChangeRequest,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.current_caller import (
    ANONYMOUS,
    WriteAuthority,
    current_actor,
    current_authority,
    current_permissions,
    may_read,
)
from contractlog.registry.access.owners_file import OwnerRule, Owners, Protection
from contractlog.registry.access.permissions import Permission, Permissions
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.change_requests import queries
from contractlog.registry.features.change_requests.bodies import OpenChangeRequest
from contractlog.registry.features.change_requests.guard import (
    describe_missing_approvals,
    find_waiver,
    registry_moved_error,
    require_open_request,
)
from contractlog.registry.features.change_requests.proposals import ProposalRunner, find_kind, resolve_subject
from contractlog.registry.features.change_requests.values import (
    ActionKind,
    ChangeRequest,
    Effect,
    RequestStatus,
    StoredWaiver,
    count_missing_approvals,
)
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.transaction import Transaction

__all__ = ["MAX_LISTED", "ApprovalState", "ChangeRequestService", "ProtectionState"]

T = TypeVar("T")
MAX_LISTED: Final = 100
MAX_REQUEST_ID: Final = 2**31 - 1
_MAX_OPEN: Final = 1_000
_MAX_COMMENTS: Final = 200
_MAX_TEXT: Final = 4_000  #: characters of a reason or a comment
_MAX_SOURCE: Final = 1_000  #: characters of a commit or URL
_DEFAULT_DAYS: Final = 30
_MAX_DAYS: Final = 365
_DAY: Final = 86_400_000  #: milliseconds


@dataclass(frozen=True, slots=True)
class ApprovalState:
    """Owners of the subject of a change request, and how many approvals are missing."""

    owners: list[str]
    missing: int


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """An open change request of a subject."""

    id: int
    kind: str


@dataclass(frozen=True, slots=True)
class ProtectionState:
    """Protection of a subject, and what already permits the caller to change it."""

    protect: Protection
    approvals: int  #: that a change needs
    owners: list[str]
    waived: dict[str, int]  #: kinds of changes that waivers permit the caller, with the times when they expire
    open_requests: list[OpenRequest]


class ChangeRequestService(ReadService):
    """Opens, approves and merges change requests."""

    def __init__(
        self, store: Store, threads: ThreadPools, owners: Callable[[], Owners], proposals: ProposalRunner
    ) -> None:
        super().__init__(store, threads)
        self._owners = owners
        self._proposals = proposals

    def now(self) -> int:
        """Return the time by which change requests expire."""
        return self._store.now()

    async def open(self, name: Subject, proposal: OpenChangeRequest) -> ChangeRequest:
        """Open a change request.

        Raises:
            InvalidChangeRequest, Denied, RegistryError: the proposal is not valid, or may not be made.
        """
        kind, author, now = find_kind(proposal), current_actor.get(), self.now()
        days = _require_proposal(proposal)
        subject = await self._query(resolve_subject, name, kind)
        if kind is ActionKind.WAIVER and not self._owners().find_rules(subject):
            raise InvalidChangeRequest(detail=f"{subject} has no owners: its changes need no waiver")
        base = await self._query(queries.fingerprint_state, subject)
        checked = await self._proposals.check(proposal, subject, author)
        request = ChangeRequest(
            id=0,
            subject=subject,
            kind=kind,
            author=author,
            reason=proposal.reason.strip(),
            status=RequestStatus.OPEN,
            revision=1,
            proposal=msgspec.json.encode(proposal).decode(),
            evidence=msgspec.json.encode(checked.evidence).decode(),
            content_hash=checked.content_hash,
            base=base,
            created_at=now,
            updated_at=now,
            expires_at=now + days * _DAY,
        )

        def work(change: Transaction) -> ChangeRequest:
            if queries.count_open_requests(change, change.now) >= _MAX_OPEN:
                raise InvalidChangeRequest(detail=f"there are {_MAX_OPEN} open ones already; close some first")
            stored = replace(request, id=queries.insert_request(change, request))
            return _record(change, "opened", stored, {"kind": kind.value, "reason": stored.reason})

        return await self._change(work)

    async def update(self, request_id: int, name: Subject, proposal: OpenChangeRequest) -> ChangeRequest:
        """Replace the proposal of a change request by a new revision; its approvals are deleted.

        Raises:
            ApprovalDenied: the caller is not its author.
        """
        kind = find_kind(proposal)
        days = _require_proposal(proposal)
        await self.get(request_id)
        existing = await self._query(require_open_request, request_id, self.now())
        if existing.author != current_actor.get():
            raise ApprovalDenied(id=request_id, detail=f"only its author {existing.author} may change it")
        subject = await self._query(resolve_subject, name, kind)
        if (subject, kind) != (existing.subject, existing.kind):
            raise InvalidChangeRequest(detail=f"it is about the {existing.kind} of {existing.subject}; open another")
        base = await self._query(queries.fingerprint_state, subject)
        checked = await self._proposals.check(proposal, subject, existing.author)

        def work(change: Transaction) -> ChangeRequest:
            current = require_open_request(change, request_id, change.now)
            updated = replace(
                current,
                reason=proposal.reason.strip(),
                revision=current.revision + 1,
                proposal=msgspec.json.encode(proposal).decode(),
                evidence=msgspec.json.encode(checked.evidence).decode(),
                content_hash=checked.content_hash,
                base=base,
                updated_at=change.now,
                expires_at=current.expires_at if proposal.days is None else change.now + days * _DAY,
                approvers=(),
            )
            queries.update_request(change, updated)
            return _record(change, "updated", updated, {"approvals_withdrawn": list(current.approvers)})

        return await self._change(work)

    async def get(self, request_id: int) -> ChangeRequest:
        """Return a change request of a subject that the caller may read."""
        return await self._query(_require_readable, request_id)

    async def list_requests(
        self, *, subject: Subject | None, status: RequestStatus | None, before: int, limit: int
    ) -> tuple[list[ChangeRequest], int | None]:
        """List change requests, the newest first, and return the number that the next page begins before.

        Those of subjects that the caller may not read are left out.
        """
        listed = await self._query(
            queries.list_requests, subject=subject, status=status, now=self.now(), before=before, limit=limit
        )
        following = listed[-1].id if len(listed) == limit else None
        return [request for request in listed if may_read(request.subject)], following

    async def list_waivers(self, subject: Subject | None, limit: int) -> Iterable[StoredWaiver]:
        """List the waivers that have not expired, of subjects that the caller may read."""
        listed = await self._query(queries.list_waivers, subject=subject, now=self.now(), limit=limit)
        return [waiver for waiver in listed if may_read(waiver.subject)]

    async def find_protection(self, scope: Subject) -> ProtectionState | None:
        """Return which changes of a subject, or of any subject of a context, need approvals; None if none do."""
        rules = self._owners().find_rules(scope)
        if not rules:
            return None
        now, actor = self.now(), current_actor.get()
        waivers = {
            kind.value: await self._query(find_waiver, Effect(scope, kind), rules, actor, now) for kind in ActionKind
        }
        waived = {kind: waiver.expires_at for kind, waiver in waivers.items() if waiver is not None}
        requests = await self._query(
            queries.list_requests,
            subject=scope,
            status=RequestStatus.OPEN,
            now=now,
            before=MAX_REQUEST_ID,
            limit=MAX_LISTED,
        )
        return ProtectionState(
            max((rule.protect for rule in rules), key=lambda protect: protect is Protection.ALL),
            max(rule.approvals for rule in rules),
            sorted({owner for rule in rules for owner in rule.owners}),
            waived,
            [OpenRequest(each.id, each.kind.value) for each in requests],
        )

    def find_approval_state(self, request: ChangeRequest) -> ApprovalState:
        """Return the owners and the number of missing approvals, by the rules in force."""
        rules = self._find_rules(request)
        owners = sorted({owner for rule in rules for owner in rule.owners})
        return ApprovalState(owners, count_missing_approvals(rules, request.author, request.approvers))

    async def approve(self, request_id: int, revision: int) -> ChangeRequest:
        """Approve a revision of a change request.

        Raises:
            ApprovalDenied: the caller is its author, or no owner.
            ChangeRequestMoved: it has another revision.
        """

        def work(change: Transaction) -> ChangeRequest:
            request = require_open_request(change, request_id, change.now)
            if request.revision != revision:
                detail = f"its revision is {request.revision}, not {revision}; look at it again"
                raise ChangeRequestMoved(id=request_id, detail=detail)
            self._require_approver(request, change.actor)
            if change.actor in request.approvers:
                return request
            queries.insert_approval(change, request_id, change.actor)
            approved = replace(request, approvers=(*request.approvers, change.actor))
            return _record(change, "approved", approved, {})

        await self.get(request_id)
        return await self._change(work)

    async def comment(self, request_id: int, text: str) -> ChangeRequest:
        """Add a comment to an open change request.

        Raises:
            ApprovalDenied: the caller is neither its author nor an owner, and may not write the subject.
        """
        _require_text("comment", text)
        permissions = current_permissions.get()

        def work(change: Transaction) -> ChangeRequest:
            request = require_open_request(change, request_id, change.now)
            self._require_involved(request, change.actor, permissions, "comment on it")
            if len(request.comments) >= _MAX_COMMENTS:
                raise InvalidChangeRequest(detail=f"it has {_MAX_COMMENTS} comments; no more are stored")
            queries.insert_comment(change, request, text.strip())
            return _record(change, "commented", request, {})

        await self.get(request_id)
        await self._change(work)
        return await self.get(request_id)

    async def close(self, request_id: int) -> ChangeRequest:
        """Close a change request without merging it.

        Raises:
            ApprovalDenied: the caller is neither its author nor an owner, and may not write the subject.
        """
        permissions = current_permissions.get()

        def work(change: Transaction) -> ChangeRequest:
            request = require_open_request(change, request_id, change.now)
            self._require_involved(request, change.actor, permissions, "close it")
            closed = replace(request, status=RequestStatus.CLOSED, updated_at=change.now, ended_by=change.actor)
            queries.update_request(change, closed)
            return _record(change, "closed", closed, {})

        await self.get(request_id)
        return await self._change(work)

    async def merge(self, request_id: int) -> ChangeRequest:
        """Make the change of an approved change request, exactly as it was approved.

        Raises:
            Denied: the caller may not write the subject.
            ApprovalsMissing, ChangeRequestEnded: it cannot be merged yet, or any more.
            ChangeRequestMoved: the subject, its settings or the proposal have changed.
            RegistryError: the registry rejects the change.
        """
        permissions = current_permissions.get()
        await self.get(request_id)
        request = await self._query(require_open_request, request_id, self.now())
        permissions.require(Permission.WRITE, request.subject)
        rules = self._find_rules(request)
        missing = count_missing_approvals(rules, request.author, request.approvers)
        if missing:  # the guard requires it, too, at the moment of the change
            raise ApprovalsMissing(id=request_id, detail=describe_missing_approvals(rules, missing))
        authority = WriteAuthority(permissions, change_request=request_id, revision=request.revision)
        token = current_authority.set(authority)
        try:
            await self._proposals.run(request)
        finally:
            current_authority.reset(token)
        merged = await self.get(request_id)
        if merged.status is not RequestStatus.MERGED:  # the subject has the version already: nothing was written
            raise registry_moved_error(request)
        return merged

    def _find_rules(self, request: ChangeRequest) -> tuple[OwnerRule, ...]:
        return self._owners().find_rules(request.subject)

    def _require_approver(self, request: ChangeRequest, actor: str) -> None:
        if actor == request.author:
            raise ApprovalDenied(id=request.id, detail="nobody approves their own request")
        if actor == ANONYMOUS or not any(actor in rule.owners for rule in self._find_rules(request)):
            raise ApprovalDenied(id=request.id, detail=f"{actor} is not an owner of {request.subject}")

    def _require_involved(self, request: ChangeRequest, actor: str, permissions: Permissions, action: str) -> None:
        is_owner = any(actor in rule.owners for rule in self._find_rules(request))
        may_write = permissions.permits(Permission.WRITE, request.subject)
        if not (is_owner or may_write or actor == request.author):
            raise ApprovalDenied(id=request.id, detail=f"only its author, an owner or a writer may {action}")

    async def _change(self, work: Callable[[Transaction], T]) -> T:
        return await asyncio.wrap_future(self._store.transact(work))


def _require_readable(snapshot: Snapshot, request_id: int) -> ChangeRequest:
    request = queries.find_request(snapshot, request_id)
    if request is None or not may_read(request.subject):  # numbers of others do not name their subjects
        raise ChangeRequestNotFound(id=request_id)
    return request


def _require_proposal(proposal: OpenChangeRequest) -> int:
    """Return the days until a proposal expires; raise if its reason, source or days are not valid."""
    _require_text("reason", proposal.reason)
    source = proposal.source
    if source is not None:
        for name, text in (("commit", source.commit or ""), ("url", source.url or "")):
            if len(text) > _MAX_SOURCE or not text.isprintable():
                raise InvalidChangeRequest(detail=f"the {name} has at most {_MAX_SOURCE} printable characters")
        if source.url and not source.url.startswith(("https://", "http://")):
            raise InvalidChangeRequest(detail="the url begins with https:// or http://")
    days = _DEFAULT_DAYS if proposal.days is None else proposal.days
    if not 1 <= days <= _MAX_DAYS:
        raise InvalidChangeRequest(detail=f"days is a number from 1 to {_MAX_DAYS}")
    return days


def _require_text(label: str, text: str) -> None:
    if not text.strip() or len(text) > _MAX_TEXT or "\0" in text:
        raise InvalidChangeRequest(detail=f"the {label} has 1 to {_MAX_TEXT} characters")


def _record(change: Transaction, verb: str, request: ChangeRequest, details: Mapping[str, Any]) -> ChangeRequest:
    facts = {"id": request.id, "revision": request.revision, **details}
    change.record_change(f"change_request.{verb}", str(request.subject), details=facts)
    return request
