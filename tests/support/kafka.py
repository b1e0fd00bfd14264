"""Real Kafka brokers for integration tests, each started once per session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
from confluent_kafka import Message, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from confluent_kafka.cimpl import NewTopic

from local_kafka import Broker, Security

#: Spark, Java and the browser run on the same machine and may use all processors for seconds.
PATIENT: Final = {"broker.session.timeout.ms": 120_000}


@dataclass(frozen=True)
class Kafka:
    """A running broker, with common operations of tests."""

    bootstrap_servers: str
    properties: Mapping[str, str] = field(default_factory=dict)  #: librdkafka properties of a user with all permissions

    @cached_property  # futures are never completed after their client was deleted
    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers, **self.properties})

    def create_topic(
        self, name: str | None = None, *, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> str:
        """Create a topic, by default with a unique name; return its name when it is ready."""
        topic = name or f"t-{uuid4().hex[:12]}"
        new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=dict(config or {}))
        for future in self.admin.create_topics([new]).values():
            future.result()
        return topic

    def produce(self, topic: str, records: Sequence[Mapping[str, object]], **config: object) -> list[Message]:
        """Send records (``key``, ``value``, ``partition``, …); return the acknowledged messages."""
        acknowledged: list[Message] = []

        def record_delivery(error: object, message: Message) -> None:
            assert error is None, error
            acknowledged.append(message)

        servers = {"bootstrap.servers": self.bootstrap_servers, **self.properties}
        producer = Producer({**servers, "acks": "all", **config})
        for record in records:
            producer.produce(topic, on_delivery=record_delivery, **record)
            producer.poll(0)
        assert producer.flush(120) == 0
        return acknowledged


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Start a broker for the whole session; each test uses new topics."""
    with Broker(tmp_path_factory.mktemp("kafka"), settings=PATIENT) as broker:
        yield Kafka(broker.bootstrap_servers)


class SecuredKafka(Kafka):
    """A broker that requires TLS and a SCRAM password, and has ACLs."""

    def create_user(self, name: str, password: str) -> None:
        """Create a user, or change the password."""
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        upsertion = UserScramCredentialUpsertion(name, info, password.encode())
        for future in self.admin.alter_user_scram_credentials([upsertion]).values():
            future.result()

    def permit(self, user: str, topic: str, *operations: AclOperation) -> None:
        """Permit a user some operations on a topic."""
        bindings = [
            AclBinding(
                ResourceType.TOPIC,
                topic,
                ResourcePatternType.LITERAL,
                f"User:{user}",
                "*",
                operation,
                AclPermissionType.ALLOW,
            )
            for operation in operations
        ]
        for future in self.admin.create_acls(bindings).values():
            future.result()

    def write_properties(self, file: Path, user: str, password: str, **further: str) -> Path:
        """Write the librdkafka properties of a user."""
        named = {"sasl.username": user, "sasl.password": password}
        properties = {**self.properties, **named, **{name.replace("_", "."): text for name, text in further.items()}}
        file.write_text("".join(f"{name}={text}\n" for name, text in properties.items() if text))
        return file


@pytest.fixture(scope="session")
def secured_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    """Start a broker with SASL_SSL, SCRAM and ACLs for the whole session."""
    from support.tls import Authority

    folder = tmp_path_factory.mktemp("secured-kafka")
    authority = Authority(folder)
    pair = authority.server()
    pem = folder / "broker.pem"
    pem.write_bytes(pair.key.read_bytes() + pair.certificate.read_bytes())
    with Broker(folder / "kafka", security=Security(pem, authority.certificate), settings=PATIENT) as broker:
        yield SecuredKafka(broker.bootstrap_servers, broker.client_properties())
