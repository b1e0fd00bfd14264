"""Talk with a Kafka cluster: how a client is set up, and what its silence means."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException

from contractlog.compatibility.errors import Unreachable

__all__ = ["NO_SETTINGS", "NO_TOPIC", "Settings", "answer", "code_of", "connection", "settled", "unreachable"]

A = TypeVar("A")
Settings = Mapping[str, Any]
NO_SETTINGS: Final[Settings] = {}
NO_TOPIC: Final = frozenset({KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART})  # noqa: SLF001 - own codes
_MOVING: Final = frozenset(
    {
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        *NO_TOPIC,
    }
)
_PAUSE: Final = 0.1  # seconds


def connection(bootstrap: str) -> dict[str, Any]:
    """Return the settings that every client has."""
    # what the client has to say about connections reaches people as one sentence, when it matters
    return {"bootstrap.servers": bootstrap, "log_level": 0, "error_cb": _ignore}


def _ignore(_: object) -> None:
    """Swallow."""


def answer(bootstrap: str, ask: Callable[[], A]) -> A:
    """Return what was asked.

    Raises:
        Unreachable: the client gave up.
    """
    try:
        return ask()
    except KafkaException as error:
        raise unreachable(bootstrap, error.args[0]) from error


def settled(ask: Callable[[], A], patience: float) -> A:
    """Return what was asked; while a new or moving partition has no leader yet, ask again.

    Args:
        ask: asks of partitions that the cluster has named.
        patience: seconds after which the answer counts, whatever it is.

    Raises:
        KafkaException: of another kind, or still the same when patience ends.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            return ask()
        except KafkaException as error:
            if code_of(error.args[0]) not in _MOVING or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def unreachable(bootstrap: str, error: KafkaError | None, doing: str = "") -> Unreachable:
    """Return the exception that a silent broker is told by."""
    reason = f": {error.str()}" if error is not None else ""
    return Unreachable(f"the broker at {bootstrap} does not answer{doing}{reason}", bootstrap=bootstrap)


def code_of(error: KafkaError | None) -> int | None:
    """Return the code of an error; None where there is none."""
    return None if error is None else error.code()
