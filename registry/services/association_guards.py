"""What associations forbid elsewhere: deleting what a resource uses, leaning on what a resource owns.

Each guard is one call inside the transaction that it guards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from contractlog.compatibility.errors import AssociationExists, NoActiveVersion, StrongReference
from contractlog.compatibility.names import Subject
from contractlog.registry.storage import associations
from contractlog.registry.storage.reads import Snapshot

__all__ = ["refuse_associated", "refuse_last_live", "refuse_strong"]


def refuse_associated(snapshot: Snapshot, subject: Subject) -> None:
    """Raise ``AssociationExists`` when the subject, which is about to go, is bound to a resource."""
    if associations.of_subject(snapshot, subject):
        raise AssociationExists(subject=str(subject))


def refuse_last_live(snapshot: Snapshot, subject: Subject, versions: Mapping[int, bool], number: int) -> None:
    """Raise ``NoActiveVersion`` when a version is the last live one of a subject that is bound to a resource.

    Args:
        snapshot: the state under the lock.
        subject: whose version is about to go.
        versions: each of its versions, with whether it is soft-deleted.
        number: the version.
    """
    live = {version for version, deleted in versions.items() if not deleted}
    if live == {number} and associations.of_subject(snapshot, subject):
        raise NoActiveVersion(subject=str(subject))


def refuse_strong(snapshot: Snapshot, targets: Iterable[Subject]) -> None:
    """Raise ``StrongReference`` when one of the subjects that a schema would lean on belongs to a resource."""
    wanted = set(targets)
    strong = associations.strong_among(snapshot.connection, wanted) if wanted else ()
    if strong:
        raise StrongReference(subject=str(min(strong)))
