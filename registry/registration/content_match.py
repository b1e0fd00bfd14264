"""Match of a candidate with existing versions: the same content, or content that is equivalent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import are_equivalent
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.metadata_inheritance import (
    VERSION_PROPERTY,
    none_if_empty_metadata,
    none_if_empty_rules,
    remove_version_property,
)
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.registration.candidate import Candidate, hash_draft
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.registration.references import remove_own_context
from contractlog.registry.registration.request import RegistrationResult
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import Content, DeletedFilter

__all__ = ["find_existing_version", "find_version_with_text"]


def find_version_with_text(
    snapshot: Snapshot, subject: Subject, draft: SchemaDraft, deleted: DeletedFilter = DeletedFilter.EXCLUDED
) -> RegisteredSchema | None:
    """Return the subject's version with this exact text, and the same references, metadata and rules.

    For drafts that cannot be parsed: schemas that an import stored verbatim are found by their response.
    """
    existing = snapshot.find_by_content(subject, hash_draft(draft, draft.text, draft.text)[0], deleted)
    unqualified = replace(draft, references=remove_own_context(draft.references, subject))
    if existing is not None or unqualified == draft:
        return existing
    return snapshot.find_by_content(subject, hash_draft(unqualified, draft.text, draft.text)[0], deleted)


def find_existing_version(
    parser: SchemaParser,
    snapshot: Snapshot,
    subject: Subject,
    candidate: Candidate,
    *,
    deleted: DeletedFilter = DeletedFilter.EXCLUDED,
    accepts: Callable[[RegisteredSchema], bool] = lambda _version: True,
) -> RegistrationResult | None:
    """Return the newest version with this content, else the newest one with an equivalent content.

    Args:
        parser: parses stored schemas.
        snapshot: the state.
        subject: its versions are searched.
        candidate: the parsed draft and its content.
        deleted: live versions, or all.
        accepts: whether a version may be the result.
    """
    for exact in snapshot.list_by_content(subject, candidate.content.hash, deleted):
        if accepts(exact):
            return RegistrationResult(exact)
    for equivalent in _find_equivalent(parser, snapshot, subject, candidate, deleted):
        if accepts(equivalent) and _matches_number(candidate.content, equivalent):
            return RegistrationResult(equivalent, stored=True)
    return None


def _find_equivalent(
    parser: SchemaParser,
    snapshot: Snapshot,
    subject: Subject,
    candidate: Candidate,
    deleted: DeletedFilter,
) -> Iterator[RegisteredSchema]:
    """Yield versions that differ in spelling only, then those that differ in inlined references."""
    content = candidate.content
    if content.references:
        yield from _find_qualified_otherwise(parser, snapshot, subject, candidate, deleted)
    yield from snapshot.list_equivalent(subject, content.normalized_hash, deleted)
    for version in snapshot.dependent_versions(subject, deleted, dependent=not content.references):
        if version.type is content.type and _metadata_and_rules(version) == _metadata_and_rules(content):
            try:
                if are_equivalent(candidate.parsed.parsed, parser.parse_stored(snapshot, version)):
                    yield version
            except InvalidSchema:
                continue  # cannot be parsed, or is too long with its references inlined


def _find_qualified_otherwise(
    parser: SchemaParser,
    snapshot: Snapshot,
    subject: Subject,
    candidate: Candidate,
    deleted: DeletedFilter,
) -> Iterator[RegisteredSchema]:
    """Yield versions whose references differ only in naming their own context, or not naming it.

    References are stored and hashed as they were sent. Versions with the same canonical text come first.
    """
    content = candidate.content
    draft = replace(
        candidate.parsed.draft,
        references=remove_own_context(content.references, subject),
        metadata=content.metadata,
        rule_set=content.rule_set,
    )
    exact_hash, normalized_hash = hash_draft(draft, content.text, candidate.parsed.parsed.normalized)
    qualifying = [
        (version, _hash_unqualified(parser, snapshot, subject, version))
        for version in snapshot.versions_with_qualified_references(subject, deleted)
    ]
    if draft.references != content.references:
        yield from snapshot.list_by_content(subject, exact_hash, deleted)
    yield from (version for version, hashes in qualifying if hashes[0] == exact_hash)
    if draft.references != content.references:
        yield from snapshot.list_equivalent(subject, normalized_hash, deleted)
    yield from (version for version, hashes in qualifying if hashes[1] == normalized_hash)


def _hash_unqualified(
    parser: SchemaParser, snapshot: Snapshot, subject: Subject, version: RegisteredSchema
) -> tuple[str, str]:
    draft = replace(
        version.draft,
        references=remove_own_context(version.references, subject),
        metadata=none_if_empty_metadata(version.metadata),
        rule_set=none_if_empty_rules(version.rule_set),
    )
    try:
        normalized = parser.parse_stored(snapshot, version).normalized
    except InvalidSchema:
        normalized = version.text  # text that cannot be parsed is compared as it is
    return hash_draft(draft, version.text, normalized)


def _metadata_and_rules(schema: RegisteredSchema | Content) -> object:
    return none_if_empty_metadata(remove_version_property(schema.metadata)), none_if_empty_rules(schema.rule_set)


def _matches_number(content: Content, version: RegisteredSchema) -> bool:
    """Return True unless the candidate's metadata names the number of another version.

    A version whose own metadata names a number matches in any case.
    """
    requested, named = _version_property(content), _version_property(version)
    return requested is None or named is not None or requested == str(version.version)


def _version_property(schema: RegisteredSchema | Content) -> str | None:
    return None if schema.metadata is None else schema.metadata.properties.get(VERSION_PROPERTY)
