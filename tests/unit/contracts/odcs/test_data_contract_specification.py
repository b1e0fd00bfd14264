"""The Data Contract Specification is read, and what ODCS cannot say is reported."""

from __future__ import annotations

import re
from typing import Any

import pytest

from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.contract_check import check_contract
from contractlog.contracts.odcs.contract_text import parse_contract
from contractlog.contracts.odcs.data_contract_specification import convert_specification, is_specification

from support.odcs_contracts import official_validator

DOCUMENT = """
dataContractSpecification: 1.2.0
id: orders
info:
  title: Orders
  version: 2.0.0
  status: active
  owner: shop
  description: All orders.
  contact: {name: Shop team, email: shop@example.org, slack: "#shop"}
terms:
  usage: Reports.
  limitations: Not for billing.
  noticePeriod: P3M
servers:
  production: {type: kafka, host: kafka:9092, topic: shop.orders, format: avro}
  other: {type: mystery, place: here}
models:
  orders:
    description: One order.
    type: topic
    fields:
      id: {$ref: "#/definitions/order_id", required: true}
      email: {type: string, format: email, pii: true, classification: restricted}
      total: {type: decimal, precision: 9, scale: 2, minimum: 0}
      at: {type: timestamp_ntz, required: true}
      lines: {type: array, items: {type: record, fields: {sku: {type: varchar, maxLength: 10}}}}
      labels: {type: map, keys: {type: string}, values: {type: long}}
      kind: {type: string, enum: [a, b], example: a, references: customers.id}
definitions:
  order_id: {type: uuid, title: Order id}
servicelevels:
  availability: {description: Business hours, percentage: 99.9%}
  latency: {threshold: 25h, sourceTimestampField: orders.at}
  retention: {period: P1Y, unlimited: false}
quality: {type: SodaCL}
"""


def convert(text: str) -> Any:
    document = parse_contract(text.encode(), "orders.yaml").value
    assert is_specification(document)
    return convert_specification(document)


def test_each_part_has_its_place_in_a_valid_contract() -> None:
    contract, findings = convert(DOCUMENT)
    assert official_validator().is_valid(contract)
    assert not [str(each) for each in check_contract(contract) if each.severity is Severity.ERROR]
    assert (contract["id"], contract["name"], contract["version"], contract["team"]) == (
        "orders",
        "Orders",
        "2.0.0",
        {"name": "shop"},
    )
    assert contract["description"] == {
        "purpose": "All orders.",
        "usage": "Reports.",
        "limitations": "Not for billing.",
    }
    assert contract["support"] == [{"channel": "Shop team", "url": "mailto:shop@example.org"}]
    (schema,) = contract["schema"]
    assert (schema["physicalName"], schema["physicalType"]) == ("shop.orders", "topic")
    fields = {each["name"]: each for each in schema["properties"]}
    assert fields["id"] == {
        "name": "id",
        "logicalType": "string",
        "physicalType": "uuid",
        "businessName": "Order id",
        "required": True,
    }
    assert fields["at"]["logicalTypeOptions"] == {"timezone": False}
    assert fields["lines"]["items"]["properties"][0]["logicalTypeOptions"] == {"maxLength": 10}
    assert fields["labels"]["map"]["value"] == {"logicalType": "integer", "logicalTypeOptions": {"format": "i64"}}
    assert fields["kind"]["relationships"] == [{"type": "foreignKey", "to": "customers.id"}]
    assert [(each["property"], each["value"], each.get("unit")) for each in contract["slaProperties"]] == [
        ("availability", 99.9, "percent"),
        ("latency", 25, "h"),
        ("retention", "P1Y", None),
    ]
    assert {str(each).partition(" ")[0] for each in findings} == {
        "info.contact.slack",
        "terms.noticePeriod",
        "quality",
        "servers.production.topic",
        "servers.other.place",
        "models.orders.fields.email.pii",
        "models.orders.fields.total.precision",
        "models.orders.fields.total.scale",
        "servicelevels.latency.sourceTimestampField",
        "servicelevels.retention.unlimited",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("models: {a: {fields: {b: {$ref: '#/definitions/b'}}}}\ndefinitions: {b: {$ref: '#/definitions/b'}}", "end"),
        ("models: {a: {fields: {b: {$ref: 'https://example.org'}}}}", "refers to no definition"),
        (
            """
models: {a: {fields: {b: {$ref: '#/definitions/b'}}}}
definitions: {b: {type: record, fields: {c: {$ref: '#/definitions/b'}, d: {$ref: '#/definitions/b'}}}}
""",
            "is beyond 20,000 fields|is nested deeper than 24",
        ),
    ],
)
def test_definitions_are_bounded(text: str, problem: str) -> None:
    _, findings = convert(f"dataContractSpecification: 1.1.0\n{text}")
    assert any(re.search(problem, str(each)) for each in findings)


@pytest.mark.parametrize("name", ["info", "terms", "servers", "models", "definitions", "servicelevels", "id", "tags"])
@pytest.mark.parametrize("value", ["x", "1", "[1]", "{a: 1}", "{a: {b: 1, fields: [1], type: [1]}}", "null"])
def test_members_of_wrong_types_end_in_findings(name: str, value: str) -> None:
    contract, _ = convert(f"dataContractSpecification: 1.1.0\n{name}: {value}")
    check_contract(contract)
