"""Kafka clients of the command line: configuration, the topic's partitions, and error messages."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

from confluent_kafka import KafkaError, KafkaException

from contractlog.clients.cli.broker import SERVERS, Brokers
from contractlog.clients.cli.output import print_message
from contractlog.compatibility.errors import BrokerDenied, ContractlogError, Unreachable, UsageError

__all__ = [
    "PERMISSION_ERRORS",
    "RESPONSE_SECONDS",
    "UNAVAILABLE_ERRORS",
    "ClientErrors",
    "client_config",
    "convert_kafka_error",
    "fetch_partitions",
    "fetch_topics",
    "make_client",
    "quiet_config",
]

C = TypeVar("C")

_LOGGER_NAME: Final = "contractlog.kafka"
RESPONSE_SECONDS: Final = 8.0  #: seconds for a broker to respond to the first request
_ATTEMPT_SECONDS: Final = 1.0  #: seconds between checks of the client's reported errors while no broker responds

#: Errors that a client reports while it cannot reach a broker.
UNAVAILABLE_ERRORS: Final = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 -- librdkafka's own error codes
        KafkaError._MSG_TIMED_OUT,  # noqa: SLF001
        KafkaError._RESOLVE,  # noqa: SLF001
        KafkaError._TIMED_OUT,  # noqa: SLF001
        KafkaError._TRANSPORT,  # noqa: SLF001
    }
)
#: Errors that a broker returns to a user without permission.
PERMISSION_ERRORS: Final = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)
_QUOTED_VALUE: Final = re.compile(r'([Vv]alue) (?:".*"|-?\d+) (for|is outside)', re.DOTALL)  #: of librdkafka's messages
_MIN_SECRET: Final = 4  #: characters; shorter values are parts of many words
_AUTHENTICATION_ERRORS: Final = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL})  # noqa: SLF001


class KafkaClient(Protocol):
    """Interface of producers, consumers and admin clients."""

    def list_topics(self, topic: str | None = ..., timeout: float = ...) -> Any:
        """Return the metadata of the broker's topics."""

    def poll(self, timeout: float = ...) -> Any:
        """Run pending callbacks."""


def quiet_config(servers: str, **further: Any) -> dict[str, Any]:
    """Return the configuration of a client that logs only what its properties request."""
    base = {"bootstrap.servers": servers, "log_level": 0, "error_cb": _ignore_error, "logger": _create_logger()}
    return base | further


class _EscapedLines(logging.Handler):
    """Prints log lines of librdkafka, which contain what a broker sent.

    By itself, librdkafka writes them unescaped.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Print a line to stderr."""
        print_message(f"librdkafka: {record.getMessage()}")


def _create_logger() -> logging.Logger:
    """Return the logger of clients; its lines appear whenever the client is polled."""
    logger = logging.getLogger(_LOGGER_NAME)
    if not logger.handlers:
        logger.addHandler(_EscapedLines())
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
    return logger


def client_config(brokers: Brokers, **owned: Any) -> dict[str, Any]:
    """Return the configuration of a quiet client of a cluster; ``owned`` overrides its properties."""
    return quiet_config(brokers.servers, **{**brokers.properties, **owned})


def _ignore_error(_: object) -> None:
    """Ignore an error."""


def make_client(kind: Callable[[dict[str, Any]], C], config: dict[str, Any]) -> C:
    """Make a client.

    Raises:
        UsageError: librdkafka rejects a property; the message names it.
    """
    try:
        return kind(config)
    except KafkaException as error:
        raise UsageError(f"--broker-config: {_remove_values(error.args[0].str(), config)}") from None
    except (TypeError, ValueError) as error:  # a property that only a program can set, such as a callback
        raise UsageError(f"--broker-config: {_remove_values(str(error), config)}") from None


def _remove_values(message: str, config: Mapping[str, Any]) -> str:
    """Return a message of librdkafka without values of properties, which may be secrets in the wrong line."""
    text = _QUOTED_VALUE.sub(r"\1 \2", message.strip())
    values = {value for name, value in config.items() if isinstance(value, str) and name not in SERVERS}
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _MIN_SECRET:
            text = text.replace(value, "…")
    return text


class ClientErrors:
    """Errors that a client reports through its callback; they often explain a timeout."""

    def __init__(self) -> None:
        self._errors: list[KafkaError] = []
        self.config: dict[str, Any] = {"error_cb": self._errors.append}  #: properties that the client needs

    def check_credentials(self, client: KafkaClient) -> None:
        """Check that the broker has not rejected the credentials or the TLS connection.

        Raises:
            UsageError: it has.
        """
        client.poll(0)  # runs pending callbacks
        reason = next((error.str() for error in self._errors if error.code() in _AUTHENTICATION_ERRORS), None)
        if reason is not None:
            raise UsageError(f"the broker rejected the credentials or the TLS connection: {reason}")


def fetch_topics(
    client: KafkaClient, reasons: ClientErrors, timeout_seconds: float = RESPONSE_SECONDS
) -> Mapping[str, Any]:
    """Return the metadata of a broker's topics.

    Raises:
        KafkaException: no response within ``timeout_seconds``.
        UsageError: the broker rejects the credentials or the TLS connection.
    """
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            topics: Mapping[str, Any] = client.list_topics(timeout=min(_ATTEMPT_SECONDS, timeout_seconds)).topics
        except KafkaException:
            reasons.check_credentials(client)
            if time.monotonic() >= deadline:
                raise
        else:
            return topics


def fetch_partitions(client: KafkaClient, topic: str, brokers: Brokers, reasons: ClientErrors) -> list[int]:
    """Return the partitions of a topic, ascending, without creating the topic.

    Raises:
        Unreachable: no broker responds.
        UsageError: the broker has no such topic, or rejects the credentials.
    """
    try:
        topics = fetch_topics(client, reasons)
    except KafkaException as error:
        raise convert_kafka_error(error.args[0], f"broker {brokers.servers}") from None
    if topic not in topics or topics[topic].error is not None:
        visible = " that this user may see" if brokers.properties else ""
        raise UsageError(f"the broker {brokers.servers} has no topic `{topic}`{visible}")
    return sorted(topics[topic].partitions)


def convert_kafka_error(error: KafkaError, what: str) -> ContractlogError:
    """Return the exception for a failure of the Kafka client, with which a command ends."""
    if error.code() in UNAVAILABLE_ERRORS:
        return Unreachable(f"{what}: no broker responds ({error.str()})")
    if error.code() in PERMISSION_ERRORS:
        return BrokerDenied(f"{what}: the broker does not permit this user to do that ({error.str()})")
    return UsageError(f"{what}: {error.str()}")
