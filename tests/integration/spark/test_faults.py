"""Faults during an audit: it ends with every record counted once, or with an error that says why."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft

from local_kafka import Broker
from support.archives import ORDER, encode_order
from support.deadlines import WAIT_SECONDS, eventually
from support.kafka import Kafka
from support.registry import create_sqlite, start_server, stop_server

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.slow]

RECORDS: Final = 60_000
VIOLATING: Final = RECORDS // 100
ONE_BATCH: Final = 1_024  #: bytes of a response, so that each response has one batch and the scan takes seconds


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker that the test may kill, and which sends few records per response."""
    settings = {"fetch.max.bytes": ONE_BATCH, "log.flush.interval.messages": 1_000}  # flushed: nothing is lost
    with Broker(tmp_path / "kafka", settings=settings) as running:
        yield running


def produce_orders(kafka: Kafka, topic: str, schema_id: int) -> None:
    """Send records in small batches; one of a hundred violates."""
    good = encode_order(schema_id)
    records = [{"value": b"plain" if at % 100 == 0 else good, "partition": at % 2} for at in range(RECORDS)]
    kafka.produce(topic, records, **{"batch.num.messages": 10})


@contextmanager
def during_the_scan(spark: SparkSession, happen: Callable[[], object]) -> Iterator[threading.Event]:
    """Call a function when Spark has begun to read, from another thread; the event says that it has returned."""
    done = threading.Event()

    def act() -> None:
        eventually(spark.sparkContext.statusTracker().getActiveStageIds)
        happen()
        done.set()

    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield done
    finally:
        thread.join(WAIT_SECONDS)
    assert done.is_set()


def value_part(folder: Path) -> dict[str, Any]:
    report = json.loads((folder / "report.json").read_text())
    (entry,) = [entry for entry in report["topics"] if entry["part"] == "value"]
    return dict(entry)


def test_a_broker_that_is_killed_and_started_again_loses_no_record(
    spark: SparkSession, broker: Broker, registry_url: str, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap_servers)
    topic, out = kafka.create_topic(partitions=2), tmp_path / "audit"

    def restart() -> None:
        for _ in range(2):  # once at the start of the scan, and once in the middle
            broker.stop(kill=True)
            broker.start()

    with Registry(registry_url) as registry:
        produce_orders(kafka, topic, int(registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id))
    place = ["--registry", registry_url, "--bootstrap-servers", broker.bootstrap_servers, "--out", str(out)]
    with during_the_scan(spark, restart):
        assert main(["audit", topic, *place]) == exit_codes.FINDINGS
    part = value_part(out)
    assert (part["records"], part["violating"]) == (RECORDS, VIOLATING)


def test_a_registry_that_goes_away_during_the_scan_is_not_needed_until_results_are_published(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server, url = start_server(create_sqlite(tmp_path / "registry.db"))
    topic, out = kafka.create_topic(partitions=2), tmp_path / "audit"
    with Registry(url) as registry:
        produce_orders(kafka, topic, int(registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id))
    place = ["--registry", url, "--bootstrap-servers", kafka.bootstrap_servers, "--out", str(out)]
    with during_the_scan(spark, lambda: stop_server(server)):
        assert main(["audit", topic, *place, "--publish", "--timeout", "1"]) == exit_codes.UNREACHABLE
    assert url in capsys.readouterr().err
    part = value_part(out)
    assert (part["records"], part["violating"]) == (RECORDS, VIOLATING)


def test_what_arrives_during_the_scan_is_read_by_the_next_audit(
    spark: SparkSession, broker: Broker, registry_url: str, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap_servers)
    topic, out = kafka.create_topic(partitions=2), tmp_path / "audit"
    with Registry(registry_url) as registry:

        def evolve() -> None:
            newer = json.loads(ORDER)
            newer["fields"].append({"name": "tag", "type": "string", "default": ""})
            draft = SchemaDraft(json.dumps(newer))
            schema_id = int(registry.register(f"{topic}-value", draft).schema_id)
            kafka.produce(topic, [{"value": encode_order(schema_id) + b"\0", "partition": 1}] * 7)

        produce_orders(kafka, topic, int(registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id))
        place = ["--registry", registry_url, "--bootstrap-servers", broker.bootstrap_servers, "--out", str(out)]
        with during_the_scan(spark, evolve) as evolved:
            assert main(["audit", topic, *place]) == exit_codes.FINDINGS
        assert evolved.is_set()
        part = value_part(out)
        assert (part["records"], part["violating"]) == (RECORDS, VIOLATING)
        assert main(["audit", topic, *place]) == exit_codes.FINDINGS
        part = value_part(out)
        assert (part["records"], part["violating"]) == (RECORDS + 7, VIOLATING)
