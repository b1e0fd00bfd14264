"""Database of a registry: its migrations, and the store on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, String, column, delete, insert, inspect, select, table
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.compatibility.text.terminal_text import shell_command
from contractlog.registry.registration.hash_replacement import replace_outdated_hashes
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables
from contractlog.registry.storage.change_log import chain_entries
from contractlog.registry.storage.engines import (
    WRITE_PAUSE_MS,
    Engines,
    is_in_memory,
    mask_url,
    open_engines,
    parse_url,
)
from contractlog.registry.storage.sqlite_lock import lock_sqlite_file
from contractlog.registry.storage.store import Store, create_tables, is_disk_full, read_clock
from contractlog.registry.storage.transaction import Transaction

__all__ = ["current_revision", "downgrade", "newest_revision", "open_store", "upgrade"]

#: The oldest revision whose release can serve the tables of this one: later revisions only add to them.
OLDEST_SERVING: Final = "0004"
_SERVED_FROM: Final = "served-from"
_LOCK_NOT_AVAILABLE: Final = "55P03"  #: PostgreSQL's code for a lock that was not available in time
_QUERY_CANCELED: Final = "57014"  #: PostgreSQL's code for a statement that exceeded its timeout
_MIGRATION_TIMEOUT_MS: Final = 600_000  #: migrations may take longer than requests
_REVISIONS: Final = table("alembic_version", column("version_num", String()))


def open_store(settings: Settings, clock: Callable[[], int] = read_clock) -> Store:
    """Open the store that the settings name.

    Tables are created if the database is in memory; SQLite files are migrated.

    Raises:
        UsageError: the URL is invalid, another process has locked the file, or PostgreSQL needs ``db upgrade``.
        Unreachable: the database does not respond.
    """
    with ExitStack() as stack:
        stack.enter_context(lock_sqlite_file(parse_url(settings.database_url)))
        engines = create_engines(settings)
        stack.callback(engines.dispose)
        with _translate_errors(settings.database_url):
            _prepare(settings.database_url, engines)
        return Store(engines, max_pending_writes=settings.max_pending_writes, clock=clock, closing=stack.pop_all())


def create_engines(settings: Settings) -> Engines:
    """Create the engines of a store, with the deadlines of the settings; they connect later."""
    return open_engines(
        parse_url(settings.database_url),
        readers=settings.read_threads + 1,  # one for the thread of long schemas
        statement_timeout_ms=settings.statement_timeout_ms,
        answer_timeout_ms=settings.answer_timeout_ms,
        connect_timeout_ms=settings.connect_timeout_ms,
        checkout_timeout_ms=settings.checkout_timeout_ms,
        write_pause_ms=WRITE_PAUSE_MS,
    )


def _prepare(text: str, engines: Engines) -> None:
    url = parse_url(text)
    with engines.writer.begin() as connection:
        if is_in_memory(url):
            create_tables(connection)
            return
        revision, expected = _read_revision(connection), newest_revision()
        if revision == expected or _is_served_by_later_release(connection, revision, expected):
            return
        if url.get_backend_name() == "sqlite":
            _upgrade(connection)
        else:
            raise outdated_tables_error(text, revision, expected)


def outdated_tables_error(database_url: str, revision: str | None, newest: str) -> UsageError:
    """Return the error for a database that has to be upgraded first."""
    return UsageError(
        f"the database has the tables of revision {revision or 'none'}, this release needs {newest}; "
        f"run: {shell_command('db upgrade', database_url=mask_url(database_url))}"
    )


def upgrade(database_url: str, *, lock_timeout_ms: int | None = None, statement_timeout_ms: int | None = None) -> str:
    """Upgrade a database to the newest revision and return that revision.

    Raises:
        Unreachable: the database does not respond, another session locked a table for too long, or a statement timed
            out; nothing has changed.
    """
    with _open_for_migration(database_url, max(_MIGRATION_TIMEOUT_MS, statement_timeout_ms or 0)) as connection:
        _upgrade(connection, lock_timeout_ms=lock_timeout_ms, statement_timeout_ms=statement_timeout_ms)
        return _read_revision(connection) or ""


def downgrade(database_url: str, revision: str) -> str | None:
    """Downgrade a database to a revision (``base``: no tables); data that only later tables store is lost.

    Raises:
        UsageError: there is no such revision.
        Unreachable: as for ``upgrade``.
    """
    with _open_for_migration(database_url) as connection:
        _run_alembic(connection, "downgrade", revision)
        return _read_revision(connection)


def current_revision(database_url: str) -> tuple[str | None, str]:
    """Return the database's revision and the newest revision.

    The revision is None if the database has none, or if the SQLite file does not exist.
    """
    url = parse_url(database_url)
    if url.get_backend_name() == "sqlite" and not is_in_memory(url) and not Path(url.database or "").exists():
        return None, newest_revision()  # opening it would create it
    with _open_connection(database_url, reading=True) as connection:
        return _read_revision(connection), newest_revision()


def newest_revision() -> str:
    """Return the revision that this release needs.

    Migration files are named by their revision: ``v0001_….py``.
    """
    names = (file.name for file in files("contractlog.migrations.versions").iterdir())
    return max(name[1:5] for name in names if name.startswith("v") and name.endswith(".py"))


@contextmanager
def _open_for_migration(database_url: str, longest_ms: int = _MIGRATION_TIMEOUT_MS) -> Iterator[Connection]:
    url = parse_url(database_url)
    if is_in_memory(url):
        raise UsageError("a database in memory has no migrations; use sqlite:///FILE or postgresql://…")
    with lock_sqlite_file(url), _open_connection(database_url, longest_ms=longest_ms) as connection:
        yield connection


@contextmanager
def _open_connection(
    text: str, *, reading: bool = False, longest_ms: int = _MIGRATION_TIMEOUT_MS
) -> Iterator[Connection]:
    engines = open_engines(parse_url(text), readers=1, statement_timeout_ms=longest_ms)
    try:
        with _translate_errors(text), (engines.readers if reading else engines.writer).begin() as connection:
            yield connection
    finally:
        engines.dispose()


@contextmanager
def _translate_errors(text: str) -> Iterator[None]:
    """Turn driver errors on connecting or migrating into one sentence."""
    try:
        yield
    except DBAPIError as error:
        masked_url = mask_url(text)
        if getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            raise Unreachable(
                f"the database {masked_url} was not changed: another session holds a table or a lock that this needs; "
                "let it end, and run this again"
            ) from error
        if getattr(error.orig, "sqlstate", None) == _QUERY_CANCELED:
            raise Unreachable(
                f"the database {masked_url} was not changed: a statement took longer than it may; "
                "run this again when the database has less to do"
            ) from error
        if is_disk_full(error):
            raise Unreachable(f"the database {masked_url} cannot be used: the disk is full") from error
        reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
        raise Unreachable(f"the database {masked_url} cannot be used: {reason}") from error
    except SQLAlchemyError as error:
        raise Unreachable(f"the database cannot be used: {error}") from error


def _upgrade(connection: Connection, **limits: int | None) -> None:
    _run_alembic(connection, "upgrade", "head", **limits)
    replace_outdated_hashes(Transaction(connection, time.time_ns() // 1_000_000))
    chain_entries(connection)
    connection.execute(delete(tables.marks).where(tables.marks.c.name == _SERVED_FROM))
    connection.execute(insert(tables.marks).values(name=_SERVED_FROM, sequence=int(OLDEST_SERVING)))


def _run_alembic(connection: Connection, direction: str, revision: str, **limits: int | None) -> None:
    """Change the tables to those of a revision; ``migrations/env.py`` has the defaults of the limits.

    Raises:
        UsageError: the database has, or was to get, a revision that this release does not know.
    """
    # Imported on demand: importing alembic takes longer than most starts should.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", "contractlog.migrations:")
    config.set_main_option("path_separator", "os")
    config.attributes.update(connection=connection, **limits)
    try:
        (command.upgrade if direction == "upgrade" else command.downgrade)(config, revision)
    except CommandError as error:
        raise UsageError(f"{error}; `contractlog db current` shows the revision of the database") from error


def _is_served_by_later_release(connection: Connection, revision: str | None, expected: str) -> bool:
    """Return whether a later release made the tables and declared that this one can serve them.

    Raises:
        UsageError: a later release made the tables, and this one must not use them.
    """
    if revision is None or revision <= expected:
        return False
    oldest = connection.execute(select(tables.marks.c.sequence).where(tables.marks.c.name == _SERVED_FROM)).scalar()
    if oldest is None or int(oldest) > int(expected):
        raise UsageError(
            f"the database has the tables of revision {revision}, which releases from revision {oldest} on can serve; "
            f"this one knows {expected}: start the later release"
        )
    return True


def _read_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_REVISIONS.name):
        return None
    revision: str | None = connection.execute(select(_REVISIONS.c.version_num)).scalar()
    return revision
