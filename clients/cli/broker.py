"""Kafka cluster settings of the command line: servers and librdkafka properties."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contractlog.compatibility.errors import UsageError

__all__ = [
    "BOOTSTRAP_VARIABLE",
    "PROPERTIES_VARIABLE",
    "SERVERS",
    "Brokers",
    "add_broker_config",
    "add_broker_options",
    "find_brokers",
    "read_properties",
    "read_text",
    "require_brokers",
]

BOOTSTRAP_VARIABLE: Final = "CONTRACTLOG_BOOTSTRAP_SERVERS"
PROPERTIES_VARIABLE: Final = "CONTRACTLOG_BROKER_CONFIG"

_MAX_BYTES: Final = 1024 * 1024  #: of a file with properties or a secret
_PROPERTY: Final = re.compile(r"([A-Za-z0-9_.]+)\s*=\s*(.*)")
SERVERS: Final = ("bootstrap.servers", "metadata.broker.list")  #: two names of one librdkafka property
_NO_CONSUMER_GROUP: Final = "contractlog reads by offset, without a consumer group"
_LOADS_CODE: Final = "it would load code into this process"
_NEEDS_PYTHON: Final = "its value is a Python object, which a file cannot have"
#: Properties that are not accepted, with the reason.
_REJECTED_PROPERTIES: Final[Mapping[str, str]] = {
    "group.id": _NO_CONSUMER_GROUP,
    "enable.auto.commit": _NO_CONSUMER_GROUP,
    "auto.commit.enable": _NO_CONSUMER_GROUP,
    "auto.offset.reset": _NO_CONSUMER_GROUP,
    "enable.partition.eof": "contractlog needs it to find the end of a partition",
    **dict.fromkeys(("plugin.library.paths", "ssl.engine.location", "ssl.providers"), _LOADS_CODE),
    "sasl.kerberos.kinit.cmd": "it would run a command",
    **dict.fromkeys(("default.topic.config", "logger", "on_commit", "on_delivery"), _NEEDS_PYTHON),
    **dict.fromkeys(("error_cb", "log_cb", "oauth_cb", "stats_cb", "throttle_cb"), _NEEDS_PYTHON),
}


@dataclass(frozen=True, slots=True)
class Brokers:
    """Kafka cluster: bootstrap servers, and the librdkafka properties to connect to it."""

    servers: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    file: Path | None = field(default=None, compare=False)  #: the file with the properties


def add_broker_options(parser: ArgumentParser) -> None:
    """Add ``--bootstrap-servers`` and ``--broker-config``; ``require_brokers`` reads them."""
    parser.add_argument(
        "--bootstrap-servers", metavar="HOST:PORT", help=f"the Kafka broker (else {BOOTSTRAP_VARIABLE})"
    )
    add_broker_config(parser)


def add_broker_config(parser: ArgumentParser) -> None:
    """Add ``--broker-config`` alone, for verbs with ``--bootstrap-servers`` in a separate group."""
    parser.add_argument(
        "--broker-config",
        metavar="FILE",
        help="file of librdkafka properties, one `name=value` per line: security.protocol, sasl.username, … "
        f"(else {PROPERTIES_VARIABLE})",
    )


def find_brokers(options: Namespace, environ: Mapping[str, str] | None = None) -> Brokers | None:
    """Return the cluster from options, properties file or environment, in this order, or None.

    Raises:
        UsageError: the properties file cannot be used.
    """
    variables = os.environ if environ is None else environ
    file = options.broker_config or variables.get(PROPERTIES_VARIABLE)
    properties = read_properties(file) if file else {}
    listed = [properties.pop(name) for name in SERVERS if name in properties]
    servers = options.bootstrap_servers or next(iter(listed), None) or variables.get(BOOTSTRAP_VARIABLE)
    return Brokers(servers, properties, Path(file) if file else None) if servers else None


def require_brokers(options: Namespace, environ: Mapping[str, str] | None = None, *, instead: str = "") -> Brokers:
    """Return the cluster from options, properties file or environment, in this order.

    Args:
        options: with ``--bootstrap-servers`` and ``--broker-config``.
        environ: replaces the environment of the process.
        instead: an alternative, appended to the error message.

    Raises:
        UsageError: no cluster is given, or the properties file cannot be used.
    """
    brokers = find_brokers(options, environ)
    if brokers is None:
        raise UsageError(f"name the broker: --bootstrap-servers HOST:PORT, or set {BOOTSTRAP_VARIABLE}{instead}")
    return brokers


def read_properties(file: str | Path) -> dict[str, str]:
    """Return the librdkafka properties in a file; messages never quote a value, which may be a secret.

    Raises:
        UsageError: the file cannot be read, has another format, or sets a property that is not accepted.
    """
    properties: dict[str, str] = {}
    for number, line in enumerate(read_text(file, "--broker-config").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _PROPERTY.fullmatch(text)
        if match is None:
            raise UsageError(f"--broker-config: line {number} of `{file}` is not `name=value`")
        name = match[1].removeprefix("topic.")  # librdkafka also accepts topic properties with this prefix
        if name in _REJECTED_PROPERTIES:
            raise UsageError(
                f"--broker-config: line {number} of `{file}` sets `{match[1]}`, which is not accepted: "
                f"{_REJECTED_PROPERTIES[name]}. Remove the line."
            )
        properties[match[1]] = match[2]
    return properties


def read_text(file: str | Path, option: str) -> str:
    """Return the text of a file given by an option.

    Raises:
        UsageError: the file cannot be read, is too large, or is not UTF-8.
    """
    try:
        with Path(file).open("rb") as source:  # a pipe is allowed: secrets come from `<(…)`
            content = source.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise UsageError(f"{option}: `{file}` is larger than {_MAX_BYTES:,} bytes")
        return content.decode()
    except OSError as error:
        raise UsageError(f"{option}: `{file}` cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{option}: `{file}` is not UTF-8 text") from None
