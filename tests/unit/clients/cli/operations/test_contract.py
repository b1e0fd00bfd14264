"""The verb ``contract`` against a registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from contractlog.clients import Registry
from contractlog.clients.calls.extensions import publish_conformance
from contractlog.clients.cli import exit_codes
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.odcs.contract_text import write_contract
from contractlog.contracts.odcs.document import build_contract

from support.operations import NOTE, Run, order
from support.reports import part

RULES = {"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]}


@pytest.fixture
def contract(orders: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the contract of the latest version of a subject, which is in the working directory, too."""
    monkeypatch.chdir(tmp_path)
    contract, _ = build_contract("orders", order(NOTE))
    Path("c.yaml").write_text(write_contract(contract))
    return contract


@pytest.mark.parametrize("version", ["v3.0.2", "v3.1.0", "v3.2.0"])
def test_a_version_is_exported_with_metadata_and_rules(orders: Registry, run: Run, version: str) -> None:
    metadata = Metadata(properties={"owner": "sales", "sla.latency": "4 h", "key": "hidden"}, sensitive=("key",))
    latest = order(NOTE)
    rule_set = RuleSet.from_body(RULES)
    orders.register("orders-value", SchemaDraft(latest.text, latest.type, latest.references, metadata, rule_set))
    ran = run("contract", "export", "orders-value", "--odcs-version", version)
    assert ran.code == exit_codes.CLEAN
    assert "metadata.key is a sensitive property" in ran.err
    assert "hidden" not in ran.out
    exported = yaml.safe_load(ran.out)
    assert (exported["apiVersion"], exported["id"], exported["version"]) == (version, "orders", "3")
    assert exported["slaProperties"] == [{"property": "latency", "value": 4, "unit": "h"}]
    custom = {each["property"]: each["value"] for each in exported["schema"][0]["customProperties"]}
    assert custom["confluentRuleSet"]["domainRules"][0]["expr"] == "true"


def test_a_missing_version_is_named(orders: Registry, run: Run) -> None:
    ran = run("contract", "export", "order-value")
    assert ran.code == exit_codes.USAGE
    assert "did you mean `orders-value`?" in ran.err


def test_a_contract_is_written_from_a_subject(contract: dict[str, Any], run: Run) -> None:
    assert run("contract", "init", "orders-value").out == "wrote orders.contract.yaml\n"
    assert run("contract", "lint", "orders.contract.yaml").code == exit_codes.CLEAN


def test_the_schema_is_compared_with_the_latest_version(contract: dict[str, Any], run: Run) -> None:
    ran = run("contract", "test", "c.yaml")
    assert ran.code == exit_codes.CLEAN
    assert "version 2 has the schema of the contract" in ran.out
    contract["schema"][0]["properties"].append({"name": "x", "logicalType": "string", "required": True})
    Path("c.yaml").write_text(write_contract(contract))
    ran = run("contract", "test", "c.yaml")
    assert ran.code == exit_codes.FINDINGS
    assert "differs from version 2; levels that admit the change: " in ran.out


def test_quality_rules_have_the_results_of_the_newest_audit(
    contract: dict[str, Any], registry: Registry, run: Run
) -> None:
    contract["schema"][0]["quality"] = [
        {"name": name, "metric": "rowCount", "mustBeGreaterThan": number}
        for name, number in (("a", 10), ("b", 20), ("c", 1))
    ]
    Path("c.yaml").write_text(write_contract(contract))
    assert "a: rowCount must be greater than 10; no published audit has it" in run("contract", "test", "c.yaml").out
    outcomes = (("a", "passed", "10"), ("b", "failed", "20"))
    results = [
        {"rule": name, "field": "", "metric": "rowCount", "outcome": outcome, "actual": 12.0, "severity": "error",
         "expected": f"must be greater than {number}", "unit": "rows",
         "owner": "", "muted_until": None, "reason": "", "line": 1}
        for name, outcome, number in outcomes
    ]  # fmt: skip
    entry: Any = {**part(topic="orders"), "quality": results}
    registry.send(publish_conformance("orders", entry))
    ran = run("contract", "test", "c.yaml")
    assert ran.code == exit_codes.FINDINGS
    assert "✓ a: rowCount must be greater than 10, is 12" in ran.out
    assert "✗ b: rowCount must be greater than 20, is 12" in ran.out
    assert "! c: rowCount must be greater than 1; no published audit has it" in ran.out


def test_a_contract_is_stored_and_printed(contract: dict[str, Any], orders: Registry, run: Run) -> None:
    assert run("contract", "put", "c.yaml", "--expected", "0").out == "version 1 of the contract of orders, draft\n"
    assert run("contract", "put", "c.yaml").out == "version 1 of the contract of orders, draft\n"
    printed = run("contract", "get", "orders")
    assert yaml.safe_load(printed.out) == contract
    assert "version 1 of the contract of orders, draft" in printed.err
    assert run("contract", "get", "orders", "--version", "1", "--out", "d.yaml").code == exit_codes.CLEAN
    assert Path("d.yaml").read_text() == printed.out
    orders.register("orders-value", order(NOTE, NOTE.replace('"note"', '"other"')))
    assert (
        "the contract describes version 2 of orders-value, but the newest is 3" in run("contract", "get", "orders").err
    )
    ran = run("contract", "put", "c.yaml", "--expected", "0")
    assert (ran.code, "is 1, not 0" in ran.err) == (exit_codes.USAGE, True)


def test_a_contract_of_several_topics_is_not_stored(contract: dict[str, Any], run: Run) -> None:
    other = contract["schema"][0] | {"name": "other", "physicalName": "payments"}
    Path("c.yaml").write_text(write_contract(contract | {"schema": [*contract["schema"], other]}))
    ran = run("contract", "put", "c.yaml")
    assert ran.code == exit_codes.USAGE
    assert "is about orders, payments" in ran.err
