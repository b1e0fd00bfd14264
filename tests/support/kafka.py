"""A real Kafka broker for the tests that meet one: started once per session, on a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import uuid4

import pytest
from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from local_kafka import Broker


@dataclass(frozen=True)
class Kafka:
    """A running broker, and what tests keep asking of it."""

    bootstrap_servers: str

    @cached_property  # an answer is lost when its client is gone
    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers})

    def create_topic(
        self, name: str | None = None, *, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> str:
        """Create a topic, by a name nobody else has unless one is given; return its name when it can be used."""
        topic = name or f"t-{uuid4().hex[:12]}"
        new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=dict(config or {}))
        for future in self.admin.create_topics([new]).values():
            future.result()
        return topic

    def produce(self, topic: str, records: Sequence[Mapping[str, object]], **config: object) -> list[Message]:
        """Send records (``key``, ``value``, ``partition``, ``timestamp`` …) and return what the broker acknowledged."""
        acknowledged: list[Message] = []

        def delivered(error: object, message: Message) -> None:
            assert error is None, error
            acknowledged.append(message)

        producer = Producer({"bootstrap.servers": self.bootstrap_servers, "acks": "all", **config})
        for record in records:
            producer.produce(topic, on_delivery=delivered, **record)
            producer.poll(0)
        assert producer.flush(30) == 0
        return acknowledged


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker for the whole session; use topics of your own."""
    with Broker(tmp_path_factory.mktemp("kafka")) as broker:
        yield Kafka(broker.bootstrap_servers)
