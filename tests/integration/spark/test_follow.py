"""``contractlog audit --follow`` counts every record once, also if it is killed and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.errors import ConformanceNotFound
from contractlog.compatibility.schema import SchemaDraft
from contractlog.spark_validation.jobs import audit_rounds
from contractlog.spark_validation.jobs.follow import repeat_audits

from support.archives import ORDER, encode_order
from support.deadlines import WAIT_SECONDS, eventually
from support.kafka import Kafka

pytestmark = [pytest.mark.integration, pytest.mark.spark]

BATCH, BATCHES = 50, 60


@pytest.fixture
def followed(kafka: Kafka, registry_url: str, spark: SparkSession) -> Iterator[tuple[Kafka, Registry]]:
    """A broker and a registry; Spark runs."""
    with Registry(registry_url) as registry:
        yield kafka, registry


@contextmanager
def _produce_slowly(kafka: Kafka, topic: str, schema_id: int) -> Iterator[threading.Event]:
    """Send batches, each with one record that violates its schema; the event says that all were sent."""
    sent = threading.Event()

    def send() -> None:
        good, bad = encode_order(schema_id), b"plain"
        for batch in range(BATCHES):
            values = [good] * (BATCH - 1) + [bad]
            kafka.produce(topic, [{"value": value, "partition": (batch + at) % 2} for at, value in enumerate(values)])
            time.sleep(0.2)
        sent.set()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield sent
    finally:
        thread.join()


@contextmanager
def _following(arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "contractlog.clients.cli.main", *arguments, "--follow", "--every", "1s"]
    with subprocess.Popen(
        [*command, "--master", "local[1]"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=dict(os.environ),
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def _value_part(folder: Path) -> dict[str, Any]:
    """The entry of the topic's values; without members that differ with the number of audits."""
    try:
        report = json.loads((folder / "report.json").read_text())
    except FileNotFoundError:  # before the first audit, or while the folder is replaced
        return {"records": 0}
    (entry,) = [entry for entry in report["topics"] if entry["part"] == "value"]
    return {name: value for name, value in entry.items() if name != "trend"}


def test_later_audits_read_what_is_new_and_print_what_changed(
    followed: tuple[Kafka, Registry], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kafka, registry = followed
    topic, out = kafka.create_topic(), tmp_path / "audit"
    schema_id = int(registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id)
    place = ["--registry", registry.url, "--bootstrap-servers", kafka.bootstrap_servers, "--out", str(out)]
    further = iter([[], [encode_order(schema_id)], [b"plain"]])
    kafka.produce(topic, [{"value": encode_order(schema_id)}] * 3)

    def wait(seconds: float) -> None:
        assert seconds <= 3600
        values = next(further, None)
        if values is None:
            raise KeyboardInterrupt
        kafka.produce(topic, [{"value": value} for value in values])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_rounds, "repeat_audits", partial(repeat_audits, wait=wait))
        assert main(["audit", topic, *place, "--follow", "--every", "1h", "--publish"]) == 1
    printed, said = capsys.readouterr()
    (*parts, news, change) = printed.splitlines()
    assert len(parts) == 2
    assert sum(f"passing   {topic}  " in line for line in parts) == 1
    assert news.startswith("Since the audit of ")
    assert change.startswith(f"  {topic}: ")
    new = [line.partition(";")[0] for line in said.splitlines() if line.startswith("read ")]
    assert new == ["read 0 new offsets", "read 1 new offsets", "read 1 new offsets"]
    assert said.count("the report: ") == 1
    assert [line for line in said.splitlines() if line.startswith("published ")] == [
        f"published {number} entries to {registry.url}" for number in (2, 1)
    ]
    assert registry.conformance(topic, part="value")[0]["violating"] == 1


@pytest.mark.slow
def test_every_record_is_counted_once_although_the_audit_is_killed(
    followed: tuple[Kafka, Registry], tmp_path: Path
) -> None:
    kafka, registry = followed
    topic, out, whole = kafka.create_topic(partitions=2), tmp_path / "audit", tmp_path / "whole"
    schema_id = registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id
    place = ["--registry", registry.url, "--bootstrap-servers", kafka.bootstrap_servers]
    with _produce_slowly(kafka, topic, int(schema_id)) as sent:
        with _following(["audit", topic, *place, "--out", str(out)]) as process:
            eventually(lambda: _value_part(out)["records"])
            eventually(lambda: any(tmp_path.glob(".audit.unfinished-*")))
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=WAIT_SECONDS)
        before = _value_part(out)["records"]
        with _following(["audit", topic, *place, "--out", str(out), "--publish"]) as process:
            eventually(sent.is_set)
            eventually(lambda: _value_part(out)["records"] == BATCH * BATCHES)
            eventually(lambda: _count_published(registry, topic) == BATCH * BATCHES)
            process.send_signal(signal.SIGTERM)
            printed, _ = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode in {1, 130}  # of the last audit, or abandoned in the middle of one
    assert "Traceback" not in printed
    assert 0 < before < BATCH * BATCHES
    assert f"; {before:,} were audited before" in printed
    assert printed.count(f"{topic}  ") == 1  # later audits print changes only
    assert main(["audit", topic, *place, "--out", str(whole)]) == 1
    assert _value_part(out) == _value_part(whole)
    assert _value_part(whole)["violating"] == BATCHES
    rows = [sorted(_violations(folder)) for folder in (out, whole)]
    assert rows[0] == rows[1]
    assert not list(tmp_path.glob(".audit.*"))


def _count_published(registry: Registry, topic: str) -> int:
    try:
        return int(registry.conformance(topic, part="value")[0]["records"])
    except ConformanceNotFound:
        return 0


def _violations(folder: Path) -> list[tuple[int, int]]:
    table = pq.read_table(folder / "violations.parquet")
    return [(row["partition"], row["offset"]) for row in table.to_pylist()]
