"""The calls, each made to the service and to the model."""

from __future__ import annotations

from typing import Any

from support.registry_model.bindings import Wish
from support.registry_model.bodies import config_body, metadata_body, register_body, rules_body, tag_bodies
from support.registry_model.comparing import Comparing
from support.registry_model.contents import Items, Refused
from support.registry_model.holding import Sent
from support.registry_model.scopes import DEFAULT

__all__ = ["Calls", "bound", "resource_body", "wish_body"]


class Calls(Comparing):
    """Makes each call to both."""

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

    def send_under_its_id(self, subject: str, sent: Sent) -> None:
        """Register under an id."""
        answer = self.call("POST /subjects/{subject}/versions", register_body(sent), names={"subject": subject})
        self.agree(lambda: self.model.register(subject, sent), answer, self.registered(subject))

    def derive(self, subject: str, number: int | None, sent: Sent, merged: Items | None, gone: frozenset[str]) -> None:
        """Register a version as changes to another one."""
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

    def look(self, subject: str, sent: Sent, *, deleted: bool) -> None:
        """Look up."""
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

    def drop_subject(self, subject: str, *, permanent: bool) -> None:
        """Delete a subject."""
        answer = self.call("DELETE /subjects/{subject}", names={"subject": subject}, permanent=permanent)
        self.agree(lambda: self.model.delete_subject(subject, permanent=permanent), answer, lambda found: found)

    def drop_version(self, subject: str, number: int | None, *, permanent: bool) -> None:
        """Delete a version."""
        names = {"subject": subject, "version": str(number or "latest")}
        answer = self.call("DELETE /subjects/{subject}/versions/{version}", names=names, permanent=permanent)
        self.agree(lambda: self.model.delete_version(subject, number, permanent=permanent), answer, lambda found: found)

    def patch(self, scope: str, patch: dict[str, Any]) -> None:
        """Change a config."""
        answer = self.scoped("PUT", "config", scope, config_body(patch))

        def patched() -> dict[str, Any]:
            if _unusable(patch):
                raise Refused(42210)
            return config_body(self.model.scopes.patch(scope, patch))

        self.agree(patched, answer, lambda found: found)

    def drop_config(self, scope: str) -> None:
        """Drop a config."""
        self.agree(lambda: self.model.scopes.clear(scope), self.scoped("DELETE", "config", scope), lambda _found: None)

    def set_mode(self, scope: str, mode: str | None, *, force: bool) -> None:
        """Set or clear a mode."""
        answer = self.scoped("PUT", "mode", scope, {"mode": mode}, force=force)
        self.agree(lambda: self.model.set_mode(scope, mode, force=force), answer, lambda _found: None)

    def drop_mode(self, scope: str, *, recursive: bool) -> None:
        """Drop a mode."""
        answer = self.scoped("DELETE", "mode", scope, recursive=recursive)
        self.agree(lambda: self.model.scopes.drop_mode(scope, recursive=recursive), answer, lambda found: found["mode"])

    def drop_context(self, context: str) -> None:
        """Delete a context."""
        answer = self.call("DELETE /contexts/{context}", names={"context": ":.:" if context == DEFAULT else context})
        self.agree(lambda: self.model.delete_context(context), answer, lambda _found: None)

    def scoped(self, method: str, what: str, scope: str, body: Any = None, **asked: Any) -> Any:
        """Call a scope's own path."""
        if scope == DEFAULT:
            return self.call(f"{method} /{what}", body, **asked)
        return self.call(f"{method} /{what}/{{subject}}", body, names={"subject": scope}, **asked)

    def apply(self, resource: str, asked: list[Wish], *, context: str = ".", rehearsal: bool = False) -> None:
        """Create or upsert associations."""
        call, names = "POST /associations", {}
        if asked[0].operation == "UPSERT":
            call, names = "PUT /associations/resources/{resource}", {"resource": f"id-{resource}"}
        body = resource_body(resource, [wish_body(one) for one in asked])
        answer = self.call(call, body, names=names, dryRun=rehearsal, context=context)
        meant = [one.within(context) for one in asked]
        self.agree(lambda: self.model.bind(resource, meant, rehearsal=rehearsal), answer, bound)

    def release(self, resource: str, types: list[str], *, cascade: bool, rehearsal: bool = False) -> None:
        """Remove associations."""
        names = {"resource": f"id-{resource}"}
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


def resource_body(name: str, associations: list[dict[str, Any]]) -> dict[str, Any]:
    """Write what is asked of a resource."""
    return {
        "resourceName": name,
        "resourceNamespace": "eu",
        "resourceId": f"id-{name}",
        "resourceType": "topic",
        "associations": associations,
    }


def wish_body(wish: Wish) -> dict[str, Any]:
    """Write what is asked of one association."""
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


def bound(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Read subject, type and lifecycle of each association."""
    return [(one["subject"], one["associationType"], one["lifecycle"]) for one in found.get("associations", [])]
