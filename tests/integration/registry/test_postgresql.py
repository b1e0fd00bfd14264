"""Several nodes on one PostgreSQL: lost connections and concurrent deletions."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future

import psycopg
import pytest
from sqlalchemy import text

from contractlog.compatibility.errors import StoreError, StoreTimeout
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.storage.bulk_transfer import extend_pauses
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import ScopeSettings
from contractlog.registry.storage.transaction import Transaction

from support.deadlines import WAIT_SECONDS
from support.postgres import NEWEST, OLDEST
from support.registry import in_process

pytestmark = pytest.mark.integration
RECORD = {"schema": json.dumps({"type": "record", "name": "R", "fields": []})}


@pytest.fixture
def database(upgraded_url_of_each_postgres: str) -> str:
    return upgraded_url_of_each_postgres


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    opened = open_store(Settings(database_url=database))
    yield opened
    opened.close()


def test_the_newest_and_the_oldest_version_that_are_promised_are_met(
    postgres_url: str, oldest_postgres_url: str
) -> None:
    for url, version in ((postgres_url, NEWEST), (oldest_postgres_url, OLDEST)):
        with psycopg.connect(url) as connection:
            assert connection.info.server_version // 10_000 == version


@pytest.mark.parametrize("default", ["repeatable read", "serializable"])
def test_the_default_isolation_level_of_the_server_does_not_matter(database: str, default: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE \"{name}\" SET default_transaction_isolation = '{default}'")  # type: ignore[call-overload]
    store = open_store(Settings(database_url=database))
    try:
        level = store.transact(lambda change: change.connection.execute(text("SHOW transaction_isolation")).scalar())
        assert level.result(WAIT_SECONDS) == "read committed"
    finally:
        store.close()


def test_lost_connections_are_made_again(store: Store, database: str) -> None:
    store.transact(lambda change: change.configure(Subject(".", ""), ScopeSettings(level=Level.FULL))).result(30)
    store.check(20)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'contractlog'"
        )
    store.check(20)
    store.transact(lambda change: change.configure(Subject(".", ""), ScopeSettings(level=Level.NONE))).result(30)
    with store.open_snapshot() as snapshot:
        assert snapshot.read_settings([Subject(".", "")])[Subject(".", "")].level is Level.NONE


def test_a_connection_lost_during_a_write_is_a_timeout_with_unknown_outcome(store: Store) -> None:
    def lose(change: Transaction) -> None:
        change._connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")

    assert isinstance(store.transact(lose).exception(30), StoreTimeout)
    store.transact(lambda change: change.record_change("test", "after")).result(30)


def test_a_node_that_stops_inside_a_write_does_not_stop_the_writes_of_others(store: Store, database: str) -> None:
    stopped, resumed = threading.Event(), threading.Event()

    def stop(_change: Transaction) -> None:
        stopped.set()
        resumed.wait(WAIT_SECONDS)

    other = open_store(Settings(database_url=database, statement_timeout_ms=20_000))  # also how long it waits for locks
    silent = store.transact(stop)
    assert stopped.wait(WAIT_SECONDS)
    write(other).result(WAIT_SECONDS)
    assert not resumed.is_set()
    resumed.set()
    assert isinstance(silent.exception(WAIT_SECONDS), StoreTimeout)
    write(store).result(WAIT_SECONDS)
    other.close()


def write(store: Store) -> Future[None]:
    return store.transact(lambda change: change.record_change("test", "written"))


def test_a_node_that_stops_in_the_middle_of_a_pipeline_does_not_stop_the_writes_of_others(
    store: Store, database: str
) -> None:
    stopped, resumed = threading.Event(), threading.Event()

    def rows() -> Iterator[tuple[str]]:
        yield ("x" * 100_000,)  # more than the driver buffers, so that it is sent
        stopped.set()
        resumed.wait(WAIT_SECONDS)
        yield ("x",)

    def stop(change: Transaction) -> None:
        cursor = change.connection.connection.cursor()
        cursor.executemany("SELECT length(%s)", rows())

    other = open_store(Settings(database_url=database))
    silent = store.transact(stop)
    assert stopped.wait(WAIT_SECONDS)
    write(other).result(WAIT_SECONDS)
    assert not resumed.is_set()
    resumed.set()
    assert isinstance(silent.exception(WAIT_SECONDS), StoreTimeout)
    write(store).result(WAIT_SECONDS)
    other.close()


def test_an_import_may_compute_for_longer_than_other_writes(store: Store) -> None:
    def read_limit(change: Transaction) -> str:
        setting = "SHOW idle_in_transaction_session_timeout"
        return str(change.connection.exec_driver_sql(setting).scalar())

    def extend(change: Transaction) -> str:
        extend_pauses(change)
        return read_limit(change)

    outcomes = [store.transact(work).result(WAIT_SECONDS) for work in (read_limit, extend, read_limit)]
    assert outcomes == ["5s", "10min", "5s"]


def test_a_statement_that_takes_too_long_is_given_up(database: str) -> None:
    store = open_store(Settings(database_url=database, statement_timeout_ms=1_000))
    slow = store.transact(lambda change: change._connection.exec_driver_sql("SELECT pg_sleep(60)"))
    assert isinstance(slow.exception(60), StoreTimeout)
    store.close()


def test_an_id_deleted_for_good_on_one_node_is_gone_on_the_other_within_five_seconds(database: str) -> None:
    with in_process(Settings(database_url=database)) as one, in_process(Settings(database_url=database)) as two:
        assert one.post("/subjects/s/versions", json=RECORD).json()["id"] == 1
        assert two.get("/schemas/ids/1").status_code == 200
        assert [one.delete(f"/subjects/s{query}").status_code for query in ("", "?permanent=true")] == [200, 200]
        assert one.get("/schemas/ids/1").json()["error_code"] == 40403
        assert two.get("/schemas/ids/1/schema").json()["error_code"] == 40403
        cache = two.app.state.services.cache  # type: ignore[attr-defined]
        assert cache.get((".", 1)) is not None
        cache._clock = lambda: time.monotonic() + 5.0
        assert two.get("/schemas/ids/1").json()["error_code"] == 40403


def test_a_connection_lost_during_a_read_is_no_write_of_unknown_outcome(store: Store) -> None:
    def lose() -> None:
        with store.open_snapshot() as snapshot:
            snapshot._connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(StoreError):
        lose()
    store.check(20)
