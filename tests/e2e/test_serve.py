"""The process of ``contractlog serve``: start, stop, kill, and several on one machine."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import make_url

from contractlog.registry.database import newest_revision, upgrade

from support.command_line import run_verb
from support.deadlines import WAIT_SECONDS
from support.registry import run_server, start_server, stop_server

CLI = [sys.executable, "-m", "contractlog.clients.cli.main"]


def record(number: int) -> dict[str, str]:
    fields = [{"name": f"f{number}", "type": "string", "default": ""}]
    return {"schema": json.dumps({"type": "record", "name": "R", "fields": fields})}


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'registry.db'}"


def test_a_stopped_server_ends_cleanly_and_leaves_nothing_locked(sqlite_url: str) -> None:
    process, url = start_server(sqlite_url)
    assert httpx2.post(f"{url}/subjects/s/versions", json=record(1), timeout=60).json()["id"] == 1
    assert stop_server(process) == 0
    process, url = start_server(sqlite_url)
    assert httpx2.get(f"{url}/subjects/s/versions", timeout=60).json() == [1]
    assert stop_server(process) == 0


def test_acknowledged_writes_survive_a_kill(sqlite_url: str) -> None:
    process, url = start_server(sqlite_url)
    with httpx2.Client(base_url=url, timeout=60) as client, ThreadPoolExecutor(4) as pool:
        accepted = list(pool.map(lambda n: client.post("/subjects/s/versions", json=record(n)).json()["id"], range(20)))
    process.kill()
    process.communicate()
    with run_server(sqlite_url) as url:
        for schema_id in accepted:
            assert httpx2.get(f"{url}/schemas/ids/{schema_id}", timeout=60).status_code == 200
        assert httpx2.post(f"{url}/subjects/t/versions", json=record(99), timeout=60).json()["id"] == max(accepted) + 1


def test_a_second_process_on_a_sqlite_file_is_refused_with_the_way_out(sqlite_url: str) -> None:
    with run_server(sqlite_url):
        for verb in (["serve", "--port", "0"], ["db", "upgrade"]):
            second = subprocess.run(
                [*CLI, *verb, "--database-url", sqlite_url], check=False, capture_output=True, text=True
            )
            assert second.returncode == 2
            assert "another process uses the database" in second.stderr
            assert "PostgreSQL" in second.stderr


def test_a_port_that_is_taken_is_said_in_a_line(sqlite_url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        verb = ["serve", "--port", port, "--database-url", sqlite_url]
        second = subprocess.run([*CLI, *verb], check=False, capture_output=True, text=True)
    assert second.returncode == 2
    assert len(second.stderr.splitlines()) == 1
    assert port in second.stderr


def test_a_schema_of_5_mb_gets_an_answer_and_not_a_broken_connection(sqlite_url: str) -> None:
    with run_server(sqlite_url) as url:
        answer = httpx2.post(f"{url}/subjects/s/versions", json={"schema": json.dumps("x" * 5_000_000)}, timeout=60)
        assert (answer.status_code, answer.json()["error_code"]) == (413, 413)
        with socket.create_connection((url.split("/")[2].split(":")[0], int(url.rsplit(":", 1)[1]))) as raw:
            raw.sendall(b"GET /subjects/a%2Fb%3Ac/versions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert b"Subject 'a/b:c' not found." in raw.makefile("rb").read()


def test_db_shows_upgrades_and_downgrades(sqlite_url: str) -> None:
    def db(*verb: str) -> str:
        done = run_verb(["db", *verb, "--database-url", sqlite_url], environment={})
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert db("current") == "none"
    assert not Path(sqlite_url.removeprefix("sqlite:///")).exists()  # to look is to touch nothing
    assert db("upgrade") == db("current") == newest_revision()
    assert db("downgrade", "base") == "base"


def test_db_tells_the_revisions_as_json(sqlite_url: str) -> None:
    def db(*verb: str) -> tuple[str | None, str]:
        done = run_verb(["db", *verb, "--format", "json", "--database-url", sqlite_url], environment={})
        assert done.returncode == 0, done.stderr
        (line,) = done.stdout.splitlines()
        told = json.loads(line)
        assert told.keys() == {"format", "revision", "newest"}
        return told["revision"], told["newest"]

    assert db("current") == (None, newest_revision())
    assert db("upgrade") == (newest_revision(), newest_revision())
    assert db("downgrade", "0001") == db("current") == ("0001", newest_revision())
    assert db("downgrade", "base") == (None, newest_revision())


def test_serve_says_in_a_line_of_json_where_it_is_once_it_answers(sqlite_url: str) -> None:
    command = [*CLI, "serve", "--port", "0", "--database-url", sqlite_url, "--format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert told == {"format": "contractlog.serve/1", "url": told["url"], "database": sqlite_url}
        assert httpx2.get(f"{told['url']}/subjects", timeout=60).json() == []
        process.terminate()
        assert process.communicate(timeout=WAIT_SECONDS) == ("", "")
    finally:
        process.kill()
        process.wait()


@pytest.mark.integration
def test_serve_keeps_the_password_to_itself(upgraded_postgres_url: str) -> None:
    url = make_url(upgraded_postgres_url).set(password="secret").render_as_string(hide_password=False)  # noqa: S106
    command = [*CLI, "serve", "--port", "0", "--database-url", url, "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.terminate()
        assert "postgresql" in json.loads(line)["database"]
        assert "secret" not in line


@pytest.mark.integration
def test_two_nodes_on_one_postgresql_answer_as_one(postgres_url: str) -> None:
    refused = subprocess.run(
        [*CLI, "serve", "--port", "0", "--database-url", postgres_url], check=False, capture_output=True, text=True
    )
    assert refused.returncode == 2
    assert "contractlog db upgrade" in refused.stderr
    upgrade(postgres_url)
    with run_server(postgres_url) as one, run_server(postgres_url) as two, httpx2.Client(timeout=60) as client:

        def register(number: int) -> tuple[int, int]:
            first, second = (one, two) if number % 2 else (two, one)
            same = client.post(f"{first}/subjects/same/versions", json=record(0)).json()["id"]
            own = client.post(f"{first}/subjects/many/versions", json=record(number)).json()["id"]
            assert client.get(f"{second}/schemas/ids/{own}").status_code == 200  # at once, on the other node
            return same, own

        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(register, range(1, 33)))
        assert len({same for same, _ in found}) == 1
        assert {one_id for pair in found for one_id in pair} == set(range(1, 34))
        assert client.get(f"{one}/subjects/many/versions").json() == list(range(1, 33))
        assert client.put(f"{one}/config/many", json={"compatibility": "NONE"}).status_code == 200
        assert client.get(f"{two}/config/many").json() == {"compatibilityLevel": "NONE"}
