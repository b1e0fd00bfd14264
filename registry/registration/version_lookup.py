"""Lookup of a subject's version by number, and the error if it does not exist."""

from __future__ import annotations

from contractlog.compatibility.errors import SubjectNotFound, VersionNotFound
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import DeletedFilter

__all__ = ["missing_version_error", "require_version"]


def require_version(
    snapshot: Snapshot, subject: Subject, number: int | None, deleted: DeletedFilter
) -> RegisteredSchema:
    """Return one version of a subject; None as number is the latest live one.

    Raises:
        SubjectNotFound, VersionNotFound: it does not exist.
    """
    version = snapshot.version(subject, number, DeletedFilter.EXCLUDED if number is None else deleted)
    if version is None:
        raise missing_version_error(snapshot, subject, number, deleted)
    return version


def missing_version_error(
    snapshot: Snapshot, subject: Subject, number: int | None, deleted: DeletedFilter
) -> SubjectNotFound | VersionNotFound:
    """Return the error for a version that does not exist: a subject has none, or none of this number."""
    if number is None or not snapshot.versions(subject, deleted):
        return SubjectNotFound(subject=str(subject))
    return VersionNotFound(version=number)
