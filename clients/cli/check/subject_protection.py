"""Protection of subjects as the registry shows it: what needs approvals, and what permits a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.contracts.audit.time_text import describe_time

__all__ = ["REGISTRATION", "SubjectProtection"]

REGISTRATION: Final = "registration"
_REASON: Final = "REASON"  #: in suggested commands


@dataclass(frozen=True, slots=True)
class SubjectProtection:
    """Protection of a subject, for the caller."""

    subject: str
    protects_all: bool  #: False: new versions that are compatible need no approval
    approvals: int = 1
    owners: tuple[str, ...] = ()
    waived: Mapping[str, int] = field(default_factory=dict)  #: kinds of changes -> time when the waiver expires
    requests: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  #: kinds -> numbers of open change requests

    @classmethod
    def parse(cls, permissions: Mapping[str, Any]) -> Self | None:
        """Return the protection in a response about permissions; None if the subject is not protected."""
        if "protection" not in permissions:
            return None
        requests: dict[str, tuple[int, ...]] = {}
        for each in permissions.get("open_requests") or ():
            requests[each["kind"]] = (*requests.get(each["kind"], ()), each["id"])
        return cls(
            str(permissions["subject"]),
            permissions["protection"] == "all",
            permissions.get("approvals") or 1,
            tuple(permissions.get("owners") or ()),
            permissions.get("waived") or {},
            requests,
        )

    def needs_approvals(self, kind: str, *, breaking: bool) -> bool:
        """Return True if a change needs approvals that no waiver replaces."""
        return (breaking or self.protects_all) and kind not in self.waived

    def describe(self, kind: str, *change: str, **options: str) -> str:
        """Return who approves a change and how to request it, as a phrase.

        Args:
            kind: registration, deletion, settings or association.
            *change: the arguments of ``change open`` after the subject; none if only a waiver is possible.
            **options: options of that command.
        """
        number = f"{self.approvals} {'approval' if self.approvals == 1 else 'approvals'}"
        owners = f" ({', '.join(self.owners)})" if self.owners else ""
        return f"needs {number} by its owners{owners}; {self._describe_request(kind, change, options)}"

    def describe_waiver(self, kind: str) -> str:
        """Return the waiver that permits a change, as a phrase."""
        return f"permitted by a waiver until {describe_time(self.waived[kind])}"

    def suggest(self, kind: str, *change: str, **options: str) -> str:
        """Return the command that opens a change request."""
        if change or options:
            return registry_command("change open", self.subject, *change, **options, reason=_REASON)
        return registry_command("change waive", self.subject, kind=kind, reason=_REASON)

    def _describe_request(self, kind: str, change: tuple[str, ...], options: Mapping[str, str]) -> str:
        if numbers := self.requests.get(kind):
            listed = ", ".join(map(str, sorted(numbers)))
            show = registry_command("change show", max(numbers))
            return f"open change request {listed}: {show}"
        return f"to request them: {self.suggest(kind, *change, **options)}"
