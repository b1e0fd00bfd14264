"""Deletion: first soft, so that consumers can go on reading; then hard, and the id is never reused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from contractlog.compatibility.errors import (
    ReferenceExists,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectsExist,
    SubjectSoftDeleted,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)
from contractlog.compatibility.names import Subject
from contractlog.registry.services.association_guards import refuse_associated, refuse_last_live
from contractlog.registry.services.permits import refuse_read_only
from contractlog.registry.storage.finding import aliased
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.values import Configured, Seen, scopes
from contractlog.registry.storage.writes import Transaction

__all__ = ["Retirement", "erase_subject", "hide_subject", "make_room"]


class Retirement:
    """Deletes subjects and versions, except referenced versions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def subject(self, subject: Subject, *, permanent: bool = False) -> list[int]:
        """Soft-delete all versions of a subject (or hard-delete, if ``permanent``), and return their numbers.

        Raises:
            SubjectNotFound, SubjectSoftDeleted, SubjectNotSoftDeleted, ReferenceExists, AssociationExists,
            SubjectReadOnly: nothing changed.
        """
        work = erase_subject if permanent else hide_subject
        return await asyncio.wrap_future(
            self._store.change(lambda transaction: work(transaction, aliased(transaction, subject)))
        )

    async def version(self, subject: Subject, number: int | None, *, permanent: bool = False) -> int:
        """Soft-delete one version (or hard-delete, if ``permanent``), and return its number.

        None as number is the newest live version.

        Raises:
            SubjectNotFound, VersionNotFound, VersionSoftDeleted, VersionNotSoftDeleted, ReferenceExists,
            NoActiveVersion, SubjectReadOnly: nothing changed.
        """
        work = _erase_version if permanent else _hide_version
        return await asyncio.wrap_future(
            self._store.change(lambda transaction: work(transaction, aliased(transaction, subject), number))
        )


def _versions(transaction: Transaction, subject: Subject) -> dict[int, bool]:
    """Return whether each version is soft-deleted, by number; raise if the mode is read-only."""
    versions = dict(transaction.versions(subject, Seen.ALL))
    if not versions:
        raise SubjectNotFound(subject=str(subject))
    refuse_read_only(subject, Configured.inherited(transaction.configured(scopes(subject)).values()))
    return versions


def hide_subject(transaction: Transaction, subject: Subject) -> list[int]:
    """Soft-delete the live versions of a subject, and return their numbers."""
    versions = _versions(transaction, subject)
    live = [number for number, deleted in versions.items() if not deleted]
    if not live:
        raise SubjectSoftDeleted(subject=str(subject))
    refuse_associated(transaction, subject)
    subject_id = _unreferenced(transaction, subject, Seen.LIVE)
    transaction.soft_delete(subject, subject_id, live)
    return live


def erase_subject(transaction: Transaction, subject: Subject) -> list[int]:
    """Hard-delete all versions of a soft-deleted subject, and return their numbers."""
    versions = _versions(transaction, subject)
    if not all(versions.values()):
        raise SubjectNotSoftDeleted(subject=str(subject))
    refuse_associated(transaction, subject)
    subject_id = _unreferenced(transaction, subject, Seen.ALL)
    _erase(transaction, subject, subject_id, list(versions), remaining=0)
    return list(versions)


def _hide_version(transaction: Transaction, subject: Subject, number: int | None) -> int:
    versions, number = _chosen(transaction, subject, number)
    if versions[number]:
        raise VersionSoftDeleted(subject=str(subject), version=number)
    refuse_last_live(transaction, subject, versions, number)
    subject_id = _unreferenced(transaction, subject, Seen.LIVE, number)
    transaction.soft_delete(subject, subject_id, [number])
    return number


def _erase_version(transaction: Transaction, subject: Subject, number: int | None) -> int:
    versions, number = _chosen(transaction, subject, number)
    if not versions[number]:
        raise VersionNotSoftDeleted(subject=str(subject), version=number)
    subject_id = _unreferenced(transaction, subject, Seen.ALL, number)
    _erase(transaction, subject, subject_id, [number], remaining=len(versions) - 1)
    return number


def _chosen(transaction: Transaction, subject: Subject, number: int | None) -> tuple[dict[int, bool], int]:
    versions = _versions(transaction, subject)
    if number is None:
        number = max((one for one, deleted in versions.items() if not deleted), default=None)
        if number is None:
            raise SubjectNotFound(subject=str(subject))
    if number not in versions:
        raise VersionNotFound(version=number)
    return versions, number


def _unreferenced(transaction: Transaction, subject: Subject, seen: Seen, version: int | None = None) -> int:
    """Return the subject's row number, unless a version to be deleted is referenced."""
    subject_id = transaction.state(subject).id or 0
    leant_on = transaction.leaning(subject_id, seen, version=version)
    if leant_on is not None:
        raise ReferenceExists(subject=str(subject), version=leant_on)
    return subject_id


def _erase(
    transaction: Transaction, subject: Subject, subject_id: int, numbers: Sequence[int], *, remaining: int
) -> None:
    transaction.hard_delete(subject, subject_id, numbers)
    if not remaining and not transaction.configured([subject])[subject].empty:
        transaction.configure(subject, Configured())  # settings are deleted with the last version


def make_room(transaction: Transaction, scope: Subject) -> None:
    """Hard-delete the soft-deleted versions of a scope, so that an import starts from an empty scope.

    Versions that a schema elsewhere references stay.

    Raises:
        SubjectsExist: a version is live.
    """
    within = [scope] if scope.name else transaction.subjects_within(scope.context)
    left = {subject: dict(transaction.versions(subject, Seen.ALL)) for subject in within}
    if not all(all(versions.values()) for versions in left.values()):
        raise SubjectsExist
    more = True
    while more:
        more = False
        for subject, versions in left.items():
            subject_id = transaction.state(subject).id or 0
            free = [n for n in versions if transaction.leaning(subject_id, Seen.ALL, version=n) is None]
            if free:
                transaction.hard_delete(subject, subject_id, free)
                more = True
            left[subject] = {number: True for number in versions if number not in free}
