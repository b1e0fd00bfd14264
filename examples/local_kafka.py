"""A real Apache Kafka broker on this machine, for the demo, tests and benchmarks: one node, KRaft, no containers.

>>> with Broker(Path("demo/kafka")) as broker:
...     print(broker.bootstrap_servers)

From the shell, until Ctrl-C: ``python examples/local_kafka.py start --folder demo/kafka``. The jars are fetched once
(44 MB, by the Ivy that comes inside pyspark) into ``.cache/``. A folder keeps its records and ports from run to run.
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from locks import holder, how_to_stop, locked

from contractlog.compatibility.errors import ContractlogError, Unreachable, UsageError
from contractlog.spark_validation.java import Java, find_java

from children import Child, signal_group
from kafka_jars import Say, fetch_jars, say_on_stderr

__all__ = ["Broker"]

UNSAFE_WARNS_SINCE: Final = 23  #: the Java that began to warn of what Kafka does with memory
HOST: Final = "127.0.0.1"
CLUSTER_ID: Final = "Y29udHJhY3Rsb2ctZGVtbw"
JVM: Final = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
READY_WITHIN: Final = 60.0
GONE_WITHIN: Final = 10.0

#: What differs from Kafka's defaults: one node, quick to start and to restart, records of any age are kept.
SETTINGS: Final[Mapping[str, str | int]] = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": "false",
    "num.partitions": 1,
    "log.retention.ms": -1,  # records with old timestamps would vanish while they are read
    "broker.session.timeout.ms": 1000,  # after a kill, the next start waits for this
    "broker.heartbeat.interval.ms": 200,
    "num.network.threads": 1,
    "num.io.threads": 2,
    "background.threads": 2,
    "log.cleaner.threads": 1,
    "log.cleaner.dedupe.buffer.size": 1048577,
    "log.cleaner.backoff.ms": 500,
    "log.retention.check.interval.ms": 1000,
    "log.initial.task.delay.ms": 500,
    "log.segment.delete.delay.ms": 1000,
}

LOGGING: Final = """\
status=off
rootLogger.level=warn
rootLogger.appenderRef.f.ref=F
appender.f.type=File
appender.f.name=F
appender.f.fileName=${sys:kafka.log}
appender.f.layout.type=PatternLayout
appender.f.layout.pattern=%d %p %c - %m%n
"""


class Broker:
    """A broker on a folder: records and ports outlive it, nothing else does.

    It ends with ``stop()``, with the ``with`` block, and when the process that started it is gone. What an earlier,
    killed run left behind on the same folder is stopped first.
    """

    def __init__(
        self, folder: Path | str, *, settings: Mapping[str, str | int] | None = None, say: Say = say_on_stderr
    ) -> None:
        self.folder = Path(folder).resolve()
        self._settings = dict(settings or {})
        self._say = say
        self._java: Child | None = None
        self._held = contextlib.ExitStack()
        self._ports: tuple[int, int] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect."""
        if self._ports is None:
            raise UsageError("the broker has not been started yet")
        return f"{HOST}:{self._ports[0]}"

    def start(self) -> Self:
        """Start the broker, and return when it answers.

        Raises:
            UsageError: no Java, or another process has a broker on this folder.
            Unreachable: the jars cannot be fetched, or the broker does not come up; says where its log is.
        """
        if self._java is not None:
            return self
        java = find_java()
        libs = fetch_jars(java, self._say)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._own()
        try:
            self._stop_left_over()
            self._ports = _ports(self.folder / "ports.json", self._say)
            self._configure()
            self._format(java, libs)
            self._launch(java, libs)
            self._await_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self, *, kill: bool = False) -> None:
        """Stop the broker; ``kill`` gives it no chance to write anything down."""
        if self._java is not None:
            self._java.stop(signal.SIGKILL if kill else signal.SIGTERM)
        self._java = None
        (self.folder / "broker.pid").unlink(missing_ok=True)
        self._held.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._java is not None and self._java.running

    def _properties(self) -> dict[str, str | int]:
        port, controller = self._ports or (0, 0)
        return {
            **SETTINGS,
            "controller.quorum.voters": f"1@{HOST}:{controller}",
            "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller}",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
            "log.dirs": str(self.folder / "data"),
            **self._settings,
        }

    def _configure(self) -> None:
        lines = (f"{name}={str(value).replace(chr(92), chr(92) * 2)}\n" for name, value in self._properties().items())
        (self.folder / "server.properties").write_text("".join(lines))
        (self.folder / "log4j2.properties").write_text(LOGGING)

    def _command(self, java: Java, libs: Path, main: str, *arguments: str) -> list[str]:
        logging = [f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}"]
        logging += [f"-Dkafka.log={self.folder / 'kafka.log'}"]
        quiet = ["--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"]
        options = [*JVM, *(quiet if java.release >= UNSAFE_WARNS_SINCE else []), *logging]
        return [str(java.command), *options, "-cp", f"{libs}/*", main, *arguments]

    def _format(self, java: Java, libs: Path) -> None:
        if (self.folder / "data" / "meta.properties").exists():
            return
        properties = str(self.folder / "server.properties")
        command = self._command(java, libs, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", properties)
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode:
            raise Unreachable(f"the broker's folder {self.folder} could not be formatted: {done.stdout.strip()}")

    def _launch(self, java: Java, libs: Path) -> None:
        command = self._command(java, libs, "kafka.Kafka", str(self.folder / "server.properties"))
        with (self.folder / "kafka.out").open("wb") as output:
            self._java = Child(command, cwd=self.folder, stdout=output, stderr=subprocess.STDOUT)
        (self.folder / "broker.pid").write_text(f"{self._java.pid}\n")

    def _await_ready(self) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline:
            if not self.running:
                raise Unreachable(f"the broker ended while it started; its log is {self.folder / 'kafka.log'}")
            if _answers(self._ports[0] if self._ports else 0):
                return
            time.sleep(0.05)
        raise Unreachable(
            f"the broker did not answer within {READY_WITHIN:.0f} s; its log is {self.folder / 'kafka.log'}"
        )

    def stop_left_over(self) -> None:
        """Stop a broker whose owner is gone.

        Raises:
            UsageError: its owner is there; says which process that is, and how to stop it.
        """
        if self.folder.exists():
            self._own()
            with self._held:
                self._stop_left_over()

    def _own(self) -> None:
        lock = self.folder / "owner.lock"
        try:
            self._held.enter_context(locked(lock, wait=False))
        except BlockingIOError:
            who = holder(lock) or "another process"
            raise UsageError(
                f"{who} is running a broker on {self.folder}: {how_to_stop(who)}, or name another --folder"
            ) from None

    def _stop_left_over(self) -> None:
        with contextlib.suppress(FileNotFoundError, ValueError):
            pid = int((self.folder / "broker.pid").read_text())
            if str(self.folder / "server.properties") in _command_line(pid):
                self._say(f"stopping the broker that an earlier run left behind (process {pid})")
                _end(pid, lambda: str(self.folder / "server.properties") in _command_line(pid))
        (self.folder / "broker.pid").unlink(missing_ok=True)


def _ports(kept: Path, say: Say) -> tuple[int, int]:
    """Return the broker's and the controller's port: those kept in the folder, as long as they are free."""
    if kept.exists():
        port, controller = json.loads(kept.read_text())
        if _free(port) and _free(controller):
            return port, controller
        say(f"port {port} or {controller} is in use by another program; the broker takes new ones")
    with socket.socket() as first, socket.socket() as second:
        first.bind((HOST, 0))
        second.bind((HOST, 0))
        ports = first.getsockname()[1], second.getsockname()[1]
    kept.write_text(json.dumps(ports))
    return ports


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _answers(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    try:
        return bool(AdminClient({"bootstrap.servers": f"{HOST}:{port}", "log_level": 0}).list_topics(timeout=2).brokers)
    except KafkaException:
        return False


def _command_line(pid: int) -> str:
    """Return the words a process was started with; empty when there is no such process."""
    process = Path("/proc", str(pid), "cmdline")
    if Path("/proc/self").exists():
        with contextlib.suppress(OSError):
            return process.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return ""
    return subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout


def _end(group: int, there: Callable[[], bool]) -> None:
    signal_group(group, signal.SIGTERM)
    deadline = time.monotonic() + GONE_WITHIN
    while there() and time.monotonic() < deadline:
        time.sleep(0.05)
    if there():
        signal_group(group, signal.SIGKILL)


def main(argv: list[str] | None = None) -> int:
    """Fetch the jars, or run a broker in the foreground."""
    parser = ArgumentParser(
        description="A real Apache Kafka broker on this machine, on a folder that keeps its records and ports.",
        epilog="example:\n  python examples/local_kafka.py start --folder demo/kafka",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", choices=["start", "fetch"], help="run until Ctrl-C; or only fetch the jars")
    parser.add_argument("--folder", type=Path, default=Path("kafka"), help="where records are kept (default: kafka)")
    arguments = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if arguments.action == "fetch":
            print(fetch_jars())
            return 0
        with Broker(arguments.folder) as broker:
            print(broker.bootstrap_servers, flush=True)
            say_on_stderr("the broker is ready; Ctrl-C stops it")
            while broker.running:
                time.sleep(0.2)
        say_on_stderr(f"the broker ended by itself; its log is {broker.folder / 'kafka.log'}")
    except KeyboardInterrupt:
        say_on_stderr("stopped")
        return 0
    except ContractlogError as error:
        say_on_stderr(f"local_kafka: {error}")
        return 3 if isinstance(error, Unreachable) else 2
    return 3


if __name__ == "__main__":
    sys.exit(main())
