"""A second audit reads only new offsets, and its result is that of reading everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft

from support.archives import ORDER, encode_order
from support.kafka import Kafka

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def audit(*arguments: object) -> int:
    return main(["audit", *map(str, arguments)])


def topics_in(folder: Path) -> Any:
    """Return the entries of a report without their trends, which differ with the number of audits."""
    entries = json.loads((folder / "report.json").read_text())["topics"]
    return [{name: value for name, value in entry.items() if name != "trend"} for entry in entries]


def violations_in(folder: Path) -> list[tuple[Any, ...]]:
    table = pq.read_table(folder / "violations.parquet")
    return sorted((row["topic"], row["partition"], row["offset"], row["code"]) for row in table.to_pylist())


def test_a_second_audit_reads_only_new_offsets(
    kafka: Kafka, registry_url: str, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [kafka.create_topic(partitions=2) for _ in range(2)]
    with Registry(registry_url) as registry:
        ids = [int(registry.register(f"{name}-value", SchemaDraft(ORDER)).schema_id) for name in names]

    def send(index: int, *bodies: bytes) -> None:
        kafka.produce(
            names[index],
            [
                {"value": body, "partition": at % 2, "timestamp": 1_357_000_000_000 + at}
                for at, body in enumerate(bodies)
            ],
        )

    def run(folder: str, *more: str) -> list[str]:
        place = ("--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers)
        assert audit(*names, *place, "--out", tmp_path / folder, *more) == 1
        return capsys.readouterr().err.splitlines()

    good, bad = encode_order(ids[0]), b"plain"
    send(0, *[good] * 10, bad)
    send(1, *[encode_order(ids[1])] * 4)
    assert not any("audited before" in line for line in run("audit"))
    assert "read 0 new offsets; 15 were audited before" in run("audit")
    send(0, good, good, bad)
    lines = run("audit")
    assert "read 3 new offsets; 15 were audited before" in lines
    assert any(line.startswith("auditing 3 offsets of 2 topics") for line in lines)
    report = json.loads((tmp_path / "audit" / "report.json").read_text())
    assert [len(entry["trend"]) for entry in report["topics"]] == [2] * 4  # of three audits within an hour
    assert report["changes"]["parts"] == []
    run("whole")
    assert topics_in(tmp_path / "audit") == topics_in(tmp_path / "whole")
    assert violations_in(tmp_path / "audit") == violations_in(tmp_path / "whole")
    assert len(violations_in(tmp_path / "audit")) == 2
    assert not any("audited before" in line for line in run("audit", "--full"))
    reason = "reading all offsets, and not only those that"
    assert any(line.startswith(reason) and "--strict" in line for line in run("audit", "--strict"))

    for future in kafka.admin.delete_records([TopicPartition(names[0], 0, 4)]).values():
        future.result()
    for future in kafka.admin.delete_topics([names[1]]).values():
        future.result()
    kafka.create_topic(names[1], partitions=2)
    send(1, *[encode_order(ids[1])] * 6)
    lines = run("audit", "--strict")
    assert f"reading all offsets of {names[1]}: the topic was created again" in lines
    assert "read 6 new offsets; 14 were audited before" in lines
    parts = {entry["topic"]: entry for entry in topics_in(tmp_path / "audit") if entry["part"] == "value"}
    assert parts[names[0]]["records"] == 14
    assert parts[names[0]]["notes"] == [
        "Offsets 0 to 4 of partition 0 were audited before and are no longer in the log."
    ]
    assert (parts[names[1]]["records"], parts[names[1]]["conforming"]) == (6, 6)


def test_new_values_are_compared_with_those_before(
    kafka: Kafka, registry_url: str, spark: SparkSession, tmp_path: Path
) -> None:
    topic = kafka.create_topic()
    with Registry(registry_url) as registry:
        schema_id = int(registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id)
    (rules := tmp_path / f"{topic}.quality.yaml").write_text(
        "properties:\n"
        "  - name: total\n"
        "    quality: [{type: custom, engine: contractlog, implementation: drift, mustBeLessThan: 0.25}]\n"
    )
    place = ("--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers, "--quality", rules)
    outcomes, drifts = [], []
    for totals in ([1, 2, 3] * 100, [3, 2, 1] * 100, [30, 2, 1] * 100):
        kafka.produce(topic, [{"value": encode_order(schema_id, total=total)} for total in totals])
        audit(topic, *place, "--out", tmp_path / "audit")
        (entry,) = [entry for entry in topics_in(tmp_path / "audit") if entry["part"] == "value"]
        outcomes.append(entry["quality"][0]["outcome"])
        drifts.append({field["field"]: field.get("drift") for field in entry["fields"]}["total"])
    assert outcomes == ["not evaluated", "passed", "failed"]
    assert drifts[0] is None
    assert (drifts[1]["index"], drifts[1]["before"], drifts[1]["after"]) == (0, 300, 300)
    assert (drifts[2]["lowest"] > 0.25, drifts[2]["before"]) == (True, 600)
    assert any("`total`" in note for note in entry["notes"])
