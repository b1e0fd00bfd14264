"""Contracts beside schema files are planned and applied with them."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.odcs.contract_text import write_contract
from contractlog.contracts.odcs.document import build_contract

ORDER, ORDER_2 = (
    json.dumps({"type": "record", "name": "Order", "fields": fields})
    for fields in (
        [{"name": "id", "type": "long"}],
        [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
    )
)


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("plan_and_apply", "check"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.runner.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    write(ORDER)
    return tmp_path


def write(schema: str, **members: Any) -> None:
    contract, _ = build_contract("orders", SchemaDraft(schema), version=1)
    Path("orders-value.avsc").write_text(schema)
    Path("orders.contract.yaml").write_text(write_contract(contract | members))


def test_a_contract_is_stored_after_its_schema_and_then_unchanged(
    folder: Path, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", ".", "--format", "json"]) == exit_codes.CLEAN
    assert [each["action"] for each in json.loads(capsys.readouterr().out)["steps"]] == ["register", "put contract"]
    assert main(["plan", "."]) == exit_codes.CLEAN
    output = capsys.readouterr()
    assert "store orders.contract.yaml as new contract of orders" in output.out
    assert "1 version would be registered, 1 contract would be stored" in output.err
    assert "left out" not in output.err
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert "1 version registered, 1 contract stored" in capsys.readouterr().err
    assert registry.contract("orders")["schemas"][0]["version"] == 1
    assert main(["plan", ".", "--exit-code"]) == exit_codes.CLEAN
    assert "nothing to change" in capsys.readouterr().err


def test_a_changed_contract_and_a_new_schema_make_one_version_each(folder: Path, registry: Registry) -> None:
    assert main(["apply", "."]) == exit_codes.CLEAN
    write(ORDER, domain="shop")
    assert main(["plan", ".", "--exit-code"]) == exit_codes.FINDINGS
    assert main(["apply", "."]) == exit_codes.CLEAN
    write(ORDER_2, domain="shop")
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert registry.contract_versions("orders") == [1, 2, 3]
    assert registry.contract("orders")["schemas"][0]["version"] == 2


def test_a_saved_plan_stores_the_contract_that_was_planned(
    folder: Path, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", ".", "--out", "plan.json"]) == exit_codes.CLEAN
    write(ORDER, domain="shop")
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.FINDINGS
    assert "contract of orders in orders.contract.yaml" in capsys.readouterr().err
    write(ORDER)
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert registry.contract_versions("orders") == [1]


def test_an_invalid_contract_stops_the_plan_with_its_position(
    folder: Path, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    write(ORDER, unknown="x")
    assert main(["plan", "."]) == exit_codes.USAGE
    assert "orders.contract.yaml:" in (error := capsys.readouterr().err)
    assert "unknown is no member of ODCS 3.2" in error
    write(ORDER, status="retired")
    assert main(["apply", "."]) == exit_codes.CLEAN
    write(ORDER, status="draft")
    assert main(["apply", "."]) == exit_codes.USAGE
    assert "a retired contract cannot become draft" in capsys.readouterr().err
    assert registry.contract_versions("orders") == [1]


def test_check_rejects_an_invalid_contract_and_names_a_deprecated_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [{"property": "retirementDate", "value": "2027-03-31"}, {"property": "successor", "value": "orders-2"}]
    write(ORDER, status="deprecated", customProperties=entries)
    assert main(["check", "."]) == exit_codes.CLEAN
    assert "deprecated until 2027-03-31, and replaced by orders-2" in capsys.readouterr().err
    write(ORDER, unknown="x")
    assert main(["check", "."]) == exit_codes.USAGE
    assert "unknown is no member of ODCS 3.2" in capsys.readouterr().err
