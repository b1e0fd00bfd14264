"""Statements of change requests and waivers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row, Select, delete, func, insert, select, update

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.features.change_requests.values import (
    ActionKind,
    ChangeRequest,
    Comment,
    RequestStatus,
    StoredWaiver,
)
from contractlog.registry.storage import tables
from contractlog.registry.storage.change_log import hash_settings
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import scope_chain, subject_key
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "count_open_requests",
    "find_request",
    "fingerprint_state",
    "insert_approval",
    "insert_comment",
    "insert_request",
    "insert_waiver",
    "list_requests",
    "list_waivers",
    "update_request",
]

_R: Final = tables.change_requests.c
_A: Final = tables.change_request_approvals.c
_N: Final = tables.change_request_comments.c
_W: Final = tables.waivers.c


def fingerprint_state(snapshot: Snapshot, subject: Subject) -> str:
    """Return a hash of the state that a proposal is checked against: versions and settings in force."""
    chain = scope_chain(subject)
    configured = snapshot.read_settings(chain)
    parts = [snapshot.state(subject).revision, *(hash_settings(configured[scope]) for scope in chain)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def find_request(snapshot: Snapshot, request_id: int) -> ChangeRequest | None:
    """Return a change request with its approvals and comments."""
    row = snapshot.connection.execute(select(tables.change_requests).where(_R.id == request_id)).first()
    if row is None:
        return None
    approvals = select(_A.approver).where(_A.request_id == request_id).order_by(_A.at, _A.approver)
    comments = select(tables.change_request_comments).where(_N.request_id == request_id).order_by(_N.number)
    return _parse_request(
        row,
        approvers=tuple(snapshot.connection.execute(approvals).scalars()),
        comments=tuple(Comment(each.author, each.at, each.text) for each in snapshot.connection.execute(comments)),
    )


def list_requests(
    snapshot: Snapshot, *, subject: Subject | None, status: RequestStatus | None, now: int, before: int, limit: int
) -> list[ChangeRequest]:
    """List change requests below a number, the newest first, without approvals and comments."""
    statement: Select[Any] = select(tables.change_requests).where(_R.id < before).order_by(_R.id.desc()).limit(limit)
    if subject is not None:
        statement = statement.where(_R.subject_key == subject_key(subject))
    if status in {RequestStatus.OPEN, RequestStatus.EXPIRED}:
        unexpired = _R.expires_at > now
        statement = statement.where(
            _R.status == RequestStatus.OPEN.value, unexpired if status is RequestStatus.OPEN else ~unexpired
        )
    elif status is not None:
        statement = statement.where(_R.status == status.value)
    return [_parse_request(row) for row in snapshot.connection.execute(statement)]


def count_open_requests(snapshot: Snapshot, now: int) -> int:
    """Return the number of open change requests that have not expired."""
    statement = select(func.count()).where(_R.status == RequestStatus.OPEN.value, _R.expires_at > now)
    return int(snapshot.connection.execute(statement).scalar() or 0)


def insert_request(change: Transaction, request: ChangeRequest) -> int:
    """Insert a change request, and return its number."""
    columns = {
        **_to_columns(request),
        "subject_key": subject_key(request.subject),
        "context": request.subject.context,
        "subject": request.subject.name,
        "kind": request.kind.value,
        "author": request.author,
        "created_at": request.created_at,
    }
    statement = insert(tables.change_requests).values(**columns).returning(_R.id)
    return int(change.connection.execute(statement).scalar_one())


def update_request(change: Transaction, request: ChangeRequest) -> None:
    """Update a change request; without approvers, its approvals are deleted."""
    change.connection.execute(update(tables.change_requests).where(_R.id == request.id).values(**_to_columns(request)))
    if not request.approvers:
        change.connection.execute(delete(tables.change_request_approvals).where(_A.request_id == request.id))


def insert_approval(change: Transaction, request_id: int, approver: str) -> None:
    """Insert an approval."""
    columns = {"request_id": request_id, "approver": approver, "at": change.now}
    change.connection.execute(insert(tables.change_request_approvals).values(**columns))


def insert_comment(change: Transaction, request: ChangeRequest, text: str) -> None:
    """Insert a comment by the actor of the transaction."""
    columns = {"author": change.actor, "at": change.now, "text": text}
    number = len(request.comments) + 1
    change.connection.execute(
        insert(tables.change_request_comments).values(request_id=request.id, number=number, **columns)
    )


def insert_waiver(change: Transaction, waiver: StoredWaiver) -> int:
    """Insert a waiver, and return its number."""
    columns = {
        "subject_key": subject_key(waiver.subject),
        "context": waiver.subject.context,
        "subject": waiver.subject.name,
        "kind": waiver.kind.value,
        "grantee": waiver.grantee,
        "reason": waiver.reason,
        "request_id": waiver.request_id,
        "granted_at": waiver.granted_at,
        "expires_at": waiver.expires_at,
    }
    return int(change.connection.execute(insert(tables.waivers).values(**columns).returning(_W.id)).scalar_one())


def list_waivers(snapshot: Snapshot, *, subject: Subject | None, now: int, limit: int) -> Sequence[StoredWaiver]:
    """List the waivers that have not expired, those that expire first at the beginning."""
    statement = select(tables.waivers).where(_W.expires_at > now).order_by(_W.expires_at, _W.id).limit(limit)
    if subject is not None:
        statement = statement.where(_W.subject_key == subject_key(subject))
    return [
        StoredWaiver(
            id=row.id,
            subject=Subject(row.context, row.subject),
            kind=ActionKind(row.kind),
            grantee=row.grantee,
            reason=row.reason,
            request_id=row.request_id,
            granted_at=row.granted_at,
            expires_at=row.expires_at,
        )
        for row in snapshot.connection.execute(statement)
    ]


def _to_columns(request: ChangeRequest) -> Mapping[str, Any]:
    """Return the columns that a later revision or state may change."""
    return {
        "reason": request.reason,
        "status": request.status.value,
        "revision": request.revision,
        "proposal": request.proposal,
        "evidence": request.evidence,
        "content_hash": request.content_hash,
        "base": request.base,
        "updated_at": request.updated_at,
        "expires_at": request.expires_at,
        "ended_by": request.ended_by,
    }


def _parse_request(row: Row[Any], approvers: tuple[str, ...] = (), comments: tuple[Comment, ...] = ()) -> ChangeRequest:
    return ChangeRequest(
        id=row.id,
        subject=Subject(row.context, row.subject),
        kind=ActionKind(row.kind),
        author=row.author,
        reason=row.reason,
        status=RequestStatus(row.status),
        revision=row.revision,
        proposal=row.proposal,
        evidence=row.evidence,
        content_hash=row.content_hash,
        base=row.base,
        created_at=row.created_at,
        updated_at=row.updated_at,
        expires_at=row.expires_at,
        ended_by=row.ended_by,
        approvers=approvers,
        comments=comments,
    )
