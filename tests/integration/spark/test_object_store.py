"""Archives in an object store are written by ``contractlog archive``, and audited as those on a disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft
from contractlog.spark_validation.sources.archive_folder import hide_parameters, open_archive

from support.archives import ORDER, encode_order
from support.installed_command import run_installed
from support.kafka import Kafka

pytestmark = pytest.mark.integration


def test_a_topic_is_archived_in_an_object_store_and_audited_from_there(
    kafka: Kafka, registry_url: str, s3_folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = kafka.create_topic(partitions=2)
    with Registry(registry_url) as registry:
        schema_id = registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id
    values = [*(encode_order(schema_id, total) for total in range(60)), b"plain"]
    kafka.produce(topic, [{"value": value, "partition": at % 2} for at, value in enumerate(values)])
    arguments = ["archive", topic, "--bootstrap-servers", kafka.bootstrap_servers, "--out", s3_folder]
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{topic}: archived 61 new offsets in 2 files\n"
    kafka.produce(topic, [{"value": values[0], "partition": 0}])
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{topic}: archived 1 new offsets in 1 file; 61 were archived before\n"
    assert len(open_archive(s3_folder).list_files(topic)) == 3
    done = run_installed(
        "audit", "--registry", registry_url, "--archive", s3_folder, "--out", str(tmp_path / "audit"), topic
    )
    assert done.returncode == 1, done.stderr
    report = json.loads((tmp_path / "audit" / "report.json").read_text())
    entry = report["topics"][0]
    assert (entry["records"], entry["conforming"], entry["violating"]) == (62, 61, 1)
    assert report["source"]["archive"] == hide_parameters(s3_folder)


def test_a_folder_that_is_no_archive_is_named_without_parameters(
    s3_folder: str, registry_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "audit")
    assert main(["audit", "--registry", registry_url, "--archive", s3_folder, "--out", out]) == 2
    assert f"{hide_parameters(s3_folder)} is not an archive: it has no folder topic=NAME\n" in capsys.readouterr().err
