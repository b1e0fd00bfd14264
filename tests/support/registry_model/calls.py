"""Calls that are made to the service and to the model."""

from __future__ import annotations

from typing import Any

from support.registry_model.association_model import AssociationRequest
from support.registry_model.bodies import format_config, format_metadata, format_registration, format_rules, format_tags
from support.registry_model.comparison import ServiceComparison
from support.registry_model.contents import Items, Rejected
from support.registry_model.registry_state import RegistrationDraft
from support.registry_model.scopes import DEFAULT

__all__ = ["ModelCalls", "format_association", "format_resource", "parse_associations"]


class ModelCalls(ServiceComparison):
    """Calls of the service, each compared with the model."""

    def register_draft(self, subject: str, sent: RegistrationDraft) -> None:
        """Register a schema."""
        answer = self.call(
            "POST /subjects/{subject}/versions",
            format_registration(sent),
            names={"subject": subject},
            force=sent.force,
            normalize=sent.normalize,
        )
        self.compare(lambda: self.model.register(subject, sent), answer, self.parse_registration(subject))

    def import_draft(self, subject: str, sent: RegistrationDraft) -> None:
        """Import a schema with an id."""
        answer = self.call("POST /subjects/{subject}/versions", format_registration(sent), names={"subject": subject})
        self.compare(lambda: self.model.register(subject, sent), answer, self.parse_registration(subject))

    def derive(
        self, subject: str, number: int | None, sent: RegistrationDraft, merged: Items | None, gone: frozenset[str]
    ) -> None:
        """Register a version as changes to another one."""
        body = {
            "newVersion": sent.version or None,
            "tagsToAdd": format_tags(sent.add) or None,
            "tagsToRemove": format_tags(sent.remove) or None,
            "metadata": None if sent.metadata is None else format_metadata(sent.metadata),
            "ruleSet": None if sent.rules is None else format_rules(sent.rules),
            "rulesToMerge": None if merged is None else format_rules(merged),
            "rulesToRemove": sorted(gone) or None,
        }
        answer = self.call(
            "POST /subjects/{subject}/versions/{version}/tags",
            {name: value for name, value in body.items() if value is not None},
            names={"subject": subject, "version": str(number or "latest")},
        )
        self.compare(
            lambda: self.model.derive(subject, number, sent, merged, gone), answer, self.parse_registration(subject)
        )

    def look_up(self, subject: str, sent: RegistrationDraft, *, deleted: bool) -> None:
        """Look up a schema."""
        answer = self.call(
            "POST /subjects/{subject}",
            format_registration(sent),
            names={"subject": subject},
            deleted=deleted,
            normalize=sent.normalize,
        )
        self.compare(
            lambda: self.model.lookup(subject, sent, deleted=deleted),
            answer,
            lambda body: (body["subject"], body["version"]),
        )

    def delete_subject_call(self, subject: str, *, permanent: bool) -> None:
        """Delete a subject."""
        answer = self.call("DELETE /subjects/{subject}", names={"subject": subject}, permanent=permanent)
        self.compare(lambda: self.model.delete_subject(subject, permanent=permanent), answer, lambda body: body)

    def delete_version_call(self, subject: str, number: int | None, *, permanent: bool) -> None:
        """Delete a version."""
        names = {"subject": subject, "version": str(number or "latest")}
        answer = self.call("DELETE /subjects/{subject}/versions/{version}", names=names, permanent=permanent)
        self.compare(lambda: self.model.delete_version(subject, number, permanent=permanent), answer, lambda body: body)

    def update(self, scope: str, patch: dict[str, Any]) -> None:
        """Change a config."""
        answer = self.call_scope("PUT", "config", scope, format_config(patch))

        def apply_patch() -> dict[str, Any]:
            if _unusable(patch):
                raise Rejected(42210)
            return format_config(self.model.scopes.update(scope, patch))

        self.compare(apply_patch, answer, lambda body: body)

    def delete_config_call(self, scope: str) -> None:
        """Delete a config."""
        self.compare(
            lambda: self.model.scopes.delete_config(scope),
            self.call_scope("DELETE", "config", scope),
            lambda _body: None,
        )

    def set_mode(self, scope: str, mode: str | None, *, force: bool) -> None:
        """Set or clear a mode."""
        answer = self.call_scope("PUT", "mode", scope, {"mode": mode}, force=force)
        self.compare(lambda: self.model.set_mode(scope, mode, force=force), answer, lambda _body: None)

    def delete_mode_call(self, scope: str, *, recursive: bool) -> None:
        """Delete a mode."""
        answer = self.call_scope("DELETE", "mode", scope, recursive=recursive)
        self.compare(lambda: self.model.scopes.drop_mode(scope, recursive=recursive), answer, lambda body: body["mode"])

    def delete_context_call(self, context: str) -> None:
        """Delete a context."""
        answer = self.call("DELETE /contexts/{context}", names={"context": ":.:" if context == DEFAULT else context})
        self.compare(lambda: self.model.delete_context(context), answer, lambda _body: None)

    def call_scope(self, method: str, resource: str, scope: str, body: Any = None, **parameters: Any) -> Any:
        """Call the path of a scope."""
        if scope == DEFAULT:
            return self.call(f"{method} /{resource}", body, **parameters)
        return self.call(f"{method} /{resource}/{{subject}}", body, names={"subject": scope}, **parameters)

    def bind_associations(
        self, resource: str, requests: list[AssociationRequest], *, context: str = ".", rehearsal: bool = False
    ) -> None:
        """Create or upsert associations."""
        call, names = "POST /associations", {}
        if requests[0].operation == "UPSERT":
            call, names = "PUT /associations/resources/{resource}", {"resource": f"id-{resource}"}
        body = format_resource(resource, [format_association(request) for request in requests])
        answer = self.call(call, body, names=names, dryRun=rehearsal, context=context)
        qualified = [request.qualify_subject(context) for request in requests]
        self.compare(lambda: self.model.bind(resource, qualified, rehearsal=rehearsal), answer, parse_associations)

    def unbind_associations(self, resource: str, types: list[str], *, cascade: bool, rehearsal: bool = False) -> None:
        """Remove associations."""
        names = {"resource": f"id-{resource}"}
        answer = self.call(
            "DELETE /associations/resources/{resource}",
            names=names,
            cascadeLifecycle=cascade,
            dryRun=rehearsal,
            associationType=types,
        )
        self.compare(
            lambda: self.model.unbind_all_or_none(resource, types, cascade=cascade, rehearsal=rehearsal),
            answer,
            lambda _body: None,
        )


def _unusable(patch: dict[str, Any]) -> bool:
    return any(
        name.endswith("RuleSet") and any(key == ("domainRules", "bad") for key, _ in value or ())
        for name, value in patch.items()
    )


def format_resource(name: str, associations: list[dict[str, Any]]) -> dict[str, Any]:
    """Format requests about a resource as a body."""
    return {
        "resourceName": name,
        "resourceNamespace": "eu",
        "resourceId": f"id-{name}",
        "resourceType": "topic",
        "associations": associations,
    }


def format_association(wish: AssociationRequest) -> dict[str, Any]:
    """Format a request about an association."""
    body = {
        "associationType": wish.type,
        "subject": wish.subject,
        "lifecycle": wish.lifecycle,
        "frozen": wish.frozen,
        "schema": wish.schema and format_registration(wish.schema),
        "normalize": wish.schema.normalize if wish.schema else None,
        "cascadeLifecycle": wish.cascade if wish.operation == "DELETE" else None,
    }
    return {name: value for name, value in body.items() if value is not None}


def parse_associations(body: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Read subject, type and lifecycle of each association."""
    return [
        (association["subject"], association["associationType"], association["lifecycle"])
        for association in body.get("associations", [])
    ]
