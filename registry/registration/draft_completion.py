"""Completion of drafts before they are parsed, from the previous version and from the config."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from contractlog.compatibility import formats
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.metadata_inheritance import (
    VERSION_PROPERTY,
    add_version_property,
    merge_metadata,
    merge_rule_sets,
    remove_rules,
)
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.registration.request import ANY_VERSION, RequestedVersion, TagEdits
from contractlog.registry.storage.store_values import ScopeSettings

__all__ = ["Derivation", "complete_draft", "edit_tags"]


@dataclass(frozen=True, slots=True)
class Derivation:
    """A new version, as changes to an existing one."""

    version: RequestedVersion = ANY_VERSION
    tags: TagEdits = field(default_factory=TagEdits)
    metadata: Metadata | None = None  #: replaces the existing metadata
    rule_set: RuleSet | None = None
    rules_to_merge: RuleSet | None = None
    rules_to_remove: frozenset[str] = frozenset()

    def draft(self, base: RegisteredSchema) -> SchemaDraft:
        """Return the draft to be registered.

        Raises:
            InvalidSchema: a tag is for something that is not in the text.
        """
        rule_set = self.rule_set
        if rule_set is None and (self.rules_to_merge is not None or self.rules_to_remove):
            rule_set = remove_rules(
                merge_rule_sets(base.rule_set, self.rules_to_merge) or RuleSet(), self.rules_to_remove
            )
        draft = base.draft
        return replace(
            edit_tags(draft, self.tags),
            metadata=draft.metadata if self.metadata is None else self.metadata,
            rule_set=draft.rule_set if rule_set is None else rule_set,
        )


def complete_draft(
    draft: SchemaDraft,
    previous: RegisteredSchema | None,
    configured: ScopeSettings,
    *,
    number: int | None = None,
    version_requested: bool = False,
    tags: TagEdits | None = None,
) -> SchemaDraft:
    """Return a draft with everything that it inherits.

    Args:
        draft: the request's draft; without text it takes text, type and references of the previous version.
        previous: the newest live version.
        configured: has default metadata and rules below those of the draft, and overrides above them.
        number: the number that the version would get; None if no version would be created.
        version_requested: whether a number was requested; the metadata then contain it.
        tags: changes to the tags inside the text.

    Raises:
        InvalidSchema: there is no text, or a tag is for something that is not in it.
    """
    if not draft.text.strip():
        if previous is None:
            raise InvalidSchema("Empty schema")
        draft = replace(draft, text=previous.text, type=previous.type, references=previous.references)
    if tags:
        draft = edit_tags(_propagate_tags(draft, previous) if tags.propagate else draft, tags)
    inherited = previous if previous is not None else draft
    metadata = merge_metadata(
        configured.default_metadata,
        inherited.metadata if draft.metadata is None else draft.metadata,
        configured.override_metadata,
    )
    rule_set = merge_rule_sets(
        configured.default_rule_set,
        inherited.rule_set if draft.rule_set is None else draft.rule_set,
        configured.override_rule_set,
    )
    names_version = metadata is not None and VERSION_PROPERTY in metadata.properties
    if number is not None and (version_requested or names_version):
        metadata = add_version_property(metadata, number)
    return replace(draft, metadata=metadata, rule_set=rule_set)


def edit_tags(draft: SchemaDraft, tags: TagEdits) -> SchemaDraft:
    """Return a draft with changed tags inside its text.

    Raises:
        InvalidSchema: nothing in the text has this path, or its format has no tags.
    """
    if not (tags.add or tags.remove):
        return draft
    try:
        return replace(draft, text=formats.edit_tags(draft.type, draft.text, tags.add, tags.remove))
    except (KeyError, TypeError, ValueError, RecursionError):
        raise InvalidSchema(f"The text is not a valid {draft.type} schema, so tags cannot be added") from None


def _propagate_tags(draft: SchemaDraft, previous: RegisteredSchema | None) -> SchemaDraft:
    if previous is None or previous.type is not draft.type:
        return draft
    for entity, tags in formats.list_inline_tags(previous.type, previous.text).items():
        try:
            draft = edit_tags(draft, TagEdits(add={entity: tags}))
        except InvalidSchema:
            continue  # the tagged element is gone, or the text cannot be parsed, which is reported later
    return draft
