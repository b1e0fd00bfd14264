"""``contractlog contract`` on files."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from contractlog.clients.cli import exit_codes
from contractlog.contracts.odcs.contract_text import write_contract

from support.odcs_contracts import ContractGenerator, official_validator

CONTRACT = "orders.contract.yaml"


def edit(change: Any) -> None:
    """Change the contract in the working directory."""
    contract = yaml.safe_load(Path(CONTRACT).read_text())
    change(contract)
    Path(CONTRACT).write_text(write_contract(contract))


def test_init_writes_a_valid_contract_beside_the_schema(contract: Any) -> None:
    ran = contract("init", "orders-value.avsc")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, f"wrote {CONTRACT}\n")
    assert official_validator().is_valid(yaml.safe_load(Path(CONTRACT).read_text()))
    assert contract("lint", CONTRACT).code == exit_codes.CLEAN
    again = contract("init", "orders-value.avsc")
    assert again.code == exit_codes.USAGE
    assert "pass --force to replace it" in again.err
    assert contract("init", "orders-value.avsc", "--force").code == exit_codes.CLEAN


def test_lint_names_file_line_and_column(contract: Any) -> None:
    contract("init", "orders-value.avsc")
    text = Path(CONTRACT).read_text().replace("logicalType: string", "logicalType: text", 1)
    Path(CONTRACT).write_text(text.replace("status: draft", "status: draft\nowner: me"))
    ran = contract("lint", CONTRACT)
    assert ran.code == exit_codes.FINDINGS
    assert ran.out.splitlines()[0] == (
        f"{CONTRACT}:7:1: error: owner is no member of ODCS 3.2: move it to customProperties [ODCS_MEMBER_UNKNOWN]"
    )
    body = json.loads(contract("lint", CONTRACT, "--format", "json").out)
    assert [(each["line"], each["check"]) for each in body["findings"]] == [
        (7, "ODCS_MEMBER_UNKNOWN"),
        (
            text.replace("status: draft", "status: draft\nowner: me")[: text.index("text") + 10].count("\n") + 1,
            "ODCS_VALUE_INVALID",
        ),
    ]


def test_lint_checks_schema_rules_and_quality(contract: Any) -> None:
    contract("init", "orders-value.avsc")

    def damage(document: Any) -> None:
        schema = document["schema"][0]
        schema["properties"][1]["name"] = "e-mail"
        schema["quality"] = [{"metric": "rowCount", "mustBeGreaterThan": 0, "unit": "miles"}]
        rules = {"domainRules": [{"name": "r", "kind": "CONDITION", "type": "CEL", "expr": "message.x =="}]}
        schema["customProperties"].append({"property": "confluentRuleSet", "value": rules})

    edit(damage)
    checks = [line.rpartition("[")[2] for line in contract("lint", CONTRACT).out.splitlines()]
    assert sorted(checks) == ["ODCS_QUALITY_INVALID]", "ODCS_SCHEMA_INVALID]"]
    edit(lambda document: document["schema"][0]["properties"][1].update(name="email"))
    out = contract("lint", CONTRACT).out
    assert "[ODCS_RULE_INVALID]" in out
    assert "unit must be one of rows, percent" in out


def test_diff_tells_sections_and_judges_schemas(contract: Any) -> None:
    contract("init", "orders-value.avsc")
    Path("old.yaml").write_text(Path(CONTRACT).read_text())

    def change(document: Any) -> None:
        document["status"] = "active"
        document["team"] = {"name": "shop"}
        document["schema"][0]["properties"].append({"name": "total", "logicalType": "number", "required": True})

    edit(change)
    ran = contract("diff", "old.yaml", CONTRACT)
    assert ran.code == exit_codes.FINDINGS
    lines = ran.out.splitlines()
    assert lines[:6] == [
        "fundamentals:",
        '  ~ status: "draft" -> "active"',
        "schema:",
        '  + schema.Order.properties.total: {"name": "total", "logicalType": "number", "required": true}',
        "team:",
        '  + team: {"name": "shop"}',
    ]
    assert "AVRO_FIELD_DEFAULT_MISSING" in ran.out
    assert contract("diff", "old.yaml", CONTRACT, "--level", "FORWARD").code == exit_codes.CLEAN
    body = json.loads(contract("diff", "old.yaml", CONTRACT, "--format", "json").out)
    assert [each["section"] for each in body["changes"]] == ["fundamentals", "schema", "team"]


@pytest.mark.parametrize("version", ["v3.0.2", "v3.1.0", "v3.2.0"])
def test_an_export_of_any_version_gives_the_same_schema_back(contract: Any, version: str) -> None:
    contract("init", "orders-value.avsc")
    assert contract("export", CONTRACT, "--odcs-version", version, "--out", "export.yaml").code == exit_codes.CLEAN
    Path("out").mkdir()
    assert contract("import", "export.yaml", "--out", "out").code == exit_codes.CLEAN
    assert json.loads(Path("out/orders-value.avsc").read_text()) == json.loads(Path("orders-value.avsc").read_text())
    assert yaml.safe_load(Path("out/orders.quality.yaml").read_text()) == {
        "physicalName": "orders",
        "properties": [{"name": "id", "logicalType": "string", "required": True}],
    }
    again = contract("import", "export.yaml", "--out", "out")
    assert again.code == exit_codes.USAGE


def test_a_data_contract_specification_is_imported_with_its_contract(contract: Any) -> None:
    text = "dataContractSpecification: 1.1.0\nid: shop\nmodels: {orders: {fields: {id: {type: string, pii: true}}}}\n"
    Path("dcs.yaml").write_text(text)
    ran = contract("import", "dcs.yaml", "--schema-type", "JSON")
    assert ran.code == exit_codes.CLEAN
    assert ran.out == "wrote orders-value.schema.json\nwrote shop.contract.yaml\n"
    assert "models.orders.fields.id.pii has no equal in ODCS" in ran.err
    assert contract("lint", "shop.contract.yaml").code == exit_codes.CLEAN


def test_docs_is_one_page_without_a_request_and_with_all_texts_escaped(contract: Any) -> None:
    contract("init", "orders-value.avsc")
    edit(lambda document: document.update(name="<script>alert(1)</script>", team={"name": "a&b"}))
    assert contract("docs", CONTRACT).code == exit_codes.CLEAN
    page = Path("orders.contract.html").read_text()
    assert "<script" not in page
    assert "a&amp;b" in page
    assert "<code>email</code>" in page
    assert not [word for word in ("http://", "https://", "@import", "url(") if word in page]


@pytest.mark.parametrize("action", ["lint", "docs", "import", "export", "diff"])
def test_no_damaged_contract_ends_in_a_traceback(contract: Any, action: str) -> None:
    generator = ContractGenerator(Random(5))  # noqa: S311 - repeatable
    for number in range(25):
        document = generator.contract()
        for _ in range(number % 4):
            generator.damage(document)
        Path("c.yaml").write_text(write_contract(document))
        ran = contract(
            action,
            "c.yaml",
            *(["c.yaml"] if action == "diff" else []),
            *(["--force"] if action in ("docs", "import") else []),
        )
        assert ran.code in (exit_codes.CLEAN, exit_codes.FINDINGS, exit_codes.USAGE), (document, ran.err)


@pytest.mark.parametrize("text", ["", "[" * 1000, "a: &a [*a]", "\x00", "id: 1", "- 1"])
@pytest.mark.parametrize("action", ["lint", "docs", "import", "test"])
def test_hostile_files_end_in_a_message(contract: Any, action: str, text: str) -> None:
    Path("c.yaml").write_text(text)
    ran = contract(action, "c.yaml")
    assert ran.code in (exit_codes.FINDINGS, exit_codes.USAGE)
    assert "c.yaml" in ran.out + ran.err
