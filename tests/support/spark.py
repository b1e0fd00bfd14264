"""Spark for tests: one session for all that need a JVM, and a standalone cluster."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import venv
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from contractlog.spark_validation.spark.java_runtime import find_java

from support.deadlines import eventually


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session on two cores of this machine."""
    from contractlog.spark_validation.spark.session import open_session

    with open_session("local[2]", name="tests") as session:
        yield session


@dataclass(frozen=True)
class StandaloneCluster:
    """A Spark cluster of a master and two workers; the workers' Python lacks contractlog."""

    url: str
    python: Path  #: of the workers
    workers: tuple[int, ...]  #: process ids

    def executors(self) -> list[int]:
        """Process ids of the executors that run now."""
        return [
            int(pid)
            for worker in self.workers
            for pid in subprocess.run(
                ["pgrep", "-P", str(worker), "-f", "CoarseGrainedExecutorBackend"],
                capture_output=True,
                text=True,
                check=False,
            ).stdout.split()
        ]


@pytest.fixture(scope="module")
def standalone_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """Start the cluster with the scripts of the pyspark package."""
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as stack:
        master = _start_daemon(stack, folder, "master.Master", "--port", "0")
        url = eventually(lambda: _find(r"Starting Spark master at (spark://\S+)", master))
        workers = []
        for number in (1, 2):
            work = folder / f"worker{number}"
            options = ("--port", "0", "--cores", "1", "--memory", "1g", "--work-dir", str(work), url)
            worker = _start_daemon(stack, work, "worker.Worker", *options)
            eventually(lambda worker=worker: _find(r"Successfully registered with (master)", worker))
            workers.append(int((work / "pid").read_text()))
        yield StandaloneCluster(url, _make_bare_python(folder), tuple(workers))


def _start_daemon(stack: ExitStack, folder: Path, name: str, *options: str) -> Path:
    """Start a process of the cluster, and return its log."""
    folder.mkdir(exist_ok=True)
    script = Path(pyspark.__file__).parent / "bin" / "spark-class"
    command = [str(script), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--webui-port", "0", *options]
    environment = {**os.environ, **find_java().env, "SPARK_LOCAL_IP": "127.0.0.1"}
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment, start_new_session=True)
    stack.callback(process.wait)
    stack.callback(os.killpg, process.pid, signal.SIGKILL)
    (folder / "pid").write_text(str(process.pid))
    return log


def _find(pattern: str, log: Path) -> str:
    match = re.search(pattern, log.read_text(errors="replace"))
    return match[1] if match else ""


def _make_bare_python(folder: Path) -> Path:
    """Make a Python that has the packages of this one, but no contractlog."""
    packages = Path(pyspark.__file__).parent.parent
    venv.create(folder / "bare", with_pip=False)
    script = folder / "python"
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {folder / "bare" / "bin" / "python"} "$@"\n'
    )
    script.chmod(0o755)
    return script
