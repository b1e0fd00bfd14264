from __future__ import annotations

import html
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pyarrow.dataset
import pytest

import demo
from support.deadlines import WAIT_SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.spark, pytest.mark.slow]  # make demo runs the same

DEMO = [sys.executable, demo.__file__]


MARK = f"contractlog-demo-{uuid4().hex}"  # every process that the demo starts inherits it
ENVIRONMENT = {**os.environ, "DEMO_TEST": MARK}


def _left_behind() -> list[str]:
    """Processes that a demo of this test run has started, whatever they have become."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if MARK.encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue  # it has ended meanwhile
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "played"


@pytest.fixture(scope="module")
def played(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [*DEMO, "--folder", str(folder), "--records", "2000"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=ENVIRONMENT)


def test_exactly_the_planted_damage_is_found(played: subprocess.CompletedProcess[str]) -> None:
    assert played.returncode == 0, played.stdout + played.stderr
    assert "violations: planted 141, found 141, missed 0, false 0" in played.stdout
    assert "lineage: planted 11, found 11, missed 0, false 0" in played.stdout


def test_the_check_rejects_with_reason_position_and_fix(played: subprocess.CompletedProcess[str]) -> None:
    assert "AVRO_FIELD_DEFAULT_MISSING" in played.stdout
    assert re.search(r"flights\.departed-value\.avsc:\d+:\d+", played.stdout)
    assert "fix:" in played.stdout


def test_ci_rejects_a_branch_and_applies_the_plan_of_its_next_commit(
    played: subprocess.CompletedProcess[str], folder: Path
) -> None:
    lines = iter(played.stdout.splitlines())
    expected = [
        "$ contractlog apply schemas",
        "10 versions registered, 4 levels set",
        "$ contractlog check schemas --against git:main --quiet",
        "incompatible with git:main:schemas/flights.departed-value.avsc at level BACKWARD_TRANSITIVE",
        "$ contractlog check schemas --quiet",
        "incompatible with version 1 of `flights.departed-value` at level BACKWARD_TRANSITIVE",
        "$ contractlog plan schemas --out ../plan.json",
        "1 version would be registered",
        "$ git merge --quiet arrivals",
        "$ contractlog apply --plan ../plan.json",
        "registered as version 2 of `flights.departed-value`",
        "$ contractlog plan schemas --exit-code",
        "nothing to change",
    ]
    assert [text for text in expected if not any(text in line for line in lines)] == []  # all of them, in this order
    log = ["git", "log", "--format=%s", "main"]
    messages = subprocess.run(log, cwd=folder / "repository", capture_output=True, text=True, check=True).stdout
    assert messages.splitlines() == ["Leave gate out", "Add arrival and gate", "Version 1 of all schemas"]


def test_a_rule_is_broken_at_the_producer_in_history_and_in_ci(played: subprocess.CompletedProcess[str]) -> None:
    lines = iter(played.stdout.splitlines())
    expected = [
        "the serializer rejects a departure with distance 0: the rule positive_distance (CEL) failed on writing",
        "flights.departed.dlq received the departure, with the headers",
        "__rule.name: positive_distance",
        "__rule.mode: WRITE",
        "__rule.subject: flights.departed-value",
        "__rule.topic: flights.departed",
        "__rule.exception: Rule expr failed: message.distance > 0",
        "a producer that runs no rules writes the same departure: flights.departed partition ",
        "$ contractlog check schemas/flights.departed-value.avsc",
        "rule positive_distance: record Departure has no field 'distance'",
        "exit code 1: compatible by its alias, but the rule cannot read the new schema",
        ": RULE_BROKEN, rule `positive_distance`: distance is greater than 0",
    ]
    assert [text for text in expected if not any(text in line for line in lines)] == []  # all of them, in this order


def test_the_readme_shows_the_output_of_the_check(played: subprocess.CompletedProcess[str]) -> None:
    readme = (Path(demo.__file__).parent.parent / "README.md").read_text("utf-8")
    shown = re.findall(r"^```text\n\$ contractlog check (?:.*)\n((?:.*\n)*?)```$", readme, re.MULTILINE)
    assert len(shown) == 1
    assert set(shown[0].splitlines()) <= {line.removeprefix("   ") for line in played.stdout.splitlines()}
    assert all(
        (Path(demo.__file__).parent.parent / picture).is_file() for picture in re.findall(r"\((docs/.*png)\)", readme)
    )


def test_the_report_exists_and_its_counts_are_consistent(
    played: subprocess.CompletedProcess[str], folder: Path
) -> None:
    report = json.loads((folder / "audit" / "report.json").read_bytes())
    assert (folder / "audit" / "report.html").stat().st_size > 10_000
    assert len(report["topics"]) == 12  # with key and value of the dead letter queue
    for part in report["topics"]:
        assert part["partitions"]
        for one in part["partitions"]:
            counted = sum(one[kind] for kind in ("conforming", "violating", "tombstones", "unaudited", "absent"))
            assert counted == one["to_offset"] - one["from_offset"]


REPLACED = {"airports": 25, "aircraft": 40}  # records that a later one of their key makes superfluous, or a deletion


def test_only_compacted_records_are_absent(played: subprocess.CompletedProcess[str], folder: Path) -> None:
    """A broker compacts when it pleases: the demo tells what was gone before the audit, and nothing comes back."""
    report = json.loads((folder / "audit" / "report.json").read_bytes())
    for topic in sorted({part["topic"] for part in report["topics"]}):
        key, value = (part["absent"] for part in report["topics"] if part["topic"] == topic)
        told = re.search(rf"{re.escape(topic)} is compacted: ([\d,]+) of ", played.stdout)
        assert told or topic not in REPLACED or f"{topic} is not compacted yet" in played.stdout
        gone = int(told[1].replace(",", "")) if told else 0
        assert key == value
        assert gone <= value <= REPLACED.get(topic, 0)


def test_the_audit_does_not_read_the_planted_damage(played: subprocess.CompletedProcess[str], folder: Path) -> None:
    """The planted file lies beside the audit; the violations were written by the audit alone."""
    planted = json.loads((folder / "planted.json").read_bytes())
    seen = pyarrow.dataset.dataset(folder / "audit" / "violations.parquet").to_table()
    assert seen.num_rows == len(planted)
    assert "kind" not in seen.column_names


def test_nothing_is_left_running(played: subprocess.CompletedProcess[str]) -> None:
    assert _left_behind() == []


def test_the_last_lines_start_registry_and_broker_again_so_that_commands_of_the_report_work(
    played: subprocess.CompletedProcess[str], folder: Path
) -> None:
    typed = [line.strip().removeprefix("$ ") for line in played.stdout.splitlines() if line.startswith("   $ ")]
    *commands, to_registry, to_broker, to_program = typed[-5:]
    serve, run_broker = map(shlex.split, commands)  # typed as they are printed
    url = f"http://127.0.0.1:{serve[serve.index('--port') + 1]}"
    assert to_registry == f"export CONTRACTLOG_REGISTRY_URL={url}"
    page = html.unescape(re.sub(r"</?span[^>]*>", "", (folder / "audit" / "report.html").read_text()))
    shown = re.search(r"contractlog (consume flights\.departed --partition (\d) --offset (\d+) [-\w .:/]+)", page)
    assert shown is not None
    with _running(serve), _running(run_broker) as broker:
        entries = json.loads(_asked(f"{url}/contractlog/v1/conformance/flights.departed"))
        assert {entry["part"] for entry in entries} == {"key", "value"}
        assert broker.stdout is not None
        servers = broker.stdout.readline().strip()
        assert f"--bootstrap-servers {servers}" in shown[1]
        assert to_broker == f"export CONTRACTLOG_BOOTSTRAP_SERVERS={servers}"
        pasted = "\n".join([to_registry, to_broker, to_program, f"contractlog {shown[1]}"])
        bare = {"PATH": "/usr/bin:/bin"}
        looked = subprocess.run(
            ["/bin/sh", "-c", pasted], capture_output=True, text=True, check=False, timeout=WAIT_SECONDS, env=bare
        )
        refused = subprocess.run(
            [*DEMO, "--folder", str(folder)], capture_output=True, text=True, check=False, env=ENVIRONMENT
        )
        assert refused.returncode == 2
        assert re.search(r"process \d+ serves a registry from .*registry\.db", refused.stderr)
        assert (folder / "registry.db").exists()
        assert broker.poll() is None
    assert f"flights.departed partition {shown[2]} offset {shown[3]}" in looked.stderr, looked
    assert broker.returncode == 0


@contextmanager
def _running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a command until the block ends."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def _asked(url: str) -> bytes:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310  # our own registry
                body: bytes = answer.read()
                return body
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.mark.parametrize("step", [pytest.param("3 ", marks=pytest.mark.slow), "6 "])
def test_an_interrupted_demo_leaves_nothing_running_and_can_be_repeated(tmp_path: Path, step: str) -> None:
    folder = tmp_path / "played"
    command = [*DEMO, "--folder", str(folder), "--records", "200"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT
    ) as playing:
        assert playing.stdout is not None
        for line in playing.stdout:
            if line.startswith(step):
                break
        time.sleep(1)
        assert len(_left_behind()) >= 3  # the demo, the registry, the broker
        playing.send_signal(signal.SIGINT)
        rest = playing.stdout.read()
        assert playing.wait(WAIT_SECONDS) == 130, rest
    assert "Traceback" not in rest
    assert "|rdkafka#" not in rest
    assert _left_behind() == []
    assert not (folder / "audit" / "report.html").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    played = subprocess.run([*DEMO, "--folder", str(tmp_path)], capture_output=True, text=True, check=False)
    assert played.returncode == 2
    assert "not the demo's" in played.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["precious.txt"]
