"""Opening a database: its migrations, and the store on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import URL, Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.registry.settings import Settings
from contractlog.registry.storage.engines import Engines, file_lock, in_memory, open_engines, parse_url
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.sql import SqlStore, create_tables

__all__ = ["current", "downgrade", "newest", "open_store", "upgrade"]

_LONG_MS: Final = 600_000  #: migrations may take longer than requests


def open_store(settings: Settings) -> Store:
    """Open the store that the settings name: tables in memory are made, SQLite files are migrated.

    Raises:
        UsageError: the URL cannot be used, another process has the file, or PostgreSQL needs ``db upgrade``.
        Unreachable: the database does not answer.
    """
    url = parse_url(settings.database_url)
    with ExitStack() as stack:
        stack.enter_context(file_lock(url))
        engines = open_engines(url, readers=settings.read_threads, statement_timeout_ms=settings.statement_timeout_ms)
        stack.callback(engines.dispose)
        with _explained(url):
            _prepare(url, engines)
        return SqlStore(engines, max_pending_writes=settings.max_pending_writes, closing=stack.pop_all())


def _prepare(url: URL, engines: Engines) -> None:
    with engines.writer.begin() as connection:
        if in_memory(url):
            create_tables(connection)
        elif url.get_backend_name() == "sqlite":
            command.upgrade(_config(connection), "head")
        elif (found := _revision(connection)) != (wanted := newest()):
            shown = url.render_as_string(hide_password=True)
            raise UsageError(
                f"the database has the tables of revision {found or 'none'}, this release needs {wanted}; "
                f"run: contractlog db upgrade --database-url '{shown}'"
            )


def upgrade(database_url: str) -> str:
    """Bring a database to the newest tables and return their revision."""
    with _migrating(database_url) as connection:
        command.upgrade(_config(connection), "head")
        return _revision(connection) or ""


def downgrade(database_url: str, revision: str) -> str | None:
    """Take a database back to a revision (``base``: no tables); what only later tables hold is lost."""
    with _migrating(database_url) as connection:
        try:
            command.downgrade(_config(connection), revision)
        except CommandError as error:
            raise UsageError(str(error)) from error
        return _revision(connection)


def current(database_url: str) -> tuple[str | None, str]:
    """Return the revision that a database has, and the newest one."""
    with _connection(parse_url(database_url), reading=True) as connection:
        return _revision(connection), newest()


def newest() -> str:
    """Return the revision that this release needs."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


@contextmanager
def _migrating(database_url: str) -> Iterator[Connection]:
    url = parse_url(database_url)
    if in_memory(url):
        raise UsageError("a database in memory has no migrations; give sqlite:///FILE or postgresql://…")
    with file_lock(url), _connection(url) as connection:
        yield connection


@contextmanager
def _connection(url: URL, *, reading: bool = False) -> Iterator[Connection]:
    engines = open_engines(url, readers=1, statement_timeout_ms=_LONG_MS)
    try:
        with _explained(url), (engines.readers if reading else engines.writer).begin() as connection:
            yield connection
    finally:
        engines.dispose()


@contextmanager
def _explained(url: URL) -> Iterator[None]:
    """Turn what a database driver says at the start into a sentence."""
    try:
        yield
    except DBAPIError as error:
        shown = url.render_as_string(hide_password=True)
        reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
        raise Unreachable(f"the database {shown} cannot be used: {reason}") from error
    except SQLAlchemyError as error:
        raise Unreachable(f"the database cannot be used: {error}") from error


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", "contractlog.migrations:")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _revision(connection: Connection) -> str | None:
    revision: Any = MigrationContext.configure(connection).get_current_revision()
    return None if revision is None else str(revision)
