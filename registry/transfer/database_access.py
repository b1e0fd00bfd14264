"""Databases that imports and exports read and write, and the state of a registry in one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.registry import database
from contractlog.registry.features.contracts import queries as contracts
from contractlog.registry.features.dek_registry import queries as dek_registry
from contractlog.registry.settings import Settings
from contractlog.registry.storage import bulk_transfer
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.storage.engines import is_in_memory, mask_url, open_engines, parse_url
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.config_columns import columns_to_config
from contractlog.registry.transfer.registry_contents import (
    RegistryContents,
    RetiredId,
    TransferredSchema,
    TransferredVersion,
)

__all__ = ["open_for_dry_run", "open_for_export", "open_for_import", "read_database"]


def read_database(snapshot: Snapshot) -> RegistryContents:
    """Read everything that is exported."""
    result = RegistryContents({row.name: row.next_schema_id for row in bulk_transfer.stream_contexts(snapshot)})
    for row in bulk_transfer.stream_schemas(snapshot):
        result.schemas[row.context, row.id] = _schema(row)
    for row in bulk_transfer.stream_versions(snapshot):
        version = TransferredVersion(
            Subject(row.context, row.name), row.version, row.schema_id, row.created_at, row.deleted_at
        )
        result.versions[version.key] = version
    for row in bulk_transfer.stream_settings(snapshot):
        scope = Subject(row.context, row.name)
        config = columns_to_config(dict(row._mapping))  # noqa: SLF001 - SQLAlchemy's public name for it
        if config:
            result.settings[scope] = config
        if row.mode is not None:
            result.modes[scope] = row.mode
    for row in bulk_transfer.stream_associations(snapshot):
        result.associations[row.guid] = StoredAssociation.of_row(row)
    for row in bulk_transfer.stream_retired(snapshot):
        result.retired[row.context, row.schema_id] = RetiredId(row.at, row.actor, row.hash)
    result.keks = {kek.name: kek for kek in dek_registry.stream_keks(snapshot)}
    result.deks = {dek.key: dek for dek in dek_registry.stream_deks(snapshot)}
    result.contracts = {contract.key: contract for contract in contracts.stream_contracts(snapshot)}
    return result


def _schema(row: Row[Any]) -> TransferredSchema:
    return TransferredSchema(
        context=row.context,
        id=row.id,
        type=SchemaType(row.type),
        text=row.text,
        references=tuple(map(Reference.from_body, json.loads(row.references))) if row.references else (),
        metadata=Metadata.from_body(json.loads(row.metadata)) if row.metadata else None,
        rule_set=RuleSet.from_body(json.loads(row.rule_set)) if row.rule_set else None,
        guid=row.guid,
        submitted=row.submitted,
        created_at=row.created_at,
        reused=bool(row.reused),
    )


_LONG_MS: Final = 600_000  #: a whole registry takes longer than a request


@contextmanager
def open_for_export(database_url: str) -> Iterator[Snapshot]:
    """Open a snapshot of a database; a registry may be serving from it at the same time.

    Raises:
        UsageError: it has no tables, or those of another release.
        Unreachable: it does not respond.
    """
    url = parse_url(database_url)
    masked_url = mask_url(database_url)
    revision, newest = database.current_revision(database_url)
    if is_in_memory(url) or revision is None:
        raise UsageError(f"{masked_url} contains no registry")
    if revision != newest:
        raise database.outdated_tables_error(database_url, revision, newest)
    engines = open_engines(url, readers=1, statement_timeout_ms=_LONG_MS)
    try:
        with engines.readers.connect() as connection:
            yield Snapshot(connection)
    except SQLAlchemyError as error:
        raise Unreachable(f"the database {masked_url} cannot be read: {error}") from error
    finally:
        engines.dispose()


@contextmanager
def open_for_dry_run(database_url: str) -> Iterator[Snapshot]:
    """Open a database read-only; a missing SQLite file counts as an empty registry.

    Raises:
        UsageError, Unreachable: it cannot be opened.
    """
    url = parse_url(database_url)
    if url.get_backend_name() == "sqlite" and (is_in_memory(url) or database.current_revision(database_url)[0] is None):
        with open_for_import("sqlite://") as store, store.open_snapshot() as snapshot:
            yield snapshot
        return
    with open_for_export(database_url) as snapshot:
        yield snapshot


@contextmanager
def open_for_import(database_url: str) -> Iterator[Store]:
    """Open a store to import into; a SQLite file must not be in use.

    Raises:
        UsageError, Unreachable: it cannot be opened.
    """
    store = database.open_store(Settings(database_url=database_url, statement_timeout_ms=_LONG_MS))
    try:
        yield store
    finally:
        store.close()
