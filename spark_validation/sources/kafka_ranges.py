"""Offset ranges of Kafka topics, fixed at planning: from the first to the last stable offset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.kafka_client import ClientErrors, fetch_topics, make_client
from contractlog.spark_validation.sources.kafka_connection import (
    MISSING_TOPIC_CODES,
    NO_SETTINGS,
    KafkaSettings,
    base_config,
    error_code,
    retry_without_leader,
    send_request,
)
from contractlog.spark_validation.sources.records import SPAN, OffsetRange, split_ranges

__all__ = ["plan_ranges"]

PATIENCE: Final = 10.0


def plan_ranges(
    bootstrap: str,
    topics: Sequence[str] = (),
    *,
    settings: KafkaSettings = NO_SETTINGS,
    span: int = SPAN,
    patience: float = PATIENCE,
) -> list[OffsetRange]:
    """Return the ranges that contain all current records of topics, up to the last stable offset.

    Args:
        bootstrap: the broker, ``host:port``.
        topics: topic names; if empty, all that do not start with ``_``.
        settings: additional librdkafka settings, for TLS and credentials.
        span: maximum number of offsets per range; a partition without offsets gives one empty range.
        patience: timeout of requests in seconds.

    Raises:
        UsageError: a topic does not exist, or the broker rejects the credentials.
        BrokerDenied: the user may not see or read a topic.
        Unreachable: the broker does not respond, or a partition has no leader.
    """
    reasons = ClientErrors()
    admin = make_client(AdminClient, {**base_config(bootstrap), **settings, **reasons.config})
    found = send_request(bootstrap, lambda: fetch_topics(admin, reasons, patience))
    partitions = _partitions(found, bootstrap, topics, secured=bool(settings))
    starts = _list_offsets(admin, bootstrap, partitions, OffsetSpec.earliest(), patience)  # type: ignore[no-untyped-call]
    ends = _list_offsets(admin, bootstrap, partitions, OffsetSpec.latest(), patience)  # type: ignore[no-untyped-call]
    return list(split_ranges((OffsetRange(*at, starts[at], max(starts[at], ends[at])) for at in partitions), span))


def _partitions(
    found: Mapping[str, Any], bootstrap: str, topics: Sequence[str], *, secured: bool
) -> list[tuple[str, int]]:
    names = list(dict.fromkeys(topics)) or sorted(name for name in found if not name.startswith("_"))
    for name in names:
        if name not in found or (error_code(found[name].error) in MISSING_TOPIC_CODES):
            visible = ", or this user may not see it" if secured else ""
            raise UsageError(f"the topic `{name}` does not exist at {bootstrap}{visible}", topic=name)
    return [(name, partition) for name in names for partition in sorted(found[name].partitions)]


def _list_offsets(
    admin: AdminClient, bootstrap: str, partitions: Iterable[tuple[str, int]], at: OffsetSpec, patience: float
) -> dict[tuple[str, int], int]:
    asked = {TopicPartition(topic, partition): at for topic, partition in partitions}
    if not asked:
        return {}

    def ask() -> dict[tuple[str, int], int]:
        answers = admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=patience)
        return {(place.topic, place.partition): told.result().offset for place, told in answers.items()}

    return send_request(bootstrap, lambda: retry_without_leader(ask, patience))
