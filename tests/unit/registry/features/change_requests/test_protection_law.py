"""The law of protected subjects, over random histories of one registry.

A protected subject never changes without the approvals required at the moment of the change, a valid waiver, or a
break-glass entry. The change log is checked after each step; the model has only approvals, waivers and time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.access.current_caller import (
    WriteAuthority,
    current_actor,
    current_authority,
    current_permissions,
)
from contractlog.registry.access.owners_file import Owners, parse_owners
from contractlog.registry.access.permissions import Permissions
from contractlog.registry.database import open_store
from contractlog.registry.features.change_requests.bodies import (
    DeletionProposalBody,
    OpenChangeRequest,
    ProposedChangeBody,
    WaiverProposalBody,
)
from contractlog.registry.features.change_requests.values import find_effects
from contractlog.registry.features.config_and_mode.bodies import ConfigRequest
from contractlog.registry.http.request_bodies import RegisterRequest
from contractlog.registry.registration.request import RegistrationRequest
from contractlog.registry.services import create_services
from contractlog.registry.settings import Settings
from contractlog.registry.storage.change_log import list_changes_after
from contractlog.registry.telemetry.recorded_metrics import Telemetry

ORDERS = Subject.parse("orders-value")
DAY = 86_400_000
USERS = ["ci", "deputy", "alice", "bob", "carol"]
OWNERS = {
    number: parse_owners(
        f'[owners."orders-*"]\nowners = ["alice", "bob", "carol"]\napprovals = {number}\nprotect = "all"'
    )
    for number in (1, 2, 3)
}
TYPES = ["int", "long", "string", "bytes", "double"]


def schema(kind: str) -> str:
    return f'{{"type":"record","name":"Order","fields":[{{"name":"id","type":"{kind}"}}]}}'


CHANGES = st.one_of(
    st.sampled_from(TYPES).map(lambda kind: ProposedChangeBody(schema=RegisterRequest(schema=schema(kind)))),
    st.just(ProposedChangeBody(deletion=DeletionProposalBody())),
    st.just(ProposedChangeBody(deletion=DeletionProposalBody(permanent=True))),
    st.sampled_from(["NONE", "FULL"]).map(lambda level: ProposedChangeBody(config=ConfigRequest(compatibility=level))),
    st.builds(
        WaiverProposalBody,
        kind=st.sampled_from(["registration", "deletion", "settings"]),
        days=st.integers(1, 3),
        user=st.sampled_from(["ci", "deputy"]),
    ).map(lambda waiver: ProposedChangeBody(waiver=waiver)),
)


class ProtectedRegistry(RuleBasedStateMachine):
    """One registry with one protected subject."""

    @initialize()
    def start(self) -> None:
        self.now = 1_000_000
        self.owners: Owners = OWNERS[2]
        settings = Settings(database_url="sqlite://")
        self.store = open_store(settings, lambda: self.now)
        self.services = create_services(settings, self.store, Telemetry(version="0"), lambda: self.owners)
        self.requests: dict[int, dict[str, Any]] = {}  #: author, revision, and approvers of the current revision
        self.waivers: list[tuple[str, str, int]] = []  #: user, kind, end
        self.checked = 0  #: the last change log entry that was checked

    def teardown(self) -> None:
        if hasattr(self, "services"):
            self.services.close()

    def act(self, user: str, work: Coroutine[Any, Any, Any], reason: str = "") -> Any:
        """Run a request as a user; return its result, or None if it is rejected."""
        permissions = Permissions.of(["*"], ["*"], break_glass=["orders-*"] if user == "deputy" else [])

        def run() -> Any:
            current_actor.set(user)
            current_permissions.set(permissions)
            current_authority.set(WriteAuthority(permissions, break_glass=reason) if reason else None)
            try:
                return asyncio.run(work)
            except RegistryError:
                return None

        return copy_context().run(run)

    @rule(user=st.sampled_from(USERS), kind=st.sampled_from(TYPES), reason=st.sampled_from(["", "", "", "fire"]))
    def register_directly(self, user: str, kind: str, reason: str) -> None:
        request = RegistrationRequest(subject=ORDERS, draft=SchemaDraft(schema(kind)), force=True)
        self.act(user, self.services.registration.register(request), reason)

    @rule(user=st.sampled_from(USERS), permanent=st.booleans(), reason=st.sampled_from(["", "", "fire"]))
    def delete_directly(self, user: str, reason: str, *, permanent: bool) -> None:
        self.act(user, self.services.deletion.subject(ORDERS, permanent=permanent), reason)

    @rule(user=st.sampled_from(USERS), scope=st.sampled_from(["orders-value", ":.:"]))
    def set_level_directly(self, user: str, scope: str) -> None:
        patch = ConfigRequest(compatibility="BACKWARD").patch()
        self.act(user, self.services.config.set_config(Subject.parse(scope), patch))

    @rule(user=st.sampled_from(USERS), change=CHANGES, days=st.integers(1, 3))
    def open(self, user: str, change: ProposedChangeBody, days: int) -> None:
        proposal = OpenChangeRequest("orders-value", change, "r", days=days)
        request = self.act(user, self.services.change_requests.open(ORDERS, proposal))
        if request is not None:
            self.requests[request.id] = {"author": user, "revision": 1, "approvers": set()}

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), change=CHANGES)
    def change_proposal(self, data: st.DataObject, change: ProposedChangeBody) -> None:
        number = data.draw(st.sampled_from(sorted(self.requests)[-2:]))
        proposal = OpenChangeRequest("orders-value", change, "r")
        model = self.requests[number]
        updated = self.act(model["author"], self.services.change_requests.update(number, ORDERS, proposal))
        if updated is not None:
            self.requests[number] |= {"revision": updated.revision, "approvers": set()}

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), users=st.lists(st.sampled_from(USERS), min_size=1, max_size=3), stale=st.booleans())
    def approve(self, data: st.DataObject, users: list[str], *, stale: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.requests)[-2:]))
        model = self.requests[number]
        for user in users:
            done = self.act(user, self.services.change_requests.approve(number, model["revision"] - stale))
            if done is not None:
                assert not stale
                assert user not in {model["author"], "ci", "deputy"}
                model["approvers"].add(user)
                assert set(done.approvers) == model["approvers"]

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), user=st.sampled_from(USERS))
    def merge(self, data: st.DataObject, user: str) -> None:
        number = data.draw(st.sampled_from(sorted(self.requests)[-2:]))
        self.act(user, self.services.change_requests.merge(number))

    @precondition(lambda self: self.requests)
    @rule()
    def approve_by_all_owners(self) -> None:
        number = max(self.requests)
        model = self.requests[number]
        for user in ("alice", "bob", "carol"):
            if self.act(user, self.services.change_requests.approve(number, model["revision"])) is not None:
                model["approvers"].add(user)

    @rule(number=st.sampled_from([1, 2, 3]))
    def change_owners_file(self, number: int) -> None:
        self.owners = OWNERS[number]

    @rule(days=st.integers(0, 2))
    def wait(self, days: int) -> None:
        self.now += days * DAY

    @invariant()
    def protected_changes_are_authorized(self) -> None:
        if not hasattr(self, "store"):
            return
        with self.store.open_snapshot() as snapshot:
            entries = list_changes_after(snapshot, self.checked, 1_000)
        effects = {effect for entry in entries for effect in find_effects(_Entry(entry))}
        actions = [entry.action for entry in entries]
        approvers: set[str] = set()
        if effects:
            merges = [entry for entry in entries if entry.action == "change_request.merged"]
            if merges:
                (merged,) = merges
                model = self.requests.pop(merged.facts["id"])
                assert merged.facts["revision"] == model["revision"]
                approvers = model["approvers"] - {model["author"]}
                assert len(approvers) >= self.owners.rules[0].approvals
            elif "protection.waived" in actions:
                kinds = {entry.facts["kind"] for entry in entries if entry.action == "protection.waived"}
                actor = entries[0].actor
                for kind in kinds:
                    permitted = {kind, "deletion"} if kind == "settings" else {kind}
                    assert any(
                        user == actor and k in permitted and self.now < end and count >= self.owners.rules[0].approvals
                        for user, k, end, count in self.waivers
                    )
            else:
                assert "protection.bypassed" in actions
                assert entries[0].actor == "deputy"
        for entry in entries:
            if entry.action == "waiver.granted":
                facts = entry.facts
                self.waivers.append((facts["user"], facts["kind"], facts["expires_at"], len(approvers)))
        self.checked += len(entries)


class _Entry:
    """A recorded change with its facts as details, as in the transaction that recorded it."""

    def __init__(self, recorded: Any) -> None:
        self.action, self.target, self.after = recorded.action, recorded.target, recorded.after
        self.details = recorded.facts


TestProtectedRegistry = ProtectedRegistry.TestCase
TestProtectedRegistry.settings = hypothesis_settings(max_examples=8, stateful_step_count=25, deadline=None)
