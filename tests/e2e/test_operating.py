"""Operation of a registry: several workers, seamless restarts, database outages."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import psycopg
import pytest

from contractlog.registry.database import upgrade

from support.deadlines import WAIT_SECONDS, eventually
from support.postgres import Server
from support.registry import start_server, stop_server

CLI = [sys.executable, "-m", "contractlog.clients.cli.main"]
READERS = 6


def record(number: int) -> dict[str, str]:
    fields = [{"name": f"f{number}", "type": "string", "default": ""}]
    return {"schema": json.dumps({"type": "record", "name": "R", "fields": fields})}


def metric(text: str, series: str) -> float:
    found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


class Heard:
    """Listens to what a process says on stderr; one that nobody listens to would stop once the pipe is full."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: list[str] = []
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        assert self._process.stderr is not None
        self._lines += self._process.stderr

    def after_end(self) -> str:
        self._thread.join()
        assert self._process.stderr is not None
        self._process.stderr.close()
        return "".join(self._lines)[-4000:]

    def after_stop(self) -> str:
        self._process.terminate()
        assert self._process.wait(WAIT_SECONDS) == 0
        self._thread.join()
        assert self._process.stderr is not None
        self._process.stderr.close()
        return "".join(self._lines)


class Balanced:
    """Reads as behind a load balancer: over connections that are kept, and elsewhere when a connection is refused."""

    def __init__(self, ports: list[int]) -> None:
        self._ports = itertools.cycle(ports)
        self._client = httpx2.Client(timeout=20)
        self._port = next(self._ports)
        self.served: dict[int, int] = dict.fromkeys(ports, 0)

    def read(self) -> httpx2.Response:
        for _ in range(200):
            try:
                answer = self._client.get(f"http://127.0.0.1:{self._port}/schemas/ids/1?subject=s")
            except httpx2.ConnectError:
                self._port = next(self._ports)
                time.sleep(0.01)
            else:
                self.served[self._port] += 1
                return answer
        raise AssertionError("nobody answers")

    def close(self) -> None:
        self._client.close()


@pytest.mark.integration
def test_a_rolling_restart_loses_no_read(upgraded_postgres_url: str) -> None:
    def run(port: int = 0) -> tuple[subprocess.Popen[str], int]:
        arguments = ["--port", str(port)]
        process, url = start_server(upgraded_postgres_url, CONTRACTLOG_DRAIN_SECONDS="1", arguments=arguments)
        return process, int(url.rpartition(":")[2])

    started = [run(), run()]
    processes, ports = [process for process, _ in started], [port for _, port in started]
    httpx2.post(f"http://127.0.0.1:{ports[0]}/subjects/s/versions", json=record(1), timeout=60).raise_for_status()
    ended, lost, read = threading.Event(), [], [0] * READERS

    def reader(number: int) -> dict[int, int]:
        balanced = Balanced(ports)
        while not ended.is_set():
            try:
                assert balanced.read().status_code == 200
                read[number] += 1
                ended.wait(0.05)  # the servers that start meanwhile need the processors
            except (httpx2.HTTPError, AssertionError) as error:
                lost.append(repr(error))
        balanced.close()
        return balanced.served

    with ThreadPoolExecutor(READERS) as pool:
        running = [pool.submit(reader, number) for number in range(READERS)]
        try:
            for place, port in enumerate(ports):
                before = sum(read)
                eventually(lambda before=before: sum(read) > before + 50)  # type: ignore[misc]
                assert stop_server(processes[place]) == 0
                processes[place] = run(port)[0]
        finally:
            ended.set()
    assert not lost
    assert all(sum(one.result()[port] for one in running) > 0 for port in ports)
    for process in processes:
        assert stop_server(process) == 0


def test_requests_in_flight_are_answered_before_connections_close(tmp_path: Path) -> None:
    process, url = start_server(f"sqlite:///{tmp_path / 'r.db'}", CONTRACTLOG_DRAIN_SECONDS="60")
    host, port = url.removeprefix("http://").split(":")
    request = b"POST /subjects/s/versions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body = json.dumps(record(1)).encode()
    with socket.create_connection((host, int(port))) as slow, socket.create_connection((host, int(port))) as kept:
        slow.sendall(request + f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:10])
        kept.sendall(b"GET /subjects HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"connection: close" not in answer_of(kept)
        process.send_signal(signal.SIGTERM)
        eventually(lambda: refused(host, int(port)))
        kept.sendall(b"GET /subjects HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"connection: close" in answer_of(kept)
        assert kept.recv(4096) == b""
        slow.sendall(body[10:])
        answer = slow.makefile("rb").read()
    assert b"200 OK" in answer
    assert b'"id":1' in answer
    assert process.communicate(timeout=WAIT_SECONDS) == (None, "")
    assert process.returncode == 0


def answer_of(connection: socket.socket) -> bytes:
    """Read one answer, which is an empty list."""
    answer = b""
    while not answer.endswith(b"[]"):
        answer += connection.recv(4096).lower()
    return answer


def refused(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port)).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.fixture
def several(upgraded_postgres_url: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process, url = start_server(upgraded_postgres_url, CONTRACTLOG_DRAIN_SECONDS="0.2", arguments=["--workers", "3"])
    yield process, url
    process.terminate()
    process.communicate(timeout=WAIT_SECONDS)


def children(process: subprocess.Popen[str]) -> set[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return set(map(int, found.split()))


@pytest.mark.integration
def test_workers_share_a_port_a_database_and_their_numbers(several: tuple[subprocess.Popen[str], str]) -> None:
    process, url = several
    assert len(children(process)) == 3
    each_anew = {"connection": "close"}  # so that several workers answer
    with httpx2.Client(base_url=url, headers=each_anew, timeout=60) as client:
        for number in range(40):
            assert client.post(f"/subjects/s{number % 4}/versions", json=record(number)).status_code == 200
    text = httpx2.get(f"{url}/metrics", timeout=60).text
    posted = 'contractlog_http_requests_total{method="POST",route="/subjects/{subject}/versions",status="200"}'
    assert metric(text, posted) == 40
    assert metric(text, 'contractlog_writes_total{outcome="done"}') >= 40
    assert metric(text, "contractlog_workers") == 3
    assert metric(text, "process_resident_memory_bytes") > 3 * 20e6
    before = children(process)
    os.kill(min(before), signal.SIGKILL)
    eventually(lambda: len(children(process) - before) == 1)
    eventually(lambda: metric(httpx2.get(f"{url}/metrics", timeout=60).text, posted) == 40)
    assert process.poll() is None


@pytest.mark.integration
def test_workers_end_with_their_parent_whatever_kills_it(upgraded_postgres_url: str) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        process, url = start_server(
            upgraded_postgres_url, CONTRACTLOG_DRAIN_SECONDS="0.2", arguments=["--workers", "2"]
        )
        workers = children(process)
        process.send_signal(number)
        assert process.wait(WAIT_SECONDS) == (0 if number == signal.SIGTERM else -9)
        eventually(lambda workers=workers: not any(Path(f"/proc/{pid}/stat").exists() for pid in workers))  # type: ignore[misc]
        host, port = url.removeprefix("http://").split(":")
        assert refused(host, int(port))
        process.communicate()


@pytest.mark.integration
def test_a_hang_up_ends_neither_the_workers_nor_their_parent(several: tuple[subprocess.Popen[str], str]) -> None:
    process, url = several
    workers = children(process)
    for pid in (process.pid, *workers):
        for _ in range(3):
            os.kill(pid, signal.SIGHUP)
    with httpx2.Client(headers={"connection": "close"}, timeout=60) as client:
        for _ in range(10):
            assert client.get(f"{url}/subjects").json() == []
    assert children(process) == workers
    assert process.poll() is None


def test_a_hang_up_does_not_end_a_registry_alone(tmp_path: Path) -> None:
    process, url = start_server(f"sqlite:///{tmp_path / 'r.db'}")
    for _ in range(3):
        process.send_signal(signal.SIGHUP)
        assert httpx2.get(f"{url}/subjects", timeout=60).json() == []
    assert stop_server(process) == 0


def test_a_hang_up_while_the_server_is_imported_does_not_end_it(tmp_path: Path) -> None:
    (tmp_path / "stub.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGHUP)\ndef serve(parser, argv):\n    return 7\n"
    )
    program = (
        "import sys\nfrom contractlog.clients.cli import main, verbs\n"
        "verbs.VERBS['serve'] = verbs.VERBS['serve']._replace(target='stub:serve')\n"
        "sys.exit(main.main(['serve']))"
    )
    command = [sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    assert subprocess.run(command, check=False, timeout=60, env=environment).returncode == 7


def test_several_workers_on_sqlite_are_refused_with_the_way_out(tmp_path: Path) -> None:
    command = [*CLI, "serve", "--port", "0", "--workers", "2", "--database-url", f"sqlite:///{tmp_path / 'r.db'}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "PostgreSQL" in done.stderr


@pytest.mark.integration
@pytest.mark.parametrize("mode", ["immediate", "fast"])
def test_while_the_database_is_away_reads_by_id_go_on_and_writes_are_refused_at_once(
    postgres_of_its_own: Server, mode: str
) -> None:
    database = postgres_of_its_own
    upgrade(database.url)
    process, url = start_server(database.url)
    heard = Heard(process)
    with httpx2.Client(base_url=url, timeout=20) as client:
        assert client.post("/subjects/s/versions", json=record(1)).status_code == 200
        known = client.get("/schemas/ids/1").content
        database.stop(mode)
        if client.get("/schemas/ids/1").status_code != 200:  # evicted when its registration was read from the journal
            database.start()
            eventually(lambda: client.get("/schemas/ids/1").status_code == 200)  # cached again, now for good
            database.stop(mode)
        for number in range(30):
            read = client.get("/schemas/ids/1")
            write = client.post("/subjects/s/versions", json=record(100 + number))
            assert (read.status_code, read.content) == (200, known)
            assert write.status_code == 500
            assert write.json()["error_code"] in ({50001} if number else {50001, 50002})
        time.sleep(5)  # until what is cached is no longer fresh
        read = client.get("/schemas/ids/1")
        assert (read.status_code, read.content) == (200, known)
        assert read.headers["x-contractlog-stale"] == "database-unavailable"
        ready = client.get("/healthz/ready")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert client.get("/healthz/live").status_code == 200
        assert client.get("/subjects/s/versions").json()["error_code"] == 50001
        database.start()
        eventually(lambda: client.get("/healthz/ready").json()["status"] == "ready")
        assert client.post("/subjects/s/versions", json=record(2)).json()["version"] == 2
        assert "x-contractlog-stale" not in client.get("/schemas/ids/1").headers
    said = heard.after_stop()
    assert "the database failed" in said
    assert "Traceback" not in said


@pytest.mark.integration
def test_a_connection_that_is_cut_in_the_middle_loses_no_write_that_was_acknowledged(
    upgraded_postgres_url: str,
) -> None:
    patient = {f"CONTRACTLOG_{name}_TIMEOUT_MS": "60000" for name in ("ANSWER", "CHECKOUT", "CONNECT", "STATEMENT")}
    process, url = start_server(upgraded_postgres_url, **patient)  # a busy machine is no database that hangs
    heard = Heard(process)
    ended = threading.Event()

    def cut() -> int:
        cuts = 0
        with psycopg.connect(upgraded_postgres_url, autocommit=True) as connection:
            while not ended.wait(0.03):
                statement = (
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'contractlog' AND state <> 'idle' AND datname = current_database()"
                )
                cuts += len(connection.execute(statement).fetchall())
        return cuts

    def write(number: int) -> tuple[int, int]:
        return number, writer.post(f"/subjects/s{number}/versions", json=record(number)).status_code

    with httpx2.Client(base_url=url, timeout=WAIT_SECONDS) as writer, ThreadPoolExecutor(9) as pool:
        cutting = pool.submit(cut)
        answers = []
        try:
            for first in range(0, 2000, 8):
                answers += list(pool.map(write, range(first, first + 8)))
                if first > 200 and any(status != 200 for _, status in answers):
                    break
        except httpx2.ConnectError:
            raise AssertionError(f"the server ended with {process.wait(WAIT_SECONDS)}: {heard.after_end()}") from None
        finally:
            ended.set()
        assert cutting.result() > 0
    with httpx2.Client(base_url=url, timeout=60) as client:
        held = set(client.get("/subjects").json())
        assert {f"s{number}" for number, status in answers if status == 200} <= held
        assert client.post("/subjects/after/versions", json=record(9999)).status_code == 200
    assert "Traceback" not in heard.after_stop()
