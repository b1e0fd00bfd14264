"""Printed values can be read again."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.cli.json_values import AvroValueConverter, to_json_value

from support.avro_codecs import encode, parse, record
from support.avro_strategies import schemas, values


def unions(schema: Any) -> bool:
    """Whether a schema has a union of more than null and something: JSON cannot tell text from bytes."""
    if isinstance(schema, list):
        return len(schema) > 2 or any(map(unions, schema)) or "null" not in schema
    if isinstance(schema, dict):
        parts = [field["type"] for field in schema.get("fields", ())] + [schema.get("items"), schema.get("values")]
        return any(map(unions, parts))
    return False


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data())
def test_plain_values_are_those_they_were_made_of(data: st.DataObject) -> None:
    schema = data.draw(schemas().filter(lambda schema: not unions(schema)))
    value = data.draw(values(schema))
    line = orjson.dumps(to_json_value(value)).decode()
    again = AvroValueConverter(parse(schema).root).value(json.loads(line, parse_float=Decimal))
    assert encode(schema, again) == encode(schema, value)


def test_a_union_takes_the_first_branch_that_fits() -> None:
    schema = record(
        (
            "u",
            ["null", "int", "string", record(("a", "double"), name="A"), record(("b", "int"), name="B")],
        )
    )
    plain = AvroValueConverter(parse(schema).root)
    for value, branch in [(None, 0), (1, 1), ("x", 2), ({"a": Decimal("1.5")}, 3), ({"b": 1}, 4)]:
        assert encode(schema, plain.value({"u": value}))[0] == 2 * branch


def test_a_member_that_is_no_field_is_told() -> None:
    schema = record(("a", "int"), ("inner", ["null", record(("b", "int"), name="I")], None))
    with pytest.raises(UsageError, match="`c` is not a field of I; it has b"):
        AvroValueConverter(parse(schema).root).value({"a": 1, "inner": {"c": 1}})
