"""``contractlog unused`` lists versions that no record carries; its commands delete them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft

from support.archives import encode_frame
from support.avro_codecs import record
from support.installed_command import run_installed
from support.kafka import Kafka

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def test_versions_without_records_may_go_and_are_proven_again_after_new_records(
    kafka: Kafka, registry_url: str, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = kafka.create_topic(partitions=2)
    subject = f"{topic}-value"
    with Registry(registry_url) as registry:
        drafts = [record(*((f"f{at}", "long", 0) for at in range(size)), name="Order") for size in range(1, 6)]
        ids = [int(registry.register(subject, SchemaDraft(json.dumps(draft))).schema_id) for draft in drafts]
        registry.register(f"{topic}-key", SchemaDraft(json.dumps(drafts[3])))  # the same id
        header = [("__value_schema_id", b"\0" + ids[1].to_bytes(4))]
        records: list[dict[str, Any]] = [
            {"value": encode_frame(ids[2], b"\0\0\0"), "partition": 0},
            {"value": b"\0\0", "headers": header, "partition": 1},
        ]
        kafka.produce(topic, records)
        place = ["--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers]

        def run(*options: str) -> tuple[int, dict[str, Any]]:
            capsys.readouterr()
            code = main(["unused", topic, *place, *options, "--format", "json"])
            return code, json.loads(capsys.readouterr().out)

        code, result = run()
        assert (code, result["complete"], result["all_topics"]) == (0, True, False)
        versions = {each["version"]: each for each in result["versions"] if each["subject"] == subject}
        assert [versions[number]["may_go"] for number in range(1, 6)] == [True, False, False, True, False]
        assert versions[2]["reasons"] == [f"1 record of `{topic}` (value) carries it"]
        assert versions[5]["reasons"] == ["it is the latest version"]
        words = shlex.split(versions[1]["command"])
        assert words[:2] == ["contractlog", "delete"]
        assert main([*words[1:], "--yes", "--registry", registry_url]) == 0
        assert registry.versions(subject) == [2, 3, 4, 5]

        out = str(tmp_path / "audit")
        assert main(["audit", topic, *place, "--out", out]) == 0
        code, result = run("--state", out)
        deleted = next(each for each in result["versions"] if each["subject"] == subject and each["version"] == 1)
        assert (code, deleted["deleted"], deleted["may_go"]) == (0, True, True)
        assert "--permanent" in deleted["command"]
        kafka.produce(topic, records[:1])
        done = run_installed("unused", topic, *place, "--state", out)
        assert done.returncode == 1, done.stderr
        assert f"offsets not read: 1 to 1 of `{topic}` partition 0\n" in done.stdout
        code, result = run("--state", out)
        assert code == 1
        assert not any(each["may_go"] for each in result["versions"])
        (partition,) = [each for each in result["topics"][0]["partitions"] if each["gaps"]]
        assert partition["gaps"] == [[1, 2]]
