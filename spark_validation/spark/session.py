"""A Spark session for audits: quick to start, quiet, with this Python and the Java that was found."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

import pyspark
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.sql import SparkSession

from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.spark_validation.spark.class_archive import class_archive_options
from contractlog.spark_validation.spark.cluster import SparkCluster, copy_wheel
from contractlog.spark_validation.spark.java_runtime import Java, find_java

__all__ = ["SparkFailed", "open_session", "prepare_environment"]

_PY4J_PREFIX: Final = "An error occurred while calling"
_TRACEBACK: Final = "Traceback (most recent call last):"
_MAX_REASON_LENGTH: Final = 300
LOCAL: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.maxResultSize": "0",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.shuffle.compress": "false",
}
CLUSTER: Final[Mapping[str, str]] = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}


class SparkFailed(ContractlogError):
    """Spark ended a job with an error that was not raised by contractlog; exit code 2."""

    template = "the audit's Spark job failed: {reason} (Spark's own log: {log})"

    @classmethod
    def of(cls, error: Exception, log: str = "where the session writes it") -> SparkFailed:
        """Return the failure for an exception raised by Spark, Java or a worker."""
        return cls(reason=_describe_error(error), log=log)

    def logged_in(self, log: str) -> SparkFailed:
        """Return the same failure with the path of Spark's log."""
        return type(self)(reason=self.facts["reason"], log=log)


def _describe_error(error: Exception) -> str:
    """Return the most informative line of an error: a worker's own exception, else Java's first line."""
    if isinstance(error, OSError | Py4JNetworkError):
        return f"its Java process has ended ({error})"
    head, _, raised = str(error).rpartition(_TRACEBACK)
    lines = [line for line in raised.splitlines() if line.strip() and not (head and line.startswith(" "))]
    informative = [line.removeprefix(": ").strip() for line in lines if not line.startswith(_PY4J_PREFIX)]
    reason = (informative or lines or [type(error).__name__])[0]
    if "No module named 'contractlog" in reason:
        return "the workers do not have contractlog: install it there, or send it with --wheel FILE"
    return reason if len(reason) <= _MAX_REASON_LENGTH else f"{reason[:_MAX_REASON_LENGTH]} …"


@contextmanager
def open_session(
    master: str = "local[*]", *, name: str = "contractlog", wheel: Path | None = None
) -> Iterator[SparkSession]:
    """Yield a session; an active one is used and left running.

    The workers of a cluster run the Python in ``PYSPARK_PYTHON``; by default, the path of this one.

    Output of Java and Spark goes to a log file, which is retained and named in the error if the session cannot start or
    fails.

    Args:
        master: the Spark cluster.
        name: name of the application.
        wheel: wheel of contractlog to send to the workers; None: they have it installed.

    Raises:
        UsageError: no Java, or Spark does not start.
        SparkFailed: raised by the block; the path of Spark's log is added.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    prepare_environment()
    local = SparkCluster(master, wheel).local
    if local:
        os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with _defer_interrupts() as interrupted, _redirect_stderr() as log:
        session = _start_session(master, name, _local_settings() if local else CLUSTER, log)
    log_needed = False
    try:
        if interrupted:
            raise KeyboardInterrupt
        with tempfile.TemporaryDirectory(prefix="contractlog-wheel-") as folder:
            if wheel is not None:
                session.sparkContext.addPyFile(str(copy_wheel(wheel, Path(folder))))
            yield session
    except SparkFailed as failed:
        log_needed = True
        raise failed.logged_in(str(log)) from failed
    finally:
        _stop_session(session)
        if not log_needed:
            log.unlink(missing_ok=True)


def _local_settings() -> dict[str, str]:
    option = "spark.driver.extraJavaOptions"
    jars = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent, "jars")
    archive_options = class_archive_options(prepare_environment(), "spark", jars)
    return {**LOCAL, option: " ".join((LOCAL[option], *map(shlex.quote, archive_options)))}


def _stop_session(session: SparkSession) -> None:
    with suppress(Py4JError, OSError):  # the Java process may have ended already
        session.stop()


@cache
def prepare_environment() -> Java:
    """Set Java and Python for Spark in the environment, before any other work, and return that Java.

    Raises:
        UsageError: there is no suitable Java.
    """
    java = find_java()
    os.environ.update(java.env)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    return java


def _start_session(master: str, name: str, settings: Mapping[str, str], log: Path) -> SparkSession:
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        last = lines[-1] if lines else str(error)
        raise UsageError(f"Spark does not start on `{master}`: {last} (full log: {log})", log=str(log)) from error


@contextmanager
def _defer_interrupts() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM without acting on them: Java abandoned during startup would never exit."""
    arrived: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield arrived
        return

    def hold(number: int, _: object) -> None:
        arrived.append(number)

    former = {number: signal.signal(number, hold) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield arrived
    finally:
        for number, handler in former.items():
            if signal.getsignal(number) is hold:  # Spark installs its own, which cancels its jobs
                signal.signal(number, handler)


@contextmanager
def _redirect_stderr() -> Iterator[Path]:
    """Redirect the standard error of processes started in the block, and our own, to a file."""
    handle, path = tempfile.mkstemp(prefix="contractlog-spark-", suffix=".log")
    sys.stderr.flush()
    standard_error = os.dup(2)
    try:
        os.dup2(handle, 2)
        yield Path(path)
    finally:
        sys.stderr.flush()
        os.dup2(standard_error, 2)
        os.close(standard_error)
        os.close(handle)
