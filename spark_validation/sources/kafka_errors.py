"""Errors of Kafka clusters: requests that raise ours, and retries while a partition has no leader."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from confluent_kafka import KafkaError, KafkaException

from contractlog.compatibility.errors import BrokerDenied, Unreachable
from contractlog.serdes.kafka_client import PERMISSION_ERRORS

__all__ = [
    "MISSING_TOPIC_CODES",
    "error_code",
    "raise_if_denied",
    "retry_without_leader",
    "send_request",
    "unreachable_error",
]

A = TypeVar("A")
MISSING_TOPIC_CODES: Final = frozenset({KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART})  # noqa: SLF001 - own codes
_NO_LEADER_CODES: Final = frozenset(
    {
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        *MISSING_TOPIC_CODES,
    }
)
_PAUSE: Final = 0.1  # seconds


def send_request(bootstrap: str, ask: Callable[[], A]) -> A:
    """Return the result of a request to the cluster.

    Raises:
        BrokerDenied: the user lacks a permission.
        Unreachable: the client gave up.
    """
    try:
        return ask()
    except KafkaException as error:
        raise_if_denied(bootstrap, error.args[0])
        raise unreachable_error(bootstrap, error.args[0]) from error


def retry_without_leader(ask: Callable[[], A], timeout_seconds: float) -> A:
    """Return the result of a request; retry while a new or moving partition has no leader.

    Args:
        ask: sends the request, about partitions that the cluster has listed.
        timeout_seconds: seconds after which the last error is raised.

    Raises:
        KafkaException: an error of another kind, or no leader when ``timeout_seconds`` ends.
    """
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error_code(error.args[0]) not in _NO_LEADER_CODES or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def raise_if_denied(bootstrap: str, error: KafkaError | None, what: str = "") -> None:
    """Raise if an error says that the user lacks a permission.

    Raises:
        BrokerDenied: the user lacks a permission.
    """
    if error is not None and error.code() in PERMISSION_ERRORS:
        raise BrokerDenied(f"the broker at {bootstrap} does not permit this user to read{what}: {error.str()}")


def unreachable_error(bootstrap: str, error: KafkaError | None, doing: str = "") -> Unreachable:
    """Return the exception for a broker that does not respond."""
    reason = f": {error.str()}" if error is not None else ""
    return Unreachable(f"the broker at {bootstrap} does not respond{doing}{reason}", bootstrap=bootstrap)


def error_code(error: KafkaError | None) -> int | None:
    """Return the code of an error, or None if there is no error."""
    return None if error is None else error.code()
