"""Digits of long numbers count as steps."""

from __future__ import annotations

import json

import pytest

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.formats import compare_schemas, parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.step_budget import StepBudget

_LIMIT = 1_000_000


def numbers(keyword: str, digits: int, start: int) -> ParsedSchema:
    branches = [{"type": "number", keyword: 10**digits + start + number} for number in range(30)]
    return parse_schema(SchemaDraft(json.dumps({"allOf": branches}), SchemaType.JSON))


def steps_taken(keyword: str, digits: int, policy: Policy) -> int:
    steps = StepBudget(_LIMIT)
    assert list(compare_schemas(numbers(keyword, digits, 1_001), numbers(keyword, digits, 1), policy, steps))
    return _LIMIT - steps.left


@pytest.mark.parametrize("policy", [Policy.STRICT, Policy.LENIENT])
@pytest.mark.parametrize("keyword", ["multipleOf", "maximum"])
def test_long_numbers_take_more_steps(keyword: str, policy: Policy) -> None:
    assert steps_taken(keyword, 900, policy) > 20 * steps_taken(keyword, 4, policy)
