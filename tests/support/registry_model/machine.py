"""Makes random calls to a service and to the model: they answer alike, and hold the same after each."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from support.registry_model.bindings import Wish
from support.registry_model.bodies import config_body, metadata_body, register_body, rules_body, tag_bodies
from support.registry_model.comparing import Comparing, Seen
from support.registry_model.contents import Refused
from support.registry_model.holding import Sent
from support.registry_model.scopes import DEFAULT
from support.registry_model.wishes import (
    CONTEXTS,
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


class Agreement(Comparing):
    """Makes each call to both."""

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

    def send(self, subject: str, sent: Sent) -> None:
        """Register under no id."""
        answer = self.call(
            "POST /subjects/{subject}/versions",
            register_body(sent),
            names={"subject": subject},
            force=sent.force,
            normalize=sent.normalize,
        )
        self.agree(lambda: self.model.register(subject, sent), answer, self.registered(subject))

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

    def send_under_its_id(self, subject: str, sent: Sent) -> None:
        """Register under an id."""
        answer = self.call("POST /subjects/{subject}/versions", register_body(sent), names={"subject": subject})
        self.agree(lambda: self.model.register(subject, sent), answer, self.registered(subject))

    @rule(data=st.data())
    def change_tags(self, data: st.DataObject) -> None:
        """Register a version as changes to another one."""
        subject = data.draw(subjects(self.model))
        number, sent, merged, gone = data.draw(derivations(self.model, subject))
        body = {
            "newVersion": sent.version or None,
            "tagsToAdd": tag_bodies(sent.add) or None,
            "tagsToRemove": tag_bodies(sent.remove) or None,
            "metadata": None if sent.metadata is None else metadata_body(sent.metadata),
            "ruleSet": None if sent.rules is None else rules_body(sent.rules),
            "rulesToMerge": None if merged is None else rules_body(merged),
            "rulesToRemove": sorted(gone) or None,
        }
        answer = self.call(
            "POST /subjects/{subject}/versions/{version}/tags",
            {name: value for name, value in body.items() if value is not None},
            names={"subject": subject, "version": str(number or "latest")},
        )
        self.agree(lambda: self.model.derive(subject, number, sent, merged, gone), answer, self.registered(subject))

    @rule(data=st.data(), deleted=st.booleans())
    def lookup(self, data: st.DataObject, *, deleted: bool) -> None:
        """Look up."""
        subject = data.draw(subjects(self.model))
        sent = data.draw(registrations(self.model, subject, plain=True))
        answer = self.call(
            "POST /subjects/{subject}",
            register_body(sent),
            names={"subject": subject},
            deleted=deleted,
            normalize=sent.normalize,
        )
        self.agree(
            lambda: self.model.lookup(subject, sent, deleted=deleted),
            answer,
            lambda found: (found["subject"], found["version"]),
        )

    @rule(data=st.data(), permanent=st.booleans())
    def delete_subject(self, data: st.DataObject, *, permanent: bool) -> None:
        """Delete a subject."""
        subject = data.draw(subjects(self.model))
        answer = self.call("DELETE /subjects/{subject}", names={"subject": subject}, permanent=permanent)
        self.agree(lambda: self.model.delete_subject(subject, permanent=permanent), answer, lambda found: found)

    @rule(data=st.data(), permanent=st.booleans())
    def delete_version(self, data: st.DataObject, *, permanent: bool) -> None:
        """Delete a version."""
        subject = data.draw(subjects(self.model))
        number = data.draw(numbers(self.model, subject))
        names = {"subject": subject, "version": str(number or "latest")}
        answer = self.call("DELETE /subjects/{subject}/versions/{version}", names=names, permanent=permanent)
        self.agree(lambda: self.model.delete_version(subject, number, permanent=permanent), answer, lambda found: found)

    @rule(data=st.data(), scope=SCOPES)
    def set_config(self, data: st.DataObject, scope: str) -> None:
        """Change a config."""
        patch = data.draw(PATCHES(scope))
        answer = self.scoped("PUT", "config", scope, config_body(patch))

        def patched() -> dict[str, Any]:
            if _unusable(patch):
                raise Refused(42210)
            return config_body(self.model.scopes.patch(scope, patch))

        self.agree(patched, answer, lambda found: found)

    @rule(data=st.data())
    def delete_config(self, data: st.DataObject) -> None:
        """Drop a config."""
        scope = data.draw(configured(self.model))
        self.agree(lambda: self.model.scopes.clear(scope), self.scoped("DELETE", "config", scope), lambda _found: None)

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

    def set_mode(self, scope: str, mode: str | None, *, force: bool) -> None:
        """Set or clear a mode."""
        answer = self.scoped("PUT", "mode", scope, {"mode": mode}, force=force)
        self.agree(lambda: self.model.set_mode(scope, mode, force=force), answer, lambda _found: None)

    @rule(data=st.data(), recursive=st.booleans())
    def delete_mode(self, data: st.DataObject, *, recursive: bool) -> None:
        """Drop a mode."""
        scope = data.draw(configured(self.model))
        answer = self.scoped("DELETE", "mode", scope, recursive=recursive)
        self.agree(lambda: self.model.scopes.drop_mode(scope, recursive=recursive), answer, lambda found: found["mode"])

    def scoped(self, method: str, what: str, scope: str, body: Any = None, **asked: Any) -> Any:
        """Call a scope's own path."""
        if scope == DEFAULT:
            return self.call(f"{method} /{what}", body, **asked)
        return self.call(f"{method} /{what}/{{subject}}", body, names={"subject": scope}, **asked)

    @rule(context=st.sampled_from([DEFAULT, ":.eu:", ":.eu:"]))
    def delete_context(self, context: str) -> None:
        """Delete a context."""
        answer = self.call("DELETE /contexts/{context}", names={"context": ":.:" if context == DEFAULT else context})
        self.agree(lambda: self.model.delete_context(context), answer, lambda _found: None)

    @rule(data=st.data(), resource=RESOURCES, upsert=st.booleans(), rehearsal=st.booleans(), context=CONTEXTS)
    def bind(self, data: st.DataObject, resource: str, context: str, *, upsert: bool, rehearsal: bool) -> None:
        """Create or upsert associations."""
        operation = "UPSERT" if upsert else "CREATE"
        asked = data.draw(st.lists(wishes(self.model, resource, [operation]), min_size=1, max_size=2))
        call, names = "POST /associations", {}
        if upsert:
            call, names = "PUT /associations/resources/{resource}", {"resource": f"id-{resource}"}
        body = _resource(resource, [_wish(one) for one in asked])
        answer = self.call(call, body, names=names, dryRun=rehearsal, context=context)
        meant = [one.within(context) for one in asked]
        self.agree(lambda: self.model.bind(resource, meant, rehearsal=rehearsal), answer, _bound)

    @rule(data=st.data(), resource=RESOURCES, rehearsal=st.booleans(), context=CONTEXTS)
    def bind_many(self, data: st.DataObject, resource: str, context: str, *, rehearsal: bool) -> None:
        """Change associations in a batch, each member by itself."""
        operations = ["CREATE", "UPSERT", "DELETE"]
        asked = data.draw(
            st.lists(st.lists(wishes(self.model, resource, operations), max_size=2), min_size=1, max_size=2)
        )
        requests = [_resource(resource, [_wish(one) | {"opType": one.operation} for one in each]) for each in asked]
        answer = self.call("POST /associations:batchMutate", {"requests": requests}, dryRun=rehearsal, context=context)
        assert answer.status_code == 207, answer.text
        for each, told in zip(asked, answer.json()["results"], strict=True):
            before = deepcopy(self.model)
            try:
                meant = [one.within(context) for one in each]
                expected: Any = self.model.bind(resource, meant, rehearsal=rehearsal)
            except Refused as refused:
                self.model, expected = before, refused.args[0]
            found = told["error"]["error_code"] if "error" in told else _bound(told["result"])
            assert found == expected, told

    @rule(
        resource=RESOURCES,
        types=st.sampled_from([["key"], ["value"], ["key", "value"]]),
        cascade=st.booleans(),
        rehearsal=st.integers(0, 2).map(lambda one: one == 0),
    )
    def unbind(self, resource: str, types: list[str], *, cascade: bool, rehearsal: bool) -> None:
        """Remove associations."""
        names = {"resource": f"id-{resource}", "types": "&associationType=".join(types)}
        answer = self.call(
            "DELETE /associations/resources/{resource}",
            names=names,
            cascadeLifecycle=cascade,
            dryRun=rehearsal,
            associationType=types,
        )
        self.agree(
            lambda: self.model.released(resource, types, cascade=cascade, rehearsal=rehearsal),
            answer,
            lambda _found: None,
        )


def _unusable(patch: dict[str, Any]) -> bool:
    return any(
        name.endswith("RuleSet") and any(key == ("domainRules", "bad") for key, _ in value or ())
        for name, value in patch.items()
    )


def _resource(name: str, associations: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "resourceName": name,
        "resourceNamespace": "eu",
        "resourceId": f"id-{name}",
        "resourceType": "topic",
        "associations": associations,
    }


def _wish(wish: Wish) -> dict[str, Any]:
    body = {
        "associationType": wish.type,
        "subject": wish.subject,
        "lifecycle": wish.lifecycle,
        "frozen": wish.frozen,
        "schema": wish.schema and register_body(wish.schema),
        "normalize": wish.schema.normalize if wish.schema else None,
        "cascadeLifecycle": wish.cascade if wish.operation == "DELETE" else None,
    }
    return {name: value for name, value in body.items() if value is not None}


def _bound(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["subject"], one["associationType"], one["lifecycle"]) for one in found.get("associations", [])]
