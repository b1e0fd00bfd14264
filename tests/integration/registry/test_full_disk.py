"""With a full disk, reads succeed and writes are rejected with a message."""

from __future__ import annotations

import json
import logging
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from psycopg.errors import DiskFull
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from contractlog.compatibility.errors import StoreError, StoreTimeout
from contractlog.registry.app import create_app
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.storage.store import Store

from support.registry import in_process, start_server

FULL = {"error_code": 50001, "message": "Error in the backend data store -- disk full"}
GAUGE = re.compile(r"^contractlog_database_disk_full (\d)$", re.MULTILINE)


def schema(number: int, characters: int = 20_000) -> dict[str, str]:
    text = {"type": "fixed", "name": f"F{number}", "size": 1, "doc": f"{number}" * characters}
    return {"schema": json.dumps(text)}


def assert_reads_stay(client: httpx2.Client) -> None:
    assert client.get("/subjects/s/versions/latest").json()["version"] == 1
    assert client.get("/schemas/ids/1").status_code == 200
    assert client.get("/subjects").json() == ["s"]
    ready = client.get("/healthz/ready")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


def disk_full(client: httpx2.Client) -> bool:
    found = GAUGE.search(client.get("/metrics").text)
    assert found is not None
    return found[1] == "1"


def test_a_sqlite_file_without_room_answers_reads_and_refuses_writes_in_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with in_process(Settings(database_url=f"sqlite:///{tmp_path / 'r.db'}")) as http:
        assert http.post("/subjects/s/versions", json=schema(1)).status_code == 200
        store: Store = http.app.state.services.store  # type: ignore[attr-defined]
        with store._engines.writer.connect() as connection:
            pages = connection.execute(text("PRAGMA page_count")).scalar()
            connection.execute(text(f"PRAGMA max_page_count={pages}"))
        with caplog.at_level(logging.ERROR):
            for number in range(2, 6):
                refused = http.post(f"/subjects/t{number}/versions", json=schema(number))
                assert (refused.status_code, refused.json()) == (500, FULL)
                assert_reads_stay(http)
            change = http.put(
                "/config/s", json={"compatibility": "FULL", "defaultMetadata": {"properties": {"x": "x" * 30_000}}}
            )
            assert (change.status_code, change.json()) == (500, FULL)
        assert "disk full" in caplog.text
        assert disk_full(http)
        with store._engines.writer.connect() as connection:
            connection.execute(text("PRAGMA max_page_count=1000000"))
        assert http.post("/subjects/t/versions", json=schema(2)).status_code == 200
        assert not disk_full(http)


def test_a_served_sqlite_file_that_may_not_grow_answers_reads_and_recovers(tmp_path: Path) -> None:
    process, url = start_server(f"sqlite:///{tmp_path / 'r.db'}")
    try:
        with httpx2.Client(base_url=url, timeout=40) as client:
            assert client.post("/subjects/s/versions", json=schema(1)).status_code == 200
            size = (tmp_path / "r.db-wal").stat().st_size
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            for number in range(2, 5):
                refused = client.post(f"/subjects/t{number}/versions", json=schema(number))
                assert (refused.status_code, refused.json()) == (500, FULL)
                assert_reads_stay(client)
            assert disk_full(client)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert client.post("/subjects/t/versions", json=schema(2)).status_code == 200
            assert not disk_full(client)
            assert client.get("/subjects").json() == ["s", "t"]
    finally:
        process.terminate()
        said = process.communicate(timeout=40)[1]
    assert "disk full" in said
    assert "Traceback" not in said


@pytest.mark.integration
def test_a_postgresql_without_room_refuses_writes_in_words_and_stays_ready(upgraded_postgres_url: str) -> None:
    with in_process(Settings(database_url=upgraded_postgres_url)) as http:
        assert http.post("/subjects/s/versions", json=schema(1)).status_code == 200
        store: Store = http.app.state.services.store  # type: ignore[attr-defined]
        full = "DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
        change = store.transact(lambda change: change._connection.exec_driver_sql(full))
        with pytest.raises(StoreError, match="disk full"):
            change.result(40)
        assert_reads_stay(http)
        assert disk_full(http)
        assert http.post("/subjects/t/versions", json=schema(2)).status_code == 200
        assert not disk_full(http)


@pytest.mark.parametrize(("is_lost", "expected"), [(True, StoreTimeout), (False, StoreError)])
def test_a_commit_during_which_postgresql_crashes_may_have_been_written(
    tmp_path: Path, expected: type[StoreError], *, is_lost: bool
) -> None:
    """A full `pg_wal` ends the server, maybe after it has written the commit; any other full disk ends the write."""
    store = open_store(Settings(database_url=f"sqlite:///{tmp_path / 'r.db'}"))

    def fail(_connection: object) -> None:
        raise OperationalError(None, None, DiskFull("could not write to file"), connection_invalidated=is_lost)

    event.listen(store._engines.writer, "commit", fail)
    error = store.transact(lambda change: change.record_change("test", "t")).exception(40)
    assert type(error) is expected
    store.close()


def test_a_commit_that_fails_is_not_a_database_that_is_away(tmp_path: Path) -> None:
    store = open_store(Settings(database_url=f"sqlite:///{tmp_path / 'r.db'}"))
    app = create_app(Settings(), store)
    event.listen(store._engines.writer, "commit", _fail)
    assert isinstance(store.transact(lambda change: change.record_change("test", "t")).exception(40), StoreError)
    event.remove(store._engines.writer, "commit", _fail)
    with store.open_snapshot():
        pass
    assert not store._availability.unavailable
    app.state.close()


def _fail(connection: object) -> None:
    from sqlalchemy.exc import OperationalError

    raise OperationalError(None, None, OSError("the commit failed"))


def test_a_start_without_room_says_so(tmp_path: Path) -> None:
    """The file cannot be opened without space for its index in shared memory."""
    url = f"sqlite:///{tmp_path / 'r.db'}"
    open_store(Settings(database_url=url)).close()
    limited = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (4096, r.RLIM_INFINITY))"
    serve = f"{limited}; from contractlog.clients.cli.main import main; main(['serve', '--port', '0'])"
    environment = os.environ | {"CONTRACTLOG_DATABASE_URL": url}
    done = subprocess.run(
        [sys.executable, "-c", serve], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert "cannot be used: the disk is full" in done.stderr
