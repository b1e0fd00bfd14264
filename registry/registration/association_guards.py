"""Checks that protect associations in other operations: deletions, and references to owned subjects.

Each check is one call, inside the transaction of the operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from contractlog.compatibility.errors import AssociationExists, NoActiveVersion, StrongReference
from contractlog.compatibility.names import Subject
from contractlog.registry.storage import associations
from contractlog.registry.storage.snapshot import Snapshot

__all__ = ["reject_associated", "reject_last_live_version", "reject_owned_targets"]


def reject_associated(snapshot: Snapshot, subject: Subject) -> None:
    """Raise ``AssociationExists`` if a subject to be deleted is bound to a resource."""
    if associations.find_by_subject(snapshot, subject):
        raise AssociationExists(subject=str(subject))


def reject_last_live_version(snapshot: Snapshot, subject: Subject, versions: Mapping[int, bool], number: int) -> None:
    """Raise ``NoActiveVersion`` for the last live version of a subject that is bound to a resource.

    Args:
        snapshot: the state under the lock.
        subject: the subject of the version to be deleted.
        versions: whether each of its versions is soft-deleted, by number.
        number: the version.
    """
    live = {version for version, deleted in versions.items() if not deleted}
    if live == {number} and associations.find_by_subject(snapshot, subject):
        raise NoActiveVersion(subject=str(subject))


def reject_owned_targets(snapshot: Snapshot, targets: Iterable[Subject]) -> None:
    """Raise ``StrongReference`` if a resource owns one of the subjects that a schema references."""
    subjects = set(targets)
    owned = associations.find_owned_subjects(snapshot.connection, subjects) if subjects else ()
    if owned:
        raise StrongReference(subject=str(min(owned)))
