"""Invalid schemas are rejected with a JSON Pointer, line and column of the submitted text."""

from __future__ import annotations

import pickle
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.json_positions import locate_pointer
from contractlog.compatibility.schema import SchemaDraft, SchemaType

from support.avro_schemas import AvroSchemaGenerator
from support.invalid_avro_schemas import corrupt_schema

AVRO, JSON = SchemaType.AVRO, SchemaType.JSON
RECORD = """{
  // the order
  "type": "record", "name": "Order",
  "fields": [
    {"name": "id", "type": "long"},
    {"name": "é", "type": "int"},  /* no name for a new field */
    {"name": "note", "type": "strng"}
  ]
}"""
OBJECT = """{
  "type": "object",
  "properties": {
    "a/b": {"type": "strng"},
    "c": {"$ref": "nowhere.json"}
  }
}"""


def refusal(text: str, kind: SchemaType, referenced: dict[str, str] | None = None) -> InvalidSchema:
    with pytest.raises(InvalidSchema) as refused:
        parse_schema(SchemaDraft(text, kind), referenced or {})
    return refused.value


@pytest.mark.parametrize(
    ("text", "kind", "at", "line", "column"),
    [
        (RECORD, AVRO, "/fields/1/name", 6, 14),
        (RECORD.replace("é", "e"), AVRO, "/fields/2/type", 7, 30),
        (RECORD[:-1], AVRO, "", 9, 1),
        ("", AVRO, "", 1, 1),
        ('{"type":\n"record"}', AVRO, "", 1, 1),
        (OBJECT, JSON, "/properties/a~1b/type", 4, 21),
        (OBJECT.replace("strng", "string"), JSON, "/properties/c/$ref", 5, 19),
        (OBJECT.replace(",", ",,", 1), JSON, "", 2, 20),
        ("\n 5", JSON, "", 2, 2),
    ],
)
def test_a_refusal_says_where(text: str, kind: SchemaType, at: str, line: int, column: int) -> None:
    problem = refusal(text, kind)
    assert (problem.at, problem.line, problem.column) == (at, line, column)
    again = pickle.loads(pickle.dumps(problem))  # noqa: S301 - our own bytes
    assert (again.message, again.line, again.column) == (problem.message, line, column)


def test_errors_in_referenced_schemas_have_no_line_of_the_submitted_text() -> None:
    leaning = {AVRO: '{"type":"record","name":"R","fields":[{"name":"a","type":"leg"}]}', JSON: '{"$ref":"leg"}'}
    for kind, text in leaning.items():
        problem = refusal(text, kind, {"leg": "{"})
        assert problem.at.startswith("leg#")
        assert "line" not in problem.facts


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_refusal_has_a_place_in_the_text(random: Random) -> None:
    text = corrupt_schema(AvroSchemaGenerator(random).schema(), random)
    problem = problem_of(text)
    if problem is not None:
        lines = text.split("\n")
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
        if problem.at:
            assert (problem.line, problem.column) == locate_pointer(text, problem.at)


def problem_of(text: str) -> InvalidSchema | None:
    try:
        parse_schema(SchemaDraft(text))
    except InvalidSchema as problem:
        return problem
    return None
