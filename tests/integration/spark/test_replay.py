"""``contractlog replay`` sends violating records of a real broker, and nothing without ``--confirm``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft
from contractlog.spark_validation.expectations.expectation_builder import ExpectationBuilder
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.sources.source import KafkaSource

from support.archives import ORDER, encode_order
from support.installed_command import run_installed
from support.kafka import Kafka

pytestmark = pytest.mark.integration

LARGE = b"x" * 1_000_100  # more than librdkafka's default, less than a topic's


def test_violating_records_are_sent_as_they_are_or_corrected(
    kafka: Kafka, registry_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, repair = kafka.create_topic(partitions=2), kafka.create_topic()
    repaired = repair
    violations = tmp_path / "audit" / "violations.parquet"
    violations.mkdir(parents=True)
    with Registry(registry_url) as registry:
        schema_id = int(registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id)
        good = encode_order(schema_id)
        bodies = [good, good[:-1], LARGE, good]
        records: list[dict[str, Any]] = [
            {
                "key": b"%d" % at,
                "value": body,
                "partition": at % 2,
                "timestamp": 1_000 + at,
                "headers": [("n", b"%d" % at)],
            }
            for at, body in enumerate(bodies)
        ]
        kafka.produce(topic, records, **{"message.max.bytes": 2_000_000})
        source = KafkaSource(kafka.bootstrap_servers)
        ranges = source.plan([topic])
        expectations = ExpectationBuilder(registry, source, ranges).build()
        for offsets in ranges:
            audit_range(source, offsets, expectations, violations)

    def run(*options: str) -> tuple[int, dict[str, Any]]:
        place = ["--bootstrap-servers", kafka.bootstrap_servers, "--registry", registry_url, "--format", "json"]
        code = main(["replay", str(tmp_path / "audit"), "--to", repair, *place, *options])
        return code, json.loads(capsys.readouterr().out)

    code, result = run()
    assert (code, result["dry_run"], result["sent"]) == (0, True, 2)
    assert end_offset(kafka, repair) == 0
    code, result = run("--code", "NOT_FRAMED", "--confirm")
    assert (code, result["dry_run"], result["sent"], result["codes"]) == (0, False, 1, {"NOT_FRAMED": 1})
    file = tmp_path / "corrected.jsonl"
    file.write_text(json.dumps({"partition": 1, "offset": 0, "value": {"total": 7, "note": "fine"}}))
    place = ["--bootstrap-servers", kafka.bootstrap_servers, "--registry", registry_url]
    corrected = ["--corrected", str(file), "--schema-id", str(schema_id), "--confirm"]
    done = run_installed("replay", str(tmp_path / "audit"), "--to", repair, *place, *corrected)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        f"✓ sent 1 record to `{repair}`, 1 of them corrected (NOT_FRAMED 1, TRUNCATED 1)\n"
        "    not sent: 1 of 2 selected records\n"
        "        1 without a line in the file of corrections\n"
    )
    repair = kafka.create_topic(config={"max.message.bytes": "1000"})
    assert main(["replay", str(tmp_path / "audit"), "--to", repair, *place, "--confirm"]) == 2
    record = f"topic {repair}, a record with a value of 1,000,100 bytes (from {topic} partition 0 offset 1): "
    assert record in capsys.readouterr().err
    (offsets,) = source.plan([repaired])
    rows = [row for batch in source.read(offsets) for row in batch.to_pylist()]
    assert [(row["key"], row["value"]) for row in rows] == [(b"2", LARGE), (b"1", good)]
    assert [round(row["timestamp"].timestamp() * 1000) for row in rows] == [1_002, 1_001]
    assert [(header["key"], header["value"]) for header in rows[1]["headers"]] == [
        ("n", b"1"),
        ("contractlog.source.topic", topic.encode()),
        ("contractlog.source.partition", b"1"),
        ("contractlog.source.offset", b"0"),
    ]


def end_offset(broker: Kafka, topic: str) -> int:
    """Return the number of records that were written to a topic of one partition."""
    (offsets,) = KafkaSource(broker.bootstrap_servers).plan([topic])
    return offsets.end
