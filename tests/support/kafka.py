"""Real Kafka brokers for the tests that meet one: each started once per session, on a folder of its own."""

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

#: Spark, Java and the browser run beside the brokers and may take their processor for seconds.
PATIENT: Final = {"broker.session.timeout.ms": 120_000}


@dataclass(frozen=True)
class Kafka:
    """A running broker, and what tests keep asking of it."""

    bootstrap_servers: str
    properties: Mapping[str, str] = field(default_factory=dict)  #: of somebody who may do everything

    @cached_property  # an answer is lost when its client is gone
    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers, **self.properties})

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

        servers = {"bootstrap.servers": self.bootstrap_servers, **self.properties}
        producer = Producer({**servers, "acks": "all", **config})
        for record in records:
            producer.produce(topic, on_delivery=delivered, **record)
            producer.poll(0)
        assert producer.flush(120) == 0
        return acknowledged


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker for the whole session; use topics of your own."""
    with Broker(tmp_path_factory.mktemp("kafka"), settings=PATIENT) as broker:
        yield Kafka(broker.bootstrap_servers)


class SecuredKafka(Kafka):
    """A broker that asks for TLS and a SCRAM password, and permits what an ACL says."""

    def create_user(self, name: str, password: str) -> None:
        """Create a user, or give it another password."""
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        upsertion = UserScramCredentialUpsertion(name, info, password.encode())
        for future in self.admin.alter_user_scram_credentials([upsertion]).values():
            future.result()

    def permit(self, user: str, topic: str, *operations: AclOperation) -> None:
        """Let a user do things with a topic."""
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
    """A broker with SASL_SSL, SCRAM and ACLs for the whole session."""
    from support.tls import Authority

    folder = tmp_path_factory.mktemp("secured-kafka")
    authority = Authority(folder)
    pair = authority.server()
    pem = folder / "broker.pem"
    pem.write_bytes(pair.key.read_bytes() + pair.certificate.read_bytes())
    with Broker(folder / "kafka", security=Security(pem, authority.certificate), settings=PATIENT) as broker:
        yield SecuredKafka(broker.bootstrap_servers, broker.client_properties())
