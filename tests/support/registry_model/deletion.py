"""Soft and hard deletion, and deletion by the mode IMPORT."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.registry_model.contents import Rejected
from support.registry_model.registry_state import RegistryState, Version
from support.registry_model.scopes import DEFAULT, GLOBAL, context_of

__all__ = ["DeletionModel"]


@dataclass
class DeletionModel(RegistryState):
    """Model of deletion."""

    def delete_subject(self, named: str, *, permanent: bool) -> list[int]:
        """Delete a subject; return the deleted versions."""
        subject = self.scopes.resolve_alias(named)
        versions = self.get_deletable_versions(subject)
        live = sorted(self.live_versions(subject))
        if bool(live) == permanent:
            raise Rejected(40405 if permanent else 40404)
        self.require_unassociated(subject)
        if self.is_referenced(subject, None, live=not permanent):
            raise Rejected(42206)
        deleted = sorted(versions) if permanent else live
        self.hard_delete(subject, deleted) if permanent else self.soft_delete(subject, deleted)
        return deleted

    def delete_version(self, named: str, number: int | None, *, permanent: bool) -> int:
        """Delete a version; return its number."""
        subject = self.scopes.resolve_alias(named)
        versions = self.get_deletable_versions(subject)
        if number is None:
            number = next(iter(self.live_versions(subject)), None)
            if number is None:
                raise Rejected(40401)
        if number not in versions:
            raise Rejected(40402)
        if versions[number].deleted != permanent:
            raise Rejected(40407 if permanent else 40406)
        if list(self.live_versions(subject)) == [number]:
            self.require_unassociated(subject, last=True)
        if self.is_referenced(subject, number, live=not permanent):
            raise Rejected(42206)
        self.hard_delete(subject, [number]) if permanent else self.soft_delete(subject, [number])
        return number

    def get_deletable_versions(self, subject: str) -> dict[int, Version]:
        """Return the versions, or raise if nothing can be deleted."""
        versions = self.versions(subject)
        if not versions:
            raise Rejected(40401)
        self.scopes.require_writable(subject)
        return versions

    def soft_delete(self, subject: str, numbers: list[int]) -> None:
        """Soft-delete versions."""
        for number in numbers:
            self.subjects[subject][number] = replace(self.subjects[subject][number], deleted=True)

    def hard_delete(self, subject: str, numbers: list[int]) -> None:
        """Hard-delete versions; settings are deleted with the last one."""
        self.remove_versions(subject, numbers)
        if subject not in self.subjects:
            self.scopes.set.pop(subject, None)

    def remove_versions(self, subject: str, numbers: list[int]) -> None:
        """Remove versions; ids without versions are not used for new registrations."""
        ids = {self.subjects[subject].pop(number).id for number in numbers}
        context = context_of(subject)
        used_ids = {version.id for _, version in self.iterate_versions(context)}
        self.id_by_content = {
            key: i for key, i in self.id_by_content.items() if key[0] != context or i not in ids - used_ids
        }
        if not self.subjects[subject]:
            del self.subjects[subject]

    def delete_context(self, context: str) -> None:
        """Delete a context, which must not have versions."""
        if self.scopes.mode(context) != "READWRITE":
            raise Rejected(42205)
        if any(self.iterate_versions(context)):
            raise Rejected(42211)
        self.contexts -= {context} - {DEFAULT}

    def set_mode(self, scope: str, mode: str | None, *, force: bool) -> None:
        """Set or clear a mode; IMPORT requires that nothing is live, and removes soft-deleted versions."""
        if mode == "FORWARD" and scope != GLOBAL:
            raise Rejected(42204)
        if mode == "IMPORT" and self.scopes.mode(scope) != "IMPORT" and not force:
            self.remove_soft_deleted(scope)
        self.scopes.set_mode(scope, mode)

    def remove_soft_deleted(self, scope: str) -> None:
        """Remove soft-deleted versions, except those that remaining schemas reference."""
        if any(not version.deleted for _, version in self.iterate_versions(scope)):
            raise Rejected(42205)
        subjects = {subject for subject, _ in self.iterate_versions(scope)}
        more = True
        while more:
            unreferenced = [(s, n) for s in subjects for n in self.versions(s) if not self.is_referenced(s, n)]
            for subject, number in unreferenced:
                self.remove_versions(subject, [number])
            more = bool(unreferenced)
