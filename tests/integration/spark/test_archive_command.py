"""``contractlog archive`` with a real Kafka: each offset once, whatever happens between runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from contractlog.clients.cli.main import main
from contractlog.spark_validation.sources import kafka as kafka_source
from contractlog.spark_validation.sources.source import ArchiveSource

from support.deadlines import WAIT_SECONDS
from support.kafka import Kafka

pytestmark = pytest.mark.integration

DAY = 86_400_000
EARLY = 1_357_000_000_000


def archive(kafka: Kafka, folder: Path, *arguments: str) -> int:
    return main(["archive", *arguments, "--bootstrap-servers", kafka.bootstrap_servers, "--out", str(folder)])


def send(kafka: Kafka, topic: str, start: int, end: int) -> None:
    kafka.produce(
        topic,
        [
            {"value": b"%d" % at, "key": b"k", "partition": at % 2, "timestamp": EARLY + at * DAY // 10,
             "headers": [("n", b"%d" % at)]}
            for at in range(start, end)
        ],
    )  # fmt: skip


def rows_of(source: object, topic: str) -> list[dict[str, object]]:
    ranges = source.plan([topic])  # type: ignore[attr-defined]
    rows = [row for offsets in ranges for batch in source.read(offsets) for row in batch.to_pylist()]  # type: ignore[attr-defined]
    return sorted(rows, key=lambda row: (row["partition"], row["offset"]))


def test_only_new_offsets_are_copied_and_the_archive_equals_the_topic(
    kafka: Kafka, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = kafka.create_topic(partitions=2)
    send(kafka, topic, 0, 40)
    assert archive(kafka, tmp_path, topic) == 0
    assert capsys.readouterr().out.startswith(f"{topic}: archived 40 new offsets in ")
    former = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.parquet")}
    send(kafka, topic, 40, 60)
    assert archive(kafka, tmp_path, topic) == 0
    assert "archived 20 new offsets" in capsys.readouterr().out
    assert archive(kafka, tmp_path, topic, "--format", "json") == 0
    body = json.loads(capsys.readouterr().out)
    assert body["topics"] == [{"topic": topic, "new_offsets": 0, "files": 0, "archived_before": 60, "lost": []}]
    assert {file: file.stat().st_mtime_ns for file in former} == former
    from contractlog.spark_validation.sources.source import KafkaSource

    assert rows_of(ArchiveSource(tmp_path), topic) == rows_of(KafkaSource(kafka.bootstrap_servers), topic)
    assert len({file.parent.name for file in former}) == 4  # days


def test_a_topic_that_was_created_again_is_refused(
    kafka: Kafka, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = kafka.create_topic(partitions=2)
    send(kafka, topic, 0, 10)
    assert archive(kafka, tmp_path, topic) == 0
    for future in kafka.admin.delete_topics([topic]).values():
        future.result()
    kafka.create_topic(topic, partitions=2)
    send(kafka, topic, 0, 30)
    assert archive(kafka, tmp_path, topic) == 2
    assert "It was created again, or is of another cluster. Archive it to another folder" in capsys.readouterr().err
    assert archive(kafka, tmp_path / "other", topic) == 0
    (tmp_path / f"topic={topic}" / "_topic.json").unlink()
    monkeypatch.setattr(kafka_source, "fetch_topic_ids", lambda *_, **__: {})
    assert archive(kafka, tmp_path, topic) == 0  # nothing shows it, without ids: the offsets went on
    for future in kafka.admin.delete_records([TopicPartition(topic, 0, 15), TopicPartition(topic, 1, 15)]).values():
        future.result()
    send(kafka, topic, 30, 50)
    capsys.readouterr()
    assert archive(kafka, tmp_path, topic) == 0
    for future in kafka.admin.delete_records([TopicPartition(topic, 0, 25)]).values():
        future.result()
    send(kafka, topic, 50, 60)
    for future in kafka.admin.delete_records([TopicPartition(topic, 0, 28)]).values():
        future.result()
    assert archive(kafka, tmp_path, topic) == 0
    assert "offsets 25 to 28 of partition 0 were no longer in the log and are not archived" in capsys.readouterr().err


def test_a_killed_run_leaves_no_duplicates(kafka: Kafka, tmp_path: Path) -> None:
    topic = kafka.create_topic(partitions=2)
    send(kafka, topic, 0, 3_000)
    program = (
        "import os\n"
        "from contractlog.spark_validation.sources import archive_writer\n"
        "finished = []\n"
        "original = archive_writer._RangeFile.finish\n"
        "def finish(self, end):\n"
        "    finished.append(end)\n"
        "    if len(finished) > 20: os.kill(os.getpid(), 9)\n"
        "    return original(self, end)\n"
        "archive_writer._RangeFile.finish = finish\n"
        "from contractlog.clients.cli.main import main\n"
        f"main(['archive', {topic!r}, '--bootstrap-servers', {kafka.bootstrap_servers!r}, '--out', {str(tmp_path)!r}])"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program], timeout=WAIT_SECONDS, check=False, env=dict(os.environ), capture_output=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert list(tmp_path.rglob("*.unfinished"))
    assert archive(kafka, tmp_path, topic) == 0
    rows = rows_of(ArchiveSource(tmp_path), topic)
    assert [(row["partition"], row["offset"]) for row in rows] == [(part, at) for part in (0, 1) for at in range(1_500)]
    assert not list(tmp_path.rglob("*.unfinished"))
