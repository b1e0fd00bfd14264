"""Offset ranges of Kafka topics, fixed at planning: from the first to the last stable offset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.broker import Reasons, make_client, topics_of
from contractlog.spark_validation.sources.kafka_talk import (
    NO_SETTINGS,
    NO_TOPIC,
    Settings,
    answer,
    code_of,
    connection,
    settled,
)
from contractlog.spark_validation.sources.records import SPAN, OffsetRange, split

__all__ = ["plan_ranges"]

PATIENCE: Final = 10.0


def plan_ranges(
    bootstrap: str,
    topics: Sequence[str] = (),
    *,
    settings: Settings = NO_SETTINGS,
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
    reasons = Reasons()
    admin = make_client(AdminClient, {**connection(bootstrap), **settings, **reasons.config})
    found = answer(bootstrap, lambda: topics_of(admin, reasons, patience))
    partitions = _partitions(found, bootstrap, topics, secured=bool(settings))
    starts = _offsets(admin, bootstrap, partitions, OffsetSpec.earliest(), patience)  # type: ignore[no-untyped-call]
    ends = _offsets(admin, bootstrap, partitions, OffsetSpec.latest(), patience)  # type: ignore[no-untyped-call]
    return list(split((OffsetRange(*at, starts[at], max(starts[at], ends[at])) for at in partitions), span))


def _partitions(
    found: Mapping[str, Any], bootstrap: str, topics: Sequence[str], *, secured: bool
) -> list[tuple[str, int]]:
    names = list(dict.fromkeys(topics)) or sorted(name for name in found if not name.startswith("_"))
    for name in names:
        if name not in found or (code_of(found[name].error) in NO_TOPIC):
            visible = ", or this user may not see it" if secured else ""
            raise UsageError(f"the topic `{name}` does not exist at {bootstrap}{visible}", topic=name)
    return [(name, partition) for name in names for partition in sorted(found[name].partitions)]


def _offsets(
    admin: AdminClient, bootstrap: str, partitions: Iterable[tuple[str, int]], at: OffsetSpec, patience: float
) -> dict[tuple[str, int], int]:
    asked = {TopicPartition(topic, partition): at for topic, partition in partitions}
    if not asked:
        return {}

    def ask() -> dict[tuple[str, int], int]:
        answers = admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=patience)
        return {(place.topic, place.partition): told.result().offset for place, told in answers.items()}

    return answer(bootstrap, lambda: settled(ask, patience))
