"""A version to be registered in the target of a promotion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["PromotedVersion"]


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
