"""Our tables agree with the official JSON Schema on random contracts, valid and damaged."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.finding import ContractCheck, describe_path
from contractlog.contracts.odcs.validator import MAX_FINDINGS, validate_contract

from support.odcs_contracts import ContractGenerator, official_validator

CONTRACT: dict[str, Any] = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1"}
ACCEPTED = frozenset({ContractCheck.DEPRECATED})  # by the official JSON Schema


def findings(**members: Any) -> list[str]:
    return [str(each) for each in validate_contract(CONTRACT | members)]


@pytest.mark.parametrize("seed", range(4))
def test_a_contract_is_valid_if_the_official_json_schema_says_so(seed: int) -> None:
    official, random = official_validator(), Random(seed)  # noqa: S311 - repeatable
    verdicts = set()
    for _ in range(100):
        generator = ContractGenerator(random)
        contract = generator.contract()
        for _ in range(random.choice([0, 0, 1, 3])):
            generator.damage(contract)
        if contract.get("apiVersion") == "v3.2.0":
            wrong = [each for each in validate_contract(contract, None) if each.check not in ACCEPTED]
            verdicts.add(not wrong)
            assert official.is_valid(contract) == (not wrong), (contract, wrong)
    assert verdicts == {True, False}


@pytest.mark.parametrize("version", ["v3.0.2", "v3.1.0", "v3.2.0"])
def test_random_contracts_of_every_version_are_valid(version: str) -> None:
    generator = ContractGenerator(Random(7), version)  # noqa: S311 - repeatable
    for _ in range(100):
        contract = generator.contract()
        wrong = [each for each in validate_contract(contract) if each.check is not ContractCheck.DEPRECATED]
        assert not wrong, (contract, wrong)


def test_a_finding_names_the_member_and_the_way_out() -> None:
    assert findings(schema=[{"name": "orders", "properties": [{"name": "a", "logicaltype": "string"}]}]) == [
        "schema[0].properties[0].logicaltype is no member of ODCS 3.2: did you mean logicalType?",
        "schema[0].properties[0].logicalType is missing; the official JSON Schema requires it",
    ]
    assert findings(owner="me") == ["owner is no member of ODCS 3.2: move it to customProperties"]
    assert findings(apiVersion="v3.1.0", status="draft", context="for models") == [
        "context came with ODCS 3.2: set apiVersion, or use a custom property"
    ]
    (message,) = findings(apiVersion="v2.2.1")
    assert message.endswith("not `v2.2.1`; contracts of 2.x have another structure, and must be converted first")


def test_deprecated_members_are_notes() -> None:
    (finding,) = validate_contract(CONTRACT | {"dataProduct": "shop"})
    assert (finding.severity, finding.check) == (Severity.NOTE, ContractCheck.DEPRECATED)


@pytest.mark.parametrize("document", [None, [], "text", 1, {}, {"schema": {"a": 1}}, {"apiVersion": []}, {1: 2}])
def test_anything_else_is_a_finding(document: Any) -> None:
    assert any(each.severity is Severity.ERROR for each in validate_contract(document))


def test_findings_and_depth_are_bounded() -> None:
    assert len(validate_contract(CONTRACT | {"servers": [{}] * 10_000})) == MAX_FINDINGS
    element: dict[str, Any] = {"logicalType": "array"}
    for _ in range(300):
        element = {"logicalType": "array", "items": element}
    schema = [{"name": "orders", "properties": [element | {"name": "a"}]}]
    assert any("nested deeper" in each for each in findings(schema=schema))
    assert describe_path(()) == "the contract"
