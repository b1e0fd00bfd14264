"""Conditions on batches have the result of the compiled rule on each decoded record or value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.data_contract import Rule
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.rules.compiled_rules import CompiledRule, compile_rule
from contractlog.contracts.rules.rule_errors import RuleEvaluationError
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.rules.tags import TagPaths
from contractlog.spark_validation.columnar.avro_validator import AvroValidator
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.rules.condition import FieldCondition, RecordCondition
from contractlog.spark_validation.rules.field_targets import TargetsUnclear, find_targets
from contractlog.spark_validation.rules.rule_batch import RuleBatch, RuleResult

TEXT = json.dumps(
    {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "i", "type": "int"},
            {"name": "u", "type": ["null", {"type": "string", "logicalType": "uuid"}]},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
            {"name": "lines", "type": {"type": "array", "items": {
                "type": "record", "name": "L", "fields": [
                    {"name": "s", "type": "string"}, {"name": "d", "type": ["null", "double"]},
                    {"name": "m", "type": {"type": "map", "values": "long"}},
                ]}}},
        ],
    }
)  # fmt: skip
PARSED = parse_schema(SchemaDraft(TEXT), {})
TYPES = {
    "i": "INT",
    "u": "STRING",
    "day": "INT",
    "at": "LONG",
    "amount": "BYTES",
    "s": "STRING",
    "d": "DOUBLE",
    "m": "LONG",
}
RECORDS = st.fixed_dictionaries(
    {
        "i": st.integers(-2, 2),
        "u": st.none() | st.uuids(),
        "day": st.integers(-2, 2),
        "at": st.integers(-2, 2) | st.sampled_from([10**15, -(10**15)]),
        "amount": st.decimals(-9, 9, places=2),
        "lines": st.lists(
            st.fixed_dictionaries(
                {
                    "s": st.text("ab", max_size=2),
                    "d": st.none() | st.sampled_from([0.0, 0.5, -1.0]),
                    "m": st.dictionaries(st.text("ab", max_size=1), st.integers(-2, 2), max_size=2),
                }
            ),
            max_size=2,
        ),
    }
)
FIELD_CONDITIONS = [
    "typeName == 'INT' ; value > 0",
    "typeName == 'STRING' ; value.size() < 2",
    "name == 'u' ; value.isUuid() && value == value.lowerAscii()",
    "name == 'day' ; value != 1",
    "name == 'at' ; value >= timestamp('1970-01-01T00:00:00Z')",
    "name == 'at' ; value.getFullYear() < 1971",
    "name == 'amount' ; value > 1.5",
    "name in ['i', 'm'] ; 2 / value > 0",
    "fullName == 'L.s' ; value.matches('a')",
    "fullName.startsWith('R.') ; value != 1",
    "value == 'a'",
    "typeName == 'DOUBLE' ; value >= 0.0 && 1.0 / value > 0.0",
    "tags.size() == 0 ; typeName != 'LONG' || value < 2",
]
RECORD_CONDITIONS = [
    "message.i > 0 ; message.lines.size() > 0",
    "message.lines.all(l, l.s != 'a')",
    "message.i / message.day > 0 ; message.i > 0",
    "message.amount > 1.5 || message.i == 2",
    "message.u == null || message.u.size() == 36",
    "message.day > 0 && message.i > 0",
    "message.at >= timestamp('1970-01-01T00:00:00Z') || message.i > 0",
]


def make_batch(values: list[dict[str, Any]]) -> tuple[RuleBatch, list[Any]]:
    writer, reader = AvroWriter(PARSED), AvroReader(PARSED)
    bodies = [writer.encode(value) for value in values]
    ends = np.cumsum([len(body) for body in bodies])
    starts = ends - [len(body) for body in bodies]
    data = np.frombuffer(b"".join(bodies), np.uint8)
    outcomes = AvroValidator(PARSED.root, ValidationLimits()).validate(data, starts, ends, columns=True)
    batch = RuleBatch(outcomes.codes == 0, outcomes.pieces, data, starts, ends, reader.decode, optional=False)
    return batch, [reader.decode(body) for body in bodies]


def satisfies(rule: CompiledRule, **variables: Any) -> bool | None:
    try:
        return not rule.passes_guard(variables) or rule.evaluate(variables) is True
    except RuleEvaluationError:
        return None


def list_fields(record: dict[str, Any], name: str) -> Iterator[tuple[str, str, Any]]:
    """Yield the record, name and value of each field that has a value, as serializers visit them."""
    for field, value in record.items():
        if field == "lines":
            for line in value:
                yield from list_fields(line, "L")
        elif field == "m":
            yield from ((name, field, item) for item in value.values())
        elif value is not None:
            yield name, field, value


def require_same(result: RuleResult, expected: list[list[bool | None]]) -> None:
    assert result.broken.tolist() == [any(each is not True for each in record) for record in expected]
    assert result.failed.tolist() == [any(each is None for each in record) for record in expected]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(FIELD_CONDITIONS), st.lists(RECORDS, min_size=1, max_size=5))
def test_a_field_condition_has_the_result_of_the_rule_on_each_value(text: str, values: list[dict[str, Any]]) -> None:
    rule = Rule("r", kind="CONDITION", type="CEL_FIELD", expr=text)
    compiled = compile_rule(rule, None)
    batch, records = make_batch(values)
    condition = FieldCondition(compiled, find_targets(rule, PARSED, TagPaths({})))
    expected = [
        [
            satisfies(compiled, value=value, name=field, fullName=f"{name}.{field}", typeName=TYPES[field], tags=[])
            for name, field, value in list_fields(record, "R")
        ]
        for record in records
    ]
    require_same(condition.evaluate(batch), expected)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(RECORD_CONDITIONS), st.lists(RECORDS, min_size=1, max_size=5))
def test_a_condition_has_the_result_of_the_rule_on_each_record(text: str, values: list[dict[str, Any]]) -> None:
    compiled = compile_rule(Rule("r", kind="CONDITION", type="CEL", expr=text), PARSED)
    batch, records = make_batch(values)
    result = RecordCondition(compiled, PARSED, optional=False).evaluate(batch)
    require_same(result, [[satisfies(compiled, message=record)] for record in records])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ([{"name": "a", "type": ["int", "string", "long"]}], "the field `a` may have values of several types"),
        ([{"name": "a", "type": ["null", "R"]}], "the record `R` contains itself"),
        ([{"name": "a", "type": {"type": "int", "logicalType": "time-millis"}}], "columns do not have the values of"),
        (
            [{"name": "a", "type": {"type": "bytes", "logicalType": "decimal", "precision": 80}}],
            "columns do not have the values of `a`, of type decimal",
        ),
        ([{"name": f"f{at}", "type": "int"} for at in range(1001)], "the schema has more than 1,000 fields"),
    ],
)
def test_fields_that_columns_cannot_tell_apart_are_an_error(fields: list[dict[str, Any]], reason: str) -> None:
    text = json.dumps({"type": "record", "name": "R", "fields": fields})
    rule = Rule("r", kind="CONDITION", type="CEL_FIELD", expr="value != 1")
    with pytest.raises(TargetsUnclear, match=reason):
        find_targets(rule, parse_schema(SchemaDraft(text), {}), TagPaths({}))
