"""Registration and lookup of the model, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from support.registry_model.contents import (
    INVALID,
    NUMBER,
    TAGGED,
    Content,
    Items,
    Rejected,
    Text,
    index_items,
    is_readable,
    merge_layers,
)
from support.registry_model.deletion import DeletionModel
from support.registry_model.registry_state import RegistrationDraft, Version
from support.registry_model.scopes import ADDED_MEMBERS, DEFAULT, IMPORTING, context_of

__all__ = ["Model"]


@dataclass
class Model(DeletionModel):
    """Model of registration, import and lookup."""

    def complete_draft(
        self, sent: RegistrationDraft, subject: str, settings: dict[str, Any], number: int | None = None
    ) -> RegistrationDraft:
        """Return a draft with the members inherited from the latest version and the config."""
        latest = self.latest_version(subject)
        content = latest.content if latest else None
        if sent.text is None:
            if content is None:
                raise Rejected(42201)
            sent = replace(sent, text=content.text, references=content.references)
        assert sent.text is not None
        if sent.propagate and content and content.text.tags and sent.text.kind in TAGGED:
            sent = replace(sent, text=sent.text.edit_tags(content.text.tags, ()))
        if sent.add or sent.remove:
            sent = replace(sent, text=(sent.text or Text("broken")).edit_tags(sent.add, sent.remove))
        before: list[Items | None] = [content.metadata or None, content.rules or None] if content else [None, None]
        default, override, default_rules, override_rules = (settings.get(name) for name in ADDED_MEMBERS)
        metadata = merge_layers(default, before[0] if sent.metadata is None else sent.metadata, override)
        rules = merge_layers(default_rules, before[1] if sent.rules is None else sent.rules, override_rules)
        if number is not None and (sent.version or NUMBER in index_items(metadata or ())):
            number_text = str(sent.version if sent.version > 0 else number)
            metadata = merge_layers(metadata, ((NUMBER, number_text),))
        return replace(sent, metadata=metadata, rules=rules)

    def register(self, named: str, sent: RegistrationDraft) -> tuple[int, int]:
        """Return id and version."""
        if sent.rules == INVALID:
            raise Rejected(42210)
        subject = self.scopes.resolve_alias(named)
        settings = self.scopes.get_effective_config(subject)
        sent = replace(sent, normalize=sent.normalize or bool(settings.get("normalize")))
        edits, adds = sent.add or sent.remove or sent.propagate, any(name in settings for name in ADDED_MEMBERS)
        existing = None if edits or adds or sent.text is None else self.find_existing(subject, sent, settings)
        if existing is None:
            self.scopes.require_writable(subject)
            importing = self.scopes.mode(subject) in IMPORTING
            if importing != (sent.id is not None):
                raise Rejected(42205)
            return self.import_version(subject, sent) if importing else self.register_next(subject, sent, settings)
        return self.subjects[subject][existing].id, existing

    def find_existing(self, subject: str, sent: RegistrationDraft, settings: dict[str, Any]) -> int | None:
        """Find the draft as sent, or else with the members that it would inherit."""
        existing = self.find_version(subject, self.normalize_if_requested(self.parse(subject, sent), sent), sent)
        if existing is not None:
            return existing
        completed = replace(self.complete_draft(replace(sent, propagate=False), subject, settings), text=sent.text)
        return self.find_version(subject, self.normalize_if_requested(self.parse(subject, completed), sent), sent)

    def normalize_if_requested(self, content: Content, sent: RegistrationDraft) -> Content:
        """Return the content, normalized if the draft requests it."""
        return content.normalized if sent.normalize else content

    def register_next(self, subject: str, sent: RegistrationDraft, settings: dict[str, Any]) -> tuple[int, int]:
        """Register the next version."""
        number = max(self.subjects.get(subject, {}), default=0) + 1
        draft = self.complete_draft(sent, subject, settings, number)
        content = self.parse(subject, draft, strict=settings.get("validateNewSchemas") is not False)
        content = self.normalize_if_requested(content, sent)
        self.require_unowned_references(subject, content)
        existing = self.find_version(subject, content, sent) if sent.version <= 0 else None
        if existing is not None:
            return self.subjects[subject][existing].id, existing
        if not sent.force and not self.is_compatible(subject, content, settings):
            raise Rejected(40901)
        if sent.version > 0 and sent.version != number:
            raise Rejected(42201)
        return self.add_version(subject, number, self.assign_id(context_of(subject), content), content)

    def require_unowned_references(self, subject: str, content: Content) -> None:
        """Raise if a content references a subject that a resource owns."""
        if any(self.is_owned(target) for target, _ in self.resolve_references(context_of(subject), content)):
            raise Rejected(42205)

    def is_compatible(self, subject: str, content: Content, settings: dict[str, Any]) -> bool:
        """Check against the versions that the level selects in the group, and reserved fields."""
        latest = self.latest_version(subject)
        if settings.get("validateFields") and (
            (latest and latest.content.reserved - content.reserved) or content.reserved & content.fields
        ):
            return False
        level = settings.get("compatibility", "BACKWARD")
        group = ("properties", settings.get("compatibilityGroup", ""))
        group_value = index_items(content.metadata).get(group)
        history = [version.content for version in self.live_versions(subject).values()]
        history = [
            earlier for earlier in history if not group[1] or index_items(earlier.metadata).get(group) == group_value
        ]
        selected = history if level.endswith("_TRANSITIVE") else history[:1]
        return not any(
            (level.startswith(("BACKWARD", "FULL")) and not is_readable(content, earlier))
            or (level.startswith(("FORWARD", "FULL")) and not is_readable(earlier, content))
            for earlier in selected
        )

    def import_version(self, subject: str, sent: RegistrationDraft) -> tuple[int, int]:
        """Import under an id, which keeps its content permanently; used version numbers are rejected."""
        content, schema_id = self.parse(subject, sent), sent.id or 0
        self.require_unowned_references(subject, content)
        context, versions = context_of(subject), self.versions(subject)
        version = max(sent.version, 0)
        identical = [n for n, stored in versions.items() if (stored.id, stored.content) == (schema_id, content)]
        live = [n for n in identical if not versions[n].deleted and version in {0, n}]
        if live:
            return schema_id, live[0]
        if version in versions and version not in identical:
            raise Rejected(42205)
        if self.content_by_id.get((context, schema_id), content) != content:
            raise Rejected(42205)
        self.id_by_content[context, content] = schema_id
        self.content_by_id[context, schema_id] = content
        self.next_id[context] = max(self.next_id.get(context, 1), schema_id + 1)
        return self.add_version(subject, version or max(versions, default=0) + 1, schema_id, content)

    def assign_id(self, context: str, content: Content) -> int:
        """Return the id of a content in a context, or assign the next one."""
        schema_id = self.id_by_content.get((context, content))
        if schema_id is None:
            schema_id = self.next_id.get(context, 1)
            self.next_id[context] = schema_id + 1
            self.id_by_content[context, content] = schema_id
            self.content_by_id[context, schema_id] = content
        return schema_id

    def add_version(self, subject: str, number: int, schema_id: int, content: Content) -> tuple[int, int]:
        """Add a version; soft-deleted ones with the same id give way to it, unless something leans on them."""
        versions = self.subjects.setdefault(subject, {})
        superseded = [n for n, version in versions.items() if version.deleted and version.id == schema_id]
        for other in superseded:
            if not self.is_referenced(subject, other):
                del versions[other]
        versions[number] = Version(schema_id, content)
        self.contexts.add(context_of(subject))
        return schema_id, number

    def derive(
        self, named: str, number: int | None, sent: RegistrationDraft, merged: Items | None, gone: frozenset[str]
    ) -> tuple[int, int]:
        """Register a new version as changes to another one (the tags endpoint)."""
        if sent.rules is not None and (merged is not None or gone):
            raise Rejected(42210)
        if INVALID in {sent.rules, merged}:
            raise Rejected(42210)
        live = self.live_versions(self.scopes.resolve_alias(named))
        if not live:
            raise Rejected(40401)
        if number is not None and number not in live:
            raise Rejected(40402)
        base = live[next(iter(live)) if number is None else number].content
        rules = sent.rules
        if merged is not None or gone:
            rules = tuple(item for item in merge_layers(base.rules, merged) or () if item[0][1] not in gone)
        text = base.text.edit_tags(sent.add, sent.remove) if sent.add or sent.remove else base.text
        return self.register(
            named,
            RegistrationDraft(
                text=text,
                references=base.references,
                metadata=base.metadata or None if sent.metadata is None else sent.metadata,
                rules=base.rules or None if rules is None else rules,
                version=sent.version,
            ),
        )

    def lookup(self, named: str, sent: RegistrationDraft, *, deleted: bool) -> tuple[str, int]:
        """Return subject and version; a plain name is looked for in every context."""
        subject = self.scopes.resolve_alias(named)
        existing = self.find_in_subject(subject, sent, deleted=deleted)
        if existing is not None:
            return subject, existing
        others = sorted(context for context in self.contexts if context != DEFAULT) if ":" not in subject else ()
        for other_subject in (context + subject for context in others):
            if self.versions(other_subject, deleted=deleted):
                try:
                    existing = self.find_in_subject(other_subject, sent, deleted=deleted)
                except Rejected:
                    continue  # what it leans on is not in that context
                if existing is not None:
                    return other_subject, existing
        raise Rejected(40403 if self.versions(subject, deleted=deleted) else 40401)

    def find_in_subject(self, subject: str, sent: RegistrationDraft, *, deleted: bool) -> int | None:
        """Look as it was sent, then with what it would take over; without a text nothing is found."""
        if sent.text is None:
            return None
        settings = self.scopes.get_effective_config(subject)
        sent = replace(sent, normalize=sent.normalize or bool(settings.get("normalize")))
        version = self.find_version(
            subject, self.normalize_if_requested(self.parse(subject, sent), sent), deleted=deleted
        )
        if version is not None:
            return version
        whole = self.complete_draft(sent, subject, settings)
        return self.find_version(
            subject, self.normalize_if_requested(self.parse(subject, whole), sent), deleted=deleted
        )
