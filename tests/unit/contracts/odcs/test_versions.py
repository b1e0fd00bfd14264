"""A contract fits every version, and comes back from it as it was."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.validator import validate_contract
from contractlog.contracts.odcs.versions import KEPT_MEMBERS, fit_version, restore_members

from support.odcs_contracts import ContractGenerator, official_validator

VERSIONS = ("v3.0.2", "v3.1.0", "v3.2.0")


@pytest.mark.parametrize("source", VERSIONS)
def test_a_random_contract_fits_each_version_and_comes_back_equal(source: str) -> None:
    official, generator = official_validator(), ContractGenerator(Random(3), source)  # noqa: S311 - repeatable
    for number in range(60):
        contract = generator.contract()
        for _ in range(number % 3):
            generator.damage(contract)
        for target in VERSIONS:
            fitted, findings = fit_version(contract, target)
            if any(each.severity is Severity.ERROR for each in findings):
                continue  # such as a contract without an id
            wrong = [each for each in validate_contract(fitted) if each.severity is not Severity.NOTE]
            assert not wrong, (contract, wrong)
            assert target != "v3.2.0" or official.is_valid(fitted)
            restored, problems = restore_members(fitted)
            assert not problems
            kept = [each for each in fitted.get("customProperties", ()) if each["property"] == KEPT_MEMBERS]
            assert restored == (contract if kept else contract | {"apiVersion": target})


def contract_with(**member: Any) -> dict[str, Any]:
    element = {"name": "prices", "logicalType": "map", "required": True} | member
    key = {"logicalType": "string"}
    element["map"] = {"key": key, "value": {"logicalType": "number"}}
    contract = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1", "status": "active"}
    return contract | {"schema": [{"name": "orders", "properties": [element]}]}


def test_what_a_version_cannot_say_is_reported_and_kept() -> None:
    fitted, findings = fit_version(contract_with(deprecated=True), "v3.0.2")
    (element,) = fitted["schema"][0]["properties"]
    assert element == {"name": "prices", "logicalType": "object", "required": True}
    assert {str(each).partition(" ")[0] for each in findings} == {
        "schema[0].properties[0].deprecated",
        "schema[0].properties[0].logicalType",
        "schema[0].properties[0].map",
    }


def test_a_member_that_was_changed_since_is_not_overwritten() -> None:
    fitted, _ = fit_version(contract_with(), "v3.0.2")
    fitted["schema"][0]["properties"][0]["logicalType"] = "string"
    restored, findings = restore_members(fitted)
    assert restored["schema"][0]["properties"][0]["logicalType"] == "string"
    assert any("does not fit the contract any more" in str(each) for each in findings)


@pytest.mark.parametrize(
    "record",
    [1, {}, {"path": []}, {"path": ["a", {}]}, {"path": ["schema", 99, "x"], "value": 1}, {"path": [1], "value": 1}],
)
def test_a_hostile_record_is_a_finding(record: Any) -> None:
    contract = contract_with() | {"customProperties": [{"property": KEPT_MEMBERS, "value": [record]}]}
    _, findings = restore_members(contract)
    assert len(findings) == 1
