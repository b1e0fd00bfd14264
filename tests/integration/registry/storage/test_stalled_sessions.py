"""Sessions that block a write and only wait for their client are ended, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
import pytest
from sqlalchemy import Engine, create_engine

from contractlog.registry.storage.engines import parse_url
from contractlog.registry.storage.stalled_sessions import StalledSessions

from support.deadlines import eventually

pytestmark = pytest.mark.integration
APPLICATION = "contractlog"
LOCK = b"SELECT pg_advisory_xact_lock(1)"
STATE = "SELECT state, wait_event FROM pg_stat_activity WHERE pid = %s"


class Clock:
    """A clock that tests set."""

    seconds = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.seconds


class Session:
    """A session whose messages a test sends one by one."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection
        self.pid = connection.info.backend_pid

    def lock(self) -> None:
        """Take the lock."""
        self.connection.execute(LOCK)

    def send(self, statement: bytes = b"SELECT 1") -> None:
        """Send a statement of a pipeline that continues."""
        pgconn = self.connection.pgconn
        pgconn.enter_pipeline_mode()
        pgconn.send_query_params(statement, None)
        pgconn.send_flush_request()
        pgconn.flush()

    def exchange(self) -> None:
        """Send a statement of a pipeline that continues, and receive its result."""
        self.send()
        while self.connection.pgconn.get_result() is not None:
            pass


@pytest.fixture
def administrator(upgraded_postgres_url_of_module: str) -> Iterator[Engine]:
    engine = create_engine(parse_url(upgraded_postgres_url_of_module), isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()


@pytest.fixture
def waiting(upgraded_postgres_url_of_module: str) -> Iterator[Session]:
    with open_session(upgraded_postgres_url_of_module) as session:
        yield session


@contextmanager
def open_session(url: str, *, application: str = APPLICATION, role: str | None = None) -> Iterator[Session]:
    connection = psycopg.connect(url, application_name=application, **({} if role is None else {"user": role}))
    try:
        yield Session(connection)
    finally:
        with suppress(psycopg.OperationalError):
            connection.cancel()  # a statement would continue after the connection is closed
        connection.close()


def read_state(engine: Engine, session: Session) -> tuple[str, str] | None:
    """Return the state of a session and what it waits for; None if it has ended."""
    with engine.connect() as connection:
        row = connection.exec_driver_sql(STATE, (session.pid,)).first()
    return None if row is None else (row[0], row[1])


def block(engine: Engine, waiting: Session, blocking: Session) -> None:
    """Let a session wait for a lock that the other one has."""
    waiting.send(LOCK)

    def is_blocked() -> bool:
        with engine.connect() as connection:
            pids = connection.exec_driver_sql("SELECT pg_blocking_pids(%s)", (waiting.pid,)).scalar()
        return pids == [blocking.pid]

    eventually(is_blocked)


def test_a_blocking_session_without_messages_is_ended_after_the_limit(
    upgraded_postgres_url_of_module: str, administrator: Engine, waiting: Session
) -> None:
    clock = Clock()
    stalled = StalledSessions(administrator, 5.0, clock)
    with open_session(upgraded_postgres_url_of_module) as blocking:
        blocking.lock()
        blocking.send()
        eventually(lambda: read_state(administrator, blocking) == ("active", "ClientRead"))
        block(administrator, waiting, blocking)
        for seconds in (100.0, 104.9):
            clock.seconds = seconds
            stalled.end_blockers(waiting.pid)
            assert read_state(administrator, blocking) == ("active", "ClientRead")
        clock.seconds = 105.0
        stalled.end_blockers(waiting.pid)
        eventually(lambda: read_state(administrator, blocking) is None)
    eventually(lambda: read_state(administrator, waiting) == ("active", "ClientRead"))  # it has the lock


def test_a_session_that_receives_a_message_is_not_stalled(
    upgraded_postgres_url_of_module: str, administrator: Engine, waiting: Session
) -> None:
    clock = Clock()
    stalled = StalledSessions(administrator, 5.0, clock)
    with open_session(upgraded_postgres_url_of_module) as blocking:
        blocking.lock()
        blocking.exchange()
        block(administrator, waiting, blocking)
        for seconds in (0.0, 4.0, 8.0, 12.0):
            clock.seconds = seconds
            eventually(lambda: read_state(administrator, blocking) == ("active", "ClientRead"))
            stalled.end_blockers(waiting.pid)
            blocking.exchange()
        assert read_state(administrator, blocking) is not None


@pytest.mark.parametrize("kind", ["application", "role", "working", "computing", "not blocking"])
def test_other_sessions_are_not_ended(
    upgraded_postgres_url_of_module: str, administrator: Engine, waiting: Session, kind: str
) -> None:
    with administrator.connect() as connection:
        connection.exec_driver_sql("DROP ROLE IF EXISTS neighbour")
        connection.exec_driver_sql("CREATE ROLE neighbour LOGIN")
    application = "psql" if kind == "application" else APPLICATION
    role = "neighbour" if kind == "role" else None
    with open_session(upgraded_postgres_url_of_module, application=application, role=role) as blocking:
        blocking.lock()
        expected = ("active", "ClientRead")
        if kind == "computing":  # between two statements, as an import; PostgreSQL has a limit for that
            expected = ("idle in transaction", "ClientRead")
        elif kind == "working":
            blocking.send(b"SELECT pg_sleep(600)")
            expected = ("active", "PgSleep")
        else:
            blocking.send()
        eventually(lambda: read_state(administrator, blocking) == expected)
        if kind != "not blocking":
            block(administrator, waiting, blocking)
        clock = Clock()
        stalled = StalledSessions(administrator, 5.0, clock)
        for clock.seconds in (0.0, 1_000.0):
            stalled.end_blockers(waiting.pid)
        assert read_state(administrator, blocking) == expected
