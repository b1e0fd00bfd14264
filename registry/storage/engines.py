"""Database engines for readers, writer and probes."""

from __future__ import annotations

import math
import re
import select
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.pool import StaticPool

from contractlog.compatibility.errors import UsageError
from contractlog.registry.storage.database_availability import PendingCalls
from contractlog.registry.storage.stalled_sessions import StalledSessions

__all__ = ["WRITE_PAUSE_MS", "Engines", "mask_url", "open_engines", "parse_url", "require_multi_process"]

_BUSY_TIMEOUT_MS: Final = 30_000
WRITE_PAUSE_MS: Final = 5_000  #: ``write_pause_ms`` of a serving process
#: As the settings of this side of the connection.
_SERVER_KEEPALIVES: Final = (
    "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '3', false),"
    " set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '10000', false)"
)
_PROBE_TIMES: Final = 2  #: limit of the probe, in multiples of ``probe_after_seconds``; then it gets a new connection
USE_POSTGRESQL: Final = (
    "A SQLite file serves one process; for several use PostgreSQL: --database-url postgresql://USER@HOST/DATABASE"
)


_PASSWORD: Final = re.compile(r"^([^:/]+://[^:/@]*:).*@")
_PASSWORD_PARAMETER: Final = re.compile(r"([?&](?:ssl)?password=)[^&]*")


def parse_url(text: str) -> URL:
    """Parse a database URL; ``postgresql://`` selects psycopg 3.

    Raises:
        UsageError: it is not a URL of SQLite or PostgreSQL.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UsageError("the database URL cannot be read; use sqlite:///FILE or postgresql://…") from None
    if "@" in (url.host or ""):
        raise UsageError("the database URL cannot be read: write the `@` in a user name or a password as %40")
    backend = {"postgres": "postgresql"}.get(url.get_backend_name(), url.get_backend_name())
    if backend not in {"sqlite", "postgresql"}:
        raise UsageError(f"databases of kind `{backend}` are not supported; use sqlite:///FILE or postgresql://…")
    if backend == "sqlite" and url.host:
        raise UsageError("a database URL of SQLite has a file and no host: sqlite:///FILE or sqlite:////absolute/FILE")
    for host in (url.host or "").split(","):
        try:
            host.encode("idna")
        except UnicodeError:
            raise UsageError(
                "the host name in the database URL is not valid: each of its labels has at most 63 characters"
            ) from None
    return url.set(drivername="sqlite" if backend == "sqlite" else "postgresql+psycopg")


def mask_url(text: str) -> str:
    """Return a database URL as it was typed, with its passwords masked.

    >>> mask_url("postgres://me:secret@host/registry?sslpassword=x&sslmode=require")
    'postgres://me:***@host/registry?sslpassword=***&sslmode=require'
    """
    return _PASSWORD_PARAMETER.sub(r"\1***", _PASSWORD.sub(r"\1***@", text))


@dataclass(frozen=True, slots=True)
class Engines:
    """The engines; a single one for SQLite in memory, which has a single connection."""

    readers: Engine
    writer: Engine
    probe: Engine  #: checks that the database responds, independently of all others
    checks: Engine  #: reads what changed, for a memory of responses
    responses: PendingCalls | None = None  #: of a database server; None for SQLite

    @property
    def shared(self) -> bool:
        """Return True if readers and writer share one connection, and must take turns."""
        return self.readers is self.writer

    def dispose(self) -> None:
        """Close all connections."""
        self.readers.dispose()
        self.writer.dispose()
        self.probe.dispose()
        self.checks.dispose()


def open_engines(
    url: URL,
    *,
    readers: int = 8,
    statement_timeout_ms: int = 30_000,
    answer_timeout_ms: int = 1_000,
    connect_timeout_ms: int = 3_000,
    checkout_timeout_ms: int = 5_000,
    write_pause_ms: int | None = None,
) -> Engines:
    """Create the engines; they connect later.

    Args:
        url: the database.
        readers: number of connections for readers.
        statement_timeout_ms: limit of a statement; PostgreSQL only, like all that follow except the last.
        answer_timeout_ms: time without response after which a call checks whether the server responds at all.
        connect_timeout_ms: limit of connecting.
        checkout_timeout_ms: how long to wait for a free connection.
        write_pause_ms: time after which PostgreSQL ends a write whose process sends nothing, so that the locks of a
            process that was stopped are released; None: the time of reading transactions. A session that is stopped
            between the messages of a pipeline is ended after as much time, at most five seconds, if it blocks a write.
    """
    waiting = checkout_timeout_ms / 1000
    if url.get_backend_name() == "postgresql":
        responses = PendingCalls.of(
            statement_ms=statement_timeout_ms, answer_ms=answer_timeout_ms, connect_ms=connect_timeout_ms
        )
        pause_ms = 4 * statement_timeout_ms if write_pause_ms is None else write_pause_ms
        stalled_seconds = min(pause_ms, WRITE_PAUSE_MS) / 1000
        engines = _postgresql(
            url, readers, statement_timeout_ms, responses, waiting=waiting, stalled_seconds=stalled_seconds
        )
        event.listen(engines.writer, "connect", partial(_limit_pauses, pause_ms))
        return engines
    if is_in_memory(url):
        engine = create_engine(url, poolclass=StaticPool, connect_args=_SQLITE_ARGUMENTS, hide_parameters=True)
        _set_begin_statement(engine, "BEGIN")
        return Engines(engine, engine, engine, engine)
    return Engines(
        _sqlite(url, readers, "BEGIN", waiting),
        _sqlite(url, 1, "BEGIN IMMEDIATE", waiting),
        _sqlite(url, 1, "BEGIN", waiting),
        _sqlite(url, 1, "BEGIN", waiting),
    )


def is_in_memory(url: URL) -> bool:
    """Return True if the database is in memory, and so ends with the process."""
    return url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}


_SQLITE_ARGUMENTS: Final[dict[str, Any]] = {"check_same_thread": False, "isolation_level": None}


def _sqlite(url: URL, connections: int, begin: str, waiting: float) -> Engine:
    engine = create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=waiting,
        connect_args=_SQLITE_ARGUMENTS,
        hide_parameters=True,
    )
    event.listen(engine, "connect", _prepare_sqlite)
    _set_begin_statement(engine, begin)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _set_begin_statement(engine: Engine, statement: str) -> None:
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    event.listen(engine, "begin", begin)


def _postgresql(
    url: URL,
    readers: int,
    statement_timeout_ms: int,
    responses: PendingCalls,
    *,
    waiting: float,
    stalled_seconds: float,
) -> Engines:
    arguments = {
        "connect_timeout": math.ceil(responses.connect_limit),
        "keepalives_idle": 10,  # notices a server that disappeared silently
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
        "application_name": "contractlog",
        "options": f"-c statement_timeout={statement_timeout_ms} -c lock_timeout={statement_timeout_ms} "
        f"-c idle_in_transaction_session_timeout={4 * statement_timeout_ms}",
    }

    def engine(size: int, **options: Any) -> Engine:
        return create_engine(
            url,
            pool_size=size,
            max_overflow=0,
            pool_timeout=waiting,
            connect_args=arguments,
            hide_parameters=True,
            **options,
        )

    engines = Engines(
        engine(readers, isolation_level="REPEATABLE READ"),  # the statements of one response see the same state
        # Not the default of the server, which may be a level at which concurrent writes fail instead of waiting.
        engine(1, pool_pre_ping=True, isolation_level="READ COMMITTED"),
        engine(1, isolation_level="AUTOCOMMIT"),
        engine(1, isolation_level="AUTOCOMMIT"),
        responses,
    )
    for engine_with_pool in (engines.readers, engines.probe, engines.checks):
        event.listen(engine_with_pool, "checkout", _replace_if_ended)
    # Imported on demand: the driver costs a tenth of the startup time on SQLite.
    connector: Callable[..., Any] = import_module("contractlog.registry.storage.postgresql_connection").create_connector
    stalled = StalledSessions(engines.probe, stalled_seconds)
    event.listen(engines.readers, "do_connect", connector(responses))
    event.listen(engines.checks, "do_connect", connector(responses))
    event.listen(engines.writer, "do_connect", connector(responses, stalled.end_blockers))
    longest = _PROBE_TIMES * responses.probe_after_seconds
    event.listen(engines.probe, "do_connect", connector(PendingCalls(longest, longest, responses.connect_limit)))
    return engines


def _limit_pauses(pause_ms: int, connection: Any, _record: Any) -> None:
    """Let the server end the session of a process that was stopped or cut off.

    By statements, because a connection pooler in between may ignore the options of a connection. TCP settings have no
    effect on local sockets, and are left out where the server's system does not have them.
    """
    connection.autocommit = True
    connection.execute(f"SET idle_in_transaction_session_timeout = {pause_ms}")
    with suppress(connection.Error):
        connection.execute(_SERVER_KEEPALIVES)
    connection.server_pid = connection.execute("SELECT pg_backend_pid()").fetchone()[0]
    connection.autocommit = False


def _replace_if_ended(connection: Any, _record: Any, _proxy: Any) -> None:
    """Replace a connection that the server has closed: it has data to read although no request was sent.

    Unlike a ping this costs no round trip; a server that disappeared silently is noticed by the first statement.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        raise DisconnectionError


def require_multi_process(url: URL) -> None:
    """Return if several processes can share the database.

    Raises:
        UsageError: they cannot.
    """
    if url.get_backend_name() == "sqlite":
        raise UsageError(f"several workers cannot share {url.database or 'a database in memory'}. {USE_POSTGRESQL}")
