"""A suspended PostgreSQL, whose connections stay open without responses."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import httpx2
import pytest
from sqlalchemy import create_engine, select

from contractlog.compatibility.errors import StoreError, Unreachable
from contractlog.registry.database import open_store, upgrade
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables
from contractlog.registry.storage.engines import parse_url

from support.deadlines import WAIT_SECONDS, eventually
from support.postgres import SUPERUSER, Server, create_server
from support.registry import in_process

pytestmark = pytest.mark.integration
#: Deadlines of the product, in seconds; ``tests/unit/registry/storage/test_engines.py`` tests that they are used.
READINESS: Final = 1
CONNECTING: Final = 3
CHECKOUT: Final = 5  #: of a connection, which is the longest wait of a request
MARGIN: Final = 4
LOAD: Final = 20  #: seconds that a busy machine may add
FULL: Final = 10  #: concurrent requests that use every connection of the readers


def schema(number: int) -> dict[str, str]:
    return {"schema": json.dumps({"type": "fixed", "name": f"F{number}", "size": 1})}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Server, int]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    with create_server() as made:
        made.start(port)
        upgrade(made.url.replace("?", f"?port={port}&"))
        yield made, port


@pytest.fixture(params=["socket", "tcp"])
def database(request: pytest.FixtureRequest, server: tuple[Server, int]) -> tuple[Server, str]:
    made, port = server
    host = made.folder if request.param == "socket" else "127.0.0.1"
    return made, f"postgresql://{SUPERUSER}@/postgres?port={port}&host={host}"


def in_time(call: Callable[[], httpx2.Response], deadline: float) -> httpx2.Response:
    """Call, and require the answer within the deadline."""
    began = time.monotonic()
    answer = call()
    assert time.monotonic() - began < MARGIN * deadline + LOAD
    return answer


def use_every_connection(http: httpx2.Client) -> None:
    with ThreadPoolExecutor(FULL) as threads:
        barrier = threading.Barrier(FULL)

        def read(_number: int) -> int:
            barrier.wait(WAIT_SECONDS)
            return http.get("/subjects").status_code

        assert {*threads.map(read, range(FULL))} == {200}


@pytest.mark.parametrize("pool", ["full", "empty"])
def test_a_database_that_hangs_does_not_hang_the_registry(database: tuple[Server, str], pool: str) -> None:
    server, url = database
    with in_process(Settings(database_url=url)) as http:
        assert http.post("/subjects/s/versions", json=schema(1)).status_code == 200
        known = http.get("/schemas/ids/1").content
        use_every_connection(http)
        services = http.app.state.services  # type: ignore[attr-defined]
        if pool == "empty":
            services.store._engines.dispose()
        cache = services.cache
        with server.suspend():
            cache._clock = lambda: time.monotonic() + 6  # what is cached has to be confirmed by the database
            ready = in_time(lambda: http.get("/healthz/ready"), READINESS)
            assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
            cached = in_time(lambda: http.get("/schemas/ids/1"), CHECKOUT)
            assert (cached.status_code, cached.content) == (200, known)
            assert cached.headers["x-contractlog-stale"] == "database-unavailable"
            with ThreadPoolExecutor(3 * FULL) as threads:
                reads = [
                    threads.submit(in_time, lambda: http.get("/subjects/s/versions/latest"), CHECKOUT)
                    for _ in range(2 * FULL)
                ]
                writes = [
                    threads.submit(
                        in_time,
                        lambda number=number: http.post(f"/subjects/s{number}/versions", json=schema(9)),
                        CHECKOUT,
                    )
                    for number in range(FULL)
                ]
            answers = [one.result() for one in (*reads, *writes)]
            assert {one.json()["error_code"] for one in answers} <= {50001, 50002}
            # It is known to be away now: no caller tries the database any more.
            with pytest.raises(StoreError), services.store.open_snapshot():
                pass
            for path in ("/subjects/s/versions/latest", "/healthz/ready", "/schemas/ids/1", "/healthz/live"):
                in_time(lambda path=path: http.get(path), READINESS)  # type: ignore[misc]
            assert "contractlog_database_unavailable 1" in http.get("/metrics").text
        eventually(lambda: http.get("/healthz/ready").json()["status"] == "ready")
        assert http.get("/subjects/s/versions/latest").status_code == 200
        assert http.post("/subjects/s/versions", json=schema(1)).json()["id"] == 1


def test_a_statement_that_is_only_slow_does_not_count_as_a_database_that_hangs(upgraded_postgres_url: str) -> None:
    store = open_store(Settings(database_url=upgraded_postgres_url, answer_timeout_ms=3_000))
    slow = store.transact(lambda change: change._connection.exec_driver_sql("SELECT pg_sleep(6.5)").scalar())
    assert slow.result(WAIT_SECONDS) == ""
    store.check(20)
    store.close()


def test_a_response_that_arrived_while_this_process_was_busy_is_read(upgraded_postgres_url: str) -> None:
    store = open_store(Settings(database_url=upgraded_postgres_url, answer_timeout_ms=200))
    responses = store._engines.responses
    assert responses is not None
    stalls = 0

    def stall() -> bool:
        nonlocal stalls
        stalls += 1
        time.sleep(3)  # the response arrives meanwhile
        return False

    responses.responds = stall
    slow = store.transact(lambda change: change._connection.exec_driver_sql("SELECT pg_sleep(1)").scalar())
    assert (slow.result(WAIT_SECONDS), stalls) == ("", 1)
    store.close()


def test_a_locked_table_does_not_count_as_a_database_that_hangs(upgraded_postgres_url: str) -> None:
    store = open_store(Settings(database_url=upgraded_postgres_url, answer_timeout_ms=500))
    engine = create_engine(parse_url(upgraded_postgres_url))
    with engine.begin() as session:
        session.exec_driver_sql("LOCK TABLE contexts IN ACCESS EXCLUSIVE MODE")
        waiting = store.transact(lambda change: change._connection.execute(select(tables.contexts.c.name)).all())
        store.check(20)
        assert not waiting.done()
    assert waiting.result(WAIT_SECONDS)
    engine.dispose()
    store.close()


def test_a_read_waits_for_a_connection_no_longer_than_it_may(upgraded_postgres_url: str) -> None:
    store = open_store(Settings(database_url=upgraded_postgres_url, read_threads=1, checkout_timeout_ms=100))
    with store.open_snapshot(), store.open_snapshot():
        with pytest.raises(StoreError, match="all connections to the database are in use"), store.open_snapshot():
            pass
        store.check(20)  # over a connection of its own
    store.close()


def test_a_registry_does_not_start_on_a_database_that_hangs(database: tuple[Server, str]) -> None:
    server, url = database
    with server.suspend():
        began = time.monotonic()
        with pytest.raises(Unreachable, match="cannot be used"):
            open_store(Settings(database_url=url))
        assert time.monotonic() - began < MARGIN * CONNECTING + LOAD
