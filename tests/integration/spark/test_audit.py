"""``contractlog audit`` with real Kafka, registry and Spark; every offset is accounted for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import PARTS, AuditReport, Part, TopicPart
from contractlog.spark_validation.expectations.audit_expectations import AuditExpectations, PartExpectation
from contractlog.spark_validation.jobs.audit_job import AuditRequest, audit_to_folder, publish
from contractlog.spark_validation.jobs.terminal_report import format_report
from contractlog.spark_validation.sources import archive, kafka
from contractlog.spark_validation.sources.kafka import plan_ranges
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import ArchiveSource
from contractlog.spark_validation.spark.audit_tasks import audit_ranges
from contractlog.spark_validation.spark.session import SparkFailed
from contractlog.spark_validation.state.state_files import read_state

from support.archives import ORDER, Record, encode_frame, encode_order, write_topic
from support.ci_formats import read_junit
from support.deadlines import WAIT_SECONDS, eventually
from support.kafka import Kafka
from support.reports import REPORT_VALIDATOR

if TYPE_CHECKING:
    from contractlog.registry.testing import Registries

pytestmark = [pytest.mark.integration, pytest.mark.spark]

EARLY = 1_357_000_000_000


class Topic:
    """A compacted topic in three partitions with transactions, aborted records, deletions and damage."""

    def __init__(self, broker: Kafka, registry: Registry) -> None:
        self.broker = broker
        compacted = {
            "cleanup.policy": "compact",
            "segment.ms": "1000",
            "min.cleanable.dirty.ratio": "0.01",
            "max.compaction.lag.ms": "1500",
            "retention.ms": "-1",
        }
        self.name = broker.create_topic(partitions=3, config=compacted)
        self.id = int(registry.register(f"{self.name}-value", SchemaDraft(ORDER)).schema_id)
        self.key_id = int(registry.register(f"{self.name}-key", SchemaDraft('"string"')).schema_id)
        self._transactions()
        for _ in range(3):
            self._plain(range(40))
            time.sleep(1.2)
        self._damage()
        for _ in range(2):  # the active segment is never compacted
            self._plain([99])
            time.sleep(1.2)

    def key(self, number: int) -> bytes:
        text = b"%03d" % number
        return encode_frame(self.key_id, b"\x06" + text)

    def _plain(self, numbers: Any) -> None:
        self.broker.produce(
            self.name,
            [
                {"key": self.key(at), "value": encode_order(self.id, at), "partition": at % 3, "timestamp": EARLY + at}
                for at in numbers
            ],
        )

    def _damage(self) -> None:
        bodies = [
            b"plain",
            encode_order(9_999),
            encode_order(self.key_id),
            encode_order(self.id)[:-1],
            encode_order(self.id) + b"!",
            None,
            None,
        ]
        self.broker.produce(
            self.name,
            [
                {"key": self.key(500 + at), "value": body, "partition": at % 3, "timestamp": EARLY}
                for at, body in enumerate(bodies)
            ],
        )

    def _transactions(self) -> None:
        producer = Producer({"bootstrap.servers": self.broker.bootstrap_servers, "transactional.id": self.name})
        producer.init_transactions(30)
        for end in ("commit", "abort", "commit", "abort"):
            producer.begin_transaction()
            for at in range(30):
                value = encode_order(self.id, at) if end == "commit" else b"never seen"
                producer.produce(self.name, key=self.key(200 + at), value=value, partition=at % 3)
            producer.flush(120)
            (producer.commit_transaction if end == "commit" else producer.abort_transaction)(30)


@pytest.fixture(scope="module")
def registry(registry_url: str) -> Iterator[Registry]:
    with Registry(registry_url) as client:
        yield client


@pytest.fixture(scope="module")
def topic(kafka: Kafka, registry: Registry) -> Topic:
    return Topic(kafka, registry)


def audit(*arguments: object) -> int:
    """Run the verb in this process, on the session of the tests."""
    return main(["audit", *map(str, arguments)])


def report_in(folder: Path) -> AuditReport:
    """Read a report, which has the documented form."""
    report: AuditReport = json.loads((folder / "report.json").read_text())
    REPORT_VALIDATOR.validate(report)
    return report


def value_of(report: AuditReport) -> TopicPart:
    """Return the only entry about values."""
    (entry,) = [one for one in report["topics"] if one["part"] == "value"]
    return entry


def assert_accounted(report: AuditReport) -> None:
    """Every offset of every partition is read or absent; what is read conforms, violates or is a tombstone."""
    for entry in report["topics"]:
        assert entry["partitions"]
        for one in entry["partitions"]:
            told = one["conforming"] + one["violating"] + one["tombstones"] + one["unaudited"]
            assert one["records"] + one["absent"] == one["to_offset"] - one["from_offset"]
            assert told == one["records"]


def test_an_audit_accounts_for_every_offset(
    registry: Registry, topic: Topic, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--registry", registry.url, "--bootstrap-servers", topic.broker.bootstrap_servers)
    assert audit(topic.name, *place, "--out", tmp_path / "audit", "--publish") == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"verdict threshold 99.9 % (--threshold): missed by 1 part ({topic.name}); "
        f"--fail-under 100 %: missed by 1 part ({topic.name}); exit code 1"
    )
    report = report_in(tmp_path / "audit")
    assert report["lineage"] == []
    assert list((tmp_path / "audit" / "violations.parquet").glob(".*")) == []
    assert_accounted(report)
    entry = value_of(report)
    assert len(entry["partitions"]) == 3
    codes = {line["code"]: line["records"] for line in entry["violations"]}
    assert codes == {
        "NOT_FRAMED": 1,
        "UNKNOWN_SCHEMA_ID": 1,
        "WRONG_SUBJECT": 1,
        "TRUNCATED": 1,
        "TRAILING_BYTES": 1,
    }
    assert entry["verdict"] == "failing"
    assert entry["tombstones"] == 2
    assert entry["absent"] >= 60 + 4 * 3  # what was aborted, and the markers of four transactions in three partitions
    assert entry["records"] + entry["absent"] == sum(
        one["to_offset"] - one["from_offset"] for one in entry["partitions"]
    )
    (reason,) = [note for note in entry["notes"] if "without a record" in note]
    assert reason.startswith(f"{entry['absent']} offsets without a record: the topic is compacted, so ")
    (key,) = [one for one in report["topics"] if one["part"] == "key"]
    assert (key["verdict"], key["violating"], key["records"]) == ("passing", 0, entry["records"])
    assert key["keys"]["moved"] == 0
    assert entry["time_order"]["backward"] >= 3  # the last records of each partition are early
    assert pq.read_table(tmp_path / "audit" / "violations.parquet").num_rows == 5
    assert "<html" in (tmp_path / "audit" / "report.html").read_text()
    assert sum(one.records for one in read_state(tmp_path / "audit" / "state").coverage) == entry["records"]
    published = registry.conformance(topic.name, part="value")
    assert published[0]["violating"] == 5
    (usage,) = registry.usage([f"{topic.name}-value"])
    (values,) = usage["topics"]
    assert values["records"] == entry["records"]
    assert {each["id"]: (each["version"], each["records"]) for each in values["versions"]} == {
        each["schema_id"]: (each["version"], each["records"]) for each in entry["schemas"]
    }


def test_an_archive_of_a_topic_gives_the_same_audit(
    kafka: Kafka, registry_url: str, topic: Topic, spark: SparkSession, tmp_path: Path
) -> None:
    for one in kafka_ranges(kafka, topic):
        archive.write_range(tmp_path / "archive", one, kafka_batches(kafka, one))
    place = ("--registry", registry_url)
    live = ("--bootstrap-servers", kafka.bootstrap_servers)
    assert audit(topic.name, *place, *live, "--out", tmp_path / "live") == 1
    assert audit(*place, "--archive", tmp_path / "archive", "--out", tmp_path / "archived") == 1
    first, second = report_in(tmp_path / "live"), report_in(tmp_path / "archived")
    for entry in (*first["topics"], *second["topics"]):
        del entry["trend"]  # has the time of the audit
        # An archive does not know why offsets have no record.
        entry["notes"] = [note for note in entry["notes"] if "without a record" not in note]
    assert first["topics"] == second["topics"]
    left, right = read_state(tmp_path / "live" / "state"), read_state(tmp_path / "archived" / "state")
    assert (left.cells, left.violations, left.samples) == (right.cells, right.violations, right.samples)
    assert left.profiles == right.profiles != {}


def kafka_ranges(broker: Kafka, topic: Topic) -> list[OffsetRange]:
    return plan_ranges(broker.bootstrap_servers, [topic.name], span=37)


def kafka_batches(broker: Kafka, one: kafka.OffsetRange) -> Any:
    return kafka.read_range(broker.bootstrap_servers, one)


def test_topics_of_nothing_of_nulls_and_of_no_frames_are_told_not_fatal(
    kafka: Kafka, registry_url: str, registry: Registry, spark: SparkSession, tmp_path: Path
) -> None:
    empty, nulls, plain = kafka.create_topic(), kafka.create_topic(), kafka.create_topic()
    registry.register(f"{nulls}-value", SchemaDraft(ORDER))
    registry.register(f"{plain}-value", SchemaDraft(ORDER))
    kafka.produce(nulls, [{"key": b"k", "value": None}] * 5)
    kafka.produce(plain, [{"key": None, "value": b"no frame at all"}] * 5)
    place = ("--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers)
    assert audit(empty, nulls, *place, "--out", tmp_path / "fine") == 0
    assert audit(empty, nulls, plain, *place, "--out", tmp_path / "audit") == 1
    options = [
        "--out",
        tmp_path / "audit",
        "--fail-under",
        "0%",
        "--no-samples",
        "--report",
        f"junit={tmp_path / 'a.xml'}",
    ]
    assert audit(empty, nulls, plain, *place, *options) == 0
    assert {case.name for case in read_junit((tmp_path / "a.xml").read_text())} == {
        f"{topic} {part}" for topic in (empty, nulls, plain) for part in PARTS
    }
    assert read_state(tmp_path / "audit" / "state").samples == {}
    report = report_in(tmp_path / "audit")
    assert_accounted(report)
    values = {one["topic"]: one for one in report["topics"] if one["part"] == "value"}
    assert (values[empty]["verdict"], values[empty]["records"]) == ("unknown", 0)
    assert (values[nulls]["verdict"], values[nulls]["tombstones"]) == ("unknown", 5)
    assert (values[plain]["verdict"], values[plain]["violating"]) == ("failing", 5)
    keys = {one["topic"]: one for one in report["topics"] if one["part"] == "key"}
    assert (keys[nulls]["verdict"], keys[nulls]["records"], keys[nulls]["conforming"]) == ("unknown", 5, 0)
    assert "5 of 5 records were not checked against any schema." in keys[nulls]["notes"]
    assert audit(nulls, *place, "--out", tmp_path / "published", "--publish") == 0
    assert registry.conformance(nulls, part="key")[0]["records"] == 5


def test_records_of_a_schema_that_validators_cannot_use_do_not_hide_the_others(
    registries: Registries, spark: SparkSession, tmp_path: Path
) -> None:
    app = registries.make({})  # in this process: a server warns of such schemas on stderr
    with Registry(app=app) as registry:
        good = registry.register("t-value", SchemaDraft('{"required": ["at"]}', SchemaType.JSON)).schema_id
        registry.set_level(Level.NONE, "t-value")
        bad = registry.register("t-value", SchemaDraft('{"minLength": -1}', SchemaType.JSON)).schema_id
        values = [(good, b'{"at": 1}'), (bad, b"{}"), (good, b"{}"), (good, b'{"at": 2}')]
        write_topic(
            tmp_path / "archive", "t", [Record(at, value=encode_frame(*value)) for at, value in enumerate(values)]
        )
        encode_order = AuditRequest(registry, ArchiveSource(tmp_path / "archive"))
        report = audit_to_folder(encode_order, tmp_path / "audit", print_line=print)
        assert publish(registry, report) == 2
        assert registry.conformance("t", part="value")[0]["unaudited"] == 1
    app.state.close()
    assert report == report_in(tmp_path / "audit")
    assert_accounted(report)
    entry = value_of(report)
    (note,) = entry["notes"]
    assert f"1 record carries schema id {bad} (version 2 of `t-value`), which validators cannot use: " in note
    assert "of 0, at <code>/minLength</code>. Such records are not" in (tmp_path / "audit" / "report.html").read_text()
    (line,) = [line for line in format_report(report) if "t (key)" not in line]
    assert line.endswith("1 of 3 (33.3 %) records violate: SCHEMA_VIOLATION 1; 1 not audited (schema not usable)")
    outcomes = [set(cell.counts) for cell in read_state(tmp_path / "audit" / "state").cells.values()]
    assert {Outcome.SCHEMA_NOT_USABLE} in outcomes


def test_a_wide_topic_is_audited_and_the_report_names_the_fields_that_were_left_out(
    registry_url: str, registry: Registry, spark: SparkSession, tmp_path: Path
) -> None:
    """Samples cross to the driver in files: all fields of two partitions would be a million values."""
    fields = [{"name": f"f{at:03}", "type": "long"} for at in range(500)]
    schema_id = registry.register(
        "wide-value", SchemaDraft(json.dumps({"type": "record", "name": "Wide", "fields": fields}))
    ).schema_id
    random = np.random.default_rng(7)
    for partition in range(2):
        longs = random.integers(0, 128, (1_000, 500, 4), np.uint8) | np.array([128, 128, 128, 0], np.uint8)  # varints
        records = [
            Record(at, value=encode_frame(schema_id, row.tobytes()), partition=partition)
            for at, row in enumerate(longs)
        ]
        write_topic(tmp_path / "archive", "wide", records)
    place = ("--registry", registry_url, "--archive", tmp_path / "archive", "--out", tmp_path / "audit")
    assert audit(*place) == 0
    assert [file.name for file in (tmp_path / "audit" / "violations.parquet").iterdir()] == ["none.parquet"]
    entry = value_of(report_in(tmp_path / "audit"))
    assert (entry["verdict"], entry["conforming"]) == ("passing", 2_000)
    sentence = (
        "Samples of values were kept of 64 fields and left out of 436 to bound memory (`f064`, `f065`, `f066`, …); "
        "lineage does not see those."
    )
    assert entry["notes"] == [sentence]
    page = (tmp_path / "audit" / "report.html").read_text()
    assert "Samples of values were kept of 64 fields and left out of 436 to bound memory" in page
    state = read_state(tmp_path / "audit" / "state")
    assert {field for _, _, field in state.samples} == {f"f{at:03}" for at in range(64)}


def test_missing_topics_are_named_and_nothing_is_written(
    kafka: Kafka, registry_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ("--out", tmp_path / "audit")
    there = ("--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers)
    assert audit("no-such-topic", *there, *out) == 2
    assert "`no-such-topic` does not exist" in capsys.readouterr().err
    assert audit(*there[:2], "--bootstrap-servers", "127.0.0.1:1", *out) == 3
    assert audit("--registry", "http://127.0.0.1:1", *there[2:], *out) == 3
    assert audit(*there[:2], "--archive", tmp_path / "none", *out) == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep me")
    assert audit(*there, "--out", tmp_path / "mine") == 2
    assert [file.name for file in tmp_path.rglob("*")] == ["mine", "notes.txt"]


def test_the_report_is_told_even_when_publishing_it_is_refused(
    registry_url: str, registry: Registry, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register("no topic of Kafka-value", SchemaDraft(ORDER))
    write_topic(tmp_path / "archive", "no topic of Kafka", [Record(0, value=b"x" * 5000)])
    place = ("--registry", registry_url, "--archive", tmp_path / "archive", "--out", tmp_path / "audit")
    assert audit(*place, "--publish", "--full-bytes") == 2
    said = capsys.readouterr().err
    assert "is not a valid topic name" in said
    assert f"the report: {tmp_path / 'audit' / 'report.html'}" in said
    assert pq.read_table(tmp_path / "audit" / "violations.parquet").column("bytes").to_pylist() == [b"x" * 5000]


def audit_one(spark: SparkSession, source: ArchiveSource, folder: Path, progress: Any = None) -> AuditState:
    """Audit one offset of a topic that is held against nothing."""
    folder.mkdir()
    nothing: dict[tuple[str, Part], PartExpectation] = {("t", part): PartExpectation(audited=False) for part in PARTS}
    return audit_ranges(
        spark, source, [OffsetRange("t", 0, 0, 1)], AuditExpectations(nothing, {}, {}), folder, progress=progress
    )


def test_an_error_of_a_worker_that_is_none_of_ours_is_told_in_a_sentence(spark: SparkSession, tmp_path: Path) -> None:
    class Breaking(ArchiveSource):
        def open(self, ranges: Sequence[OffsetRange]) -> Any:
            return nullcontext(self)

        def read(self, offsets: OffsetRange) -> Iterator[Any]:
            raise OSError("the disk is gone")

    with pytest.raises(SparkFailed, match=r"job failed: OSError: the disk is gone \(.*log"):
        audit_one(spark, Breaking(tmp_path), tmp_path / "violations")


def test_an_interruption_ends_the_audit_and_no_other_job_of_the_session(spark: SparkSession, tmp_path: Path) -> None:
    class Slow(ArchiveSource):
        def open(self, ranges: Sequence[OffsetRange]) -> Any:
            return nullcontext(self)

        def read(self, offsets: OffsetRange) -> Iterator[Any]:
            time.sleep(600)
            yield from ()

    def slowly(number: int) -> int:
        time.sleep(4)
        return number

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    start = time.monotonic()
    with ThreadPoolExecutor(1) as thread:
        other = thread.submit(lambda: spark.sparkContext.parallelize([7], 1).map(slowly).collect())
        time.sleep(0.5)
        with pytest.raises(KeyboardInterrupt):
            audit_one(spark, Slow(tmp_path), tmp_path / "violations", interrupted)
        assert other.result() == [7]
    assert time.monotonic() - start < 120


@pytest.fixture(scope="module")
def slow_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A topic whose audit on one core takes seconds after the first part."""
    folder = tmp_path_factory.mktemp("slow")
    for partition in range(6):
        records = [Record(at, value=b"violating", partition=partition) for at in range(25_000)]
        write_topic(folder, "slow", records)
    return folder


def test_the_log_of_a_spark_that_goes_away_is_told_and_kept(
    registry_url: str, registry: Registry, slow_archive: Path, tmp_path: Path
) -> None:
    registry.register("slow-value", SchemaDraft(ORDER))
    out = tmp_path / "out" / "audit"
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "audit", "--master", "local[1]"]
    place = ["--registry", registry_url, "--archive", str(slow_archive), "--out", str(out)]
    with subprocess.Popen([*command, *place], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:

        def has_written() -> bool:
            assert process.poll() is None, process.communicate()
            return any(out.parent.glob(".audit.unfinished-*/violations.parquet/of-slow-*"))

        eventually(has_written)
        os.kill(java_of(process.pid), signal.SIGKILL)
        _, said = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 2, said
    last = said.splitlines()[-1]
    assert last.startswith("contractlog: the audit's Spark job failed: its Java process has ended")
    log = Path(last.rpartition("log: ")[2].removesuffix(")"))
    assert log.exists()
    log.unlink()
    assert list(out.parent.iterdir()) == []


def java_of(parent: int) -> int:
    """Return the Java that a process has started."""
    return int(subprocess.run(["pgrep", "-P", str(parent), "java"], capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize(
    ("sent", "moment"),
    [
        (signal.SIGINT, "while Spark starts"),
        (signal.SIGINT, "while records are read"),
        (signal.SIGTERM, "while records are read"),
    ],
)
def test_an_interrupted_audit_leaves_nothing_half_written(
    registry_url: str, registry: Registry, slow_archive: Path, tmp_path: Path, *, sent: signal.Signals, moment: str
) -> None:
    registry.register("slow-value", SchemaDraft(ORDER))
    out = tmp_path / "out" / "audit"
    out.mkdir(parents=True)
    (out / "report.json").write_text('{"format": "contractlog.audit/1"}')  # of an earlier audit
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "audit", "--master", "local[1]"]
    place = ["--registry", registry_url, "--archive", str(slow_archive), "--out", str(out)]
    with subprocess.Popen(
        [*command, *place],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
        start_new_session=True,  # Ctrl-C reaches the whole group, Java and workers too
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("auditing 150,000 offsets")
        wait_until = time.monotonic() + (1 if moment == "while Spark starts" else 120)
        while not any(out.parent.glob(".audit.unfinished-*/violations.parquet/*.parquet")):
            assert process.poll() is None, process.communicate()
            if time.monotonic() > wait_until:
                break
            time.sleep(0.02)
        if sent is signal.SIGINT:
            os.killpg(process.pid, sent)
        else:
            process.send_signal(sent)
        printed, said = process.communicate(timeout=WAIT_SECONDS)  # also waits for whoever else could still write
    assert (process.returncode, printed) == (130, "")
    assert said.endswith("contractlog: interrupted\n")
    assert [path.relative_to(out.parent).as_posix() for path in out.parent.rglob("*")] == ["audit", "audit/report.json"]
