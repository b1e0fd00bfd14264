"""Makes random calls to a service and to the model: they answer alike, and hold the same after each."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from support.registry_model.calls import Calls, bound, resource_body, wish_body
from support.registry_model.comparing import Seen
from support.registry_model.contents import Refused
from support.registry_model.holding import Sent
from support.registry_model.scenes import SCENES, Scene
from support.registry_model.scopes import DEFAULT
from support.registry_model.wishes import (
    CONTEXTS,
    FREE,
    MODES,
    OPENINGS,
    PATCHES,
    RESOURCES,
    SCOPES,
    SUBJECTS,
    configured,
    derivations,
    numbers,
    registrations,
    subjects,
    wishes,
)

__all__ = ["Agreement", "Seen"]


class Agreement(Calls):
    """Chooses the calls."""

    @initialize(opening=OPENINGS)
    def open(self, opening: list[tuple[str, Sent]]) -> None:
        """Begin where something is there already."""
        for subject, sent in opening:
            self.send(subject, sent)

    @rule(data=st.data(), subject=SUBJECTS)
    def register(self, data: st.DataObject, subject: str) -> None:
        """Register."""
        self.send(subject, data.draw(registrations(self.model, subject)))

    @rule(data=st.data(), subject=SUBJECTS)
    def register_some(self, data: st.DataObject, subject: str) -> None:
        """Register several schemas under one subject."""
        for sent in data.draw(st.lists(registrations(self.model, subject), min_size=2, max_size=3)):
            self.send(subject, sent)

    @rule(data=st.data(), subject=SUBJECTS)
    def take_over(self, data: st.DataObject, subject: str) -> None:
        """Register under an id."""
        self.send_under_its_id(subject, data.draw(registrations(self.model, subject, imported=True)))

    @rule(data=st.data(), subject=SUBJECTS, force=st.booleans())
    def move_in(self, data: st.DataObject, subject: str, *, force: bool) -> None:
        """Register several under their ids while the subject is in IMPORT."""
        asked = data.draw(st.lists(registrations(self.model, subject, imported=True), min_size=1, max_size=3))
        self.set_mode(subject, "IMPORT", force=force)
        for sent in asked:
            self.send_under_its_id(subject, sent)
        self.set_mode(subject, None, force=False)

    @rule(data=st.data())
    def change_tags(self, data: st.DataObject) -> None:
        """Register a version as changes to another one."""
        subject = data.draw(subjects(self.model))
        number, sent, merged, gone = data.draw(derivations(self.model, subject))
        self.derive(subject, number, sent, merged, gone)

    @rule(data=st.data(), deleted=st.booleans())
    def lookup(self, data: st.DataObject, *, deleted: bool) -> None:
        """Look up."""
        subject = data.draw(subjects(self.model))
        sent = data.draw(registrations(self.model, subject, plain=True))
        self.look(subject, sent, deleted=deleted)

    @rule(data=st.data(), permanent=st.booleans())
    def delete_subject(self, data: st.DataObject, *, permanent: bool) -> None:
        """Delete a subject."""
        subject = data.draw(subjects(self.model))
        self.drop_subject(subject, permanent=permanent)

    @rule(data=st.data(), permanent=st.booleans())
    def delete_version(self, data: st.DataObject, *, permanent: bool) -> None:
        """Delete a version."""
        subject = data.draw(subjects(self.model))
        number = data.draw(numbers(self.model, subject))
        self.drop_version(subject, number, permanent=permanent)

    @rule(data=st.data(), scope=SCOPES)
    def set_config(self, data: st.DataObject, scope: str) -> None:
        """Change a config."""
        self.patch(scope, data.draw(PATCHES(scope)))

    @rule(data=st.data())
    def delete_config(self, data: st.DataObject) -> None:
        """Drop a config."""
        scope = data.draw(configured(self.model))
        self.drop_config(scope)

    @rule(scope=SCOPES, mode=MODES, force=st.booleans())
    def change_mode(self, scope: str, mode: str | None, *, force: bool) -> None:
        """Set or clear a mode."""
        self.set_mode(scope, mode, force=force)

    @rule(data=st.data(), subject=SUBJECTS, mode=MODES)
    def write_meanwhile(self, data: st.DataObject, subject: str, mode: str | None) -> None:
        """Write where a mode stands against it, or not."""
        self.set_mode(subject, mode, force=True)
        self.send(subject, data.draw(registrations(self.model, subject)))
        self.set_mode(subject, None, force=False)

    @rule(data=st.data(), recursive=st.booleans())
    def delete_mode(self, data: st.DataObject, *, recursive: bool) -> None:
        """Drop a mode."""
        scope = data.draw(configured(self.model))
        self.drop_mode(scope, recursive=recursive)

    @rule(context=st.sampled_from([DEFAULT, ":.eu:", ":.eu:"]))
    def delete_context(self, context: str) -> None:
        """Delete a context."""
        self.drop_context(context)

    @rule(data=st.data(), resource=RESOURCES, upsert=st.booleans(), rehearsal=st.booleans(), context=CONTEXTS)
    def bind(self, data: st.DataObject, resource: str, context: str, *, upsert: bool, rehearsal: bool) -> None:
        """Create or upsert associations."""
        operation = "UPSERT" if upsert else "CREATE"
        asked = data.draw(st.lists(wishes(self.model, resource, [operation]), min_size=1, max_size=2))
        self.apply(resource, asked, context=context, rehearsal=rehearsal)

    @rule(data=st.data(), resource=RESOURCES, rehearsal=st.booleans(), context=CONTEXTS)
    def bind_many(self, data: st.DataObject, resource: str, context: str, *, rehearsal: bool) -> None:
        """Change associations in a batch, each member by itself."""
        operations = ["CREATE", "UPSERT", "DELETE"]
        asked = data.draw(
            st.lists(st.lists(wishes(self.model, resource, operations), max_size=2), min_size=1, max_size=2)
        )
        requests = [
            resource_body(resource, [wish_body(one) | {"opType": one.operation} for one in each]) for each in asked
        ]
        answer = self.call("POST /associations:batchMutate", {"requests": requests}, dryRun=rehearsal, context=context)
        assert answer.status_code == 207, answer.text
        for each, told in zip(asked, answer.json()["results"], strict=True):
            before = deepcopy(self.model)
            try:
                meant = [one.within(context) for one in each]
                expected: Any = self.model.bind(resource, meant, rehearsal=rehearsal)
            except Refused as refused:
                self.model, expected = before, refused.args[0]
            found = told["error"]["error_code"] if "error" in told else bound(told["result"])
            assert found == expected, told

    @rule(
        resource=RESOURCES,
        types=st.sampled_from([["key"], ["value"], ["key", "value"]]),
        cascade=st.booleans(),
        rehearsal=st.integers(0, 2).map(lambda one: one == 0),
    )
    def unbind(self, resource: str, types: list[str], *, cascade: bool, rehearsal: bool) -> None:
        """Remove associations."""
        self.release(resource, types, cascade=cascade, rehearsal=rehearsal)

    @rule(scene=st.sampled_from(SCENES), subject=FREE)
    def play(self, scene: Scene, subject: str) -> None:
        """Play a scene."""
        scene(self, subject)

    @rule(scene=st.sampled_from(SCENES), subject=FREE)
    def play_again(self, scene: Scene, subject: str) -> None:
        """Play a scene: they are worth two chances."""
        scene(self, subject)
