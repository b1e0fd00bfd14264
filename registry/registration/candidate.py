"""Candidates for a new version: parsed drafts with the content, hashes and guid that would be stored."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Self

from contractlog.compatibility.content_identity import compute_guid, hash_content
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.metadata_inheritance import (
    none_if_empty_metadata,
    none_if_empty_rules,
    remove_version_property,
)
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft, SchemaType
from contractlog.registry.execution.work_limits import current_work
from contractlog.registry.registration.parser import ParsedDraft
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import Content, ReferenceTarget

__all__ = ["Candidate", "build_content", "hash_draft"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A parsed draft and its content, which is computed once."""

    parsed: ParsedDraft
    content: Content

    @classmethod
    def of(cls, snapshot: Snapshot, parsed: ParsedDraft, *, normalize: bool) -> Self:
        """Compute the content to be stored.

        Its metadata and rules count as work of the caller, also inherited ones.
        """
        draft = parsed.draft
        if draft.metadata is not None or draft.rule_set is not None:
            current_work.get().charge_stored(sum(map(_count_characters, (draft.metadata, draft.rule_set))))
        return cls(parsed, build_content(snapshot, parsed, normalize=normalize))


def build_content(snapshot: Snapshot, parsed: ParsedDraft, *, normalize: bool) -> Content:
    """Return the content to be stored for a parsed draft."""
    references = tuple(parsed.resolved.references)
    draft = replace(
        parsed.draft,
        references=tuple(sorted(set(references))) if normalize else references,
        metadata=none_if_empty_metadata(parsed.draft.metadata),
        rule_set=none_if_empty_rules(parsed.draft.rule_set),
    )
    text = parsed.parsed.normalized if normalize else parsed.parsed.canonical
    exact_hash, normalized_hash = hash_draft(draft, text, parsed.parsed.normalized)
    return Content(
        text=text,
        submitted=draft.text,
        type=draft.type,
        hash=exact_hash,
        normalized_hash=normalized_hash,
        guid=compute_guid(text, draft.references, draft.metadata, draft.rule_set),
        references=draft.references,
        metadata=draft.metadata,
        rule_set=draft.rule_set,
        targets=tuple(_find_target(snapshot, target) for target in parsed.resolved.targets),
    )


def _count_characters(part: Metadata | RuleSet | None) -> int:
    return 0 if part is None else len(json.dumps(part.body()))


def _find_target(snapshot: Snapshot, schema: RegisteredSchema) -> ReferenceTarget:
    subject = schema.subject or Subject.parse("")
    return ReferenceTarget(snapshot.state(subject).id or 0, schema.version or 0, schema.schema_id, subject.context)


def hash_draft(draft: SchemaDraft, text: str, normalized: str) -> tuple[str, str]:
    """Return the hash of content, and the hash shared by contents that differ in spelling only.

    Args:
        draft: its type, metadata, rules and references are hashed, with numbers in place of "latest".
        text: the canonical text.
        normalized: the normalized text.
    """
    references, metadata, rule_set = draft.references, draft.metadata, draft.rule_set
    return (
        hash_content(_mark_type(draft.type, text), references, metadata, rule_set),
        hash_content(
            _mark_type(draft.type, normalized), sorted(set(references)), remove_version_property(metadata), rule_set
        ),
    )


def _mark_type(schema_type: SchemaType, text: str) -> str:
    """Return the text, marked with its type unless it is Avro.

    Equal texts of two types are different contents.
    """
    return text if schema_type is SchemaType.AVRO else f"{schema_type}\0{text}"
