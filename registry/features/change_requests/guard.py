"""Guard of protected subjects: each effect of a write needs approvals, a waiver or break-glass.

It works on the change log entries of a transaction, before the transaction ends, so no write can bypass it: every
effect writes an entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import msgspec

from contractlog.compatibility.errors import (
    ApprovalsMissing,
    ChangeRequestEnded,
    ChangeRequestMoved,
    ChangeRequestNotFound,
    ProtectedSubject,
)
from contractlog.compatibility.identifiers import Subject, scope_name
from contractlog.compatibility.text.terminal_text import quote_word
from contractlog.registry.access.current_caller import WriteAuthority, current_authority
from contractlog.registry.access.owners_file import OwnerRule, Owners
from contractlog.registry.features.change_requests import queries
from contractlog.registry.features.change_requests.values import (
    ActionKind,
    ChangeRequest,
    Effect,
    RequestStatus,
    StoredWaiver,
    count_missing_approvals,
    find_effects,
    needs_approval,
)
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "BYPASSED",
    "ProtectionGuard",
    "describe_missing_approvals",
    "find_waiver",
    "registry_moved_error",
    "require_open_request",
]

BYPASSED: Final = "protection.bypassed"  #: action of the change log entry of break-glass
_MAX_WAIVERS: Final = 1_000  #: of one subject that are looked at
_MAX_OWNERS: Final = 10  #: that a message lists
_ACTIONS: Final = {
    ActionKind.REGISTRATION: ("registering a version", "SCHEMA_FILE"),
    ActionKind.DELETION: ("deleting versions", "--delete VERSION"),
    ActionKind.SETTINGS: ("changing config or mode", "--level LEVEL (or --mode MODE)"),
    ActionKind.ASSOCIATION: ("changing associations", None),
    ActionKind.CONTRACT: ("changing the contract", None),
    ActionKind.WAIVER: ("granting a waiver", None),
}


class ProtectionGuard:
    """Write guard by the rules of the owners file.

    Args:
        owners: returns the rules in force.
    """

    def __init__(self, owners: Callable[[], Owners]) -> None:
        self._owners = owners

    def protects(self, subject: Subject) -> bool:
        """Return True if a rule is for the subject."""
        return bool(self._owners().find_rules(subject))

    def read_authority(self) -> WriteAuthority | None:
        """Return the authority of the current request."""
        return current_authority.get()

    def run(
        self, transaction: Transaction, work: Callable[[Transaction], Any], authority: WriteAuthority | None
    ) -> Any:
        """Run a change, and require what its effects need.

        Raises:
            ProtectedSubject: an effect needs approvals.
            ChangeRequestEnded, ChangeRequestMoved, ApprovalsMissing: the change request cannot be merged.
        """
        request = _admit_merge(transaction, authority)
        outcome = work(transaction)
        if request is None and not self._owners().rules:
            return outcome
        effects = [effect for entry in transaction.entries for effect in find_effects(entry)]
        for subject, kind in dict.fromkeys((effect.subject, effect.kind) for effect in effects):
            same = [effect for effect in effects if (effect.subject, effect.kind) == (subject, kind)]
            self._require_permitted(transaction, request, same, authority)
        if request is not None and effects:
            _record_merge(transaction, request)
        return outcome

    def _require_permitted(
        self,
        transaction: Transaction,
        request: ChangeRequest | None,
        effects: list[Effect],
        authority: WriteAuthority | None,
    ) -> None:
        """Require what effects of one kind on one subject need."""
        effect = effects[0]
        rules = self._owners().find_rules(effect.subject)
        if request is not None and request.covers(effect):
            _require_approved(request, rules, effects)
            return
        rules = tuple(rule for rule in rules if any(needs_approval(rule, each) for each in effects))
        if not rules:
            return
        label, details = str(effect.subject), {"kind": effect.kind.value}
        waiver = find_waiver(transaction, effect, rules, transaction.actor, transaction.now)
        if waiver is not None:
            transaction.record_change("protection.waived", label, details={**details, "waiver": waiver.id})
        elif authority and authority.break_glass and authority.permissions.permits_break_glass(effect.subject):
            transaction.record_change(BYPASSED, label, details={**details, "reason": authority.break_glass})
        else:
            raise _protected_subject_error(effect, rules, bypass_denied=bool(authority and authority.break_glass))


def require_open_request(snapshot: Snapshot, request_id: int, now: int) -> ChangeRequest:
    """Return a change request that is open.

    Raises:
        ChangeRequestNotFound, ChangeRequestEnded: there is none.
    """
    request = queries.find_request(snapshot, request_id)
    if request is None:
        raise ChangeRequestNotFound(id=request_id)
    status = request.status_at(now)
    if status is not RequestStatus.OPEN:
        raise ChangeRequestEnded(id=request_id, status=status.value)
    return request


def describe_missing_approvals(rules: Iterable[OwnerRule], count: int) -> str:
    """Return the missing approvals for a message: how many, and by whom.

    >>> describe_missing_approvals([], 1)
    '1 more approval by its owners'
    """
    owners = sorted({owner for rule in rules for owner in rule.owners})
    listed = f" ({_list_owners(owners)})" if owners else ""
    return f"{count} more {'approval' if count == 1 else 'approvals'} by its owners{listed}"


def _admit_merge(transaction: Transaction, authority: WriteAuthority | None) -> ChangeRequest | None:
    """Return the change request that a write merges, if the registry is still what it was checked against."""
    if authority is None or authority.change_request is None:
        return None
    request = require_open_request(transaction, authority.change_request, transaction.now)
    if request.revision != authority.revision:
        raise ChangeRequestMoved(id=request.id, detail="its proposal has changed in the meantime")
    is_waiver = request.kind is ActionKind.WAIVER  # says nothing about the versions or settings of its subject
    if not is_waiver and request.base != queries.fingerprint_state(transaction, request.subject):
        raise registry_moved_error(request)
    return request


def registry_moved_error(request: ChangeRequest) -> ChangeRequestMoved:
    """Return the error for a subject that is no longer what a change request was checked against."""
    words = [str(request.subject), *_list_change_arguments(request), "--update", str(request.id), "--reason", "REASON"]
    detail = (
        f"the versions or settings of {request.subject} have changed since it was checked. Its approvals have to be "
        f"given again after a new check: contractlog change open {' '.join(map(quote_word, words))}"
    )
    return ChangeRequestMoved(id=request.id, detail=detail)


def _list_change_arguments(request: ChangeRequest) -> list[str]:
    """Return the arguments of ``change open`` that propose the same change again.

    A schema is in a file of the user.
    """
    change = msgspec.json.decode(request.proposal)["change"]
    if (deletion := change.get("deletion")) is not None:
        flags = ["--permanent"] if deletion.get("permanent") else []
        return ["--delete", str(deletion.get("version") or "all"), *flags]
    if "config" in change:
        return ["--level", str(change["config"].get("compatibility") or "LEVEL")]
    if "mode" in change:
        return ["--mode", str(change["mode"].get("mode") or "MODE")]
    return ["SCHEMA_FILE", *(["--normalize"] if change.get("normalize") else [])]


def _require_approved(request: ChangeRequest, rules: Iterable[OwnerRule], effects: Iterable[Effect]) -> None:
    """Require the approvals of the rules, and exactly the content that was approved."""
    missing = count_missing_approvals(rules, request.author, request.approvers)
    if missing:
        raise ApprovalsMissing(id=request.id, detail=describe_missing_approvals(rules, missing))
    for effect in effects:
        if effect.kind is ActionKind.REGISTRATION and effect.after != request.content_hash:
            raise registry_moved_error(request)


def find_waiver(
    snapshot: Snapshot, effect: Effect, rules: Iterable[OwnerRule], actor: str, now: int
) -> StoredWaiver | None:
    """Return a waiver of the caller whose approvals satisfy the rules that are in force now."""
    waivers = queries.list_waivers(snapshot, subject=effect.subject, now=now, limit=_MAX_WAIVERS)
    for waiver in waivers:
        if waiver.permits(effect, actor, now):
            request = queries.find_request(snapshot, waiver.request_id)
            if request is not None and not count_missing_approvals(rules, request.author, request.approvers):
                return waiver
    return None


def _record_merge(transaction: Transaction, request: ChangeRequest) -> None:
    merged = replace(request, status=RequestStatus.MERGED, updated_at=transaction.now, ended_by=transaction.actor)
    queries.update_request(transaction, merged)
    details = {"id": request.id, "revision": request.revision, "approvers": list(request.approvers)}
    transaction.record_change("change_request.merged", str(request.subject), details=details)


def _protected_subject_error(effect: Effect, rules: tuple[OwnerRule, ...], *, bypass_denied: bool) -> ProtectedSubject:
    action, option = _ACTIONS[effect.kind]
    name = quote_word(scope_name(effect.subject))
    command = f"contractlog change open {name} {option} --reason REASON"
    if option is None:
        command = f"contractlog change waive {name} --kind {effect.kind} --reason REASON"
    number = max(rule.approvals for rule in rules)
    return ProtectedSubject(
        subject=name,
        action=action,
        approvals=f"{number} {'approval' if number == 1 else 'approvals'}",
        owners=_list_owners(sorted({owner for rule in rules for owner in rule.owners})),
        denied=", as the user has no permission `break_glass` on it" if bypass_denied else "",
        command=command,
    )


def _list_owners(owners: list[str]) -> str:
    more = len(owners) - _MAX_OWNERS
    return ", ".join(owners[:_MAX_OWNERS]) + (f" and {more} more" if more > 0 else "")
