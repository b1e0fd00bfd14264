"""Checks that protect associations in other operations: deletions, and references to owned subjects.

Each check is one call, inside the transaction of the operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from contractlog.compatibility.errors import AssociationExists, NoActiveVersion, StrongReference
from contractlog.compatibility.names import Subject
from contractlog.registry.storage import associations
from contractlog.registry.storage.reads import Snapshot

__all__ = ["refuse_associated", "refuse_last_live", "refuse_strong"]


def refuse_associated(snapshot: Snapshot, subject: Subject) -> None:
    """Raise ``AssociationExists`` if a subject to be deleted is bound to a resource."""
    if associations.of_subject(snapshot, subject):
        raise AssociationExists(subject=str(subject))


def refuse_last_live(snapshot: Snapshot, subject: Subject, versions: Mapping[int, bool], number: int) -> None:
    """Raise ``NoActiveVersion`` for the last live version of a subject that is bound to a resource.

    Args:
        snapshot: the state under the lock.
        subject: the subject of the version to be deleted.
        versions: whether each of its versions is soft-deleted, by number.
        number: the version.
    """
    live = {version for version, deleted in versions.items() if not deleted}
    if live == {number} and associations.of_subject(snapshot, subject):
        raise NoActiveVersion(subject=str(subject))


def refuse_strong(snapshot: Snapshot, targets: Iterable[Subject]) -> None:
    """Raise ``StrongReference`` if a resource owns one of the subjects that a schema references."""
    wanted = set(targets)
    strong = associations.strong_among(snapshot.connection, wanted) if wanted else ()
    if strong:
        raise StrongReference(subject=str(min(strong)))
