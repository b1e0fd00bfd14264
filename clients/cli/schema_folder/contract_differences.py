"""Differences between the metadata and rules of a file and those of a registered version."""

from __future__ import annotations

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.metadata_inheritance import remove_version_property
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["declares_contract", "describe_differences", "describe_same_text", "list_differences"]


def declares_contract(draft: SchemaDraft) -> bool:
    """Return whether a file has metadata or rules, perhaps empty ones."""
    return draft.metadata is not None or draft.rule_set is not None


def list_differences(draft: SchemaDraft, registered: RegisteredSchema) -> tuple[str, ...]:
    """Return which of ``metadata`` and ``rules`` a file has, and a registered version has otherwise."""
    differences = []
    if draft.metadata is not None and _metadata_body(draft.metadata) != _metadata_body(registered.metadata):
        differences.append("metadata")
    if draft.rule_set is not None and draft.rule_set.body() != (registered.rule_set or RuleSet()).body():
        differences.append("rules")
    return tuple(differences)


def describe_differences(differences: tuple[str, ...]) -> str:
    """Return differences as a phrase, such as ``other metadata and rules``."""
    return "other " + (" and ".join(differences) or "metadata or rules")


def describe_same_text(draft: SchemaDraft, registered: RegisteredSchema) -> str:
    """Return how a file differs from a registered version with the same text, as a phrase."""
    differences = describe_differences(list_differences(draft, registered))
    return f"it has the text of version {registered.version}, and {differences}"


def _metadata_body(metadata: Metadata | None) -> object:
    """Return metadata without the number of its version, which another registry sets anew."""
    return (remove_version_property(metadata) or Metadata()).body()
