"""The audit of an archive whose schema has rules: its results are those of each rule per record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from contractlog.clients.cli.main import main
from contractlog.clients.registry import Registry
from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.rules.compiled_rules import compile_rule
from contractlog.serdes.avro.readers_and_writers import AvroWriter

from support.archives import Record, encode_frame, write_topic
from support.reports import REPORT_VALIDATOR

pytestmark = pytest.mark.integration

TEXT = json.dumps(
    {
        "type": "record",
        "name": "RuledOrder",
        "fields": [
            {"name": "quantity", "type": "long"},
            {"name": "email", "type": ["null", "string"]},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
        ],
    }
)
CONDITIONS = {
    "positive": "message.quantity > 0",
    "reachable": "message.email != null ; message.email.contains('@')",
    "shortTags": "message.tags.all(t, t.size() <= 3)",
}
VALUES = [
    {"quantity": at - 3, "email": None if at % 3 else f"{at}{'@' if at % 2 else ''}", "tags": ["x" * (at % 5)]}
    for at in range(60)
]


def test_an_audit_reports_the_records_that_break_the_rules_of_their_schema(
    registry_url: str, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del spark  # the session of the audit
    rules = [Rule(name, kind="CONDITION", mode="WRITE", type="CEL", expr=text) for name, text in CONDITIONS.items()]
    skipped = Rule("mapped", kind="CONDITION", mode="WRITE", type="JSONATA", expr="$")
    draft = SchemaDraft(TEXT, rule_set=RuleSet(domain_rules=(*rules, skipped)))
    with Registry(registry_url) as registry:
        schema_id = int(registry.register("ruled-orders-value", draft).schema_id)
    parsed = parse_schema(draft, {})
    writer = AvroWriter(parsed)
    records = [Record(at, value=encode_frame(schema_id, writer.encode(value))) for at, value in enumerate(VALUES)]
    write_topic(tmp_path / "archive", "ruled-orders", records)
    compiled = {rule.name: compile_rule(rule, parsed) for rule in rules}

    arguments = ["--registry", registry_url, "--archive", str(tmp_path / "archive"), "--out", str(tmp_path / "out")]
    assert main(["audit", *arguments]) == 1

    report = json.loads((tmp_path / "out" / "report.json").read_text())
    REPORT_VALIDATOR.validate(report)
    (entry,) = [each for each in report["topics"] if each["part"] == "value"]
    broken = {
        name: [
            at
            for at, value in enumerate(VALUES)
            if rule.passes_guard({"message": value}) and not rule.evaluate({"message": value})
        ]
        for name, rule in compiled.items()
    }
    assert {use["rule"]: use["broken"] for use in entry["rules"]} == {
        **{name: len(offsets) for name, offsets in broken.items()},
        "mapped": 0,
    }
    assert {use["rule"]: use["per_record"] for use in entry["rules"] if use["per_record"]} == {"shortTags": len(VALUES)}
    assert entry["rules"][-1]["reason"] == "audits do not evaluate rules of type JSONATA"
    assert {line["code"] for line in entry["violations"]} == {"RULE_BROKEN"}
    assert entry["violating"] == len(set().union(*broken.values()))
    assert entry["verdict"] == "failing"
    assert "is not evaluated: audits do not evaluate rules of type JSONATA" in " ".join(entry["notes"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Rules of the schemas, on conforming values" in page
    assert "quantity is greater than 0" in page
    assert "RULE_BROKEN" in capsys.readouterr().out
