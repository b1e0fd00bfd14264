"""Associations of the model."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace

from support.registry_model.contents import Rejected
from support.registry_model.model import Model
from support.registry_model.registry_state import RegistrationDraft
from support.registry_model.scopes import IMPORTING

__all__ = ["Association", "AssociationRequest", "RegistryModel"]

Key = tuple[str, str]  #: a resource and a type
NAMESPACE = "eu"


@dataclass(frozen=True, kw_only=True)
class AssociationRequest:
    """A request about one association; None for members that the body lacks."""

    operation: str
    type: str = "value"
    subject: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: RegistrationDraft | None = None
    cascade: bool = False

    def qualify_subject(self, context: str) -> AssociationRequest:
        """Return the request with its subject in a context, unless the subject names one."""
        plain = self.subject is not None and not self.subject.startswith(":.") and context != "."
        return replace(self, subject=f":{context}:{self.subject}") if plain else self

    def apply_defaults(self, default: str) -> AssociationRequest:
        """Return the request with defaults, or raise if it contradicts itself."""
        request = self
        if request.operation == "CREATE":
            kind = "STRONG" if request.schema or request.frozen else "WEAK"
            if request.schema and (request.lifecycle == "WEAK" or request.frozen is False):
                raise Rejected(42212)
            lifecycle = request.lifecycle or kind
            strong = lifecycle == "STRONG" if request.frozen is None else request.frozen
            request = replace(request, lifecycle=lifecycle, frozen=strong)
            if request.subject is None and not strong:
                raise Rejected(42212)
        weak, strong = request.lifecycle == "WEAK", request.lifecycle == "STRONG"
        if (
            (weak and (request.schema or request.frozen or request.subject == default))
            or (strong and request.frozen is False)
            or (request.frozen and request.subject not in {None, default})
        ):
            raise Rejected(42212)
        return request


@dataclass(frozen=True)
class Association:
    """An association."""

    subject: str
    lifecycle: str

    def require_unchanged(self, wish: AssociationRequest, subject: str) -> None:
        """Raise if a request would change the association."""
        if wish.operation == "CREATE" and (subject, wish.lifecycle) != (self.subject, self.lifecycle):
            raise Rejected(40903)
        if wish.operation == "UPSERT":
            strong = self.lifecycle == "STRONG"
            same = wish.subject in {None, self.subject} and wish.frozen in {None, strong}
            if not same or wish.lifecycle not in {None, self.lifecycle} or (wish.schema and not strong):
                raise Rejected(42212)


@dataclass
class RegistryModel(Model):
    """Model of a whole registry."""

    associations: dict[Key, Association] = field(default_factory=dict)

    def is_owned(self, subject: str) -> bool:
        """Return whether a resource owns a subject."""
        return Association(subject, "STRONG") in self.associations.values()

    def require_unassociated(self, subject: str, *, last: bool = False) -> None:
        """Raise if a subject has associations."""
        if any(association.subject == subject for association in self.associations.values()):
            raise Rejected(40907 if last else 40904)

    def bind(
        self, resource: str, requests: list[AssociationRequest], *, rehearsal: bool = False
    ) -> list[tuple[str, str, str]]:
        """Apply requests about a resource atomically; return subject, type and lifecycle of each."""
        requests = [
            wish if wish.operation == "DELETE" else wish.apply_defaults(_default(resource, wish)) for wish in requests
        ]
        if not requests or len({wish.type for wish in requests}) < len(requests):
            raise Rejected(42212)
        if len({wish.frozen for wish in requests} - {None}) > 1:
            raise Rejected(42212)
        for wish in requests:  # schemas are checked first, separately
            if wish.schema:
                deepcopy(self).register(wish.subject or _default(resource, wish), wish.schema)
        changed = deepcopy(self)
        results = [result for wish in requests for result in changed.apply_request(resource, wish)]
        if not rehearsal:
            vars(self).update(vars(changed))
        return results

    def apply_request(self, resource: str, request: AssociationRequest) -> list[tuple[str, str, str]]:
        """Apply one request."""
        if request.operation == "DELETE":
            self.unbind(resource, [request.type], cascade=request.cascade)
            return []
        key, subject = (resource, request.type), request.subject or _default(resource, request)
        association = self.associations.get(key)
        if association is None:
            self.associations[key] = association = self.create_association(resource, request, subject)
        else:
            association.require_unchanged(request, subject)
            if request.schema:
                self.register(subject, request.schema)
        return [(association.subject, request.type, association.lifecycle)]

    def create_association(self, resource: str, request: AssociationRequest, subject: str) -> Association:
        """Create an association, with its schema."""
        self.scopes.require_writable(subject)
        importing = self.scopes.mode(subject) in IMPORTING
        lifecycle = request.lifecycle or ("STRONG" if request.frozen else "WEAK")
        strong = lifecycle == "STRONG"
        lacking = strong and not request.schema if request.operation == "CREATE" else strong or request.schema
        has_other_lifecycle = any(
            association.lifecycle != lifecycle
            for (other_resource, _), association in self.associations.items()
            if other_resource == resource
        )
        if (
            (lacking and not importing)
            or has_other_lifecycle
            or (not strong and subject == _default(resource, request))
        ):
            raise Rejected(42212)
        if self.is_owned(subject):
            raise Rejected(40905)
        if strong:
            self.require_unassociated(subject)
            if any(self.is_referenced(subject, number) for number in self.versions(subject)):
                raise Rejected(42206)
        if request.schema:
            self.register(subject, request.schema)
        if not self.live_versions(subject):
            raise Rejected(40907)
        if strong and not importing and len(self.live_versions(subject)) > 1:
            raise Rejected(42212)
        return Association(subject, lifecycle)

    def unbind(self, resource: str, types: list[str], *, cascade: bool) -> None:
        """Remove associations, and with ``cascade`` the subjects that the resource owns."""
        removed = {
            key: association
            for key, association in sorted(self.associations.items())
            if key[0] == resource and key[1] in types
        }
        if not removed:
            raise Rejected(40410)
        for association in removed.values():
            if association.lifecycle == "STRONG" and not cascade:
                raise Rejected(40908)
            self.scopes.require_writable(association.subject)
        for key in removed:
            del self.associations[key]
        for association in removed.values():
            if association.lifecycle == "STRONG" and cascade and self.versions(association.subject):
                if self.live_versions(association.subject):
                    self.delete_subject(association.subject, permanent=False)
                self.delete_subject(association.subject, permanent=True)

    def unbind_all_or_none(self, resource: str, types: list[str], *, cascade: bool, rehearsal: bool) -> None:
        """Remove associations atomically."""
        changed = deepcopy(self)
        changed.unbind(resource, types, cascade=cascade)
        if not rehearsal:
            vars(self).update(vars(changed))


def _default(resource: str, wish: AssociationRequest) -> str:
    return f":.{NAMESPACE}:{resource}-{wish.type}"
