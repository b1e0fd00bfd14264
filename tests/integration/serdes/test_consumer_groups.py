"""Consumer groups that read topics, by a real broker."""

from __future__ import annotations

import json
import time
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, TopicPartition

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.broker import Brokers
from contractlog.clients.cli.main import main
from contractlog.serdes import consumer_groups
from contractlog.serdes.consumer_groups import list_reader_groups

from support.kafka import Kafka, SecuredKafka
from support.lineage_estates import make_edge

pytestmark = pytest.mark.integration


def commit(kafka: Kafka, group: str, *topics: str) -> None:
    """Commit an offset of topics for a group, as a consumer that has left."""
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, 1) for topic in topics], asynchronous=False)
    consumer.close()


def test_a_group_is_listed_with_the_topics_it_has_offsets_of(kafka: Kafka) -> None:
    read, also_read, other = (kafka.create_topic() for _ in range(3))
    reader, stranger = f"reader-{uuid4().hex}", f"stranger-{uuid4().hex}"
    commit(kafka, reader, read, also_read, other)
    commit(kafka, stranger, other)
    groups, unknown = list_reader_groups(Brokers(kafka.bootstrap_servers), [read, also_read])
    assert [(group.name, group.state, group.topics) for group in groups] == [
        (reader, "empty", tuple(sorted((read, also_read))))
    ]
    assert unknown == 0


def test_impact_lists_the_groups_of_all_reached_topics(
    kafka: Kafka, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target, beyond = (kafka.create_topic() for _ in range(3))
    names = {topic: f"group-{uuid4().hex}" for topic in (source, target, beyond)}
    for topic, group in names.items():
        commit(kafka, group, topic)
    file = tmp_path / "lineage.json"
    edges = [make_edge(source, target), make_edge(target, beyond, "other")]
    file.write_text(json.dumps({"topics": [], "lineage": edges}))
    arguments = ["impact", f"{source}-value:id", "--lineage", str(file), "--bootstrap-servers", kafka.bootstrap_servers]
    assert main([*arguments, "--format", "json"]) == exit_codes.CLEAN
    body = json.loads(capsys.readouterr().out)
    groups = {group["group"]: group["topics"] for group in body["consumer_groups"]}
    assert groups == {names[source]: [source], names[target]: [target]}
    assert body["unknown_consumer_groups"] == 0
    assert main(arguments) == exit_codes.CLEAN
    text = capsys.readouterr().out
    assert "2 consumer groups committed offsets of these topics, the changed included" in text
    assert f"{names[target]}  empty  {target}" in text
    assert names[beyond] not in text


def test_an_unreachable_broker_ends_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lineage.json"
    file.write_text(json.dumps({"topics": [{"topic": "orders"}], "lineage": []}))
    code = main(["impact", "orders", "--lineage", str(file), "--bootstrap-servers", "127.0.0.1:1"])
    assert code == exit_codes.UNREACHABLE
    assert "no broker responds" in capsys.readouterr().err


def test_groups_without_an_answer_in_time_are_counted_and_not_listed(kafka: Kafka) -> None:
    topic = kafka.create_topic()
    commit(kafka, f"reader-{uuid4().hex}", topic)
    groups, _ = list_reader_groups(Brokers(kafka.bootstrap_servers), [topic])
    assert len(groups) == 1
    assert consumer_groups._fetch_topics(kafka.admin, ["any"], deadline=time.monotonic() - 1) == {}


def test_a_group_that_the_user_may_not_describe_is_not_listed(secured_kafka: SecuredKafka) -> None:
    topic = secured_kafka.create_topic()
    consumer = Consumer(
        {"bootstrap.servers": secured_kafka.bootstrap_servers, "group.id": "hidden", **secured_kafka.properties}
    )
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    consumer.close()
    permitted = Brokers(secured_kafka.bootstrap_servers, dict(secured_kafka.properties))
    groups, _ = list_reader_groups(permitted, [topic])
    assert [group.name for group in groups] == ["hidden"]
    secured_kafka.create_user("guest", "guest-secret")
    guest = {**secured_kafka.properties, "sasl.username": "guest", "sasl.password": "guest-secret"}
    groups, _ = list_reader_groups(Brokers(secured_kafka.bootstrap_servers, guest), [topic])
    assert groups == []
