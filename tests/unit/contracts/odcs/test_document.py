"""Contracts are read and written without loss, and become registered versions."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.contracts.odcs.contract_text import parse_contract, write_contract
from contractlog.contracts.odcs.document import build_contract, build_schema
from contractlog.contracts.odcs.evaluated_quality import find_quality_problems, parse_rules, select_quality
from contractlog.contracts.odcs.validator import validate_contract
from contractlog.contracts.odcs.yaml_text import MAX_BYTES, write_yaml

from support.odcs_contracts import ContractGenerator

AVRO = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"email","type":"string"}]}'


def read(text: str) -> Any:
    return parse_contract(text.encode(), "orders.contract.yaml").value


@pytest.mark.parametrize("version", ["v3.0.2", "v3.1.0", "v3.2.0"])
def test_a_random_contract_is_written_and_read_without_loss(version: str) -> None:
    generator = ContractGenerator(Random(11), version)  # noqa: S311 - repeatable
    for number in range(30):
        contract = generator.contract()
        for _ in range(number % 3):
            generator.damage(contract)
        if contract:
            assert read(write_contract(contract)) == contract


def test_members_are_written_in_the_order_of_the_standard_and_unknown_ones_last() -> None:
    contract = {"extension": {"z": 1, "a": 2}, "schema": [{"properties": [], "name": "a"}], "id": "x", "version": "1"}
    assert write_contract(contract) == (
        "id: x\nversion: '1'\nschema:\n  - name: a\n    properties: []\nextension:\n  z: 1\n  a: 2\n"
    )


@pytest.mark.parametrize("value", ["a\nb", "2026-01-01", "yes", "1e3", "\u2028", "\U0001f600", " x", "#", "", "~"])
def test_texts_stay_texts(value: str) -> None:
    assert read(write_yaml({"a": value, value or "b": [value]})) == {"a": value, value or "b": [value]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ":1:1: a contract must be an object"),
        ("[]", ":1:1: a contract must be an object"),
        ("a: &x 1\nb: *x", ":2:4: aliases are not supported"),
        ("[" * 100, "nested deeper than 64"),
        ("id: x\nid: y", ":2:1: the name `id` occurs twice"),
        ("1: x", ":1:1: the name `1` occurs twice, or is no text"),
        ("id: .nan", ":1:5: `.nan` is no text, finite number"),
        ("id: !!set {a, b}", "the tag .* is not supported"),
        ("id: !x y", "could not determine a constructor"),
        ("a: {b", ":1:"),
        ("x" * (MAX_BYTES + 1), "larger than 1,048,576 bytes"),
    ],
)
def test_a_file_that_is_no_contract_is_refused_with_its_position(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        read(text)


def test_metadata_and_rules_come_back() -> None:
    properties = {"owner": "shop", "domain": "sales", "sla.latency": "4 h", "sla.retention": "30", "team": "blue"}
    properties["sla.availability"] = '{"property":"availability","value":"99 %","driver":"regulatory"}'
    metadata = Metadata({"shop.Order.email": ("PII",)}, properties)
    rules = RuleSet.from_body({"domainRules": [{"name": "r", "type": "CEL", "expr": "message.email != ''"}]})
    contract, findings = build_contract("orders", SchemaDraft(AVRO, metadata=metadata, rule_set=rules), version=3)
    assert not findings
    assert not validate_contract(contract)
    assert (contract["team"], contract["version"], contract["status"]) == ({"name": "shop"}, "3", "active")
    assert contract["slaProperties"] == [
        {"property": "latency", "value": 4, "unit": "h"},
        {"property": "retention", "value": 30},
        {"property": "availability", "value": "99 %", "driver": "regulatory"},
    ]
    draft = build_schema(contract).draft
    assert json.loads(draft.text) == json.loads(AVRO)
    assert draft.rule_set == rules
    assert draft.metadata is not None
    assert draft.metadata.tags == metadata.tags
    own = {"contract.id": "orders", "contract.version": "3", "contract.status": "active"}
    assert {**draft.metadata.properties, "sla.availability": ""} == {**properties, **own, "sla.availability": ""}
    again, _ = build_contract("orders", SchemaDraft(AVRO, metadata=draft.metadata, rule_set=draft.rule_set), version=4)
    assert again == contract


def test_sensitive_properties_are_left_out_and_reported() -> None:
    metadata = Metadata(properties={"key": "secret"}, sensitive=("key",))
    contract, findings = build_contract("orders", SchemaDraft(AVRO, metadata=metadata))
    assert "secret" not in write_contract(contract)
    assert [str(each) for each in findings] == ["metadata.key is a sensitive property of the metadata, and left out"]


def test_a_json_schema_has_its_format_in_the_contract() -> None:
    draft = SchemaDraft('{"type":"object","properties":{"a":{"type":"integer"}}}', SchemaType.JSON)
    contract, _ = build_contract("orders", draft)
    assert build_schema(contract).draft.type is SchemaType.JSON
    assert json.loads(build_schema(contract).draft.text) == json.loads(draft.text)


QUALITY = """
apiVersion: v3.2.0
kind: DataContract
id: orders
version: 1.0.0
schema:
  - name: orders
    quality:
      - {metric: rowCount, mustBeGreaterThan: 10}
      - {type: sql, query: SELECT 1, mustBe: 1}
      - {metric: rowCount, mustBeGreaterThan: many}
    properties:
      - name: lines
        logicalType: array
        items:
          logicalType: object
          properties:
            - name: sku
              logicalType: string
              required: true
              quality:
                - {metric: invalidValues, mustBe: 0}
                - {metric: nullValues, unit: percent, mustBeLessThan: 5}
slaProperties:
  - {property: latency, value: 4, unit: h}
  - {property: latency, value: 4, unit: fortnights}
  - {property: availability, value: 99}
"""


def test_each_wrong_rule_is_a_finding_and_others_are_named() -> None:
    contract = read(QUALITY)
    assert [str(each) for each in find_quality_problems(contract)] == [
        "schema[0].quality[1] is kept, but contractlog does not evaluate it",
        "schema[0].quality[2].mustBeGreaterThan must be a number",
        (
            "schema[0].properties[0].items.properties[0].quality[0] needs arguments.validValues or arguments.pattern, "
            "one of them"
        ),
        "slaProperties[1].unit must be s, min, h, d or w",
        "slaProperties[2] is kept, but contractlog does not evaluate it",
    ]


def test_the_quality_rules_of_a_contract_are_those_of_its_quality_file() -> None:
    contract = read(QUALITY)
    del contract["schema"][0]["quality"][2], contract["slaProperties"][1]
    inner = contract["schema"][0]["properties"][0]["items"]["properties"][0]
    del inner["quality"][0]
    rules = parse_rules(contract, "orders")
    assert [(rule.metric, rule.field) for rule in rules.rules] == [
        ("rowCount", ""),
        ("nullValues", "lines[].sku"),
        ("nullValues", "lines[].sku"),
        ("latency", ""),
    ]
    assert select_quality(contract)["physicalName"] == "orders"
