"""Key encryption keys: creation, changes, deletion, and the lists of them.

Callers need permission on the KEK. The names of KEKs that they may not read are left out of lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from msgspec import UNSET

from contractlog.compatibility.errors import (
    InvalidKeyField,
    KeyExists,
    KeyNotFound,
    KeyNotSoftDeleted,
    KeyReferenced,
    TooManyKeys,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.current_caller import current_permissions, may_read
from contractlog.registry.access.permissions import Permission, parse_prefix
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.dek_registry import queries
from contractlog.registry.features.dek_registry.bodies import UpdateKekRequest
from contractlog.registry.features.dek_registry.key_generator import KeyGenerator
from contractlog.registry.features.dek_registry.key_values import StoredKek, validate_kek, validate_kek_name
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import Page
from contractlog.registry.storage.transaction import Transaction

__all__ = ["MAX_KEYS", "KekService", "require_kek"]

MAX_KEYS: Final = 20_000  #: KEKs, and as many DEKs


def require_kek(snapshot: Snapshot, name: str, *, deleted: bool) -> StoredKek:
    """Return a KEK; a soft-deleted one only with ``deleted``.

    Raises:
        KeyNotFound: there is none.
    """
    kek = queries.find_kek(snapshot, name, deleted=deleted)
    if kek is None:
        raise KeyNotFound(key=name)
    return kek


class KekService(ReadService):
    """Stores key encryption keys."""

    def __init__(self, store: Store, threads: ThreadPools, generator: KeyGenerator) -> None:
        super().__init__(store, threads)
        self._generator = generator

    async def list_names(self, prefixes: Sequence[str], page: Page, *, deleted: bool) -> list[str]:
        """List the names of the KEKs that the caller may read.

        Args:
            prefixes: only KEKs with DEKs for subjects with one of these prefixes; without any, all.
            page: of the list.
            deleted: whether soft-deleted keys count.
        """
        keys = current_permissions.get().keys

        def query(snapshot: Snapshot) -> list[str]:
            if prefixes:
                rows = queries.list_kek_subjects(snapshot, deleted=deleted)
                names = list(dict.fromkeys(name for name, subject in rows if _has_prefix(subject, prefixes)))
            else:
                names = queries.list_kek_names(snapshot, deleted=deleted)
            return page.cut([name for name in names if keys.permits(Permission.READ, name)])

        return await self._query(query)

    async def list_subjects(self, name: str, page: Page, *, deleted: bool) -> list[str]:
        """List the subjects with DEKs of a KEK, as far as the caller may read them.

        Raises:
            KeyNotFound: there is no such KEK.
        """

        def query(snapshot: Snapshot) -> list[str]:
            require_kek(snapshot, name, deleted=deleted)
            rows = queries.list_kek_subjects(snapshot, name, deleted=deleted)
            return page.cut([str(subject) for _, subject in rows if may_read(subject)])

        return await self._query(query)

    async def get(self, name: str, *, deleted: bool) -> StoredKek:
        """Return a KEK.

        Raises:
            KeyNotFound: there is none.
        """
        return await self._query(require_kek, name, deleted=deleted)

    async def create(self, kek: StoredKek, *, test: bool) -> StoredKek:
        """Create a KEK, or undelete an equivalent one.

        Args:
            kek: the KEK.
            test: whether to require that the registry can use its KMS.

        Raises:
            InvalidKeyField: a member is not valid, or a KEK to test is not shared.
            KeyExists: the name is in use.
            TooManyKeys: the limit is reached.
            KeyGenerationFailed: the test failed.
            KeyDenied: the caller may not write the KEK.
        """
        validate_kek(replace(kek, name=validate_kek_name(kek.name)))
        current_permissions.get().keys.require(Permission.WRITE, kek.name)
        if test:
            self._test(kek)

        def work(change: Transaction) -> StoredKek:
            existing = queries.find_kek(change, kek.name, deleted=True)
            if existing is None:
                if queries.count_keks(change) >= MAX_KEYS:
                    raise TooManyKeys(limit=MAX_KEYS)
                queries.insert_kek(change, kek)
                return _record(change, "kek.created", kek)
            if not existing.deleted or kek.deleted or not existing.is_equivalent(kek):
                raise KeyExists(key=kek.name)
            queries.update_kek(change, kek)
            return _record(change, "kek.undeleted", kek)

        return await self._store.change(work)

    async def update(self, name: str, changes: UpdateKekRequest, *, test: bool) -> StoredKek:
        """Change the properties, the description or the sharing of a KEK.

        Raises:
            KeyNotFound: there is none, or it is soft-deleted.
            InvalidKeyField: a member is not valid, or a KEK to test is not shared.
            KeyReferenced: a KEK that has DEKs, even soft-deleted ones, would become shared.
            KeyGenerationFailed: the test failed.
        """

        def work(change: Transaction) -> StoredKek:
            existing = require_kek(change, name, deleted=False)
            kek = validate_kek(_apply(changes, existing))
            if test:
                self._test(kek)
            if kek.is_equivalent(existing):
                return existing
            if kek.shared and not existing.shared and queries.has_deks(change, name, deleted=True):
                # Callers brought its wrapped keys, and the registry must not unwrap a key that it was given.
                raise KeyReferenced(key=name)
            queries.update_kek(change, kek)
            return _record(change, "kek.updated", kek)

        return await self._store.change(work)

    async def test(self, name: str) -> StoredKek:
        """Require that the registry can use the KMS of a KEK.

        Raises:
            KeyNotFound: there is none, or it is soft-deleted.
            InvalidKeyField: it is not shared.
            KeyGenerationFailed: the test failed.
        """
        kek = await self.get(name, deleted=False)
        self._test(kek)
        return kek

    async def delete(self, name: str, *, permanent: bool) -> None:
        """Soft-delete a KEK, or hard-delete a soft-deleted one.

        Raises:
            KeyNotFound: there is none.
            KeyReferenced: it has DEKs; soft-deleted ones count for a hard delete.
            KeyNotSoftDeleted: it must be soft-deleted first.
        """

        def work(change: Transaction) -> None:
            kek = require_kek(change, name, deleted=True)
            if queries.has_deks(change, name, deleted=permanent):
                raise KeyReferenced(key=name)
            if permanent:
                if not kek.deleted:
                    raise KeyNotSoftDeleted(key=name)
                queries.delete_kek(change, name)
                _record(change, "kek.hard_deleted", kek)
            elif not kek.deleted:
                queries.update_kek(change, replace(kek, deleted=True))
                _record(change, "kek.soft_deleted", kek)

        await self._store.change(work)

    async def undelete(self, name: str) -> None:
        """Undelete a KEK.

        Raises:
            KeyNotFound: there is none.
        """

        def work(change: Transaction) -> None:
            kek = require_kek(change, name, deleted=True)
            if kek.deleted:
                queries.update_kek(change, replace(kek, deleted=False))
                _record(change, "kek.undeleted", kek)

        await self._store.change(work)

    def _test(self, kek: StoredKek) -> None:
        if not kek.shared:
            raise InvalidKeyField(field="shared")
        self._generator.test(kek)


def _has_prefix(subject: Subject, prefixes: Iterable[str]) -> bool:
    return any(subjects.contains(subject) for prefix in prefixes for subjects in parse_prefix(prefix))


def _apply(changes: UpdateKekRequest, kek: StoredKek) -> StoredKek:
    return replace(
        kek,
        kms_props=kek.kms_props if changes.kms_props is UNSET else changes.kms_props or None,
        doc=kek.doc if changes.doc is UNSET else changes.doc or None,
        shared=kek.shared if changes.shared is UNSET else bool(changes.shared),
    )


def _record(change: Transaction, action: str, kek: StoredKek) -> StoredKek:
    """Add a change log entry without key ids and properties of the KMS.

    Return the KEK with the time of its change.
    """
    change.record_change(action, kek.name, details={"kmsType": kek.kms_type, "shared": kek.shared})
    return replace(kek, updated_at=change.now)
