"""The topics of the demo, and their schema files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from contractlog.serdes.kafka_client import quiet_config

__all__ = [
    "AIRCRAFT",
    "AIRPORTS",
    "DELAYED",
    "DEPARTED",
    "DEPARTED_DLQ",
    "SCHEMAS",
    "SERIALIZER_CONFIG",
    "TOPICS",
    "WEATHER",
    "Topic",
    "create_topics",
    "read_schema_text",
]

SCHEMAS: Final = Path(__file__).parent / "schemas"
DEPARTED: Final = "flights.departed"
DEPARTED_DLQ: Final = "flights.departed.dlq"  #: records that the rule of the manifest rejects
DELAYED: Final = "flights.delayed"
WEATHER: Final = "weather.hourly"
AIRPORTS: Final = "airports"
AIRCRAFT: Final = "aircraft"

_UNLIMITED_RETENTION: Final = {
    "retention.ms": "-1"
}  # the records are dated 2013: any other retention would delete them
_COMPACTED: Final = {
    **_UNLIMITED_RETENTION,
    "cleanup.policy": "compact",
    "segment.ms": "1000",
    "min.cleanable.dirty.ratio": "0.01",
    "max.compaction.lag.ms": "1500",
}


SERIALIZER_CONFIG: Final = {"auto.register.schemas": False}  #: schemas are registered by CI, not by producers


@dataclass(frozen=True, slots=True)
class Topic:
    """Partitions and configuration of a topic."""

    partitions: int = 1
    config: Mapping[str, str] = field(default_factory=lambda: _UNLIMITED_RETENTION)


TOPICS: Final[Mapping[str, Topic]] = {
    DEPARTED: Topic(partitions=3),
    DEPARTED_DLQ: Topic(),
    DELAYED: Topic(partitions=2),
    WEATHER: Topic(),
    AIRPORTS: Topic(config=_COMPACTED),
    AIRCRAFT: Topic(config=_COMPACTED),
}


def create_topics(bootstrap_servers: str) -> None:
    """Create all topics of the demo."""
    new_topics = [NewTopic(name, topic.partitions, 1, config=dict(topic.config)) for name, topic in TOPICS.items()]
    admin = AdminClient(quiet_config(bootstrap_servers))  # must exist until its responses have arrived
    for future in admin.create_topics(new_topics).values():
        future.result()


def read_schema_text(subject: str, version: int = 1) -> str:
    """Return the text of a schema file."""
    file, *further_files = (SCHEMAS / str(version)).glob(f"{subject}.*")
    if further_files:
        raise ValueError(f"more than one file for {subject}, version {version}")
    return file.read_text()
