"""Look-up of schemas under a subject by content.

The contents of any version's response find that version again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from contractlog.compatibility.errors import InvalidSchema, SchemaNotUnderSubject, SubjectNotFound
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.access.actor import current_rights, readable
from contractlog.registry.services.drafting import completed
from contractlog.registry.services.held import find
from contractlog.registry.services.judging import Judging
from contractlog.registry.services.permits import require_references
from contractlog.registry.services.understanding import Understanding
from contractlog.registry.services.verbatim import held_verbatim
from contractlog.registry.storage.finding import aliased, namesakes
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Seen

__all__ = ["Sought", "look_up"]


@dataclass(frozen=True, slots=True)
class Sought:
    """Parameters of a look-up."""

    draft: SchemaDraft
    normalize: bool = False
    seen: Seen = Seen.LIVE


def look_up(
    understanding: Understanding, judging: Judging, snapshot: Snapshot, named: Subject, sought: Sought
) -> RegisteredSchema:
    """Return the version with a content; for a plain name without any, also from other contexts.

    Raises:
        SubjectNotFound, SchemaNotUnderSubject, InvalidSchema: there is none.
    """
    subject = aliased(snapshot, named)
    found = _under(understanding, judging, snapshot, subject, sought)
    if found is not None:
        return found
    for other in readable(namesakes(snapshot, subject, sought.seen)):
        try:
            found = _under(understanding, judging, snapshot, other, sought)
        except InvalidSchema:
            continue  # one of its references is not in that context
        if found is not None:
            return found
    if not snapshot.versions(subject, sought.seen):
        raise SubjectNotFound(subject=str(subject))
    raise SchemaNotUnderSubject


def _under(
    understanding: Understanding, judging: Judging, snapshot: Snapshot, subject: Subject, sought: Sought
) -> RegisteredSchema | None:
    """Look up the draft as it is, then with what registration would add from config and latest version.

    A draft without text matches no version: unlike a registration, a look-up does not take the latest version's text.
    """
    if not sought.draft.text.strip():
        return None
    require_references(current_rights.get(), snapshot, subject, sought.draft.references)
    draft, configured = sought.draft, judging.configured(snapshot, subject)
    previous = snapshot.version(subject, None)
    sought = replace(sought, normalize=sought.normalize or bool(configured.normalize))
    try:
        found = _look(understanding, snapshot, subject, sought)
    except InvalidSchema:
        found = held_verbatim(snapshot, subject, draft, sought.seen)
        if found is None:
            raise
    merged = completed(draft, previous, configured) if found is None else draft
    if merged == draft:
        return found
    return _look(understanding, snapshot, subject, replace(sought, draft=merged))


def _look(
    understanding: Understanding, snapshot: Snapshot, subject: Subject, sought: Sought
) -> RegisteredSchema | None:
    understood = understanding.draft(snapshot, subject, sought.draft, strict=False)
    content = understood.content(snapshot, normalize=sought.normalize)
    found = find(understanding, snapshot, subject, (understood, content), seen=sought.seen)
    return None if found is None else found.schema
