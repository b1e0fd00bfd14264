"""Registries for tests: the store on each database, the app in process, and a server process."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.deadlines import WAIT_SECONDS

if TYPE_CHECKING:
    import httpx2
    from fastapi import FastAPI

    from contractlog.clients import Registry
    from contractlog.registry.settings import Settings
    from contractlog.registry.storage.store import Store
    from contractlog.registry.testing import Registries


_NEWEST = pytest.param("upgraded_postgres_url", marks=pytest.mark.integration, id="postgresql")
_OLDEST = pytest.param("upgraded_oldest_postgres_url", marks=pytest.mark.integration, id="oldest-postgresql")
_OLDEST_IN_THE_LONG_PART = pytest.param(
    "upgraded_oldest_postgres_url", marks=[pytest.mark.integration, pytest.mark.slow], id="oldest-postgresql"
)
EACH_DATABASE = ["memory", "sqlite", _NEWEST, _OLDEST]


@pytest.fixture(params=["memory", "sqlite", _NEWEST, _OLDEST_IN_THE_LONG_PART])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database that a registry can open, without a schema, for each kind of database."""
    return create_database(request, tmp_path)


def create_database(request: pytest.FixtureRequest, folder: Path) -> str:
    """Return the URL of a database that a registry can open, without a schema, of the requested kind."""
    if request.param.endswith("postgres_url"):
        url: str = request.getfixturevalue(request.param)
        return url
    return "sqlite://" if request.param == "memory" else create_sqlite(folder / "registry.db")


def create_sqlite(file: Path) -> str:
    """Create a SQLite file with the newest tables; return its URL."""
    file.write_bytes(_read_sqlite_template())
    return f"sqlite:///{file}"


@cache
def _read_sqlite_template() -> bytes:
    """Return a SQLite file with the newest tables: a copy takes a fraction of the migrations."""
    from contractlog.registry.database import upgrade

    with tempfile.TemporaryDirectory() as folder:
        upgrade(f"sqlite:///{folder}/registry.db")
        return Path(folder, "registry.db").read_bytes()


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """Open an empty store, on each kind of database."""
    from contractlog.registry.database import open_store
    from contractlog.registry.settings import Settings

    opened = open_store(Settings(database_url=database_url))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def registries() -> Iterator[Registries]:
    """Create the factory of in-memory registries, as in the pytest plug-in."""
    yield _registries()
    _registries().close()


@cache
def _registries() -> Registries:
    from contractlog.registry.testing import Registries

    return Registries()


@pytest.fixture
def registry(registries: Registries) -> Iterator[Registry]:
    """Create a client of the app, in process, on an in-memory database."""
    from contractlog.clients import Registry

    app = registries.make({})
    with Registry(app=app) as client:
        yield client
    app.state.close()


@pytest.fixture(scope="module")
def registry_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a registry on a SQLite file for a test module; yield its URL."""
    with serve_in_thread(create_sqlite(tmp_path_factory.mktemp("registry") / "registry.db")) as url:
        yield url


@contextmanager
def serve_in_thread(database_url: str, **environment: str) -> Iterator[str]:
    """Serve in a thread what ``contractlog serve`` serves in a process; yield the URL.

    It takes no start of another Python. An error in the log is a failure; warnings may be those of other registries in
    this process.
    """
    from contractlog.registry.app import create_app
    from contractlog.registry.http.tls import Certificates
    from contractlog.registry.serving.server import RegistryServer
    from contractlog.registry.settings import Settings

    settings = Settings.from_environment(environment, database_url=database_url)
    certificates = Certificates.of(settings)
    app, errors, started = create_app(settings), _LoggedErrors(), threading.Event()
    with errors.collected_from("contractlog.registry", "uvicorn"), socket.create_server(("127.0.0.1", 0)) as listener:
        server = RegistryServer(app, settings, started.set, certificates)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            assert started.wait(WAIT_SECONDS)
            yield f"{'https' if certificates else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(WAIT_SECONDS)
            app.state.close()
    assert not thread.is_alive()
    assert not errors.lines


@contextmanager
def run_server(database_url: str, **environment: str) -> Iterator[str]:
    """Run ``contractlog serve`` on a free port; stop it with SIGTERM."""
    process, url = start_server(database_url, **environment)
    try:
        yield url
    finally:
        stop_server(process)


def start_server(
    database_url: str, *, arguments: Sequence[str] = (), **environment: str
) -> tuple[subprocess.Popen[str], str]:
    """Start ``contractlog serve``; return its process and URL when it listens."""
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "serve", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--database-url", database_url, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    address = re.search(r"https?://\S+:\d+", line)
    if address is None:
        process.kill()
        pytest.fail(f"the registry did not start: {line}{process.communicate()[1]}")
    return process, address[0]


def stop_server(process: subprocess.Popen[str]) -> int:
    """Stop a server and return its exit code; output on stderr is a failure."""
    process.send_signal(signal.SIGTERM)
    try:
        stderr = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert not stderr, stderr
    return process.returncode


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    """Create a plain HTTP client of the app, in process, on an in-memory database."""
    from contractlog.registry.settings import Settings

    with in_process(Settings(database_url="sqlite://")) as client:
        yield client


@contextmanager
def in_process(settings: Settings) -> Iterator[httpx2.Client]:
    """Create an app, and a plain HTTP client of it."""
    import httpx2

    from contractlog.clients.asgi_transport import BlockingASGITransport

    app = _create_app(settings)
    try:
        with httpx2.Client(transport=BlockingASGITransport(app), base_url="http://registry", timeout=60) as client:
            client.app = app  # type: ignore[attr-defined]
            yield client
    finally:
        app.state.close()


def _create_app(settings: Settings) -> FastAPI:
    """Create an app; one in memory uses a copy of the empty tables.

    A copy takes a quarter of the time of creating them.
    """
    from contractlog.registry.app import create_app

    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    in_memory = values.pop("database_url") == "sqlite://"
    if in_memory and settings.max_pending_writes == type(settings)().max_pending_writes:  # that of the copies
        return _registries().make(values)
    return create_app(settings)


class _LoggedErrors(logging.Handler):
    """The errors that some loggers were given."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    @contextmanager
    def collected_from(self, *names: str) -> Iterator[None]:
        """Collect during the block."""
        for name in names:
            logging.getLogger(name).addHandler(self)
        try:
            yield
        finally:
            for name in names:
                logging.getLogger(name).removeHandler(self)
