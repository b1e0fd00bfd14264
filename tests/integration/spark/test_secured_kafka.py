"""``audit`` and ``lineage`` with a secured broker; secrets reach only the workers."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft
from contractlog.spark_validation.sources.kafka_settings import require_shared_file
from contractlog.spark_validation.sources.source import KafkaSource
from contractlog.spark_validation.sources.spark_data_source import KafkaDataSource

from support.archives import ORDER, encode_order
from support.kafka import SecuredKafka

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.usefixtures("spark")]

AUDITOR = "auditor"
SECRET = "audit-or-not-4711"  # noqa: S105 - of a broker that lives as long as the tests


@pytest.fixture(scope="module")
def properties(secured_kafka: SecuredKafka, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The properties of a user who may do nothing yet."""
    secured_kafka.create_user(AUDITOR, SECRET)
    return secured_kafka.write_properties(tmp_path_factory.mktemp("secret") / "kafka.properties", AUDITOR, SECRET)


@pytest.fixture(scope="module")
def topic(secured_kafka: SecuredKafka, properties: Path, registry_url: str) -> str:
    """A topic of 50 orders that the user may read."""
    name = secured_kafka.create_topic()
    secured_kafka.permit(AUDITOR, name, AclOperation.READ)
    with Registry(registry_url) as registry:
        schema_id = int(registry.register(f"{name}-value", SchemaDraft(ORDER)).schema_id)
    secured_kafka.produce(name, [{"value": encode_order(schema_id, number)} for number in range(50)])
    return name


def test_no_secret_is_in_the_output_the_report_or_the_event_log(
    properties: Path, topic: str, registry_url: str, tmp_path: Path
) -> None:
    events, out = tmp_path / "events", tmp_path / "audit"
    events.mkdir()
    logged = f"--conf spark.eventLog.enabled=true --conf spark.eventLog.dir={events.as_uri()} pyspark-shell"
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "audit", topic, "--master", "local[1]"]
    done = subprocess.run(
        [*command, "--registry", registry_url, "--broker-config", str(properties), "--out", str(out)],
        env=os.environ | {"PYSPARK_SUBMIT_ARGS": logged},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((out / "report.json").read_text())
    assert [part["records"] for part in report["topics"] if part["part"] == "value"] == [50]
    written = [file for folder in (events, out) for file in folder.rglob("*") if file.is_file()]
    assert any(file.is_relative_to(events) and file.stat().st_size for file in written)
    assert not [file for file in written if SECRET.encode() in file.read_bytes()]
    assert SECRET not in done.stdout + done.stderr


def test_the_tasks_carry_the_path_of_the_properties_alone(properties: Path) -> None:
    source = KafkaSource("127.0.0.1:9", config=require_shared_file(properties))
    assert SECRET.encode() not in pickle.dumps(source)
    assert SECRET not in repr(source)
    assert str(properties) in repr(source)


def test_a_query_reads_the_properties_in_the_workers_and_its_plan_holds_the_path_alone(
    spark: SparkSession, secured_kafka: SecuredKafka, properties: Path, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.dataSource.register(KafkaDataSource)
    frame = spark.read.format("contractlog_kafka").option("kafka.bootstrap.servers", secured_kafka.bootstrap_servers)
    records = frame.option("subscribe", topic).option("brokerConfig", str(properties)).load()
    assert records.count() == 50
    records.explain(extended=True)
    assert SECRET not in capsys.readouterr().out


def test_lineage_reads_a_secured_cluster(
    secured_kafka: SecuredKafka,
    properties: Path,
    registry_url: str,
    topic: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = ("--registry", registry_url, "--broker-config", str(properties))
    assert main(["lineage", *place, topic]) == 0
    assert "No lineage was found" in capsys.readouterr().out


def test_missing_permissions_are_reported_immediately(
    secured_kafka: SecuredKafka,
    properties: Path,
    registry_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    closed = secured_kafka.create_topic()
    secured_kafka.produce(closed, [{"value": b"x"}])
    place = ("--registry", registry_url, "--out", str(tmp_path / "audit"))
    assert main(["audit", closed, *place, "--broker-config", str(properties)]) == 2
    assert "this user may not see it" in capsys.readouterr().err
    secured_kafka.permit(AUDITOR, closed, AclOperation.DESCRIBE)
    assert main(["audit", closed, *place, "--broker-config", str(properties)]) == 4
    assert f"does not permit this user to read `{closed}`" in capsys.readouterr().err
    secured_kafka.permit(AUDITOR, closed, AclOperation.READ)  # other tests read all topics that this user may see
    other = secured_kafka.write_properties(tmp_path / "other.properties", AUDITOR, "wrong")
    assert main(["audit", closed, *place, "--broker-config", str(other)]) == 2
    said = capsys.readouterr().err
    assert "the broker rejected the credentials or the TLS connection: " in said
    assert "Authentication failed" in said


def test_properties_that_workers_cannot_read_again_are_refused(
    registry_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"bootstrap.servers=127.0.0.1:9\n")
    os.close(writing)
    arguments = ("--registry", registry_url, "--broker-config", f"/dev/fd/{reading}", "--out", str(tmp_path / "audit"))
    try:
        assert main(["audit", "t", *arguments]) == 2
    finally:
        os.close(reading)
    assert "is not a regular file" in capsys.readouterr().err
