"""Databases that imports and exports read and write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.registry import database
from contractlog.registry.settings import Settings
from contractlog.registry.storage.engines import is_in_memory, mask_url, open_engines, parse_url
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store

__all__ = ["open_for_dry_run", "open_for_export", "open_for_import"]

_LONG_MS: Final = 600_000  #: a whole registry takes longer than a request


@contextmanager
def open_for_export(database_url: str) -> Iterator[Snapshot]:
    """Open a snapshot of a database; a registry may be serving from it at the same time.

    Raises:
        UsageError: it has no tables, or those of another release.
        Unreachable: it does not answer.
    """
    url = parse_url(database_url)
    shown = mask_url(database_url)
    revision, newest = database.current_revision(database_url)
    if is_in_memory(url) or revision is None:
        raise UsageError(f"{shown} holds no registry")
    if revision != newest:
        raise UsageError(
            f"the database has the tables of revision {revision}, this release needs {newest}; "
            f"run: contractlog db upgrade --database-url '{shown}'"
        )
    engines = open_engines(url, readers=1, statement_timeout_ms=_LONG_MS)
    try:
        with engines.readers.connect() as connection:
            yield Snapshot(connection)
    except SQLAlchemyError as error:
        raise Unreachable(f"the database {shown} cannot be read: {error}") from error
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
