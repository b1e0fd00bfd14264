"""``contractlog audit --quality`` with real Kafka, registry and Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft

from support.archives import ORDER, encode_order
from support.ci_formats import read_junit
from support.kafka import Kafka
from support.reports import REPORT_VALIDATOR

RULES = """
quality:
  - {name: enough, metric: rowCount, mustBe: 30}
properties:
  - name: total
    required: true
    logicalTypeOptions: {minimum: 0, maximum: 100}
  - name: note
    quality:
      - {name: known notes, metric: invalidValues, arguments: {validValues: [gift, none]}, mustBe: 0}
      - {name: short words, metric: invalidValues, arguments: {pattern: "[a-z]+"}, mustBe: 0, severity: warning}
"""


def test_rules_are_evaluated_by_what_the_audit_reads(
    kafka: Kafka, registry_url: str, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = kafka.create_topic()
    with Registry(registry_url) as registry:
        schema_id = int(registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id)
    notes = ["gift"] * 20 + ["none"] * 9 + ["SECRET"]
    kafka.produce(topic, [{"value": encode_order(schema_id, total=at, note=note)} for at, note in enumerate(notes)])
    file = tmp_path / f"{topic}.quality.yaml"
    file.write_text(RULES)
    out = tmp_path / "audit"
    options = ["--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers, "--out", str(out)]
    options += ["--quality", str(tmp_path), "--report", f"junit={tmp_path / 'audit.xml'}"]
    assert main(["audit", topic, *options]) == 1
    text = capsys.readouterr().out
    assert "quality: 4 of 6 (66.7 %) rules passed" in text
    assert "failed (error) `known notes`: invalidValues of `note` must be 0, and is 1" in text
    report = json.loads((out / "report.json").read_text())
    REPORT_VALIDATOR.validate(report)
    (results,) = [entry["quality"] for entry in report["topics"] if "quality" in entry]
    assert [(result["rule"], result["outcome"], result["actual"]) for result in results] == [
        ("enough", "passed", 30),
        ("total is required", "passed", 0),
        ("minimum of total", "passed", 0),
        ("maximum of total", "passed", 29),
        ("known notes", "failed", 1),
        ("short words", "failed", 1),
    ]
    page = (out / "report.html").read_text()
    assert "Quality rules of the values" in page
    assert "SECRET" not in page + (out / "report.json").read_text()
    (failed,) = [case for case in read_junit((tmp_path / "audit.xml").read_text()) if case.failure is not None]
    assert failed.name == f"{topic} value"
    file.write_text(RULES.replace("[gift, none]", "[gift, none, SECRET]"))
    assert main(["audit", topic, *options]) == 0  # a failing rule of severity warning is no error
    assert "read 0 new offsets; 30 were audited before" in capsys.readouterr().err


def test_references_between_topics_are_checked(
    kafka: Kafka, registry_url: str, spark: SparkSession, tmp_path: Path
) -> None:
    orders, customers = (kafka.create_topic() for _ in range(2))
    with Registry(registry_url) as registry:
        for topic, totals in ((orders, range(30)), (customers, range(29))):
            schema_id = int(registry.register(f"{topic}-value", SchemaDraft(ORDER)).schema_id)
            kafka.produce(topic, [{"value": encode_order(schema_id, total=total)} for total in totals])
    (rules := tmp_path / f"{orders}.quality.yaml").write_text(
        f"properties: [{{name: total, relationships: [{{type: foreignKey, to: {customers}.total}}]}}]"
    )
    place = ["--registry", registry_url, "--bootstrap-servers", kafka.bootstrap_servers, "--quality", str(rules)]
    outcomes = []
    for topics in ([orders], [orders, customers]):
        main(["audit", *topics, *place, "--out", str(tmp_path / "audit")])
        report = json.loads((tmp_path / "audit" / "report.json").read_text())
        (result,) = [result for entry in report["topics"] for result in entry.get("quality", ())]
        outcomes.append((result["outcome"], result["actual"]))
    assert outcomes == [("not evaluated", None), ("failed", 1)]
