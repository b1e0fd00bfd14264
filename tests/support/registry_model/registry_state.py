"""State of a registry, and lookup of contents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Final

from support.registry_model.contents import Content, Items, Reference, Rejected, Text
from support.registry_model.scopes import DEFAULT, GLOBAL, Scopes, context_of

__all__ = ["RegistrationDraft", "RegistryState", "Version"]

#: Kinds that ``user`` and ``named`` can reference.
_REFERENCED_KINDS: Final = {"user": ("record", "inlined"), "named": ("inlined",)}


@dataclass(frozen=True, kw_only=True)
class RegistrationDraft:
    """A requested registration; None for members that the body lacks."""

    text: Text | None = None
    references: tuple[Reference, ...] = ()
    metadata: Items | None = None
    rules: Items | None = None
    version: int = 0
    id: int | None = None
    normalize: bool = False
    force: bool = False
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    propagate: bool = False

    def __repr__(self) -> str:
        """Show the members that are set."""
        members = {member.name: getattr(self, member.name) for member in fields(self)}
        return f"Sent({', '.join(f'{name}={value!r}' for name, value in members.items() if value)})"


@dataclass(frozen=True)
class Version:
    """A version of a subject."""

    id: int
    content: Content
    deleted: bool = False


@dataclass
class RegistryState:
    """Versions, ids, contexts and settings of a registry."""

    subjects: dict[str, dict[int, Version]] = field(default_factory=dict)
    content_by_id: dict[tuple[str, int], Content] = field(
        default_factory=dict
    )  #: (context, id) -> its content, permanently
    id_by_content: dict[tuple[str, Content], int] = field(
        default_factory=dict
    )  #: (context, content) -> the id of new registrations
    next_id: dict[str, int] = field(default_factory=dict)
    contexts: set[str] = field(default_factory=lambda: {DEFAULT})
    scopes: Scopes = field(default_factory=Scopes)

    def live_versions(self, subject: str) -> dict[int, Version]:
        """Return the live versions, newest first."""
        return self.versions(subject, deleted=False)

    def versions(self, subject: str, *, deleted: bool = True) -> dict[int, Version]:
        """Return all versions, or the live ones, newest first."""
        versions = self.subjects.get(subject, {})
        return {
            number: versions[number]
            for number in sorted(versions, reverse=True)
            if deleted or not versions[number].deleted
        }

    def latest_version(self, subject: str) -> Version | None:
        """Return the newest live version."""
        return next(iter(self.live_versions(subject).values()), None)

    def resolve_references(self, context: str, content: Content) -> list[tuple[str, int]]:
        """Resolve references; a subject without a context is in that of the referrer."""
        return [
            (name.removeprefix(":.:") if name.startswith(":.") or context == DEFAULT else context + name, number)
            for name, number in content.references
        ]

    def is_owned(self, _subject: str) -> bool:
        """Return whether a resource owns a subject."""
        return False

    def require_unassociated(self, subject: str, *, last: bool = False) -> None:
        """Raise if a subject has associations."""

    def parse(self, subject: str, draft: RegistrationDraft, *, strict: bool = False) -> Content:
        """Parse a draft; new schemas may reference only live versions, by number."""
        if draft.text is None or draft.text.kind == "broken" or (strict and draft.text.kind == "lax"):
            raise Rejected(42201)
        content = Content(draft.text, draft.references)
        references, text = [], draft.text
        targets = self.resolve_references(context_of(subject), content)
        for (name, requested_version), (target_subject, _) in zip(draft.references, targets, strict=True):
            versions = self.versions(target_subject, deleted=requested_version != -1 and not strict)
            number = next(iter(versions), 0) if requested_version == -1 else requested_version
            if number not in versions:
                raise Rejected(42201)
            kind = versions[number].content.text.kind
            if kind not in _REFERENCED_KINDS.get(text.kind, [kind]):
                raise Rejected(42201)
            text = Text("named") if (text.kind, kind) == ("user", "inlined") else text
            references.append((name, number))
        if text.kind in _REFERENCED_KINDS and not references:
            raise Rejected(42201)
        return Content(text, tuple(references), draft.metadata or (), draft.rules or ()).in_storage_order

    def inline_references(self, context: str, content: Content) -> Text:
        """Return the text with its references inlined."""
        if content.text.kind not in _REFERENCED_KINDS:
            return content.text.normalized
        target, number = self.resolve_references(context, content)[0]
        return Text("inlined", self.subjects[target][number].content.text.tags)

    def is_equivalent(self, subject: str, draft: Content, number: int, stored: Content) -> bool:
        """Return whether a version differs from a draft only in spelling or in inlined references."""
        if draft.metadata_and_rules != stored.metadata_and_rules or (
            draft.number and not stored.number and draft.number != str(number)
        ):
            return False
        normalized_draft, normalized_stored = draft.normalized, stored.normalized
        if bool(normalized_draft.references) != bool(normalized_stored.references):
            context = context_of(subject)
            return self.inline_references(context, draft) == self.inline_references(context, stored)
        return (normalized_draft.text, normalized_draft.references) == (
            normalized_stored.text,
            normalized_stored.references,
        )

    def find_version(
        self, subject: str, content: Content, draft: RegistrationDraft | None = None, *, deleted: bool = False
    ) -> int | None:
        """Return the newest identical version that the draft permits, else the newest equivalent one."""
        versions = self.versions(subject, deleted=deleted)
        latest = next(iter(self.live_versions(subject)), None)
        candidates = [
            number
            for number, version in versions.items()
            if draft is None
            or (
                draft.id in {None, version.id}
                and (draft.version <= 0 or draft.version == number)
                and (draft.version != -1 or number == latest)
            )
        ]
        identical = (n for n in candidates if versions[n].content == content)
        return next(
            identical,
            next((n for n in candidates if self.is_equivalent(subject, content, n, versions[n].content)), None),
        )

    def iterate_versions(self, scope: str) -> Iterator[tuple[str, Version]]:
        """Yield (subject, version) for the versions of a scope."""
        for subject, versions in self.subjects.items():
            if scope in {subject, context_of(subject), GLOBAL}:
                yield from ((subject, version) for version in versions.values())

    def is_referenced(self, subject: str, number: int | None, *, live: bool = False) -> bool:
        """Return whether a version is referenced, or any version of a subject by another subject."""
        return any(
            target == subject and number in {None, referenced_number}
            for referrer, version in self.iterate_versions(GLOBAL)
            if not (live and version.deleted) and not (number is None and referrer == subject)
            for target, referenced_number in self.resolve_references(context_of(referrer), version.content)
        )
