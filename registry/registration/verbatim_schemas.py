"""Imported schemas that this release cannot parse: found by their exact text, closed to registration."""

from __future__ import annotations

from dataclasses import replace

from contractlog.compatibility.errors import OperationNotPermitted
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.registration.parser import hash_draft
from contractlog.registry.registration.references import remove_own_context
from contractlog.registry.storage.model import Deleted
from contractlog.registry.storage.snapshot import Snapshot

__all__ = ["find_verbatim", "reject_closed_subject"]


def find_verbatim(
    snapshot: Snapshot, subject: Subject, draft: SchemaDraft, seen: Deleted = Deleted.EXCLUDED
) -> RegisteredSchema | None:
    """Return the subject's version with this exact text, and the same references, metadata and rules.

    For drafts that cannot be parsed: schemas that an import stored verbatim are found by their response.
    """
    existing = snapshot.find_by_content(subject, hash_draft(draft, draft.text, draft.text)[0], seen)
    unqualified = replace(draft, references=remove_own_context(draft.references, subject))
    if existing is not None or unqualified == draft:
        return existing
    return snapshot.find_by_content(subject, hash_draft(unqualified, draft.text, draft.text)[0], seen)


def reject_closed_subject(snapshot: Snapshot, subject: Subject) -> None:
    """Reject a new version of a subject whose newest version cannot be parsed, and so not be compared.

    Raises:
        OperationNotPermitted: the newest live version was imported, and cannot be parsed.
    """
    kind = snapshot.newest_verbatim_type(subject)
    if kind is not None:
        raise OperationNotPermitted(
            f"Subject {subject} in context {subject.context} is closed to registration: its newest version, of type "
            f"{kind}, came with an import and is not understood by this release"
        )
