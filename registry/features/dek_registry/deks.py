"""Data encryption keys: creation, rotation, deletion, and reading.

Callers need permission on the KEK, and on the subject. Keys of shared KEKs are generated, and unwrapped for the caller;
of other KEKs, the registry only knows the wrapped key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.errors import (
    InvalidKeyField,
    KeyExists,
    KeyNotFound,
    KeyNotSoftDeleted,
    KeySoftDeleted,
    TooManyKeys,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.contracts.encryption.algorithms import DekAlgorithm
from contractlog.registry.access.current_caller import current_permissions
from contractlog.registry.access.permissions import Permission, Permissions
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.dek_registry import queries
from contractlog.registry.features.dek_registry.bodies import CreateDekRequest
from contractlog.registry.features.dek_registry.keks import MAX_KEYS, require_kek
from contractlog.registry.features.dek_registry.key_generator import KeyGenerator
from contractlog.registry.features.dek_registry.key_values import (
    DekId,
    StoredDek,
    StoredKek,
    decode_wrapped_key,
    validate_version,
)
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import Page
from contractlog.registry.storage.transaction import Transaction

__all__ = ["FIRST_VERSION", "DekSelection", "DekService", "ReadDek"]

FIRST_VERSION: Final = 1
_DEFAULT: Final = DekAlgorithm.AES256_GCM


@dataclass(frozen=True, slots=True)
class DekSelection:
    """The DEKs of a subject under a KEK."""

    kek_name: str
    subject: Subject  #: or a name that is an alias
    algorithm: DekAlgorithm | None = None  #: None: AES256_GCM for one version, every algorithm for all versions


@dataclass(frozen=True, slots=True)
class ReadDek:
    """A DEK, with its plaintext key if its KEK is shared."""

    dek: StoredDek
    key: bytes | None = None

    def __repr__(self) -> str:
        return f"ReadDek({self.dek.id.change_log_name})"


class DekService(ReadService):
    """Stores data encryption keys."""

    def __init__(self, store: Store, threads: ThreadPools, generator: KeyGenerator) -> None:
        super().__init__(store, threads)
        self._generator = generator

    async def list_versions(self, selection: DekSelection, page: Page, *, deleted: bool) -> list[int]:
        """List the versions of DEKs.

        Raises:
            KeyNotFound: there is no such KEK.
        """
        permissions = current_permissions.get()

        def query(snapshot: Snapshot) -> list[int]:
            subject = _resolve(snapshot, selection.subject, permissions, Permission.READ)
            require_kek(snapshot, selection.kek_name, deleted=deleted)
            deks = queries.list_deks(snapshot, selection.kek_name, subject, selection.algorithm, deleted=deleted)
            return page.cut(sorted({dek.id.version for dek in deks}))

        return await self._query(query)

    async def get(self, selection: DekSelection, version: int | None, *, deleted: bool) -> ReadDek:
        """Return a DEK; None as version is the latest.

        Raises:
            KeyNotFound: there is no such KEK or DEK.
            KeyGenerationFailed: the KEK is shared, and the registry cannot unwrap the DEK.
        """
        permissions = current_permissions.get()

        def query(snapshot: Snapshot) -> ReadDek:
            subject = _resolve(snapshot, selection.subject, permissions, Permission.READ)
            kek = require_kek(snapshot, selection.kek_name, deleted=deleted)
            dek = _find(snapshot, selection, subject, version, deleted=deleted)
            return self._read(kek, dek)

        return await self._query(query)

    async def create(self, kek_name: str, subject: Subject, request: CreateDekRequest, *, rewrap: bool) -> ReadDek:
        """Create a DEK, or undelete an equivalent one; with ``rewrap``, wrap an existing one again.

        Raises:
            KeyNotFound: there is no such KEK.
            KeyExists: the version exists.
            InvalidKeyField: a member is not valid, or the wrapped key is absent and the KEK is not shared.
            TooManyKeys: the limit is reached.
            KeyGenerationFailed: the registry cannot use the KMS of the shared KEK.
        """
        algorithm = request.algorithm or _DEFAULT
        version, wrapped = validate_version(request.version), request.encrypted_key_material or None
        if wrapped is not None:
            decode_wrapped_key(wrapped, algorithm)
        permissions, deleted = current_permissions.get(), bool(request.deleted)

        def work(change: Transaction) -> ReadDek:
            target = _resolve(change, subject, permissions, Permission.WRITE)
            kek = require_kek(change, kek_name, deleted=deleted)
            dek_id = DekId(kek_name, target, algorithm, version)
            existing = queries.find_dek(change, dek_id, deleted=True)
            if kek.shared and wrapped is not None and not _is_equivalent_wrapped(existing, wrapped):
                # The response has the key in clear: the registry must not unwrap a key that it was given.
                raise InvalidKeyField(field="encryptedKeyMaterial")
            if existing is None:
                dek = self._insert(change, kek, StoredDek(dek_id, wrapped or "", change.now, deleted))
            elif rewrap:
                dek = self._rewrap(change, kek, existing, wrapped)
            else:
                dek = _undelete_equivalent(change, kek, existing, wrapped, deleted=deleted)
            return self._read(kek, dek)

        return await self._store.change(work)

    async def delete(self, selection: DekSelection, *, permanent: bool) -> None:
        """Soft-delete all versions, or hard-delete them if all are soft-deleted.

        Raises:
            KeyNotFound: there is no such KEK, or no DEK.
            KeyNotSoftDeleted: a version must be soft-deleted first.
        """
        permissions = current_permissions.get()

        def work(change: Transaction) -> None:
            _delete(change, _require_all(change, selection, permissions), permanent=permanent)

        await self._store.change(work)

    async def delete_version(self, selection: DekSelection, version: int | None, *, permanent: bool) -> None:
        """Soft-delete a version, or hard-delete a soft-deleted one.

        Raises:
            KeyNotFound: there is no such KEK or DEK.
            KeyNotSoftDeleted: it must be soft-deleted first.
        """
        permissions = current_permissions.get()

        def work(change: Transaction) -> None:
            _delete(change, [_require_version(change, selection, version, permissions)], permanent=permanent)

        await self._store.change(work)

    async def undelete(self, selection: DekSelection) -> None:
        """Undelete all versions.

        Raises:
            KeyNotFound: there is no such KEK, or no DEK.
            KeySoftDeleted: the KEK must be undeleted first.
        """
        permissions = current_permissions.get()

        def work(change: Transaction) -> None:
            _undelete(change, _require_all(change, selection, permissions))

        await self._store.change(work)

    async def undelete_version(self, selection: DekSelection, version: int | None) -> None:
        """Undelete a version.

        Raises:
            KeyNotFound: there is no such KEK or DEK.
            KeySoftDeleted: the KEK must be undeleted first.
        """
        permissions = current_permissions.get()

        def work(change: Transaction) -> None:
            _undelete(change, [_require_version(change, selection, version, permissions)])

        await self._store.change(work)

    def _insert(self, change: Transaction, kek: StoredKek, dek: StoredDek) -> StoredDek:
        if queries.count_deks(change) >= MAX_KEYS:
            raise TooManyKeys(limit=MAX_KEYS)
        if not dek.wrapped_key:
            _require_shared(kek)
            generated = self._generator.generate(kek, str(dek.id.subject), dek.id.algorithm)
            dek = StoredDek(dek.id, generated, dek.created_at, dek.deleted)
        queries.insert_dek(change, dek)
        change.record_change("dek.created", dek.id.change_log_name)
        return dek

    def _rewrap(self, change: Transaction, kek: StoredKek, existing: StoredDek, wrapped: str | None) -> StoredDek:
        if wrapped is None:
            _require_shared(kek)
            wrapped = self._generator.wrap(kek, str(existing.id.subject), self._generator.unwrap(kek, existing))
        elif kek.shared:
            raise KeyExists(key=str(existing.id.subject))
        queries.update_wrapped_key(change, existing.id, wrapped)
        change.record_change("dek.rewrapped", existing.id.change_log_name)
        return StoredDek(existing.id, wrapped, existing.created_at)

    def _read(self, kek: StoredKek, dek: StoredDek) -> ReadDek:
        return ReadDek(dek, self._generator.unwrap(kek, dek) if kek.shared else None)


def _resolve(snapshot: Snapshot, subject: Subject, permissions: Permissions, operation: Permission) -> Subject:
    """Return the subject that a name refers to.

    Raises:
        Denied: the operation is not permitted on the name, or on the target of its alias.
    """
    permissions.require(operation, subject)
    target = queries.resolve_dek_subject(snapshot, subject)
    if target != subject:
        permissions.require(operation, target)
    return target


def _is_equivalent_wrapped(existing: StoredDek | None, wrapped: str) -> bool:
    return existing is not None and existing.wrapped_key == wrapped


def _require_shared(kek: StoredKek) -> None:
    if not kek.shared:
        raise InvalidKeyField(field="encryptedKeyMaterial")


def _find(
    snapshot: Snapshot, selection: DekSelection, subject: Subject, version: int | None, *, deleted: bool
) -> StoredDek:
    algorithm = selection.algorithm or _DEFAULT
    if version is None:
        deks = queries.list_deks(snapshot, selection.kek_name, subject, algorithm, deleted=deleted)
        dek = deks[-1] if deks else None
    else:
        dek = queries.find_dek(snapshot, DekId(selection.kek_name, subject, algorithm, version), deleted=deleted)
    if dek is None:
        raise KeyNotFound(key=str(selection.subject))
    return dek


def _open(change: Transaction, selection: DekSelection, permissions: Permissions) -> Subject:
    """Return the subject whose DEKs are to be changed.

    Raises:
        Denied: the caller may not change them.
        KeyNotFound: there is no such KEK.
    """
    subject = _resolve(change, selection.subject, permissions, Permission.WRITE)
    require_kek(change, selection.kek_name, deleted=True)
    return subject


def _require_all(change: Transaction, selection: DekSelection, permissions: Permissions) -> list[StoredDek]:
    subject = _open(change, selection, permissions)
    deks = queries.list_deks(change, selection.kek_name, subject, selection.algorithm, deleted=True)
    if not deks:
        raise KeyNotFound(key=str(selection.subject))
    return deks


def _require_version(
    change: Transaction, selection: DekSelection, version: int | None, permissions: Permissions
) -> StoredDek:
    subject = _open(change, selection, permissions)
    return _find(change, selection, subject, version, deleted=True)


def _undelete_equivalent(
    change: Transaction, kek: StoredKek, existing: StoredDek, wrapped: str | None, *, deleted: bool
) -> StoredDek:
    """Undelete a DEK that is created again: with the same wrapped key, or with that of a shared KEK.

    Raises:
        KeyExists: the DEK is live, or another one.
        InvalidKeyField: the wrapped key is absent, and the KEK is not shared.
    """
    if wrapped is None:
        _require_shared(kek)
    equivalent = wrapped == existing.wrapped_key or wrapped is None
    if deleted or not existing.deleted or not equivalent:
        raise KeyExists(key=str(existing.id.subject))
    _undelete(change, [existing])
    return StoredDek(existing.id, existing.wrapped_key, existing.created_at)


def _delete(change: Transaction, deks: Sequence[StoredDek], *, permanent: bool) -> None:
    if permanent:
        live = next((dek for dek in deks if not dek.deleted), None)
        if live is not None:
            raise KeyNotSoftDeleted(key=str(live.id.subject))
        queries.delete_deks(change, [dek.id for dek in deks])
        _record(change, "dek.hard_deleted", deks)
    else:
        live_deks = [dek for dek in deks if not dek.deleted]
        queries.mark_deks(change, [dek.id for dek in live_deks], deleted=True)
        _record(change, "dek.soft_deleted", live_deks)


def _undelete(change: Transaction, deks: Sequence[StoredDek]) -> None:
    kek_name = deks[0].id.kek_name
    if require_kek(change, kek_name, deleted=True).deleted:
        raise KeySoftDeleted(key=kek_name)
    deleted_deks = [dek for dek in deks if dek.deleted]
    queries.mark_deks(change, [dek.id for dek in deleted_deks], deleted=False)
    _record(change, "dek.undeleted", deleted_deks)


def _record(change: Transaction, action: str, deks: Sequence[StoredDek]) -> None:
    for dek in deks:
        change.record_change(action, dek.id.change_log_name)
