"""What every verb says and asks about its broker first."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, Final, Protocol

from confluent_kafka import KafkaError, KafkaException

from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE
from contractlog.compatibility.errors import ContractlogError, Unreachable, UsageError

__all__ = ["add_broker", "failed", "partitions", "quiet"]

PATIENCE: Final = 8.0  #: seconds for a broker to answer the first question

_AWAY: Final = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 -- so are codes of the client's own named
        KafkaError._MSG_TIMED_OUT,  # noqa: SLF001
        KafkaError._RESOLVE,  # noqa: SLF001
        KafkaError._TIMED_OUT,  # noqa: SLF001
        KafkaError._TRANSPORT,  # noqa: SLF001
    }
)


class Asked(Protocol):
    """A producer or a consumer."""

    def list_topics(self, topic: str | None = ..., timeout: float = ...) -> Any:
        """Return what the broker has."""


def add_broker(parser: ArgumentParser) -> None:
    """Add ``--bootstrap-servers``; ``clients.cli.broker`` reads it."""
    parser.add_argument(
        "--bootstrap-servers", metavar="HOST:PORT", help=f"the Kafka broker (else {BOOTSTRAP_VARIABLE})"
    )


def quiet(servers: str, **further: Any) -> dict[str, Any]:
    """Return the configuration of a client that leaves talking to us."""
    return {"bootstrap.servers": servers, "log_level": 0, "error_cb": lambda _: None, **further}


def partitions(client: Asked, topic: str, servers: str) -> list[int]:
    """Return the partitions of a topic, ascending; asking does not create it.

    Raises:
        Unreachable: no broker answers.
        UsageError: it has no such topic.
    """
    try:
        topics = client.list_topics(timeout=PATIENCE).topics
    except KafkaException as error:
        raise failed(error.args[0], f"broker {servers}") from None
    if topic not in topics or topics[topic].error is not None:
        raise UsageError(f"the broker {servers} has no topic `{topic}`")
    return sorted(topics[topic].partitions)


def failed(error: KafkaError, what: str) -> ContractlogError:
    """Return the exception that a failure of the broker's client ends a verb with."""
    if error.code() in _AWAY:
        return Unreachable(f"{what}: no broker answers ({error.str()})")
    return UsageError(f"{what}: {error.str()}")
