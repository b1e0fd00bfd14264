"""An environment of the manifest, with a client of its registry."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.clients.registry import Registry
from contractlog.compatibility.identifiers import Subject, qualify_subject

__all__ = ["ConnectedEnvironment"]


@dataclass(frozen=True, slots=True)
class ConnectedEnvironment:
    """The source or the target of a promotion."""

    name: str
    context: str
    registry: Registry

    def qualify(self, subject: str) -> str:
        """Return the subject of this environment for a name that both environments share."""
        return qualify_subject(subject, self.context)

    def shared_name(self, subject: Subject) -> str:
        """Return the name that both environments share; of a subject in another context, the qualified one."""
        return subject.name if subject.context == self.context else f":{subject.context}:{subject.name}"
