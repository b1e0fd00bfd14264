"""Violations have positions, at a bounded cost."""

from __future__ import annotations

import json
import resource
from typing import Any

import jsonschema_rs
import orjson
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.errors import DecodeError, EncodeError
from contractlog.serdes.json_schema.document_validator import ValidationSettings
from contractlog.serdes.json_schema.readers_and_writers import JsonReader, JsonWriter
from contractlog.serdes.json_schema.schema_preparation import prepare_parsed
from contractlog.serdes.json_schema.violation_finder import ViolationFinder, _Descent

from support.deadlines import hang_guard

TREE: dict[str, Any] = {
    "definitions": {
        "n": {
            "anyOf": [
                {"type": "integer"},
                {
                    "type": "object",
                    "properties": {"l": {"$ref": "#/definitions/n"}, "r": {"$ref": "#/definitions/n"}},
                    "required": ["l"],
                },
                {"type": "object", "properties": {"l": {"$ref": "#/definitions/n"}}, "required": ["l"]},
            ]
        }
    },
    "allOf": [{"type": ["object", "integer"]}, {"$ref": "#/definitions/n"}],
}
BRANCHING: dict[str, Any] = {
    "definitions": {f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(12)}
    | {"d12": {"type": "integer"}},
    "$ref": "#/definitions/d0",
}
NAMED = {
    "falseSchema": "false",
    "additionalProperties": "false",
    "additionalItems": "false",
    "dependencies": "required",
}
"""Keywords that the validator calls by what they hold, the schema ``false`` or names, where there is nothing else."""
MEMBERS = st.sampled_from(["a", "b", "c"])
LEAVES = st.sampled_from([None, True, 0, 1, 2.5, 7, "", "a", "abcd", 2**70])
DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=3),
    max_leaves=12,
)
SIMPLE = st.sampled_from(
    [
        *(True, False, {"type": "integer"}, {"type": ["string", "object"]}, {"enum": [1, "a"]}, {"const": 7}),
        *({"minLength": 2}, {"maximum": 1}, {"required": ["a"]}, {"uniqueItems": True}, {"maxItems": 1}),
        *({"additionalProperties": False, "properties": {"a": {}}}, {"$ref": "#"}, {"$ref": "#/definitions/x~0y"}),
        *({"pattern": "^a+$"}, {"minProperties": 1}, {"dependencies": {"a": ["b"]}}, {"multipleOf": 2}),
    ]
)
PARTS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        *(st.fixed_dictionaries({word: inner}) for word in ("items", "additionalProperties", "not", "contains")),
        *(
            st.fixed_dictionaries({word: st.lists(inner, min_size=1, max_size=2)})
            for word in ("allOf", "anyOf", "oneOf")
        ),
        st.fixed_dictionaries({"items": st.lists(inner, max_size=2), "additionalItems": inner}),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
        st.fixed_dictionaries({"propertyNames": inner}),
        st.fixed_dictionaries(
            {
                "properties": st.dictionaries(MEMBERS, inner, max_size=2),
                "patternProperties": st.dictionaries(st.sampled_from(["^a", "b|c"]), inner, max_size=1),
                "additionalProperties": inner,
            }
        ),
    ),
    max_leaves=6,
)


def make_finder(schema: Any) -> ViolationFinder:
    return prepare_parsed(parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON), strict=False)).violation_finder


def told(schema: Any, document: Any, **validation: Any) -> DecodeError:
    reader = JsonReader(
        parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON), strict=False),
        None,
        ValidationSettings(**validation),
    )
    with pytest.raises(DecodeError) as caught:
        reader.decode(document if isinstance(document, bytes) else orjson.dumps(document))
    return caught.value


@settings(max_examples=60, deadline=None)
@given(PARTS, SIMPLE, DOCUMENTS)
def test_going_down_ends_at_an_error_of_the_validator(part: Any, defined: Any, document: Any) -> None:
    schema = {"definitions": {"x~y": defined}, "allOf": [part], "type": ["object", "array", "integer", "string"]}
    assume(json.dumps(schema).count('"#"') < 2)  # the validator's own list of errors grows exponentially
    try:
        validator = jsonschema_rs.Draft7Validator(schema, offline=True)
        valid = validator.is_valid(document)
    except ValueError:  # references in a circle
        valid = True
    assume(not valid)
    violation = _Descent(make_finder(schema), document).find_violation()
    errors = list(validator.iter_errors(document))
    found = {(NAMED.get(error.kind.name, error.kind.name), tuple(error.instance_path)) for error in errors}
    if violation.keyword:
        assert (NAMED.get(violation.keyword, violation.keyword), violation.instance_path) in found
    else:
        assert any(
            error.instance_path[: len(violation.instance_path)] == [*violation.instance_path] for error in errors
        )
    node: Any = schema
    for step in violation.schema_path:
        node = node[step]


@pytest.mark.parametrize("words", ["jsonschema-rs", "jsonschema"])
@pytest.mark.parametrize(
    ("schema", "document", "keyword", "where"),
    [
        (TREE, b'{"l":' * 16 + b'"x"' + b"}" * 16, "anyOf", ""),
        (TREE, b'{"l":' * 900 + b'"x"' + b"}" * 900, "anyOf", ""),
        (BRANCHING, "x", "type", ""),
        ({"items": {"type": "integer"}}, ["x"] * 300_000, "type", "[0]"),
        ({"items": {"properties": {"a": {"type": "integer"}}}}, [{"a": 1}] * 50_000 + [{"a": ""}], "type", "[50000].a"),
        ({"anyOf": [{"type": "integer"}] * 100}, "x" * 1_000_000, "anyOf", ""),
        ({"required": [f"a{n}" for n in range(100)]}, {"x": "x" * 1_000_000}, "required", ""),
        (
            {"patternProperties": {"^l": {"patternProperties": {"l": {"maxLength": 3}}}}},
            {"l": {"l": "x" * 400_000}},
            "maxLength",
            "l.l",
        ),
        ({"type": "object", "additionalProperties": {"type": "object"}}, {"a": {}, "b": [0] * 30_000}, "type", "b"),
    ],
)
def test_little_is_done_however_much_is_wrong(schema: Any, document: Any, keyword: str, where: str, words: str) -> None:
    body = document if isinstance(document, bytes) else orjson.dumps(document)
    reader = JsonReader(
        parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON), strict=False),
        None,
        ValidationSettings(words=words),
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with hang_guard(), pytest.raises(DecodeError) as caught:
        reader.decode(body)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 250 * 1024  # 26 MB at most; the copies of 300,000 violations are 415 MB
    assert (caught.value.outcome, caught.value.keyword, caught.value.where) == (
        Outcome.SCHEMA_VIOLATION,
        keyword,
        where,
    )


@pytest.mark.parametrize("words", ["jsonschema-rs", "jsonschema"])
@pytest.mark.parametrize("levels", [200, 254, 255, 256, 257, 300, 1000, 1023, 1024])
def test_documents_of_any_depth_are_refused_with_our_errors(levels: int, words: str) -> None:
    for schema in ({"type": "integer"}, {"enum": [1]}, {"items": {"$ref": "#"}, "maxItems": 0}, TREE):
        error = told(schema, b"[" * levels + b"]" * levels, words=words)
        assert error.outcome is Outcome.SCHEMA_VIOLATION
        assert error.keyword
    deep: Any = None
    for _ in range(250):
        deep = [deep]
    writer = JsonWriter(parse_schema(SchemaDraft('{"type": "integer"}', SchemaType.JSON), strict=False))
    with pytest.raises(EncodeError):
        writer.encode(deep)
    for _ in range(levels):
        deep = [deep]
    with pytest.raises(EncodeError):
        writer.encode(deep)


@pytest.mark.parametrize("words", ["jsonschema-rs", "jsonschema"])
@pytest.mark.parametrize(
    "schema",
    [
        {"additionalProperties": {"type": "integer"}},
        {"additionalProperties": False},
        {"propertyNames": {"maxLength": 3}},
        {"patternProperties": {"x": {"enum": ["y" * 100_000]}}},
        {"not": {"minProperties": 1, "description": "y" * 100_000}},
    ],
)
@pytest.mark.parametrize("length", [20_000, 1_000_000])
def test_no_part_of_an_error_is_as_long_as_the_record(schema: Any, length: int, words: str) -> None:
    error = told(schema, {"x" * length: "x" * length}, words=words)
    assert len(str(error)) < 5_000
    assert max(len(str(fact)) for fact in error.facts.values()) < 5_000


def test_a_reference_that_leads_by_a_name_is_followed() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"leg": {"$anchor": "leg", "properties": {"next": {"$dynamicRef": "#leg"}, "n": {"type": "integer"}}}},
        "properties": {"leg": {"$ref": "#leg"}},
    }
    document = {"leg": {"next": {"next": {"n": "x"}}}}
    for padding in ("", "x" * 1_000_000):
        error = told(schema, document | {"padding": padding})
        assert (error.keyword, error.where) == ("type", "leg.next.next.n")
        assert error.schema_path.endswith("/leg/properties/n/type")
