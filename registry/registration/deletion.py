"""Deletion: first soft, so that consumers can go on reading; then hard, and the id is never reused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contractlog.compatibility.errors import (
    AssociationExists,
    NoActiveVersion,
    ReferenceExists,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectsExist,
    SubjectSoftDeleted,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.current_caller import current_permissions
from contractlog.registry.access.permissions import Permission
from contractlog.registry.registration.write_preconditions import require_writable_mode
from contractlog.registry.storage import associations
from contractlog.registry.storage.name_and_id_lookup import resolve_alias
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import DeletedFilter, ScopeSettings
from contractlog.registry.storage.transaction import Transaction

__all__ = ["DeletionService", "hard_delete_subject", "purge_deleted_versions", "soft_delete_subject"]


class DeletionService:
    """Deletes subjects and versions, except referenced versions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def subject(self, subject: Subject, *, permanent: bool = False) -> list[int]:
        """Soft-delete all versions of a subject (or hard-delete, if ``permanent``), and return their numbers.

        Raises:
            SubjectNotFound, SubjectSoftDeleted, SubjectNotSoftDeleted, ReferenceExists, AssociationExists,
            SubjectReadOnly: nothing changed.
        """
        work, permissions = hard_delete_subject if permanent else soft_delete_subject, current_permissions.get()

        def delete(transaction: Transaction) -> list[int]:
            return work(transaction, resolve_alias(transaction, subject, permissions, Permission.WRITE))

        return await self._store.change(delete)

    async def version(self, subject: Subject, number: int | None, *, permanent: bool = False) -> int:
        """Soft-delete one version (or hard-delete, if ``permanent``), and return its number.

        None as number is the newest live version.

        Raises:
            SubjectNotFound, VersionNotFound, VersionSoftDeleted, VersionNotSoftDeleted, ReferenceExists,
            NoActiveVersion, SubjectReadOnly: nothing changed.
        """
        work, permissions = _hard_delete_version if permanent else _soft_delete_version, current_permissions.get()

        def delete(transaction: Transaction) -> int:
            return work(transaction, resolve_alias(transaction, subject, permissions, Permission.WRITE), number)

        return await self._store.change(delete)


def _require_versions(transaction: Transaction, subject: Subject) -> dict[int, bool]:
    """Return whether each version is soft-deleted, by number; raise if the mode is read-only."""
    versions = dict(transaction.versions(subject, DeletedFilter.INCLUDED))
    if not versions:
        raise SubjectNotFound(subject=str(subject))
    require_writable_mode(subject, transaction.read_effective_settings(subject))
    return versions


def reject_associated(transaction: Transaction, subject: Subject) -> None:
    """Raise ``AssociationExists`` if a subject to be deleted is bound to a resource."""
    if associations.find_by_subject(transaction, subject):
        raise AssociationExists(subject=str(subject))


def _reject_last_live_version(
    transaction: Transaction, subject: Subject, versions: Mapping[int, bool], number: int
) -> None:
    """Raise ``NoActiveVersion`` for the last live version of a subject that is bound to a resource."""
    live = {version for version, deleted in versions.items() if not deleted}
    if live == {number} and associations.find_by_subject(transaction, subject):
        raise NoActiveVersion(subject=str(subject))


def soft_delete_subject(transaction: Transaction, subject: Subject) -> list[int]:
    """Soft-delete the live versions of a subject, and return their numbers."""
    versions = _require_versions(transaction, subject)
    live = [number for number, deleted in versions.items() if not deleted]
    if not live:
        raise SubjectSoftDeleted(subject=str(subject))
    reject_associated(transaction, subject)
    subject_id = _require_unreferenced(transaction, subject, DeletedFilter.EXCLUDED)
    transaction.soft_delete(subject, subject_id, live)
    return live


def hard_delete_subject(transaction: Transaction, subject: Subject) -> list[int]:
    """Hard-delete all versions of a soft-deleted subject, and return their numbers."""
    versions = _require_versions(transaction, subject)
    if not all(versions.values()):
        raise SubjectNotSoftDeleted(subject=str(subject))
    reject_associated(transaction, subject)
    subject_id = _require_unreferenced(transaction, subject, DeletedFilter.INCLUDED)
    _hard_delete(transaction, subject, subject_id, list(versions), remaining=0)
    return list(versions)


def _soft_delete_version(transaction: Transaction, subject: Subject, number: int | None) -> int:
    versions, number = _select_version(transaction, subject, number)
    if versions[number]:
        raise VersionSoftDeleted(subject=str(subject), version=number)
    _reject_last_live_version(transaction, subject, versions, number)
    subject_id = _require_unreferenced(transaction, subject, DeletedFilter.EXCLUDED, number)
    transaction.soft_delete(subject, subject_id, [number])
    return number


def _hard_delete_version(transaction: Transaction, subject: Subject, number: int | None) -> int:
    versions, number = _select_version(transaction, subject, number)
    if not versions[number]:
        raise VersionNotSoftDeleted(subject=str(subject), version=number)
    subject_id = _require_unreferenced(transaction, subject, DeletedFilter.INCLUDED, number)
    _hard_delete(transaction, subject, subject_id, [number], remaining=len(versions) - 1)
    return number


def _select_version(transaction: Transaction, subject: Subject, number: int | None) -> tuple[dict[int, bool], int]:
    versions = _require_versions(transaction, subject)
    if number is None:
        number = max((version for version, deleted in versions.items() if not deleted), default=None)
        if number is None:
            raise SubjectNotFound(subject=str(subject))
    if number not in versions:
        raise VersionNotFound(version=number)
    return versions, number


def _require_unreferenced(
    transaction: Transaction, subject: Subject, deleted: DeletedFilter, version: int | None = None
) -> int:
    """Return the subject's row number, unless a version to be deleted is referenced."""
    subject_id = transaction.state(subject).id or 0
    referenced = transaction.lowest_referenced_version(subject_id, deleted, version=version)
    if referenced is not None:
        raise ReferenceExists(subject=str(subject), version=referenced)
    return subject_id


def _hard_delete(
    transaction: Transaction, subject: Subject, subject_id: int, numbers: Sequence[int], *, remaining: int
) -> None:
    transaction.hard_delete(subject, subject_id, numbers)
    if not remaining and not transaction.read_settings([subject])[subject].empty:
        transaction.configure(subject, ScopeSettings())  # settings are deleted with the last version


def purge_deleted_versions(transaction: Transaction, scope: Subject) -> None:
    """Hard-delete the soft-deleted versions of a scope, so that an import starts from an empty scope.

    Versions that a schema elsewhere references stay.

    Raises:
        SubjectsExist: a version is live.
    """
    subjects = [scope] if scope.name else transaction.subjects_in_context(scope.context)
    remaining = {subject: dict(transaction.versions(subject, DeletedFilter.INCLUDED)) for subject in subjects}
    if not all(all(versions.values()) for versions in remaining.values()):
        raise SubjectsExist
    progress = True
    while progress:
        progress = False
        for subject, versions in remaining.items():
            subject_id = transaction.state(subject).id or 0
            unreferenced = [
                n
                for n in versions
                if transaction.lowest_referenced_version(subject_id, DeletedFilter.INCLUDED, version=n) is None
            ]
            if unreferenced:
                transaction.hard_delete(subject, subject_id, unreferenced)
                progress = True
            remaining[subject] = {number: True for number in versions if number not in unreferenced}
