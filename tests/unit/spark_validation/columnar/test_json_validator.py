"""JSON documents: syntax, validity, positions of violations, and columns."""

from __future__ import annotations

import json
import resource
from collections.abc import Sequence
from random import Random
from typing import Any

import jsonschema_rs
import pyarrow as pa
import pytest

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.errors import DecodeError
from contractlog.serdes.json_schema.readers_and_writers import JsonReader
from contractlog.spark_validation.columnar.column_validation import ColumnOutcomes, make_validator, validate_column
from contractlog.spark_validation.columnar.limits import ValidationLimits

from support.columnar import ID, collect_columns, encode_frame, list_outcomes
from support.deadlines import hang_guard

TRIP = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "integer"},
        "at": {"type": "string", "format": "date-time"},
        "legs": {"type": "array", "items": {"$ref": "#/definitions/leg"}},
        "tags": {"type": "object", "additionalProperties": {"type": "integer"}},
        "note": {"oneOf": [{"type": "null"}, {"type": "string", "maxLength": 3}]},
    },
    "additionalProperties": False,
    "definitions": {"leg": {"properties": {"carrier": {"enum": ["AA", "UA"]}, "next": {"$ref": "#/definitions/leg"}}}},
}


def judge(
    schema: Any,
    bodies: Sequence[bytes | Any],
    limits: ValidationLimits | None = None,
    referenced: dict[str, str] | None = None,
) -> ColumnOutcomes:
    registered = RegisteredSchema(ID, json.dumps(schema), SchemaType.JSON)
    validator = make_validator(registered, referenced or {}, limits=limits or ValidationLimits())
    records = [encode_frame(body if isinstance(body, bytes) else json.dumps(body).encode()) for body in bodies]
    return validate_column(pa.array(records, pa.binary()), {ID: validator}, None, columns=True)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b"{}", "CONFORMS"),
        (b' {"a": [1, 2.5, null, true, "\\u00e9"]}\n', "CONFORMS"),
        (b"", "NOT_JSON"),
        (b"{", "NOT_JSON"),
        (b'{"a": 1} x', "NOT_JSON"),
        (b'{"a": "\xff"}', "NOT_JSON"),
        (b'{"a": "\xc0\xaf"}', "NOT_JSON"),
        (b'"\\ud800"', "NOT_JSON"),
        (b"NaN", "NOT_JSON"),
        (b"1" * 5000, "NOT_JSON"),
        (b"[" * 100_000, "TOO_DEEP"),
        (b"[" * 1000 + b"]" * 1000, "CONFORMS"),
    ],
)
def test_valid_and_invalid_json(body: bytes, outcome: str) -> None:
    checked = judge(True, [body])  # noqa: FBT003
    assert list_outcomes(checked)[0][0] == outcome
    assert bool(checked.details) == (outcome != "CONFORMS")


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {}}, "additionalProperties": False},
        {"propertyNames": {"maxLength": 3}},
        {"propertyNames": {"anyOf": [{"pattern": "^x"}, {"enum": ["a"]}]}},
        {"propertyNames": {"not": {"const": "secret@x.org"}}},
        {"unevaluatedProperties": False},
        {"patternProperties": {"@": False}},
        {"properties": {"b": {"additionalProperties": False}}, "additionalProperties": {"type": "integer"}},
        {"maxProperties": 0},
    ],
)
def test_names_that_the_schema_does_not_declare_are_not_in_the_description(schema: dict[str, Any]) -> None:
    schema |= {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    checked = judge(schema, [{"secret@x.org": "more secret"}])
    ((outcome, pointer, field),) = list_outcomes(checked)
    assert outcome == "SCHEMA_VIOLATION"
    assert "secret" not in f"{checked.details} {pointer} {field}"


def test_a_property_may_be_named_as_a_keyword() -> None:
    schema = {"properties": {"propertyNames": {"type": "integer"}}}
    assert judge(schema, [{"propertyNames": "x"}]).details[0] == 'type: the value is not of type "integer"'


def test_a_violation_names_the_node_the_field_and_the_keyword() -> None:
    documents = [
        {"id": "7"},
        {},
        {"id": 1, "extra": 1},
        {"id": 1, "legs": [{"carrier": "AA"}, {"carrier": "ZZ"}]},
        {"id": 1, "legs": [{"next": {"next": {"carrier": 1}}}]},
        {"id": 1, "tags": {"gate": "x"}},
        {"id": 1, "note": "long"},
        {"id": 1, "note": None},
    ]
    checked = judge(TRIP, documents)
    assert list_outcomes(checked) == [
        ("SCHEMA_VIOLATION", "/properties/id/type", "id"),
        ("SCHEMA_VIOLATION", "/required", ""),
        ("SCHEMA_VIOLATION", "/additionalProperties", ""),
        ("SCHEMA_VIOLATION", "/definitions/leg/properties/carrier/enum", "legs[].carrier"),
        ("SCHEMA_VIOLATION", "/definitions/leg/properties/carrier/enum", "legs[].next.next.carrier"),
        ("SCHEMA_VIOLATION", "/properties/tags/additionalProperties/type", "tags{}"),
        ("SCHEMA_VIOLATION", "/properties/note/oneOf/1/maxLength", "note"),
        ("CONFORMS", "", ""),
    ]
    assert checked.details[0] == 'type: the value is not of type "integer"'
    assert checked.details[1].startswith("required: ")


def test_columns_hold_the_values_of_conforming_documents() -> None:
    documents = [
        {
            "id": 1,
            "at": "2013-01-01T00:00:00Z",
            "legs": [{"carrier": "AA"}, {"carrier": "UA"}],
            "tags": {"a": 1, "b": 2},
        },
        {"id": "no"},
        {"id": 2**63, "at": "2013-01-01T01:00:00.25+01:00", "legs": [], "note": "abc"},
        {"id": -5, "at": "whenever", "note": None},
    ]
    moment = 1_356_998_400_000_000
    assert collect_columns(judge(TRIP, documents).columns) == {
        ("at", "string"): [(3, "whenever")],
        ("at", "timestamp[us, tz=UTC]"): [(0, moment), (2, moment + 250_000)],
        ("id", "double"): [(0, 1.0), (2, float(2**63)), (3, -5.0)],
        ("legs[].carrier", "string"): [(0, "AA"), (0, "UA")],
        ("note", "null"): [(3, None)],
        ("note", "string"): [(2, "abc")],
        ("tags{}", "int64"): [(0, 1), (0, 2)],
    }


def test_numbers_of_a_field_are_one_column_unless_that_would_lose_digits() -> None:
    documents = [{"a": 3, "b": 2**53 + 1}, {"a": 2.5, "b": 0.5}, {"a": [4]}]
    assert collect_columns(judge({"properties": {"a": {}, "b": {}}}, documents).columns) == {
        ("a", "double"): [(0, 3.0), (1, 2.5)],
        ("a[]", "int64"): [(2, 4)],
        ("b", "double"): [(1, 0.5)],
        ("b", "int64"): [(0, 2**53 + 1)],
    }


def test_integers_of_any_length_are_judged_exactly_as_serializers_do() -> None:
    schema = {
        "properties": {
            "most": {"maximum": 2**64 + 1},
            "least": {"minimum": -(2**63) - 1},
            "four": {"$comment": "an integer in draft 4 is written as one", "type": "integer"},
        },
        "$schema": "http://json-schema.org/draft-04/schema#",
    }
    documents = [
        {"most": 2**64 + 1, "least": -(2**63) - 1, "four": 10**30},
        {"most": 2**64 + 2},
        {"least": -(2**63) - 2},
        {"note": str(2**64 + 2)},
    ]
    checked = judge(schema, documents)
    fields = [field for _, _, field in list_outcomes(checked)]
    assert fields == ["", "most", "least", ""]
    writer = parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON), strict=False)
    for document, field in zip(documents, fields, strict=True):
        if field:
            with pytest.raises(DecodeError):
                JsonReader(writer).decode(json.dumps(document).encode())
        else:
            assert JsonReader(writer).decode(json.dumps(document).encode()) == document
    assert collect_columns(checked.columns)["least", "double"] == [(0, -float(2**63))]


def test_formats_break_nothing_unless_asked() -> None:
    document = {"id": 1, "at": "whenever"}
    assert list_outcomes(judge(TRIP, [document]))[0][0] == "CONFORMS"
    strict = judge(TRIP, [document, {"id": 1, "at": "2013-01-01T00:00:00Z"}], ValidationLimits(formats=True))
    assert [outcome for outcome, _, _ in list_outcomes(strict)] == ["SCHEMA_VIOLATION", "CONFORMS"]


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
)
def test_content_keywords_are_annotations_as_for_serializers(draft: str) -> None:
    schema = {"$schema": draft, "$ref": "b", "definitions": {"n": {"contentEncoding": "base64"}}}
    base64 = json.dumps({"$schema": draft, "properties": {"a": {"type": "string", "contentEncoding": "base64"}}})
    limits = ValidationLimits(formats=True)
    outcomes = list_outcomes(judge(schema, [{"a": "("}, {"a": 1}], limits, {"b": base64}))
    assert [outcome for outcome, _, _ in outcomes] == ["CONFORMS", "SCHEMA_VIOLATION"]


def test_a_schema_without_a_known_draft_is_draft_7() -> None:
    newer = {"properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}]}}}
    document = {"a": [1]}
    for named in ({}, {"$schema": "https://example.com/mine"}):
        assert list_outcomes(judge({**newer, **named}, [document]))[0][0] == "CONFORMS"
    modern = {**newer, "$schema": "https://json-schema.org/draft/2020-12/schema"}
    assert list_outcomes(judge(modern, [document]))[0] == (
        "SCHEMA_VIOLATION",
        "/properties/a/prefixItems/0/type",
        "a[]",
    )


@pytest.mark.parametrize("root_id", [None, "http://example.com/schemas/trip.json"])
def test_schemas_leaned_on_are_found_by_name(root_id: str | None) -> None:
    trip: dict[str, Any] = {"properties": {"leg": {"$ref": "leg.json"}, "far": {"$ref": "leg.json#/definitions/far"}}}
    if root_id:
        trip["$id"] = root_id
    leg = {
        "properties": {"carrier": {"$ref": "carrier.json"}, "at": {"format": "date-time"}},
        "definitions": {"far": {"type": "boolean"}},
    }
    referenced = {"carrier.json": '{"type": "string"}', "leg.json": json.dumps(leg)}
    documents = [{"leg": {"carrier": "AA", "at": "2013-01-01T00:00:00Z"}}, {"leg": {"carrier": 1}}, {"far": 1}]
    checked = judge(trip, documents, referenced=referenced)
    assert [(outcome, field) for outcome, _, field in list_outcomes(checked)] == [
        ("CONFORMS", ""),
        ("SCHEMA_VIOLATION", "leg.carrier"),
        ("SCHEMA_VIOLATION", "far"),
    ]
    assert set(collect_columns(checked.columns)) == {("leg.carrier", "string"), ("leg.at", "timestamp[us, tz=UTC]")}


def test_many_keys_are_one_field_and_deep_documents_are_followed_to_the_limit() -> None:
    deep: Any = 1
    for _ in range(500):
        deep = {"next": deep}
    documents: list[Any] = [{f"key{nth}": nth for nth in range(1000)}, deep]
    schema = {"$id": "http://example.com/x", "properties": {"next": {"$ref": "#"}}}
    checked = judge(schema, documents)
    assert not checked.codes.any()
    assert [(column.field, len(column.values)) for column in checked.columns] == [("{}", 1000)]
    broken = judge({**schema, "type": "object"}, [deep])
    assert list_outcomes(broken)[0][0] == "SCHEMA_VIOLATION"


def test_patterns_are_bounded() -> None:
    schema = {"properties": {"a": {"pattern": "^(?=(a+)+$)b"}}}
    checked = judge(schema, [{"a": "a" * 5000 + "!"}], ValidationLimits(backtracking=1000))
    assert list_outcomes(checked)[0][0] == "SCHEMA_VIOLATION"


@pytest.mark.parametrize(
    ("schema", "body", "field", "node"),
    [
        (
            {"anyOf": [{"type": "integer"}, *[{"properties": {"l": {"$ref": "#"}}, "required": ["l"]}] * 2]},
            b'{"l":' * 24 + b"{}" + b"}" * 24,
            "",
            "/anyOf",
        ),
        ({"items": {"type": "integer"}}, json.dumps([1] + ["x"] * 200_000).encode(), "[]", "/items/type"),
        ({"enum": [1]}, b"[" * 1000 + b"]" * 1000, "", "/enum"),
    ],
)
def test_little_is_done_however_much_is_wrong(schema: Any, body: bytes, field: str, node: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with hang_guard():
        checked = judge(schema, [body])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250 * 1024
    assert list_outcomes(checked) == [("SCHEMA_VIOLATION", node, field)]


@pytest.mark.parametrize("seed", range(20))
def test_outcomes_are_those_of_the_validator_on_random_documents(seed: int) -> None:
    random = Random(seed)  # noqa: S311

    def value(depth: int) -> Any:
        if depth and random.random() < 0.5:
            if random.random() < 0.5:
                return [value(depth - 1) for _ in range(random.randrange(4))]
            return {random.choice("abcd"): value(depth - 1) for _ in range(random.randrange(4))}
        return random.choice([None, True, 0, -1, 2.5, 10**20, "", "a", "é"])

    def schema(depth: int) -> Any:
        made: dict[str, Any] = {"type": random.sample(["object", "array", "string", "integer", "null", "boolean"], 4)}
        if depth:
            made["properties"] = {name: schema(depth - 1) for name in random.sample("abc", 2)}
            made["items"] = schema(depth - 1)
            if random.random() < 0.3:
                made["anyOf"] = [schema(depth - 1), schema(depth - 1)]
        return made

    text, documents = schema(3), [value(4) for _ in range(60)]
    checked = judge(text, documents)
    truth = jsonschema_rs.Draft7Validator(text, offline=True)
    assert [code == Outcome.CONFORMS for code in checked.codes] == [truth.is_valid(one) for one in documents]


def test_an_id_is_kept_with_each_validator() -> None:
    first = make_validator(RegisteredSchema(SchemaId(1), '{"type": "integer"}', SchemaType.JSON))
    second = make_validator(RegisteredSchema(SchemaId(2), '{"type": "string"}', SchemaType.JSON))
    column = pa.array(
        [encode_frame(b"1", 1), encode_frame(b"1", 2), encode_frame(b'"x"', 2), encode_frame(b'"x"', 1)], pa.binary()
    )
    checked = validate_column(column, {1: first, 2: second}, None, columns=False)
    assert [outcome for outcome, _, _ in list_outcomes(checked)] == [
        "CONFORMS",
        "SCHEMA_VIOLATION",
        "CONFORMS",
        "SCHEMA_VIOLATION",
    ]
    assert checked.columns == []
