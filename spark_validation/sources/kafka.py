"""Kafka topics: their offset ranges, and a range as Arrow batches, read committed, without Spark.

The end of a range is fixed at planning: the last stable offset. A range is complete when the consumer's position has
passed its end, not when its last record has arrived: compaction, aborted records and transaction markers leave gaps
anywhere.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import IsolationLevel, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    OffsetSpec,
    ResourceType,
)

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.kafka_client import ClientErrors, fetch_topics, make_client, quiet_config
from contractlog.spark_validation.sources.kafka_errors import (
    MISSING_TOPIC_CODES,
    error_code,
    retry_without_leader,
    send_request,
)
from contractlog.spark_validation.sources.kafka_reader import BATCH_RECORDS, PROGRESS_TIMEOUT_SECONDS, KafkaRangeReader
from contractlog.spark_validation.sources.kafka_settings import NO_SETTINGS, KafkaSettings
from contractlog.spark_validation.sources.records import SPAN, OffsetRange, split_ranges

__all__ = ["fetch_cleanup_policies", "fetch_topic_ids", "find_offsets", "list_topics", "plan_ranges", "read_range"]

REQUEST_TIMEOUT_SECONDS: Final = 10.0  #: seconds for the response to a request


def read_range(
    bootstrap: str,
    offsets: OffsetRange,
    *,
    settings: KafkaSettings = NO_SETTINGS,
    batch: int = BATCH_RECORDS,
    timeout_seconds: float = PROGRESS_TIMEOUT_SECONDS,
) -> Iterator[pa.RecordBatch]:
    """Yield the committed records of one range, as ``KafkaRangeReader.read`` does for several."""
    with KafkaRangeReader(bootstrap, settings=settings, batch=batch, timeout_seconds=timeout_seconds) as reader:
        yield from reader.read(offsets)


def plan_ranges(
    bootstrap: str,
    topics: Sequence[str] = (),
    *,
    settings: KafkaSettings = NO_SETTINGS,
    span: int = SPAN,
    timeout_seconds: float = REQUEST_TIMEOUT_SECONDS,
) -> list[OffsetRange]:
    """Return the ranges that contain all current records of topics, up to the last stable offset.

    Args:
        bootstrap: the broker, ``host:port``.
        topics: topic names; if empty, all that do not start with ``_``.
        settings: additional librdkafka settings, for TLS and credentials.
        span: maximum number of offsets per range; a partition without offsets gives one empty range.
        timeout_seconds: timeout of requests in seconds.

    Raises:
        UsageError: a topic does not exist, or the broker rejects the credentials.
        BrokerDenied: the user may not see or read a topic.
        Unreachable: the broker does not respond, or a partition has no leader.
    """
    admin, metadata = _fetch_metadata(bootstrap, settings, timeout_seconds)
    partitions = _partitions(metadata, bootstrap, topics, secured=bool(settings))
    starts = _list_offsets(admin, bootstrap, partitions, OffsetSpec.earliest(), timeout_seconds)  # type: ignore[no-untyped-call]
    ends = _list_offsets(admin, bootstrap, partitions, OffsetSpec.latest(), timeout_seconds)  # type: ignore[no-untyped-call]
    return list(split_ranges((OffsetRange(*at, starts[at], max(starts[at], ends[at])) for at in partitions), span))


def list_topics(
    bootstrap: str, *, settings: KafkaSettings = NO_SETTINGS, timeout_seconds: float = REQUEST_TIMEOUT_SECONDS
) -> list[str]:
    """Return the names of all topics that the user may see, sorted.

    Raises:
        UsageError: the broker rejects the credentials.
        Unreachable: the broker does not respond.
    """
    _, metadata = _fetch_metadata(bootstrap, settings, timeout_seconds)
    return sorted(metadata)


def find_offsets(
    bootstrap: str,
    partitions: Sequence[tuple[str, int]],
    time: int,
    *,
    settings: KafkaSettings = NO_SETTINGS,
    timeout_seconds: float = REQUEST_TIMEOUT_SECONDS,
) -> dict[tuple[str, int], int]:
    """Return the first offset with a time (in milliseconds) or a later one, by partition.

    Raises:
        BrokerDenied: the user may not read a topic.
        Unreachable: the broker does not respond, or a partition has no leader.
    """
    admin = make_client(AdminClient, {**quiet_config(bootstrap), **settings})
    at = OffsetSpec.for_timestamp(max(time, 0))
    offsets = _list_offsets(admin, bootstrap, partitions, at, timeout_seconds)
    return {key: offset for key, offset in offsets.items() if offset >= 0}


def fetch_topic_ids(
    bootstrap: str,
    topics: Sequence[str],
    *,
    settings: KafkaSettings = NO_SETTINGS,
    timeout_seconds: float = REQUEST_TIMEOUT_SECONDS,
) -> dict[str, str]:
    """Return the ids of topics that have one; it changes when a topic is created again.

    Raises:
        Unreachable: the broker does not respond.
    """
    if not topics:
        return {}
    admin = make_client(AdminClient, {**quiet_config(bootstrap), **settings})
    ids: dict[str, str] = {}
    responses = admin.describe_topics(TopicCollection(list(topics)), request_timeout=timeout_seconds)
    for topic, response in responses.items():
        with contextlib.suppress(KafkaException):  # deleted meanwhile, or may not be described
            topic_id = str(response.result().topic_id)
            if topic_id.strip("A="):  # not all zeros, as of brokers without ids
                ids[topic] = topic_id
    return ids


def fetch_cleanup_policies(
    bootstrap: str,
    topics: Sequence[str],
    *,
    settings: KafkaSettings = NO_SETTINGS,
    timeout_seconds: float = REQUEST_TIMEOUT_SECONDS,
) -> dict[str, frozenset[str]]:
    """Return the cleanup policies (``compact``, ``delete``) of topics that the user may describe."""
    if not topics:
        return {}
    admin = make_client(AdminClient, {**quiet_config(bootstrap), **settings})
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    policies: dict[str, frozenset[str]] = {}
    for resource, response in admin.describe_configs(resources, request_timeout=timeout_seconds).items():
        with contextlib.suppress(KafkaException):  # deleted meanwhile, may not be described, or no response
            policy = response.result()["cleanup.policy"].value
            policies[resource.name] = frozenset(policy.replace(" ", "").split(","))
    return policies


def _fetch_metadata(
    bootstrap: str, settings: KafkaSettings, timeout_seconds: float
) -> tuple[AdminClient, Mapping[str, Any]]:
    reasons = ClientErrors()
    admin = make_client(AdminClient, {**quiet_config(bootstrap), **settings, **reasons.config})
    return admin, send_request(bootstrap, lambda: fetch_topics(admin, reasons, timeout_seconds))


def _partitions(
    metadata: Mapping[str, Any], bootstrap: str, topics: Sequence[str], *, secured: bool
) -> list[tuple[str, int]]:
    names = list(dict.fromkeys(topics)) or sorted(name for name in metadata if not name.startswith("_"))
    for name in names:
        if name not in metadata or (error_code(metadata[name].error) in MISSING_TOPIC_CODES):
            visible = ", or this user may not see it" if secured else ""
            raise UsageError(f"the topic `{name}` does not exist at {bootstrap}{visible}", topic=name)
    return [(name, partition) for name in names for partition in sorted(metadata[name].partitions)]


def _list_offsets(
    admin: AdminClient, bootstrap: str, partitions: Iterable[tuple[str, int]], at: OffsetSpec, timeout_seconds: float
) -> dict[tuple[str, int], int]:
    requests = {TopicPartition(topic, partition): at for topic, partition in partitions}
    if not requests:
        return {}

    def ask() -> dict[tuple[str, int], int]:
        responses = admin.list_offsets(
            requests, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=timeout_seconds
        )
        return {
            (partition.topic, partition.partition): response.result().offset
            for partition, response in responses.items()
        }

    return send_request(bootstrap, lambda: retry_without_leader(ask, timeout_seconds))
