"""Consumer groups that read topics, by the offsets that they committed."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException
from confluent_kafka.admin import AdminClient

from contractlog.clients.cli.broker import Brokers
from contractlog.serdes.kafka_client import ClientErrors, client_config, convert_kafka_error, make_client

__all__ = ["ReaderGroup", "list_reader_groups"]

TIMEOUT_SECONDS: Final = 20.0  #: for all requests together
_REQUEST_SECONDS: Final = 10.0
_AT_ONCE: Final = 16  #: requests for offsets; the broker responds for one group at a time


@dataclass(frozen=True, slots=True)
class ReaderGroup:
    """A consumer group with committed offsets."""

    name: str
    state: str  #: such as ``stable``, or ``empty`` without members
    topics: tuple[str, ...]  #: those of the given ones that it has offsets of

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"group": self.name, "state": self.state, "topics": list(self.topics)}


def list_reader_groups(
    brokers: Brokers, topics: Collection[str], timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[list[ReaderGroup], int]:
    """Return the groups with committed offsets of topics, and the number of groups that are unknown.

    A group whose offsets the broker does not give, by permissions or in time, is unknown.

    Args:
        brokers: the cluster.
        topics: names of topics.
        timeout_seconds: limit of the time for all requests.

    Raises:
        Unreachable: no broker responds.
        BrokerDenied, UsageError: the broker rejects the user or the credentials.
    """
    deadline = time.monotonic() + timeout_seconds
    reasons = ClientErrors()
    client = make_client(AdminClient, client_config(brokers, **reasons.config))
    try:
        listing = client.list_consumer_groups(request_timeout=min(_REQUEST_SECONDS, timeout_seconds)).result()
    except KafkaException as error:
        reasons.check_credentials(client)
        raise convert_kafka_error(error.args[0], f"broker {brokers.servers}") from None
    if listing.errors and not listing.valid:  # an error of each broker that did not respond
        reasons.check_credentials(client)
        raise convert_kafka_error(listing.errors[0], f"broker {brokers.servers}")
    states = {group.group_id: group.state.name.lower().replace("_", " ") for group in listing.valid}
    committed = _fetch_topics(client, sorted(states), deadline)
    groups = []
    for name, offsets in sorted(committed.items()):
        read = offsets & set(topics)
        if read:
            groups.append(ReaderGroup(name, states[name], tuple(sorted(read))))
    return groups, len(states) - len(committed) + len(listing.errors)


def _fetch_topics(client: AdminClient, groups: list[str], deadline: float) -> Mapping[str, set[str]]:
    """Return the topics of which each group committed an offset; groups without a response are left out."""

    def fetch(group: str) -> set[str] | None:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        request = [ConsumerGroupTopicPartitions(group)]
        futures: Mapping[str, Future[Any]] = client.list_consumer_group_offsets(
            request, request_timeout=min(_REQUEST_SECONDS, left)
        )
        try:
            partitions = futures[group].result(timeout=left).topic_partitions or ()
        except (KafkaException, FutureTimeoutError):
            return None
        return {each.topic for each in partitions if each.error is None and each.offset >= 0}

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        responses = dict(zip(groups, pool.map(fetch, groups), strict=True))
    return {group: topics for group, topics in responses.items() if topics is not None}
