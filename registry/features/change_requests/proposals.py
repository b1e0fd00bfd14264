"""Proposed changes: their check, which gives the evidence, and the change itself when they are merged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from contractlog.compatibility.errors import (
    IncompatibleSchema,
    InvalidChangeRequest,
    RegistryError,
    ServerError,
)
from contractlog.compatibility.identifiers import Subject, validate_scope
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.rule_set_validation import validate_rule_set
from contractlog.registry.access.current_caller import current_permissions
from contractlog.registry.access.permissions import Permission
from contractlog.registry.features.change_requests import queries
from contractlog.registry.features.change_requests.bodies import OpenChangeRequest, WaiverProposalBody
from contractlog.registry.features.change_requests.values import ActionKind, ChangeRequest, StoredWaiver
from contractlog.registry.features.config_and_mode.service import ConfigService
from contractlog.registry.features.diff.service import DiffService
from contractlog.registry.registration.deletion import DeletionService
from contractlog.registry.registration.request import RegistrationRequest, RegistrationResult
from contractlog.registry.registration.service import RegistrationService
from contractlog.registry.registration.version_lookup import missing_version_error
from contractlog.registry.storage.name_and_id_lookup import resolve_alias
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import DeletedFilter
from contractlog.registry.storage.transaction import Transaction

__all__ = ["CheckedProposal", "ProposalRunner", "find_kind", "resolve_subject"]

_MEMBERS: Final = {
    "schema": ActionKind.REGISTRATION,
    "deletion": ActionKind.DELETION,
    "config": ActionKind.SETTINGS,
    "mode": ActionKind.SETTINGS,
    "waiver": ActionKind.WAIVER,
}
_WAIVABLE: Final = tuple(kind for kind in ActionKind if kind is not ActionKind.WAIVER)
_MAX_WAIVER_DAYS: Final = 90
_DAY: Final = 86_400_000  #: milliseconds
_MAX_REASONS: Final = 100
_MAX_DIFF_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class CheckedProposal:
    """Result of the check of a proposal."""

    evidence: Mapping[str, Any]
    content_hash: str | None = None  #: of the version that it would register


def find_kind(proposal: OpenChangeRequest) -> ActionKind:
    """Return the kind of a proposed change.

    Raises:
        InvalidChangeRequest: it has no change, or several.
    """
    members = [member for member in _MEMBERS if getattr(proposal.change, member) is not None]
    if len(members) != 1:
        raise InvalidChangeRequest(detail=f"`change` has exactly one of {', '.join(_MEMBERS)}")
    return _MEMBERS[members[0]]


def resolve_subject(snapshot: Snapshot, name: Subject, kind: ActionKind) -> Subject:
    """Return the subject that a proposal changes; an alias is followed, except for its own settings.

    Raises:
        Denied: the caller may not write it.
    """
    permissions = current_permissions.get()
    permissions.require(Permission.WRITE, name)
    if kind in {ActionKind.REGISTRATION, ActionKind.DELETION}:
        return resolve_alias(snapshot, name, permissions, Permission.WRITE)
    return name


class ProposalRunner:
    """Checks proposals, and makes the changes that they propose, with the services of direct requests."""

    def __init__(
        self,
        store: Store,
        registration: RegistrationService,
        deletion: DeletionService,
        config: ConfigService,
        diff: DiffService,
    ) -> None:
        self._store = store
        self._registration = registration
        self._deletion = deletion
        self._config = config
        self._diff = diff

    async def check(self, proposal: OpenChangeRequest, subject: Subject, author: str) -> CheckedProposal:
        """Check a proposal; nothing is written.

        Raises:
            InvalidChangeRequest: it would change nothing, or a member is not valid.
            RegistryError: the change would be rejected for a reason other than its compatibility.
        """
        change = proposal.change
        if change.schema is not None:
            return await self._check_registration(_registration_request(proposal, subject))
        if change.deletion is not None:
            return CheckedProposal({"versions": self._list_deleted(subject, change.deletion.version)})
        validate_scope(subject)
        if change.waiver is not None:
            return CheckedProposal({"user": _require_waiver(change.waiver, author)})
        if change.config is not None:
            patch = change.config.patch()
            for member in ("default_rule_set", "override_rule_set"):
                validate_rule_set(patch.get(member))
            if not patch:
                raise InvalidChangeRequest(detail="`config` has no member")
        elif change.mode is not None and change.mode.mode is not None:
            Mode.parse(change.mode.mode)
        return CheckedProposal({})

    async def run(self, request: ChangeRequest) -> None:
        """Make the change of a change request; the write guard requires that it is approved."""
        proposal = msgspec.json.decode(request.proposal, type=OpenChangeRequest)
        change, subject = proposal.change, request.subject
        evidence = msgspec.json.decode(request.evidence)
        if change.schema is not None:
            force = evidence.get("compatible") is False
            await self._registration.register(replace(_registration_request(proposal, subject), force=force))
        elif change.deletion is not None and change.deletion.version is not None:
            await self._deletion.version(subject, change.deletion.version, permanent=change.deletion.permanent)
        elif change.deletion is not None:
            await self._deletion.subject(subject, permanent=change.deletion.permanent)
        elif change.config is not None:
            await self._config.set_config(subject, change.config.patch())
        elif change.mode is not None:
            mode = None if change.mode.mode is None else Mode.parse(change.mode.mode)
            await self._config.set_mode(subject, mode)
        elif change.waiver is not None:
            await self._grant(request, change.waiver, evidence["user"])

    async def _check_registration(self, request: RegistrationRequest) -> CheckedProposal:
        evidence: dict[str, Any] = {"compatible": True}
        try:
            proposed = await self._registration.propose(request)
        except IncompatibleSchema as error:
            messages = [finding.detail for finding in error.verdict.findings]
            evidence = {"compatible": False, "reasons": list(dict.fromkeys(messages))[:_MAX_REASONS]}
            proposed = await self._registration.propose(replace(request, force=True))
        if isinstance(proposed, RegistrationResult):
            version = proposed.schema.version
            raise InvalidChangeRequest(detail=f"{request.subject} already has this schema, as version {version}")
        evidence |= {
            name: proposed.details[name] for name in ("level", "policy", "warning") if name in proposed.details
        }
        difference = await self._compare(request)
        return CheckedProposal(evidence | ({} if difference is None else difference), proposed.content.hash)

    async def _compare(self, request: RegistrationRequest) -> dict[str, Any] | None:
        """Return the difference from the latest version; None without one, or if it cannot be computed."""
        try:
            body = (await self._diff.compare((request.subject, None), request.draft)).body()
        except ServerError:
            raise
        except RegistryError:
            return None
        if len(msgspec.json.encode(body)) > _MAX_DIFF_BYTES:
            body["findings"] = []
            return {"difference": body, "truncated": True}
        return {"difference": body}

    def _list_deleted(self, subject: Subject, number: int | None) -> list[int]:
        with self._store.open_snapshot() as snapshot:
            versions = [version for version, _ in snapshot.versions(subject, DeletedFilter.INCLUDED)]
            if number is not None:
                versions = [version for version in versions if version == number]
            if not versions:
                raise missing_version_error(snapshot, subject, number, DeletedFilter.INCLUDED)
        return versions

    async def _grant(self, request: ChangeRequest, proposed: WaiverProposalBody, grantee: str) -> None:
        def work(change: Transaction) -> None:
            waiver = StoredWaiver(
                id=0,
                subject=request.subject,
                kind=ActionKind(proposed.kind),
                grantee=grantee,
                reason=request.reason,
                request_id=request.id,
                granted_at=change.now,
                expires_at=change.now + proposed.days * _DAY,
            )
            details = {
                "id": queries.insert_waiver(change, waiver),
                "kind": waiver.kind.value,
                "user": grantee,
                "reason": waiver.reason,
                "expires_at": waiver.expires_at,
            }
            change.record_change("waiver.granted", str(request.subject), details=details)

        await asyncio.wrap_future(self._store.transact(work))


def _registration_request(proposal: OpenChangeRequest, subject: Subject) -> RegistrationRequest:
    schema = proposal.change.schema
    if schema is None:
        raise InvalidChangeRequest(detail="`change` has no schema")
    return RegistrationRequest(
        subject=subject,
        draft=schema.draft(),
        normalize=proposal.change.normalize,
        schema_id=schema.requested_id,
        version=schema.requested_version,
        tags=schema.tags(),
    )


def _require_waiver(waiver: WaiverProposalBody, author: str) -> str:
    """Return the user of a proposed waiver.

    Raises:
        InvalidChangeRequest: a member is not valid.
    """
    if waiver.kind not in _WAIVABLE:
        raise InvalidChangeRequest(detail=f"the kind of a waiver is one of {', '.join(_WAIVABLE)}")
    if not 1 <= waiver.days <= _MAX_WAIVER_DAYS:
        raise InvalidChangeRequest(detail=f"the days of a waiver are from 1 to {_MAX_WAIVER_DAYS}")
    return waiver.user or author
