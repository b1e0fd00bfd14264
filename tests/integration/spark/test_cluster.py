"""Audits on a cluster give the results of one machine, also if an executor is killed meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pyspark
import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft
from contractlog.spark_validation.spark.java_runtime import find_java

from support.archives import ORDER, encode_order
from support.deadlines import WAIT_SECONDS, eventually
from support.kafka import Kafka
from support.spark import StandaloneCluster

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("spark")]

ROOT = Path(__file__).parent.parent.parent.parent
SUBMITTED = ROOT / "examples" / "spark_submit_audit.py"
PARTITIONS, RECORDS = 8, 60_000


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    uv = Path(sys.executable).with_name("uv")
    hashes = ["--build-constraints", "requirements/build.txt", "--require-hashes"]
    command = [uv, "build", "--quiet", "--wheel", "--python", sys.executable, *hashes, "--out-dir", folder]
    subprocess.run(command, cwd=ROOT, check=True)
    (file,) = folder.glob("*.whl")
    return file


def _results(folder: Path) -> tuple[Any, list[tuple[int, int, str]]]:
    """The entries of the report without times of the audit, and the positions of the violations."""
    topics = json.loads((folder / "report.json").read_text())["topics"]
    for entry in topics:
        del entry["trend"]
    rows = pq.read_table(folder / "violations.parquet").to_pylist()
    return topics, sorted((row["partition"], row["offset"], row["code"]) for row in rows)


def test_a_cluster_whose_workers_get_a_wheel_and_lose_an_executor_gives_the_same_results(
    kafka: Kafka, registry_url: str, standalone_cluster: StandaloneCluster, wheel: Path, tmp_path: Path
) -> None:
    topic = kafka.create_topic(partitions=PARTITIONS)
    with Registry(registry_url) as registry:
        schema_id = int(registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id)
    good = encode_order(schema_id)
    values = [good if at % 100 else b"plain" for at in range(RECORDS)]
    kafka.produce(topic, [{"value": value, "partition": at % PARTITIONS} for at, value in enumerate(values)])
    place = [topic, "--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers]
    distributed = tmp_path / "distributed"
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "audit", *place, "--out", str(distributed)]
    with subprocess.Popen(
        [*command, "--master", standalone_cluster.url, "--wheel", str(wheel)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYSPARK_PYTHON": str(standalone_cluster.python)},
    ) as process:
        eventually(lambda: list(tmp_path.glob(".distributed.unfinished-*/violations.parquet/*.parquet")))
        victim, *_ = standalone_cluster.executors()
        os.kill(victim, signal.SIGKILL)
        printed, _ = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 1, printed
    assert f"{RECORDS // 100} of {RECORDS:,} (1 %) records violate" in printed
    assert main(["audit", *place, "--out", str(tmp_path / "local")]) == 1
    assert _results(distributed) == _results(tmp_path / "local")


def test_workers_without_contractlog_are_told_apart_from_other_failures(
    kafka: Kafka, registry_url: str, standalone_cluster: StandaloneCluster, tmp_path: Path
) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, [{"value": b"plain"}])
    place = [topic, "--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers]
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "audit", *place, "--out", str(tmp_path / "audit")]
    done = subprocess.run(
        [*command, "--master", standalone_cluster.url, "--strategy", "topic"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYSPARK_PYTHON": str(standalone_cluster.python)},
        check=False,
    )
    assert done.returncode == 2
    assert "the workers do not have contractlog: install it there, or send it with --wheel FILE" in done.stderr


def test_an_audit_by_spark_submit_runs_on_its_cluster(
    kafka: Kafka, registry_url: str, standalone_cluster: StandaloneCluster, wheel: Path, tmp_path: Path
) -> None:
    topic, out = kafka.create_topic(partitions=2), tmp_path / "audit"
    with Registry(registry_url) as registry:
        schema_id = registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id
    kafka.produce(topic, [{"value": encode_order(int(schema_id)), "partition": at % 2} for at in range(100)])
    place = [topic, "--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers, "--out", str(out)]
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    python = {"PYSPARK_DRIVER_PYTHON": sys.executable, "PYSPARK_PYTHON": str(standalone_cluster.python)}
    done = subprocess.run(
        [submit, "--master", standalone_cluster.url, SUBMITTED, "audit", *place, "--wheel", str(wheel)],
        capture_output=True,
        text=True,
        env={**os.environ, **find_java().env, **python, "SPARK_LOCAL_IP": "127.0.0.1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"auditing 100 offsets of 1 topic on {standalone_cluster.url}" in done.stdout
    ((value, _), _) = _results(out)
    assert (value["records"], value["verdict"]) == (100, "passing")
