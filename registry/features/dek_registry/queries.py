"""Keys in the database: KEKs by name, DEKs by KEK, subject, algorithm and version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Row, Select, delete, func, insert, select, update

from contractlog.compatibility.identifiers import Subject, apply_alias
from contractlog.contracts.encryption.algorithms import DekAlgorithm
from contractlog.registry.features.dek_registry.key_values import DekId, StoredDek, StoredKek
from contractlog.registry.storage import bulk_transfer, tables
from contractlog.registry.storage.dialects import order_by_bytes
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import subject_key
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "count_deks",
    "count_keks",
    "delete_deks",
    "delete_kek",
    "find_dek",
    "find_kek",
    "has_deks",
    "import_deks",
    "import_keks",
    "insert_dek",
    "insert_kek",
    "list_deks",
    "list_kek_names",
    "list_kek_subjects",
    "mark_deks",
    "resolve_dek_subject",
    "stream_deks",
    "stream_keks",
    "update_kek",
    "update_wrapped_key",
]

_K, _D, _T = tables.keks.c, tables.deks.c, tables.settings.c
_DEK_KEY: Final = ("kek_name", "subject_key", "algorithm", "version")


def list_kek_names(snapshot: Snapshot, *, deleted: bool) -> list[str]:
    """List the names of KEKs; with ``deleted``, of soft-deleted ones, too."""
    statement = select(_K.name).order_by(order_by_bytes(_K.name))
    return list(snapshot.connection.execute(_restrict(statement, _K.deleted_at, deleted=deleted)).scalars())


def list_kek_subjects(snapshot: Snapshot, kek_name: str | None = None, *, deleted: bool) -> list[tuple[str, Subject]]:
    """List the subjects with DEKs as (KEK name, subject), of one KEK or of all."""
    statement = select(_D.kek_name, _D.context, _D.subject).distinct()
    if kek_name is not None:
        statement = statement.where(_D.kek_name == kek_name)
    rows = snapshot.connection.execute(_restrict(statement, _D.deleted_at, deleted=deleted))
    return sorted(
        ((row.kek_name, Subject(row.context, row.subject)) for row in rows), key=lambda row: (row[0], str(row[1]))
    )


def find_kek(snapshot: Snapshot, name: str, *, deleted: bool) -> StoredKek | None:
    """Return a KEK; a soft-deleted one only with ``deleted``."""
    statement = _restrict(select(tables.keks).where(_K.name == name), _K.deleted_at, deleted=deleted)
    row = snapshot.connection.execute(statement).first()
    return None if row is None else _parse_kek(row)


def find_dek(snapshot: Snapshot, dek_id: DekId, *, deleted: bool) -> StoredDek | None:
    """Return a DEK; a soft-deleted one only with ``deleted``."""
    statement = select(tables.deks).where(*_identify(dek_id))
    row = snapshot.connection.execute(_restrict(statement, _D.deleted_at, deleted=deleted)).first()
    return None if row is None else _parse_dek(row)


def list_deks(
    snapshot: Snapshot, kek_name: str, subject: Subject, algorithm: DekAlgorithm | None = None, *, deleted: bool
) -> list[StoredDek]:
    """List the DEKs of a subject, lowest version first; of all algorithms if none is given."""
    statement = select(tables.deks).where(_D.kek_name == kek_name, _D.subject_key == subject_key(subject))
    if algorithm is not None:
        statement = statement.where(_D.algorithm == algorithm.value)
    statement = _restrict(statement, _D.deleted_at, deleted=deleted).order_by(_D.version, _D.algorithm)
    return [_parse_dek(row) for row in snapshot.connection.execute(statement)]


def stream_keks(snapshot: Snapshot) -> Iterator[StoredKek]:
    """List all KEKs, soft-deleted ones included."""
    return map(_parse_kek, snapshot.connection.execute(select(tables.keks).order_by(order_by_bytes(_K.name))))


def stream_deks(snapshot: Snapshot) -> Iterator[StoredDek]:
    """List all DEKs, soft-deleted ones included."""
    statement = select(tables.deks).order_by(order_by_bytes(_D.kek_name), _D.subject_key, _D.algorithm, _D.version)
    return map(_parse_dek, snapshot.connection.execute(statement))


def has_deks(snapshot: Snapshot, kek_name: str, *, deleted: bool) -> bool:
    """Return True if a KEK has DEKs; with ``deleted``, soft-deleted ones count, too."""
    statement = select(_D.version).where(_D.kek_name == kek_name).limit(1)
    return snapshot.connection.execute(_restrict(statement, _D.deleted_at, deleted=deleted)).first() is not None


def count_keks(snapshot: Snapshot) -> int:
    """Return the number of KEKs, soft-deleted ones included."""
    return int(snapshot.connection.execute(select(func.count()).select_from(tables.keks)).scalar() or 0)


def count_deks(snapshot: Snapshot) -> int:
    """Return the number of DEKs, soft-deleted ones included."""
    return int(snapshot.connection.execute(select(func.count()).select_from(tables.deks)).scalar() or 0)


def resolve_dek_subject(snapshot: Snapshot, subject: Subject) -> Subject:
    """Return the subject whose DEKs a name refers to: its alias for DEKs, else its alias, else itself."""
    statement = select(_T.alias_for_deks, _T.alias).where(_T.key == subject_key(subject))
    row = snapshot.connection.execute(statement).first()
    return subject if row is None else apply_alias(row.alias_for_deks or row.alias, subject)


def insert_kek(change: Transaction, kek: StoredKek) -> None:
    """Insert a KEK."""
    change.connection.execute(insert(tables.keks).values(name=kek.name, **_to_columns(change, kek)))


def update_kek(change: Transaction, kek: StoredKek) -> None:
    """Update the row of a KEK."""
    change.connection.execute(update(tables.keks).where(_K.name == kek.name).values(**_to_columns(change, kek)))


def delete_kek(change: Transaction, name: str) -> None:
    """Delete the row of a KEK."""
    change.connection.execute(delete(tables.keks).where(_K.name == name))


def insert_dek(change: Transaction, dek: StoredDek) -> None:
    """Insert a DEK, created now."""
    change.connection.execute(insert(tables.deks).values(**_to_dek_columns(dek, change.now, change.now)))


def import_keks(change: Transaction, added: Sequence[StoredKek], changed: Sequence[StoredKek]) -> None:
    """Insert and update KEKs with their own times, if they have any."""
    for kek in added:
        columns = _to_columns(change, kek) | {"updated_at": kek.updated_at or change.now}
        change.connection.execute(insert(tables.keks).values(name=kek.name, **columns))
    for kek in changed:
        columns = _to_columns(change, kek) | {"updated_at": kek.updated_at or change.now}
        change.connection.execute(update(tables.keks).where(_K.name == kek.name).values(**columns))


def import_deks(change: Transaction, deks: Sequence[StoredDek]) -> None:
    """Insert DEKs with their own times, if they have any."""
    bulk_transfer.insert_rows(
        change, tables.deks, [_to_dek_columns(dek, dek.created_at or change.now, change.now) for dek in deks]
    )


def update_wrapped_key(change: Transaction, dek_id: DekId, wrapped_key: str) -> None:
    """Replace the wrapped key of a DEK, and undelete the DEK."""
    values = {"encrypted_key_material": wrapped_key, "deleted_at": None}
    change.connection.execute(update(tables.deks).where(*_identify(dek_id)).values(**values))


def mark_deks(change: Transaction, dek_ids: Iterable[DekId], *, deleted: bool) -> None:
    """Soft-delete DEKs, or undelete them."""
    deleted_at = change.now if deleted else None
    for dek_id in dek_ids:
        change.connection.execute(update(tables.deks).where(*_identify(dek_id)).values(deleted_at=deleted_at))


def delete_deks(change: Transaction, dek_ids: Iterable[DekId]) -> None:
    """Delete the rows of DEKs."""
    for dek_id in dek_ids:
        change.connection.execute(delete(tables.deks).where(*_identify(dek_id)))


def _restrict(statement: Select[Any], deleted_at: Any, *, deleted: bool) -> Select[Any]:
    return statement if deleted else statement.where(deleted_at.is_(None))


def _identify(dek_id: DekId) -> list[Any]:
    columns = dek_id.columns()
    return [_D[name] == columns[name] for name in _DEK_KEY]


def _to_dek_columns(dek: StoredDek, created_at: int, deleted_at: int) -> dict[str, Any]:
    subject = dek.id.subject
    return {
        **dek.id.columns(),
        "context": subject.context,
        "subject": subject.name,
        "encrypted_key_material": dek.wrapped_key,
        "created_at": created_at,
        "deleted_at": deleted_at if dek.deleted else None,
    }


def _to_columns(change: Transaction, kek: StoredKek) -> dict[str, Any]:
    return {
        "kms_type": kek.kms_type,
        "kms_key_id": kek.kms_key_id,
        "kms_props": json.dumps(dict(sorted(kek.kms_props.items()))) if kek.kms_props else None,
        "doc": kek.doc or None,
        "shared": kek.shared,
        "updated_at": change.now,
        "deleted_at": change.now if kek.deleted else None,
    }


def _parse_kek(row: Row[Any]) -> StoredKek:
    return StoredKek(
        name=row.name,
        kms_type=row.kms_type,
        kms_key_id=row.kms_key_id,
        kms_props=json.loads(row.kms_props) if row.kms_props else None,
        doc=row.doc,
        shared=row.shared,
        updated_at=row.updated_at,
        deleted=row.deleted_at is not None,
    )


def _parse_dek(row: Row[Any]) -> StoredDek:
    dek_id = DekId(row.kek_name, Subject(row.context, row.subject), DekAlgorithm(row.algorithm), row.version)
    return StoredDek(dek_id, row.encrypted_key_material, row.created_at, row.deleted_at is not None)
