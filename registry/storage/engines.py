"""Database engines: one for readers and one for the writer, and the lock that keeps a SQLite file to one process."""

from __future__ import annotations

import fcntl
import os
import select
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.pool import StaticPool

from contractlog.compatibility.errors import UsageError

__all__ = ["Engines", "FileInUse", "file_lock", "open_engines", "parse_url", "require_many"]

_BUSY_TIMEOUT_MS: Final = 30_000
_WAY_OUT: Final = (
    "A SQLite file serves one process; for several use PostgreSQL: --database-url postgresql://USER@HOST/DATABASE"
)


class FileInUse(UsageError):
    """Another process has the SQLite file."""


def parse_url(text: str) -> URL:
    """Read a database URL; ``postgresql://`` means psycopg 3.

    Raises:
        UsageError: it is no URL of SQLite or PostgreSQL.
    """
    try:
        url = make_url(text)
    except ArgumentError:
        raise UsageError("the database URL cannot be read; give sqlite:///FILE or postgresql://…") from None
    backend = {"postgres": "postgresql"}.get(url.get_backend_name(), url.get_backend_name())
    if backend not in {"sqlite", "postgresql"}:
        raise UsageError(f"databases of kind `{backend}` are not supported; give sqlite:///FILE or postgresql://…")
    return url.set(drivername="sqlite" if backend == "sqlite" else "postgresql+psycopg")


@dataclass(frozen=True, slots=True)
class Engines:
    """The two engines; they are the same one for SQLite in memory, where there is one connection."""

    readers: Engine
    writer: Engine

    @property
    def shared(self) -> bool:
        """Whether readers and writer use one connection, and must take turns."""
        return self.readers is self.writer

    def dispose(self) -> None:
        """Close all connections."""
        self.readers.dispose()
        self.writer.dispose()


def open_engines(url: URL, *, readers: int = 8, statement_timeout_ms: int = 30_000) -> Engines:
    """Make the engines; nothing is connected yet."""
    if url.get_backend_name() == "postgresql":
        return _postgresql(url, readers, statement_timeout_ms)
    if in_memory(url):
        engine = create_engine(url, poolclass=StaticPool, connect_args=_SQLITE_ARGUMENTS, hide_parameters=True)
        _on_begin(engine, "BEGIN")
        return Engines(engine, engine)
    return Engines(_sqlite(url, readers, "BEGIN"), _sqlite(url, 1, "BEGIN IMMEDIATE"))


def in_memory(url: URL) -> bool:
    """Whether the database lives and dies with the process."""
    return url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}


_SQLITE_ARGUMENTS: Final[dict[str, Any]] = {"check_same_thread": False, "isolation_level": None}


def _sqlite(url: URL, connections: int, begin: str) -> Engine:
    engine = create_engine(
        url, pool_size=connections, max_overflow=0, connect_args=_SQLITE_ARGUMENTS, hide_parameters=True
    )
    event.listen(engine, "connect", _prepare_sqlite)
    _on_begin(engine, begin)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _on_begin(engine: Engine, statement: str) -> None:
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    event.listen(engine, "begin", begin)


def _postgresql(url: URL, readers: int, statement_timeout_ms: int) -> Engines:
    arguments = {
        "connect_timeout": 3,
        "keepalives_idle": 10,  # a server that is gone without a word is noticed
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
        "application_name": "contractlog",
        "options": f"-c statement_timeout={statement_timeout_ms} -c lock_timeout={statement_timeout_ms} "
        f"-c idle_in_transaction_session_timeout={4 * statement_timeout_ms}",
    }
    engines = Engines(
        create_engine(
            url,
            pool_size=readers,
            max_overflow=0,
            isolation_level="REPEATABLE READ",  # several statements of one answer see one state
            connect_args=arguments,
            hide_parameters=True,
        ),
        create_engine(
            url, pool_size=1, max_overflow=0, pool_pre_ping=True, connect_args=arguments, hide_parameters=True
        ),
    )
    event.listen(engines.readers, "checkout", _replace_if_ended)
    return engines


def _replace_if_ended(connection: Any, _record: Any, _proxy: Any) -> None:
    """Make a new connection where the server has ended this one: then there is something to read, though none asked.

    That costs no question, as a ping would; a server that is gone without a word shows itself at the first statement.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        raise DisconnectionError


def require_many(url: URL) -> None:
    """Return if several processes can share the database.

    Raises:
        UsageError: they cannot.
    """
    if url.get_backend_name() == "sqlite":
        raise UsageError(f"several workers cannot share {url.database or 'a database in memory'}. {_WAY_OUT}")


@contextmanager
def file_lock(url: URL) -> Iterator[None]:
    """Hold a SQLite file for this process; other databases need no lock. The system frees it when the process dies.

    Raises:
        UsageError: another process holds it, or the folder cannot be written to.
    """
    if url.get_backend_name() != "sqlite" or in_memory(url):
        yield
        return
    path = f"{url.database}-lock"
    handle = _locked(path, url)
    try:
        yield
    finally:
        with suppress(OSError):
            if not os.path.exists(str(url.database)):  # noqa: PTH110 - nothing was made, so nothing is left
                os.unlink(path)  # noqa: PTH108 - as above
            os.close(handle)


def _locked(path: str, url: URL) -> int:
    """Return a handle of the lock file, locked; one that its holder has unlinked meanwhile locks nothing."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UsageError(f"the database {url.database} cannot be used: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(path)):  # noqa: PTH116 - beside its counterpart of a handle
                return handle
        except FileNotFoundError:
            pass  # unlinked: begin again
        except OSError:
            os.close(handle)
            message = f"another process uses the database {url.database}. {_WAY_OUT}"
            raise FileInUse(message, file=url.database) from None
        os.close(handle)
