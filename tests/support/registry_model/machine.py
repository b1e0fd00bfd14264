"""State machine that makes random calls to a service and to the model, and compares both."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from support.registry_model.calls import ModelCalls, format_association, format_resource, parse_associations
from support.registry_model.comparison import Coverage
from support.registry_model.contents import Rejected
from support.registry_model.registry_state import RegistrationDraft
from support.registry_model.scenarios import SCENARIOS, Scenario
from support.registry_model.scopes import DEFAULT
from support.registry_model.strategies import (
    CONTEXTS,
    FREE,
    MODES,
    OPENINGS,
    PATCHES,
    RESOURCES,
    SCOPES,
    SUBJECTS,
    choose_association_request,
    choose_configured_scope,
    choose_derivation,
    choose_registration,
    choose_subject,
    choose_version,
)

__all__ = ["Coverage", "RegistryMachine"]


class RegistryMachine(ModelCalls):
    """Rules that choose the calls."""

    @initialize(opening=OPENINGS)
    def create_initial_versions(self, opening: list[tuple[str, RegistrationDraft]]) -> None:
        """Start with existing versions."""
        for subject, sent in opening:
            self.register_draft(subject, sent)

    @rule(data=st.data(), subject=SUBJECTS)
    def register(self, data: st.DataObject, subject: str) -> None:
        """Register a schema."""
        self.register_draft(subject, data.draw(choose_registration(self.model, subject)))

    @rule(data=st.data(), subject=SUBJECTS)
    def register_some(self, data: st.DataObject, subject: str) -> None:
        """Register several schemas under one subject."""
        for sent in data.draw(st.lists(choose_registration(self.model, subject), min_size=2, max_size=3)):
            self.register_draft(subject, sent)

    @rule(data=st.data(), subject=SUBJECTS)
    def import_draft_step(self, data: st.DataObject, subject: str) -> None:
        """Import a schema with an id."""
        self.import_draft(subject, data.draw(choose_registration(self.model, subject, imported=True)))

    @rule(data=st.data(), subject=SUBJECTS, force=st.booleans())
    def import_drafts(self, data: st.DataObject, subject: str, *, force: bool) -> None:
        """Import several schemas with ids while the subject's mode is IMPORT."""
        drafts = data.draw(st.lists(choose_registration(self.model, subject, imported=True), min_size=1, max_size=3))
        self.set_mode(subject, "IMPORT", force=force)
        for sent in drafts:
            self.import_draft(subject, sent)
        self.set_mode(subject, None, force=False)

    @rule(data=st.data())
    def change_tags(self, data: st.DataObject) -> None:
        """Register a version as changes to another one."""
        subject = data.draw(choose_subject(self.model))
        number, sent, merged, gone = data.draw(choose_derivation(self.model, subject))
        self.derive(subject, number, sent, merged, gone)

    @rule(data=st.data(), deleted=st.booleans())
    def lookup(self, data: st.DataObject, *, deleted: bool) -> None:
        """Look up a schema."""
        subject = data.draw(choose_subject(self.model))
        sent = data.draw(choose_registration(self.model, subject, plain=True))
        self.look_up(subject, sent, deleted=deleted)

    @rule(data=st.data(), permanent=st.booleans())
    def delete_subject(self, data: st.DataObject, *, permanent: bool) -> None:
        """Delete a subject."""
        subject = data.draw(choose_subject(self.model))
        self.delete_subject_call(subject, permanent=permanent)

    @rule(data=st.data(), permanent=st.booleans())
    def delete_version(self, data: st.DataObject, *, permanent: bool) -> None:
        """Delete a version."""
        subject = data.draw(choose_subject(self.model))
        number = data.draw(choose_version(self.model, subject))
        self.delete_version_call(subject, number, permanent=permanent)

    @rule(data=st.data(), scope=SCOPES)
    def set_config(self, data: st.DataObject, scope: str) -> None:
        """Change a config."""
        self.update(scope, data.draw(PATCHES(scope)))

    @rule(data=st.data())
    def delete_config(self, data: st.DataObject) -> None:
        """Delete a config."""
        scope = data.draw(choose_configured_scope(self.model))
        self.delete_config_call(scope)

    @rule(scope=SCOPES, mode=MODES, force=st.booleans())
    def change_mode(self, scope: str, mode: str | None, *, force: bool) -> None:
        """Set or clear a mode."""
        self.set_mode(scope, mode, force=force)

    @rule(data=st.data(), subject=SUBJECTS, mode=MODES)
    def write_meanwhile(self, data: st.DataObject, subject: str, mode: str | None) -> None:
        """Register a schema in a mode that may prohibit it."""
        self.set_mode(subject, mode, force=True)
        self.register_draft(subject, data.draw(choose_registration(self.model, subject)))
        self.set_mode(subject, None, force=False)

    @rule(data=st.data(), recursive=st.booleans())
    def delete_mode(self, data: st.DataObject, *, recursive: bool) -> None:
        """Delete a mode."""
        scope = data.draw(choose_configured_scope(self.model))
        self.delete_mode_call(scope, recursive=recursive)

    @rule(context=st.sampled_from([DEFAULT, ":.eu:", ":.eu:"]))
    def delete_context(self, context: str) -> None:
        """Delete a context."""
        self.delete_context_call(context)

    @rule(data=st.data(), resource=RESOURCES, upsert=st.booleans(), rehearsal=st.booleans(), context=CONTEXTS)
    def bind(self, data: st.DataObject, resource: str, context: str, *, upsert: bool, rehearsal: bool) -> None:
        """Create or upsert associations."""
        operation = "UPSERT" if upsert else "CREATE"
        requests = data.draw(
            st.lists(choose_association_request(self.model, resource, [operation]), min_size=1, max_size=2)
        )
        self.bind_associations(resource, requests, context=context, rehearsal=rehearsal)

    @rule(data=st.data(), resource=RESOURCES, rehearsal=st.booleans(), context=CONTEXTS)
    def bind_many(self, data: st.DataObject, resource: str, context: str, *, rehearsal: bool) -> None:
        """Change associations in a batch, each member independently."""
        operations = ["CREATE", "UPSERT", "DELETE"]
        requests_by_resource = data.draw(
            st.lists(
                st.lists(choose_association_request(self.model, resource, operations), max_size=2),
                min_size=1,
                max_size=2,
            )
        )
        bodies = [
            format_resource(
                resource, [format_association(request) | {"opType": request.operation} for request in requests]
            )
            for requests in requests_by_resource
        ]
        answer = self.call("POST /associations:batchMutate", {"requests": bodies}, dryRun=rehearsal, context=context)
        assert answer.status_code == 207, answer.text
        for requests, result in zip(requests_by_resource, answer.json()["results"], strict=True):
            before = deepcopy(self.model)
            try:
                qualified = [request.qualify_subject(context) for request in requests]
                expected: Any = self.model.bind(resource, qualified, rehearsal=rehearsal)
            except Rejected as refused:
                self.model, expected = before, refused.args[0]
            outcome = result["error"]["error_code"] if "error" in result else parse_associations(result["result"])
            assert outcome == expected, result

    @rule(
        resource=RESOURCES,
        types=st.sampled_from([["key"], ["value"], ["key", "value"]]),
        cascade=st.booleans(),
        rehearsal=st.integers(0, 2).map(lambda number: number == 0),
    )
    def unbind(self, resource: str, types: list[str], *, cascade: bool, rehearsal: bool) -> None:
        """Remove associations."""
        self.unbind_associations(resource, types, cascade=cascade, rehearsal=rehearsal)

    @rule(scene=st.sampled_from(SCENARIOS), subject=FREE)
    def play_scenario(self, scene: Scenario, subject: str) -> None:
        """Run a scenario."""
        scene(self, subject)

    @rule(scene=st.sampled_from(SCENARIOS), subject=FREE)
    def play_second_scenario(self, scene: Scenario, subject: str) -> None:
        """Run a scenario; the second rule doubles their probability."""
        scene(self, subject)
