"""The caller's permissions to write subjects, their modes, and the topics that own them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from contractlog.clients.cli.associations.association_keys import fetch_associations
from contractlog.clients.cli.check.subject_protection import SubjectProtection
from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.registry import Registry
from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.errors import Forbidden, NotFound, RegistryError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.mode import Mode

__all__ = ["UNKNOWN_PERMISSIONS", "WriteAccess"]

UNKNOWN_PERMISSIONS: Final = "this registry does not show permissions: whether you may make these changes is not known"


@dataclass
class WriteAccess:
    """Permissions, modes and owners of one registry, for one command."""

    registry: Registry | FileRegistry
    unknown_subjects: set[str] = field(default_factory=set)  #: for which the registry does not show permissions
    _owned_subjects: dict[str, str] | None = None
    _writable_contexts: dict[str, bool] = field(default_factory=dict)
    _protections: dict[str, SubjectProtection] = field(default_factory=dict)
    _denials: dict[str, str | None] = field(default_factory=dict)
    _modes: dict[str, Mode] = field(default_factory=dict)

    def read_mode(self, subject: str) -> Mode:
        """Return the mode in force; READWRITE if the server has no modes, or does not show it to the caller."""
        if subject not in self._modes:
            try:
                self._modes[subject] = self.registry.mode(subject)
            except (NotFound, Forbidden):
                self._modes[subject] = Mode.READWRITE
        return self._modes[subject]

    @property
    def owned_subjects(self) -> Mapping[str, str]:
        """The topics that own subjects (STRONG), by subject, as far as the caller may see them."""
        if self._owned_subjects is None:
            associations = None
            with suppress(Forbidden):  # of a server without associations, too
                associations = None if isinstance(self.registry, FileRegistry) else fetch_associations(self.registry)
            self._owned_subjects = {
                each.subject: each.resource_name or ""
                for each in associations or ()
                if each.lifecycle == Lifecycle.STRONG
            }
        return self._owned_subjects

    def explain_denial(self, subject: str) -> str | None:
        """Return why the caller may not write a subject; None if it is permitted, or if that is not known."""
        if subject not in self._denials:
            self._denials[subject] = self._request_denial(subject)
        return self._denials[subject]

    def _request_denial(self, subject: str) -> str | None:
        if self._may_write_context(Subject.parse(subject).context):
            return None
        try:
            permissions = {} if self.unknown_subjects else self.registry.permissions(subject)
        except RegistryError:  # an extension of contractlog
            permissions = {}
        if "write" not in permissions and not isinstance(self.registry, FileRegistry):
            self.unknown_subjects.add(subject)
        if permissions.get("write") is False:
            return f"user `{permissions.get('user')}` has no permission to write `{subject}`"
        protection = SubjectProtection.parse(permissions)
        if protection is not None:
            self._protections[subject] = protection
        return None

    def find_protection(self, subject: str) -> SubjectProtection | None:
        """Return the protection of a subject; None if it is not protected, or if that is not known."""
        self.explain_denial(subject)
        return self._protections.get(subject)

    def _may_write_context(self, context: str) -> bool:
        """Return whether the caller may write all subjects of a context, and none is protected.

        Then none of them is requested.
        """
        if context not in self._writable_contexts:
            try:
                permissions = self.registry.permissions(f":{context}:")
            except RegistryError:
                permissions = {}
            unprotected = "protection" not in permissions
            self._writable_contexts[context] = permissions.get("write") is True and unprotected
        return self._writable_contexts[context]
