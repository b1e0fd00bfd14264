"""Values of a promotion: its two environments, versions to be registered, refusals and notes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from contractlog.clients.registry import Registry
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.identifiers import Subject, qualify_subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["Note", "PromotedVersion", "Refusal", "RefusalKind", "RefusedError", "Side"]

RefusalKind = Literal["history", "permission"]


@dataclass(frozen=True, slots=True)
class Side:
    """An environment of the manifest, with a client of its registry."""

    name: str
    context: str
    registry: Registry

    def qualify(self, subject: str) -> str:
        """Return the subject of this environment for a name that both environments share."""
        return qualify_subject(subject, self.context)

    def shared_name(self, subject: Subject) -> str:
        """Return the name that both environments share; of a subject in another context, the qualified one."""
        return subject.name if subject.context == self.context else f":{subject.context}:{subject.name}"


@dataclass(frozen=True, slots=True)
class PromotedVersion:
    """A version that only the source has, and its place in the target."""

    subject: str  #: the name that both environments share
    schema: RegisteredSchema  #: in the source
    version: int  #: in the target
    keeps_id: bool
    previous: RegisteredSchema | None = None  #: the version before it in the source
    schema_id: int | None = None  #: in the target; None: not registered yet

    @property
    def source_version(self) -> int:
        """The number of the version in the source."""
        return int(self.schema.version or 0)

    def clear_contract(self, draft: SchemaDraft) -> SchemaDraft:
        """Return a draft with empty metadata and rules in place of those that the target would copy."""
        if self.previous is None:
            return draft
        copies_metadata = draft.metadata is None and self.previous.metadata is not None
        copies_rules = draft.rule_set is None and self.previous.rule_set is not None
        return replace(
            draft,
            metadata=Metadata() if copies_metadata else draft.metadata,
            rule_set=RuleSet() if copies_rules else draft.rule_set,
        )

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "subject": self.subject,
            "outcome": "would register" if self.schema_id is None else "registered",
            "version": self.source_version,
            "schema_id": self.schema.schema_id,
            "target_version": self.version,
            "target_schema_id": self.schema_id,
            "keeps_id": self.keeps_id,
        }


class Note(NamedTuple):
    """A sentence for people about a subject, or about none in particular."""

    subject: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason why the versions of a subject cannot be promoted."""

    subject: str
    reason: str
    kind: RefusalKind = "history"


class RefusedError(Exception):
    """The versions of a subject cannot be promoted."""

    def __init__(self, reason: str, kind: RefusalKind = "history") -> None:
        super().__init__(reason)
        self.kind = kind
