"""Imported schemas that this release cannot parse: found by their exact text, closed to registration."""

from __future__ import annotations

from dataclasses import replace

from contractlog.compatibility.errors import OperationNotPermitted
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.services.references import plain
from contractlog.registry.services.understanding import hashes_of
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Seen

__all__ = ["held_verbatim", "refuse_closed"]


def held_verbatim(
    snapshot: Snapshot, subject: Subject, draft: SchemaDraft, seen: Seen = Seen.LIVE
) -> RegisteredSchema | None:
    """Return the subject's version with this exact text, and the same references, metadata and rules.

    For drafts that cannot be parsed: schemas that an import stored verbatim are found by their response.
    """
    found = snapshot.holding(subject, hashes_of(draft, draft.text, draft.text)[0], seen)
    short = replace(draft, references=plain(draft.references, subject))
    if found is not None or short == draft:
        return found
    return snapshot.holding(subject, hashes_of(short, draft.text, draft.text)[0], seen)


def refuse_closed(snapshot: Snapshot, subject: Subject) -> None:
    """Reject a new version of a subject whose newest version cannot be parsed, and so not be compared.

    Raises:
        OperationNotPermitted: the newest live version was imported, and cannot be parsed.
    """
    kind = snapshot.newest_verbatim(subject)
    if kind is not None:
        raise OperationNotPermitted(
            f"Subject {subject} in context {subject.context} is closed to registration: its newest version, of type "
            f"{kind}, came with an import and is not understood by this release"
        )
