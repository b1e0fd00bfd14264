"""Import and export of whole registries: ordered reads, comparison in chunks, bulk writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Row, Select, Table, delete, insert, select, update

from contractlog.registry.storage import tables
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "add_subjects",
    "enlarge_page_cache",
    "extend_pauses",
    "find_assigned_ids",
    "find_retired",
    "find_schemas",
    "find_schemas_by_guid",
    "find_settings",
    "find_subjects",
    "find_versions",
    "find_versions_by_id",
    "forget_retired",
    "insert_rows",
    "mark_versions",
    "replace_contents",
    "replace_rows",
    "stream_associations",
    "stream_contexts",
    "stream_retired",
    "stream_schemas",
    "stream_settings",
    "stream_versions",
    "touch_subjects",
]

_CHUNK: Final = 5_000
_LONG_PAUSE_MS: Final = 600_000
_CACHE_KIB: Final = 1024 * 1024
T = TypeVar("T")

_S, _V, _U, _C = tables.schemas.c, tables.versions.c, tables.subjects.c, tables.contents.c


def _stream(connection: Connection, statement: Select[Any]) -> Iterator[Row[Any]]:
    # Set on the statement: as an option of the connection it would persist, and turn savepoints into cursors.
    yield from connection.execute(statement, execution_options={"yield_per": _CHUNK})


def stream_contexts(snapshot: Snapshot) -> Iterator[Row[Any]]:
    """List contexts with their counters."""
    return _stream(snapshot.connection, select(tables.contexts).order_by(tables.contexts.c.name))


def stream_schemas(snapshot: Snapshot) -> Iterator[Row[Any]]:
    """List schemas by context and id; ``reused`` is true if new registrations of the content get this id."""
    named = (_C.context == _S.context) & (_C.hash == _S.hash) & (_C.schema_id == _S.id)
    statement = (
        select(tables.schemas, _C.schema_id.is_not(None).label("reused"))
        .outerjoin(tables.contents, named)
        .order_by(_S.context, _S.id)
    )
    return _stream(snapshot.connection, statement)


def stream_versions(snapshot: Snapshot) -> Iterator[Row[Any]]:
    """List versions by context, subject and number."""
    statement = (
        select(_U.context, _U.name, _V.version, _V.schema_id, _V.created_at, _V.deleted_at)
        .join(tables.subjects, _U.id == _V.subject_id)
        .order_by(_U.context, _U.key, _V.version)
    )
    return _stream(snapshot.connection, statement)


def stream_settings(snapshot: Snapshot) -> Iterator[Row[Any]]:
    """List the settings of each scope."""
    return _stream(snapshot.connection, select(tables.settings).order_by(tables.settings.c.key))


def stream_associations(snapshot: Snapshot) -> Iterator[Row[Any]]:
    """List associations."""
    return _stream(snapshot.connection, select(tables.associations).order_by(tables.associations.c.guid))


def stream_retired(snapshot: Snapshot) -> Iterator[Row[Any]]:
    """List the hard-deleted ids."""
    c = tables.retired.c
    return _stream(snapshot.connection, select(tables.retired).order_by(c.context, c.schema_id))


def _chunks(items: Iterable[T]) -> Iterator[tuple[T, ...]]:
    """Split into chunks of the size for one statement."""
    remaining = iter(items)
    while chunk := tuple(islice(remaining, _CHUNK)):
        yield chunk


def find_schemas(snapshot: Snapshot, context: str, ids: Collection[int]) -> dict[int, Any]:
    """Return the contents of those of these ids that have one: text, hashes, guid, type."""
    columns = (_S.id, _S.text, _S.hash, _S.normalized_hash, _S.guid, _S.type, _S.verbatim)
    return {
        row.id: row
        for chunk in _chunks(ids)
        for row in snapshot.connection.execute(select(*columns).where(_S.context == context, _S.id.in_(chunk)))
    }


def find_schemas_by_guid(snapshot: Snapshot, guids: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the schemas of all contexts that have one of these guids, without their texts as submitted."""
    columns = (_S.context, _S.id, _S.guid, _S.hash, _S.text, _S.references, _S.metadata, _S.rule_set)
    for chunk in _chunks(guids):
        statement = select(*columns).where(_S.guid.in_(chunk)).order_by(_S.context, _S.id)
        yield from (row._asdict() for row in snapshot.connection.execute(statement))


def find_retired(snapshot: Snapshot, context: str, ids: Collection[int]) -> dict[int, str | None]:
    """Return those of these ids that were hard-deleted, with the hash of their content if it was recorded."""
    c = tables.retired.c
    return {
        row.schema_id: row.hash
        for chunk in _chunks(ids)
        for row in snapshot.connection.execute(
            select(c.schema_id, c.hash).where(c.context == context, c.schema_id.in_(chunk))
        )
    }


def find_assigned_ids(snapshot: Snapshot, context: str, ids: Collection[int]) -> set[int]:
    """Return those of these ids that were assigned before, deleted ones included."""
    return find_schemas(snapshot, context, ids).keys() | find_retired(snapshot, context, ids).keys()


def forget_retired(transaction: Transaction, context: str, schema_id: int) -> None:
    """Make a hard-deleted id available again, because its own content is restored."""
    c = tables.retired.c
    transaction.connection.execute(delete(tables.retired).where(c.context == context, c.schema_id == schema_id))


def find_subjects(snapshot: Snapshot, keys: Collection[str]) -> dict[str, int]:
    """Return the row numbers of subjects by their keys."""
    return {
        row.key: row.id
        for chunk in _chunks(keys)
        for row in snapshot.connection.execute(select(_U.id, _U.key).where(_U.key.in_(chunk)))
    }


def find_versions(snapshot: Snapshot, subject_ids: Collection[int]) -> dict[tuple[int, int], Any]:
    """Return all versions of these subjects."""
    columns = (_V.subject_id, _V.version, _V.schema_id, _V.deleted_at)
    return {
        (row.subject_id, row.version): row
        for chunk in _chunks(subject_ids)
        for row in snapshot.connection.execute(select(*columns).where(_V.subject_id.in_(chunk)))
    }


def find_versions_by_id(snapshot: Snapshot, context: str, ids: Collection[int]) -> dict[int, set[tuple[int, int]]]:
    """Return the versions, by subject row and number, that have each of these ids."""
    versions: dict[int, set[tuple[int, int]]] = {}
    for chunk in _chunks(ids):
        statement = select(_V.subject_id, _V.version, _V.schema_id)
        for row in snapshot.connection.execute(statement.where(_V.context == context, _V.schema_id.in_(chunk))):
            versions.setdefault(row.schema_id, set()).add((row.subject_id, row.version))
    return versions


def find_settings(snapshot: Snapshot, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of these scopes, by column."""
    c = tables.settings.c
    return {
        row.key: dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for it
        for chunk in _chunks(keys)
        for row in snapshot.connection.execute(select(tables.settings).where(c.key.in_(chunk)))
    }


@contextmanager
def enlarge_page_cache(transaction: Transaction) -> Iterator[None]:
    """Give SQLite 1 GiB of page cache for a large transaction, because spilled pages are slow."""
    if transaction.connection.dialect.name != "sqlite":
        yield
        return
    transaction.connection.exec_driver_sql(f"PRAGMA cache_size=-{_CACHE_KIB}")
    try:
        yield
    finally:
        transaction.connection.exec_driver_sql("PRAGMA cache_size=-2000")  # SQLite's default


def extend_pauses(transaction: Transaction) -> None:
    """Let PostgreSQL wait longer for this transaction, which computes for a long time between statements."""
    if transaction.connection.dialect.name == "postgresql":
        statement = f"SET LOCAL idle_in_transaction_session_timeout = {_LONG_PAUSE_MS}"
        transaction.connection.exec_driver_sql(statement)


def insert_rows(transaction: Transaction, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert any number of rows."""
    for chunk in _chunks(rows):
        transaction.connection.execute(insert(table), [dict(row) for row in chunk])


def replace_rows(transaction: Transaction, table: Table, key: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, replacing those with the same key."""
    delete_rows(transaction, table, key, [row[key] for row in rows])
    insert_rows(transaction, table, rows)


def delete_rows(transaction: Transaction, table: Table, key: str, values: Sequence[str]) -> None:
    """Delete the rows with these keys."""
    for chunk in _chunks(values):
        transaction.connection.execute(delete(table).where(table.c[key].in_(chunk)))


def replace_contents(transaction: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Set the id of each content, replacing previous ones."""
    by_context: dict[str, list[str]] = {}
    for row in rows:
        by_context.setdefault(row["context"], []).append(row["hash"])
    for context, hashes in by_context.items():
        for chunk in _chunks(hashes):  # a list of (context, hash) pairs would not use the index on SQLite
            where = (_C.context == context) & _C.hash.in_(chunk)
            transaction.connection.execute(delete(tables.contents).where(where))
    insert_rows(transaction, tables.contents, rows)


def add_subjects(transaction: Transaction, rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Insert subjects, and return their row numbers by key."""
    statement = insert(tables.subjects).returning(_U.id, _U.key)
    return {
        row.key: row.id
        for chunk in _chunks(rows)
        for row in transaction.connection.execute(statement, [dict(row) for row in chunk])
    }


def touch_subjects(transaction: Transaction, ids: Collection[int]) -> None:
    """Increase the revision of these subjects, so that pending registrations are checked again."""
    for chunk in _chunks(ids):
        transaction.connection.execute(update(tables.subjects).where(_U.id.in_(chunk)).values(revision=_U.revision + 1))


def mark_versions(transaction: Transaction, subject_id: int, version: int, deleted_at: int | None) -> None:
    """Set when a version was soft-deleted; None makes it live."""
    where = (_V.subject_id == subject_id) & (_V.version == version)
    transaction.connection.execute(update(tables.versions).where(where).values(deleted_at=deleted_at))
