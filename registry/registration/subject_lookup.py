"""Lookup of a schema under a subject by its text, as ``POST /subjects/{subject}`` requests it.

The contents of any version's response find that version again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from contractlog.compatibility.errors import InvalidSchema, SchemaNotUnderSubject, SubjectNotFound
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.access.current_caller import current_permissions, filter_readable
from contractlog.registry.access.permissions import Permission
from contractlog.registry.registration.candidate import Candidate
from contractlog.registry.registration.content_match import find_existing_version, find_version_with_text
from contractlog.registry.registration.draft_checker import DraftChecker
from contractlog.registry.registration.draft_completion import complete_draft
from contractlog.registry.registration.write_preconditions import require_reference_permissions
from contractlog.registry.storage.name_and_id_lookup import find_namesakes, resolve_alias
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import DeletedFilter

__all__ = ["ContentQuery", "find_by_content"]


@dataclass(frozen=True, slots=True)
class ContentQuery:
    """Parameters of a lookup."""

    draft: SchemaDraft
    normalize: bool = False
    deleted: DeletedFilter = DeletedFilter.EXCLUDED


def find_by_content(checker: DraftChecker, snapshot: Snapshot, name: Subject, query: ContentQuery) -> RegisteredSchema:
    """Return the version with the queried content; for a plain name without any, also from other contexts.

    Raises:
        SubjectNotFound, SchemaNotUnderSubject, InvalidSchema: there is none.
    """
    subject = resolve_alias(snapshot, name, current_permissions.get(), Permission.READ)
    version = _find_under_subject(checker, snapshot, subject, query)
    if version is not None:
        return version
    for namesake in filter_readable(find_namesakes(snapshot, subject, query.deleted)):
        try:
            version = _find_under_subject(checker, snapshot, namesake, query)
        except InvalidSchema:
            continue  # one of its references is not in that context
        if version is not None:
            return version
    if not snapshot.versions(subject, query.deleted):
        raise SubjectNotFound(subject=str(subject))
    raise SchemaNotUnderSubject


def _find_under_subject(
    checker: DraftChecker, snapshot: Snapshot, subject: Subject, query: ContentQuery
) -> RegisteredSchema | None:
    """Look up the draft as it is, then with what registration would add from config and latest version.

    A draft without text matches no version: unlike a registration, a lookup does not take the latest version's text.
    """
    if not query.draft.text.strip():
        return None
    require_reference_permissions(current_permissions.get(), snapshot, subject, query.draft.references)
    draft, configured = query.draft, checker.read_settings(snapshot, subject)
    previous = snapshot.version(subject, None)
    query = replace(query, normalize=query.normalize or bool(configured.normalize))
    try:
        version = _find_version(checker, snapshot, subject, query)
    except InvalidSchema:
        version = find_version_with_text(snapshot, subject, draft, query.deleted)
        if version is None:
            raise
    merged = complete_draft(draft, previous, configured) if version is None else draft
    if merged == draft:
        return version
    return _find_version(checker, snapshot, subject, replace(query, draft=merged))


def _find_version(
    checker: DraftChecker, snapshot: Snapshot, subject: Subject, query: ContentQuery
) -> RegisteredSchema | None:
    parsed = checker.parser.parse_draft(snapshot, subject, query.draft, strict=False)
    candidate = Candidate.of(snapshot, parsed, normalize=query.normalize)
    result = find_existing_version(checker.parser, snapshot, subject, candidate, deleted=query.deleted)
    return None if result is None else result.schema
