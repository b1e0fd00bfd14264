"""Proofs and rejections of the policy EXACT, keyword by keyword."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.formats import compare_schemas, parse_schema, select_breaking
from contractlog.compatibility.json_schema.exact.check_catalogue import EXACT_CHECKS, FORMAT
from contractlog.compatibility.json_schema.exact.comparison import compare_exactly
from contractlog.compatibility.json_schema.exact.json_values import format_value
from contractlog.compatibility.json_schema.exact.regex_compiler import compile_pattern
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.step_budget import StepBudget

from support.deadlines import hang_guard
from support.exact_policy_counts import find_breaking_changes, parse

D4 = "http://json-schema.org/draft-04/schema#"
D19 = "https://json-schema.org/draft/2019-09/schema"
D20 = "https://json-schema.org/draft/2020-12/schema"
CLOSED = {"type": "object", "properties": {"a": True, "b": True}, "additionalProperties": False}
LIST = {"type": "object", "properties": {"next": {"$ref": "#"}, "value": {"type": "integer"}}}

#: reader, writer
PROVEN: list[tuple[Any, Any]] = [
    (True, {"type": "object"}),
    ({"type": "string"}, False),
    ({"patternProperties": {"^x-": {"type": "number"}}}, {"patternProperties": {"^x-": {"type": "integer"}}}),
    ({"propertyNames": {"pattern": "^[a-z]$"}}, CLOSED),
    ({"propertyNames": {"maxLength": 9}}, {"propertyNames": {"maxLength": 8}}),
    ({"type": "array", "contains": {"type": "number"}}, {"type": "array", "contains": {"type": "integer"}}),
    ({"contains": {"type": "number"}}, {"type": "array", "items": {"type": "integer"}, "minItems": 1}),
    ({"$schema": D20, "maxContains": 3, "contains": True, "minContains": 0},
     {"$schema": D20, "type": "array", "maxItems": 3}),
    ({"$schema": D20, "contains": {"type": "number"}, "minContains": 2},
     {"$schema": D20, "contains": {"type": "integer"}, "minContains": 3}),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"required": ["b"]}),
    ({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}},
     {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]}),
    ({"dependencies": {"a": ["b"]}}, {"required": ["b"]}),
    ({"dependencies": {"a": {"required": ["b"]}}}, {"properties": {"a": False}}),
    ({"not": {"type": "string"}}, {"type": ["integer", "null"]}),
    ({"not": {"required": ["c"]}}, CLOSED),
    ({"enum": [1, 2, 3]}, {"type": "integer", "minimum": 1, "maximum": 3}),
    ({"enum": [True, False, None]}, {"type": ["boolean", "null"]}),
    ({"enum": ["EWR", "JFK"]}, {"type": "string", "pattern": "^(EWR|JFK)$"}),
    ({"enum": [[]]}, {"type": "array", "maxItems": 0}),
    ({"enum": [{}]}, {"type": "object", "maxProperties": 0}),
    ({"type": "integer", "multipleOf": 0.5}, {"const": 1.0}),
    ({"multipleOf": 0.1}, {"type": "number", "multipleOf": 0.3}),
    ({"type": "integer"}, {"type": "number", "multipleOf": 2}),
    ({"minimum": 9007199254740993}, {"exclusiveMinimum": 9007199254740993}),
    ({"minimum": 1}, {"type": "integer", "exclusiveMinimum": 0.5}),
    ({"pattern": "[0-9]"}, {"pattern": "^[0-9]{4}-[0-9]{2}$"}),
    ({"pattern": "^.{2,}$"}, {"pattern": "^[A-Z]{3}$"}),
    ({"minLength": 3, "maxLength": 3}, {"type": "string", "pattern": "^[A-Z]{3}$"}),
    ({"uniqueItems": True}, {"type": "array", "maxItems": 1}),
    ({"items": {"type": "number"}}, {"items": [{"type": "integer"}], "additionalItems": {"type": "integer"}}),
    ({"$schema": D20, "items": {"type": "number"}},
     {"$schema": D20, "prefixItems": [{"type": "integer"}], "items": False}),
    ({"maxItems": 2}, {"type": "array", "items": [{}, {}], "additionalItems": False}),
    ({"maxProperties": 2}, CLOSED),
    ({"minProperties": 1}, {"type": "object", "required": ["a"]}),
    ({"additionalProperties": {"type": "number"}, "properties": {"a": {}}},
     {"additionalProperties": {"type": "integer"}}),
    ({"oneOf": [{"type": "string"}, {"type": "number"}]}, {"type": ["integer", "string"]}),
    ({"anyOf": [{"type": "string"}, {"minimum": 0}]},
     {"oneOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]}),
    ({"allOf": [{"type": "integer"}, {"minimum": 0}]}, {"type": "integer", "minimum": 0}),
    ({**LIST, "properties": {**LIST["properties"], "value": {"type": "number"}}}, LIST),
    ({"$schema": D20, "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
     {"$schema": D20, "type": "object", "maxProperties": 1, "properties": {"a": {}}, "additionalProperties": False}),
    ({"$schema": D20, "anyOf": [{"properties": {"a": True}, "required": ["a"]}, {"properties": {"b": True}}],
      "unevaluatedProperties": False},
     {"$schema": D20, "type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}),
    ({"$schema": D20, "contains": {"type": "integer"}, "unevaluatedItems": {"type": "string"}},
     {"$schema": D20, "type": "array", "items": {"type": "integer"}, "minItems": 1}),
    ({"$schema": D19, "$recursiveRef": "#"}, {"$schema": D19, "$recursiveRef": "#"}),
    ({"type": "object"},
     {"type": "object", "properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": {}}}),
    ({"$schema": D4, "minimum": 0}, {"$schema": D4, "minimum": 0, "exclusiveMinimum": True}),
    ({"$schema": D4, "type": "number"}, {"$schema": D4, "type": "integer"}),
    ({"required": ["a"], "anyOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"a": {"const": 2}}}]},
     {"type": "object", "required": ["a"], "properties": {"a": {"enum": [1, 2]}}}),
]  # fmt: skip

#: reader, writer, findings
REFUSED: list[tuple[Any, Any, list[str]]] = [
    ({"patternProperties": {"^x-": {"type": "integer"}}}, {"patternProperties": {"^x-": {"type": "number"}}},
     ["JSON_EXACT_TYPE /patternProperties/^x-/type"]),
    ({"propertyNames": {"maxLength": 3}}, {"propertyNames": {"maxLength": 4}}, ["JSON_EXACT_FORBIDDEN /propertyNames"]),
    ({"contains": {"type": "integer"}}, {"contains": {"type": "number"}}, ["JSON_EXACT_ITEMS /contains"]),
    ({"required": ["nobody"]}, {"type": "object"}, ["JSON_EXACT_REQUIRED /required"]),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, True, ["JSON_EXACT_COMBINED /then"]),
    ({"not": {"required": ["c"]}}, {"type": "object"}, ["JSON_EXACT_COMBINED /not"]),
    ({"const": 1}, {"enum": [1, 2]}, ["JSON_EXACT_VALUE /const"]),
    ({"type": "integer"}, {"const": 1.5}, ["JSON_EXACT_TYPE /type"]),
    ({"maximum": 9007199254740992}, {"type": "integer", "maximum": 9007199254740993}, ["JSON_EXACT_BOUND /maximum"]),
    ({"multipleOf": 0.2}, {"type": "number", "multipleOf": 0.3}, ["JSON_EXACT_BOUND /multipleOf"]),
    ({"pattern": "^[a-y]*$"}, {"pattern": "^[a-z]*$"}, ["JSON_EXACT_PATTERN /pattern"]),
    ({"oneOf": [{"type": "string"}, {"minLength": 2}]}, {"type": "string"}, ["JSON_EXACT_COMBINED /oneOf"]),
    ({"dependencies": {"a": ["b"]}}, {"type": "object"}, ["JSON_EXACT_REQUIRED /dependencies"]),
    ({"uniqueItems": True}, {"type": "array", "maxItems": 2}, ["JSON_EXACT_ITEMS /uniqueItems"]),
    ({"items": False}, {"type": "array"}, ["JSON_EXACT_FORBIDDEN /items"]),
    ({"properties": {"a": {"type": "integer"}}}, {"type": "object"}, ["JSON_EXACT_TYPE /properties/a/type"]),
    (LIST, {**LIST, "properties": {**LIST["properties"], "value": {"type": "number"}}},
     ["JSON_EXACT_TYPE /properties/value/type"]),
    ({"$schema": D20, "properties": {"a": {}}, "unevaluatedProperties": False}, {"$schema": D20, "type": "object"},
     ["JSON_EXACT_FORBIDDEN /unevaluatedProperties"]),
    ({"$schema": D20, "$dynamicRef": "#n", "$defs": {"a": {"$dynamicAnchor": "n"}, "b": {"$dynamicAnchor": "n"}}},
     {"$schema": D20}, ["JSON_UNDECIDED /$dynamicRef"]),
    ({"$schema": D19, "contains": {"type": "integer"}, "unevaluatedItems": False},
     {"$schema": D19, "type": "array", "items": {"type": "integer"}, "minItems": 1},
     ["JSON_UNDECIDED /unevaluatedItems"]),
    ({"pattern": "(?=a)b"}, {"type": "string"}, ["JSON_UNDECIDED /pattern"]),
]  # fmt: skip


@pytest.mark.parametrize(("reader", "writer"), PROVEN, ids=lambda schema: json.dumps(schema)[:60])
def test_valid_documents_stay_valid(reader: Any, writer: Any) -> None:
    assert find_breaking_changes(reader, writer) == ()


@pytest.mark.parametrize(("reader", "writer", "expected"), REFUSED, ids=lambda schema: json.dumps(schema)[:60])
def test_a_gap_is_found_at_its_keyword(reader: Any, writer: Any, expected: list[str]) -> None:
    assert [f"{finding.check} {finding.reader_at}" for finding in find_breaking_changes(reader, writer)] == expected


@pytest.mark.parametrize("one", EXACT_CHECKS, ids=lambda one: one.id)
def test_the_examples_of_the_catalogue_are_true(one: Any) -> None:
    for (reader, writer), expected in ((one.bad, [one.id]), (one.good, [])):
        found = list(compare_schemas(parse(reader), parse(writer), Policy.EXACT))
        assert [finding.check for finding in found] == expected
        for finding in found:
            assert finding.fix
            assert finding.writer_fix
            assert "new schema" in finding.message.format(reader="new", writer="old")


def test_a_finding_names_both_places_and_a_whole_document() -> None:
    item = {"type": "object", "properties": {"x": {"type": "integer", "maximum": 5}}}
    reader = {"type": "object", "properties": {"legs": {"type": "array", "items": item}}, "required": ["legs"]}
    writer = json.loads(json.dumps(reader).replace("5", "8"))
    (finding,) = find_breaking_changes(reader, writer)
    assert finding.reader_at == "/properties/legs/items/properties/x/maximum"
    assert finding.writer_at == "/properties/legs/items/properties/x"
    assert finding.detail.startswith('{"legs": [{"x": 6}]} is valid under the writer')
    assert finding.message.format(reader="new", writer="old").endswith(
        '{"legs": [{"x": 6}]} is valid under the old schema and not under the new schema'
    )


def test_formats_break_only_where_it_is_asked_for() -> None:
    reader, writer = parse({"type": "string", "format": "date"}), parse({"type": "string"})
    found = list(compare_schemas(reader, writer, Policy.EXACT))
    assert [finding.check for finding in found] == [FORMAT.id]
    assert select_breaking(found, Policy.EXACT) == ()
    assert select_breaking(found, Policy.EXACT, frozenset({FORMAT.id})) == tuple(found)
    assert list(compare_schemas(reader, reader, Policy.EXACT)) == []


def test_references_to_other_texts_are_followed() -> None:
    def leaning(text: str) -> ParsedSchema:
        return parse_schema(SchemaDraft('{"properties":{"a":{"$ref":"a.json"}}}', SchemaType.JSON), {"a.json": text})

    number, integer = leaning('{"type":"number"}'), leaning('{"type":"integer"}')
    assert list(compare_schemas(number, integer, Policy.EXACT)) == []
    (finding,) = compare_schemas(integer, number, Policy.EXACT)
    assert (finding.check, finding.reader_at, finding.writer_at) == ("JSON_EXACT_TYPE", "a.json#/type", "/properties/a")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"not": {"$ref": "#"}}]},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
    ],
)
def test_a_schema_that_leads_to_itself_comes_to_an_end(schema: Any) -> None:
    assert find_breaking_changes(schema, schema) == ()
    find_breaking_changes({"type": "string"}, schema)
    find_breaking_changes(schema, {"type": "string"})


def _nested(width: int, depth: int, number: int = 0) -> Any:
    if not depth:
        return {"type": "object", "properties": {f"p{number}": {"type": "integer"}}}
    return {"oneOf": [_nested(width, depth - 1, number * width + index) for index in range(width)]}


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        (_nested(4, 4), _nested(4, 4, 1)),
        ({"enum": list(range(50_000))}, {"enum": list(range(50_001))}),
        ({"pattern": "(a|b)*a(a|b){12}$"}, {"pattern": "(a|b)*b(a|b){12}$"}),
        ({"multipleOf": 1e300}, {"type": "number", "multipleOf": 1e-300}),
        ({"minLength": 10**12}, {"type": "string"}),
        ({"items": [{"minimum": number} for number in range(500)]}, {"type": "array"}),
        ({"properties": {f"p{number}": {"type": "string"} for number in range(2_000)}},
         {"properties": {f"p{number}": {"type": "integer"} for number in range(2_000)}}),
    ],
    ids=["oneOf", "enum", "pattern", "multiple", "length", "items", "properties"],
)  # fmt: skip
def test_hostile_pairs_end_with_a_finding(reader: Any, writer: Any) -> None:
    with hang_guard():
        assert list(compare_schemas(parse(reader), parse(writer), Policy.EXACT))


def test_steps_are_counted_and_the_limit_is_a_finding() -> None:
    sides = [(side.root, side.referenced) for side in (parse({"enum": [1, 2]}), parse({"type": "integer"}))]
    assert [finding.check for finding in compare_exactly(sides[0], sides[1], limit=3)] == ["WORK_LIMIT_EXCEEDED"]


def test_expensive_patterns_and_large_objects_end_undecided() -> None:
    """Each took tens of processor seconds, or gigabytes: classes of characters, repeated classes, many members."""
    first, second = ("".join(chr(start + 3 * number) for number in range(3_000)) for start in (0x1000, 0x1001))
    for reader, writer in (
        ({"pattern": f"[{first}]{{3}}"}, {"pattern": f"[{second}]{{3}}"}),
        ({"minProperties": 10**9}, {"type": "object", "minProperties": 10**9 - 1}),
    ):
        assert {one.check for one in find_breaking_changes(reader, writer)} == {"JSON_UNDECIDED"}
    assert compile_pattern(f"[{first}]{{1,100}}") is None
    assert compile_pattern(r"^\S{1,255}$") is not None


def test_searches_of_texts_are_counted_together() -> None:
    """Many patterns, each below the limit of one search, use up the steps of the comparison."""
    sides = [
        parse({"properties": {f"p{n}": {"type": "string", "pattern": f"^(a|b)*{c}(a|b){{{n}}}$"} for n in range(8)}})
        for c in "ab"
    ]
    reader, writer = ((side.root, side.referenced) for side in sides)
    assert [one.check for one in compare_exactly(reader, writer, limit=2_000)] == ["WORK_LIMIT_EXCEEDED"]


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        (
            {"patternProperties": {f"^a{number}": {"type": "string"} for number in range(300)}},
            {"patternProperties": {f"^b{number}": {"type": "string"} for number in range(300)}},
        ),
        ({"anyOf": [{"const": number} for number in range(8_000)]}, {"type": "integer", "minimum": 0}),
        ({"oneOf": [{"const": number} for number in range(800)]}, {"oneOf": [{"const": n} for n in range(801)]}),
        ({"enum": list(range(60_000))}, {"enum": list(range(1, 60_001))}),
        ({"pattern": "^(a|b|ab|ba)*c$"}, {"enum": ["ab" * 400_000]}),
        (
            {"allOf": [{"multipleOf": 10**900 + number} for number in range(400)]},
            {"allOf": [{"multipleOf": 10**900 + 1_001 + number} for number in range(400)]},
        ),
    ],
    ids=["pattern-properties", "constants", "one-of", "enum", "long-text", "long-numbers"],
)
def test_hostile_pairs_use_few_steps(reader: Any, writer: Any) -> None:
    """Each took one to five processor seconds, the last ones without counting them."""
    steps = StepBudget(2_000_000)
    findings = list(compare_schemas(parse(reader), parse(writer), Policy.EXACT, steps))
    assert findings
    assert 10_000 < 2_000_000 - steps.left <= 310_000


def test_matching_ends_when_too_many_states_are_visited() -> None:
    automaton = compile_pattern("^(a|b)*a[ab]{300}$")
    assert automaton is not None
    random = Random(1)  # noqa: S311 - repeatable
    found, visits = automaton.match("".join(random.choices("ab", k=100_000)))
    assert found is None
    assert visits < 1_100_000
    assert automaton.match("a" * 301)[0] is True


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        ({"maximum": 10**400}, {"type": "number", "exclusiveMinimum": 10**400}),
        ({"multipleOf": 3}, {"multipleOf": 10**900 + 1, "exclusiveMinimum": 0}),
        ({"type": "string"}, {"allOf": [{"multipleOf": 10**900 + number} for number in range(40)], "minimum": 1}),
        (
            {"allOf": [{"multipleOf": number * 1e-290} for number in range(1, 60)]},
            {"allOf": [{"multipleOf": number * 1e-291} for number in range(1, 60)]},
        ),
    ],
)
def test_huge_numbers_are_shown(reader: Any, writer: Any) -> None:
    """Documents with fractions beyond floats, or with over 4,300 digits, raised OverflowError and ValueError."""
    assert find_breaking_changes(reader, writer)


@pytest.mark.parametrize("value", [Fraction(10**400 * 2 + 1, 2), Fraction(-(10**400), 3), Fraction(10**3000)])
def test_fractions_beyond_floats_are_written(value: Fraction) -> None:
    assert len(format_value(value)) > 300
