"""``contractlog backtest`` reads a topic of a real broker with a schema that is not registered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.spark_validation.sources import archive, kafka

from support.archives import encode_frame
from support.avro_codecs import encode, record
from support.installed_command import run_installed
from support.kafka import Kafka

pytestmark = [pytest.mark.integration, pytest.mark.spark]

MONEY = record(("cents", "long"), name="Money")


def write_schema(file: Path, schema: Any) -> Path:
    """Write a schema file."""
    file.write_text(json.dumps(schema))
    return file


def test_records_of_old_versions_are_read_with_a_proposed_schema(
    kafka: Kafka, registry_url: str, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = kafka.create_topic(partitions=2)
    subject = f"{topic}-value"
    first = record(("id", "long"), ("note", ["null", "string"]), name="Order")
    second = record(("id", "long"), ("note", ["null", "string"]), ("price", "Money", {"cents": 0}), name="Order")
    proposed = record(("id", "long"), ("note", "string"), ("price", "Money", {"cents": 0}), name="Order")
    with Registry(registry_url) as registry:
        registry.register(f"{topic}-money", SchemaDraft(json.dumps(MONEY)))
        old = int(registry.register(subject, SchemaDraft(json.dumps(first))).schema_id)
        reference = ("--reference", f"Money={topic}-money:1")
        registered = write_schema(tmp_path / "second.avsc", second)
        assert main(["register", str(registered), "--subject", subject, *reference, "--registry", registry_url]) == 0
        new = int(registry.latest(subject).schema_id)
    inline = record(("id", "long"), ("note", ["null", "string"]), ("price", MONEY), name="Order")
    bodies: list[bytes | None] = [encode_frame(old, encode(first, {"id": at, "note": "a"})) for at in range(40)]
    bodies += [encode_frame(old, encode(first, {"id": at, "note": None})) for at in range(4)]
    price = {"cents": 7}
    bodies += [encode_frame(new, encode(inline, {"id": at, "note": "b", "price": price})) for at in range(20)]
    bodies += [None, b"plain", encode_frame(987_654, b"\0")]
    kafka.produce(topic, [{"key": b"k", "value": body, "partition": at % 2} for at, body in enumerate(bodies)])
    capsys.readouterr()
    file = write_schema(tmp_path / "proposed.avsc", proposed)
    command = ["backtest", subject, str(file), *reference, "--registry", registry_url]
    live = ["--bootstrap-servers", kafka.bootstrap_servers]
    assert main([*command, *live, "--topic", topic, "--format", "json"]) == 1
    result = json.loads(capsys.readouterr().out)
    (entry,) = result["topics"]
    counts = {name: entry[name] for name in ("records", "readable", "unreadable", "violating", "tombstones")}
    assert counts == {"records": 67, "readable": 60, "unreadable": 4, "violating": 0, "tombstones": 1}
    assert (entry["not_framed"], entry["unknown_ids"], entry["other_subjects"]) == (1, 1, 0)
    assert [(each["version"], each["readable"], each["unreadable"]) for each in entry["versions"]] == [
        (1, 40, 4),
        (2, 20, 0),
    ]
    (cause,) = entry["versions"][0]["causes"]
    assert (cause["code"], cause["field"], cause["records"]) == ("READER_MISMATCH", "note", 4)
    assert cause["detail"] == "null was written, and cannot be read as string"
    assert sorted((each["partition"], each["offset"]) for each in cause["examples"]) == [
        (0, 20), (0, 21), (1, 20), (1, 21),
    ]  # fmt: skip
    write_archive(kafka, topic, tmp_path / "archive")
    report = tmp_path / "report.xml"
    archived = [*command, "--archive", str(tmp_path / "archive"), "--report", f"junit={report}"]
    assert main([*archived, "--format", "markdown"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("### contractlog backtest: 64 records tested, 4 unreadable")
    assert "DATA_UNREADABLE" in report.read_text()
    assert main(["backtest", subject, str(registered), *reference, *command[-2:], *live, "--topic", topic]) == 0
    assert f"reads 64 of 64 (100 %) records of topic `{topic}`" in capsys.readouterr().out


def write_archive(broker: Kafka, topic: str, folder: Path) -> None:
    """Copy a topic into an archive."""
    for offsets in kafka.plan_ranges(broker.bootstrap_servers, [topic]):
        archive.write_range(folder, offsets, kafka.read_range(broker.bootstrap_servers, offsets))


def test_documents_that_a_new_json_schema_would_refuse_are_found(
    kafka: Kafka, registry_url: str, tmp_path: Path
) -> None:
    topic = kafka.create_topic()
    with Registry(registry_url) as registry:
        registry.set_level(Level.NONE, f"{topic}-value")
        schema_id = int(registry.register(f"{topic}-value", SchemaDraft("{}", SchemaType.JSON)).schema_id)
    documents = [b'{"lines": [{"sku": "a"}]}', b'{"lines": [{"sku": "a"}, {}]}']
    kafka.produce(topic, [{"value": encode_frame(schema_id, document)} for document in documents])
    file = tmp_path / "new.schema.json"
    write_schema(file, {"properties": {"lines": {"items": {"required": ["sku"]}}}})
    place = ["--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers]
    done = run_installed("backtest", f"{topic}-value", str(file), *place, "--master", "local[1]")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"✗ {file}: cannot read 1 of 2 (50 %) records of topic `{topic}`"
    assert lines[2].startswith('        1 record: `lines[]`: required: "sku" is a required property at ')
    assert lines[3] == "            first: partition 0 offset 1 (`lines[1]`)"
