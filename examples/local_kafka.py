r"""A real Apache Kafka broker on this machine, for the demo, tests and benchmarks.

It has one node, uses KRaft, and needs no containers.

>>> with Broker(Path("demo/kafka")) as broker:
...     print(broker.bootstrap_servers)

From the shell, until Ctrl-C: ``python examples/local_kafka.py start --folder demo/kafka``. The jars are downloaded
once (44 MB, by the Ivy inside pyspark) into ``.cache/``. A folder preserves its records and ports between runs.

With TLS, passwords (SASL/SCRAM) and ACLs, as in production:

    openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
        -keyout broker.pem -out cert.pem && cat cert.pem >> broker.pem
    python examples/local_kafka.py start --folder demo/secured --secure broker.pem --ca cert.pem
    contractlog consume orders --broker-config demo/secured/admin.properties

``admin`` may do everything; other users and their ACLs are created through an admin client.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from contractlog.compatibility.errors import ContractlogError, Unreachable, UsageError
from contractlog.spark_validation.spark.class_archive import class_archive_options
from contractlog.spark_validation.spark.java_runtime import Java, find_java

from child_process import ChildProcess, signal_group
from file_lock import find_holder, format_stop_instruction, lock_file
from kafka_jars import Say, fetch_jars, say_on_stderr

__all__ = ["ADMIN", "MECHANISM", "Broker", "Security"]

UNSAFE_WARNS_SINCE: Final = 23  #: the first Java release that warns about Kafka's memory access
HOST: Final = "127.0.0.1"
CLUSTER_ID: Final = "Y29udHJhY3Rsb2ctZGVtbw"
JVM_OPTIONS: Final = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
READY_TIMEOUT_SECONDS: Final = 180.0
STOP_TIMEOUT_SECONDS: Final = 10.0

#: Differences from Kafka's defaults: one node, quick to start and restart, unlimited retention.
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
    "broker.session.timeout.ms": 10_000,  # a busy machine may pause the broker; after a kill, the next start waits
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

ADMIN: Final = "admin"
MECHANISM: Final = "SCRAM-SHA-512"

#: Further settings of a broker with ``Security``. ``SECURE`` is the only listener for clients. The controller's
#: listener is unencrypted and local; its callers are ``ANONYMOUS``, as the broker itself is there.
SECURITY_SETTINGS: Final[Mapping[str, str | int]] = {
    "listener.security.protocol.map": "SECURE:SASL_SSL,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "SECURE",
    "sasl.enabled.mechanisms": MECHANISM,
    "sasl.mechanism.inter.broker.protocol": MECHANISM,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "false",
    "super.users": f"User:{ADMIN};User:ANONYMOUS",
    "ssl.keystore.type": "PEM",
    "ssl.truststore.type": "PEM",
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


@dataclass(frozen=True)
class Security:
    """TLS, SCRAM passwords and ACLs: without an ACL, only ``admin`` is permitted to do anything."""

    key_and_certificate: Path  #: PEM; the certificate names 127.0.0.1
    ca: Path  #: PEM; it signed that certificate, or is that certificate


class Broker:
    """A broker in a folder, in which its records and ports are preserved.

    It ends with ``stop()``, with the ``with`` block, and with the process that started it. A broker that an earlier,
    killed run left behind in the same folder is stopped first.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        settings: Mapping[str, str | int] | None = None,
        security: Security | None = None,
        print_line: Say = say_on_stderr,
    ) -> None:
        self.folder = Path(folder).resolve()
        self._security = security
        self._settings = dict(settings or {})
        self._print_line = print_line
        self._java: ChildProcess | None = None
        self._lock_stack = contextlib.ExitStack()
        self._find_ports: tuple[int, int] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The address for clients."""
        if self._find_ports is None:
            raise UsageError("the broker has not been started yet")
        return f"{HOST}:{self._find_ports[0]}"

    def client_properties(self) -> dict[str, str]:
        """Return the librdkafka properties to connect as ``admin``, or without security as any client."""
        servers = {"bootstrap.servers": self.bootstrap_servers}
        if self._security is None:
            return servers
        return servers | {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": MECHANISM,
            "sasl.username": ADMIN,
            "sasl.password": self._password(),
            "ssl.ca.location": str(self._security.ca.resolve()),
        }

    def start(self) -> Self:
        """Start the broker, and return as soon as it responds.

        Raises:
            UsageError: Java is missing, or another process runs a broker in this folder.
            Unreachable: the jars cannot be downloaded, or the broker does not start; the message has the path of its
            log.
        """
        if self._java is not None:
            return self
        java = find_java()
        libs = fetch_jars(java, self._print_line)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock_folder()
        try:
            self._stop_left_over()
            self._find_ports = _find_ports(self.folder / "ports.json", self._print_line)
            self._configure()
            self._format_storage(java, libs)
            self._launch(java, libs)
            self._await_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self, *, kill: bool = False) -> None:
        """Stop the broker; ``kill`` ends it without a clean shutdown."""
        if self._java is not None:
            self._java.stop(signal.SIGKILL if kill else signal.SIGTERM)
        self._java = None
        (self.folder / "broker.pid").unlink(missing_ok=True)
        self._lock_stack.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """True while the broker's process runs."""
        return self._java is not None and self._java.running

    def _server_properties(self) -> dict[str, str | int]:
        port, controller = self._find_ports or (0, 0)
        listener = "PLAINTEXT" if self._security is None else "SECURE"
        return {
            **SETTINGS,
            "controller.quorum.voters": f"1@{HOST}:{controller}",
            "listeners": f"{listener}://{HOST}:{port},CONTROLLER://{HOST}:{controller}",
            "advertised.listeners": f"{listener}://{HOST}:{port}",
            "log.dirs": str(self.folder / "data"),
            **self._security_properties(),
            **self._settings,
        }

    def _security_properties(self) -> dict[str, str | int]:
        if self._security is None:
            return {}
        module = "org.apache.kafka.common.security.scram.ScramLoginModule required"
        login = f'{module} username="{ADMIN}" password="{self._password()}";'
        return {
            **SECURITY_SETTINGS,
            "ssl.keystore.location": str(self._security.key_and_certificate.resolve()),
            "ssl.truststore.location": str(self._security.ca.resolve()),
            f"listener.name.secure.{MECHANISM.lower()}.sasl.jaas.config": login,
        }

    def _password(self) -> str:
        """Return the password of ``admin``, which is stored in the folder."""
        password_file = self.folder / "admin.password"
        if not password_file.exists():
            _write_private(password_file, secrets.token_urlsafe(24))
        return password_file.read_text()

    def _configure(self) -> None:
        if self._security is not None:
            text = "".join(f"{name}={value}\n" for name, value in self.client_properties().items())
            _write_private(self.folder / "admin.properties", text)
        lines = (
            f"{name}={str(value).replace(chr(92), chr(92) * 2)}\n" for name, value in self._server_properties().items()
        )
        _write_private(self.folder / "server.properties", "".join(lines))
        (self.folder / "log4j2.properties").write_text(LOGGING)

    def _java_command(self, java: Java, libs: Path, main_class: str, *arguments: str) -> list[str]:
        logging_options = [f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}"]
        logging_options += [f"-Dkafka.log={self.folder / 'kafka.log'}"]
        quiet_options = ["--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"]
        options = [*JVM_OPTIONS, *(quiet_options if java.release >= UNSAFE_WARNS_SINCE else []), *logging_options]
        options += class_archive_options(java, main_class.lower(), libs)
        return [str(java.command), *options, "-cp", f"{libs}/*", main_class, *arguments]

    def _format_storage(self, java: Java, libs: Path) -> None:
        if (self.folder / "data" / "meta.properties").exists():
            return
        properties = str(self.folder / "server.properties")
        command = self._java_command(
            java, libs, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", properties
        )
        if (
            self._security is not None
        ):  # the tool reads it only from its arguments, which other users of the machine may see
            command += ["--add-scram", f"{MECHANISM}=[name={ADMIN},password={self._password()}]"]
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if result.returncode:
            raise Unreachable(f"the broker's folder {self.folder} could not be formatted: {result.stdout.strip()}")

    def _launch(self, java: Java, libs: Path) -> None:
        command = self._java_command(java, libs, "kafka.Kafka", str(self.folder / "server.properties"))
        with (self.folder / "kafka.out").open("wb") as output:
            self._java = ChildProcess(command, cwd=self.folder, stdout=output, stderr=subprocess.STDOUT)
        (self.folder / "broker.pid").write_text(f"{self._java.pid}\n")

    def _await_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            if not self.running:
                raise Unreachable(f"the broker ended while it started; its log is {self.folder / 'kafka.log'}")
            if is_responding(self._find_ports[0] if self._find_ports else 0, self.client_properties()):
                return
            time.sleep(0.05)
        raise Unreachable(
            f"the broker did not respond within {READY_TIMEOUT_SECONDS:.0f} s; its log is {self.folder / 'kafka.log'}"
        )

    def stop_left_over(self) -> None:
        """Stop a broker whose owner has ended.

        Raises:
            UsageError: its owner still runs; the message names the process and how to stop it.
        """
        if self.folder.exists():
            self._lock_folder()
            with self._lock_stack:
                self._stop_left_over()

    def _lock_folder(self) -> None:
        lock = self.folder / "owner.lock"
        try:
            self._lock_stack.enter_context(lock_file(lock, wait=False))
        except BlockingIOError:
            holder_name = find_holder(lock) or "another process"
            raise UsageError(
                f"{holder_name} is running a broker on {self.folder}: {format_stop_instruction(holder_name)}, "
                "or name another --folder"
            ) from None

    def _stop_left_over(self) -> None:
        with contextlib.suppress(FileNotFoundError, ValueError):
            pid = int((self.folder / "broker.pid").read_text())
            if str(self.folder / "server.properties") in read_command_line(pid):
                self._print_line(f"stopping the broker that an earlier run left behind (process {pid})")
                _end_group(pid, lambda: str(self.folder / "server.properties") in read_command_line(pid))
        (self.folder / "broker.pid").unlink(missing_ok=True)


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text)


def _find_ports(ports_file: Path, print_line: Say) -> tuple[int, int]:
    """Return the broker's and the controller's port: those stored in the folder, if they are free."""
    if ports_file.exists():
        port, controller = json.loads(ports_file.read_text())
        if is_free_port(port) and is_free_port(controller):
            return port, controller
        print_line(f"port {port} or {controller} is in use by another program; the broker uses new ones")
    with socket.socket() as first, socket.socket() as second:
        first.bind((HOST, 0))
        second.bind((HOST, 0))
        ports = first.getsockname()[1], second.getsockname()[1]
    ports_file.write_text(json.dumps(ports))
    return ports


def is_free_port(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def is_responding(port: int, properties: Mapping[str, str]) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    try:
        return bool(AdminClient({**properties, "log_level": 0}).list_topics(timeout=2).brokers)
    except KafkaException:
        return False


def read_command_line(pid: int) -> str:
    """Return the command line of a process; empty if there is no such process."""
    process = Path("/proc", str(pid), "cmdline")
    if Path("/proc/self").exists():
        with contextlib.suppress(OSError):
            return process.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return ""
    return subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout


def _end_group(group: int, is_running: Callable[[], bool]) -> None:
    signal_group(group, signal.SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT_SECONDS
    while is_running() and time.monotonic() < deadline:
        time.sleep(0.05)
    if is_running():
        signal_group(group, signal.SIGKILL)


def main(argv: list[str] | None = None) -> int:
    """Download the jars, or run a broker in the foreground."""
    parser = ArgumentParser(
        description="A real Apache Kafka broker on this machine, in a folder that preserves its records and ports.",
        epilog="example:\n  python examples/local_kafka.py start --folder demo/kafka",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "action", choices=["start", "fetch"], help="run a broker until Ctrl-C, or only download the jars"
    )
    parser.add_argument("--folder", type=Path, default=Path("kafka"), help="folder of the records (default: kafka)")
    parser.add_argument("--secure", type=Path, metavar="PEM", help="with TLS, SCRAM and ACLs: key and certificate")
    parser.add_argument("--ca", type=Path, metavar="PEM", help="the CA of that certificate (default: the file itself)")
    arguments = parser.parse_args(argv)
    security = Security(arguments.secure, arguments.ca or arguments.secure) if arguments.secure else None
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if arguments.action == "fetch":
            print(fetch_jars())
            return 0
        with Broker(arguments.folder, security=security) as broker:
            print(broker.bootstrap_servers, flush=True)
            if security is not None:
                say_on_stderr(f"to connect as {ADMIN}: --broker-config {broker.folder / 'admin.properties'}")
            say_on_stderr("the broker is ready; Ctrl-C stops it")
            while broker.running:
                time.sleep(0.2)
        say_on_stderr(f"the broker ended by itself; its log is {broker.folder / 'kafka.log'}")
    except KeyboardInterrupt:
        say_on_stderr("the broker is stopped")
        return 0
    except ContractlogError as error:
        say_on_stderr(f"local_kafka: {error}")
        return 3 if isinstance(error, Unreachable) else 2
    return 3


if __name__ == "__main__":
    sys.exit(main())
