"""Every kind of difference by its case, the tables of the policies, and laws of the walk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.formats import compare_schemas, parse_schema, select_breaking
from contractlog.compatibility.json_schema.diff.difference_catalogue import DIFFERENCE_KINDS, LENIENT, STRICT, check_id
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

CASES = Path(__file__).parents[1] / "cases" / "json"
NEVER_FOUND = {
    "RESERVED_PROPERTY_REMOVED": "told from metadata, by the check of reserved fields",
    "RESERVED_PROPERTY_CONFLICTS_WITH_PROPERTY": "told from metadata, by the check of reserved fields",
    "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": "the reference names it and never uses it",
}


def parsed(schema: Any) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON))


def findings(reader: Any, writer: Any, policy: Policy = Policy.STRICT) -> list[Finding]:
    return list(compare_schemas(parsed(reader), parsed(writer), policy))


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}: {case['title']}")
        for path in sorted(CASES.glob("*.json"))
        for case in json.loads(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("case", cases())
def test_a_case_has_its_findings(case: dict[str, Any]) -> None:
    found = findings(case["reader"], case["writer"])
    assert [f"{finding.check} {finding.reader_at}" for finding in found] == case["findings"]


def test_every_kind_has_a_case_that_shows_it() -> None:
    shown = {finding.split(" ")[0] for case in cases() for finding in case.values[0]["findings"]}
    assert shown | {check_id(kind) for kind in NEVER_FOUND} == {check_id(kind) for kind in DIFFERENCE_KINDS}
    assert not shown & {check_id(kind) for kind in NEVER_FOUND}


@pytest.mark.parametrize("path", sorted(CASES.iterdir()), ids=lambda path: path.stem)
def test_the_file_of_a_kind_shows_it_in_both_verdicts(path: Path) -> None:
    assert path.stem.removeprefix("JSON_") in DIFFERENCE_KINDS
    told = [
        (path.stem in {one.check for one in found}, bool(select_breaking(found, Policy.STRICT)))
        for case in json.loads(path.read_text(encoding="utf-8"))
        for found in (findings(case["reader"], case["writer"]),)
    ]
    assert (True, path.stem not in STRICT) in told or (path.stem in STRICT and (True, True) in told)
    assert (False, False) in told


@pytest.mark.parametrize("case", [case for case in cases() if case.values[0]["findings"]])
def test_every_finding_is_told_in_words_and_points_into_both_texts(case: dict[str, Any]) -> None:
    for finding in findings(case["reader"], case["writer"]):
        assert finding.detail
        kind = DIFFERENCE_KINDS[finding.check.removeprefix("JSON_")]
        message = finding.message.format(reader="new", writer="old")
        assert message.startswith(f'{{errorType:"{kind.name}", description:"')
        assert message.endswith("'}")
        if kind.mark != "S" and kind.name != "SCHEMA_ADDED":
            assert "at path '#/" in message
        for at, text in ((finding.reader_at, case["reader"]), (finding.writer_at, case["writer"])):
            assert stands(text, at)


def stands(text: Any, at: str) -> bool:
    for token in at.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(text, list) and int(name) < len(text):
            text = text[int(name)]
        elif isinstance(text, dict) and name in text:
            text = text[name]
        else:
            return False
    return True


def breaks(reader: Any, writer: Any, draft: str = "") -> list[str]:
    """Return the kinds of differences that STRICT does not admit."""
    dated = {"$schema": draft} if draft else {}
    found = findings({**dated, **reader}, {**dated, **writer})
    return [one.check.removeprefix("JSON_") for one in select_breaking(found, Policy.STRICT)]


DATED = [f"https://json-schema.org/draft/{name}/schema" for name in ("2019-09", "2020-12")]
SYMBOL = {"type": "string", "enum": ["a", "b"]}
NULL = {"type": "null"}
OLDER = ["", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#"]


@pytest.mark.parametrize("draft", DATED)
@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        ({"properties": {"p": SYMBOL}}, {"properties": {"p": {"anyOf": [SYMBOL, NULL]}}}),
        ({"properties": {"p": SYMBOL}}, {"properties": {"p": {"oneOf": [NULL, SYMBOL]}}}),
        (SYMBOL, {"allOf": [SYMBOL]}),
        ({"allOf": [SYMBOL]}, SYMBOL),
        ({"allOf": [SYMBOL, {"maxLength": 1}]}, SYMBOL),
        ({"allOf": [SYMBOL]}, {"allOf": [{"type": "string"}, {"enum": ["a", "b"]}]}),
        ({"anyOf": [SYMBOL, NULL]}, {"anyOf": [{"type": "string"}, NULL]}),
        ({"type": "array"}, {"type": "array", "items": True}),
        ({"type": "array", "items": True}, {"type": "array"}),
        ({"type": "array", "minItems": 1}, {"items": True, "type": "array", "minItems": 1}),
        (NULL, {"type": "null", "properties": {}}),
        ({"type": "null", "properties": {}}, NULL),
        (NULL, {"type": "null", "patternProperties": {}}),
        ({"type": "array", "items": False}, {"type": "array", "items": {"type": "number"}}),
        ({"items": False}, {"items": {"type": "number"}}),
        ({"type": "array", "items": False}, {"type": "array"}),
        ({"type": "array", "maxItems": 2}, {"type": "array", "maxItems": 2}),
    ],
)
def test_later_drafts_are_compared_as_the_references_second_library_does(draft: str, writer: Any, reader: Any) -> None:
    assert breaks(reader, writer, draft) == []


@pytest.mark.parametrize("draft", DATED)
@pytest.mark.parametrize(
    ("writer", "reader", "kinds"),
    [
        ({"type": "array"}, {"type": "array", "items": {}}, ["SCHEMA_ADDED"]),
        ({"type": "array"}, {"type": "array", "items": False}, ["ADDITIONAL_ITEMS_REMOVED"]),
        ({"items": {"type": "number"}}, {"items": False}, ["ADDITIONAL_ITEMS_REMOVED"]),
        (SYMBOL, {"type": "string", "enum": ["a"]}, ["COMBINED_TYPE_SUBSCHEMAS_CHANGED"]),
        (SYMBOL, {"anyOf": [{"type": "string", "enum": ["a"]}, NULL]}, None),
        ({"anyOf": [{"type": "string"}, NULL]}, {"anyOf": [SYMBOL, NULL]}, ["COMBINED_TYPE_SUBSCHEMAS_CHANGED"]),
        ({"type": "string"}, {"type": "string", "properties": {}, "enum": ["a"]}, ["TYPE_CHANGED"]),
        ({"anyOf": [SYMBOL, NULL]}, SYMBOL, None),
    ],
)
def test_narrowing_a_schema_of_a_later_draft_breaks(draft: str, writer: Any, reader: Any, kinds: Any) -> None:
    found = breaks(reader, writer, draft)
    assert found == kinds if kinds is not None else found


@pytest.mark.parametrize("draft", OLDER)
@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        ({"properties": {"p": SYMBOL}}, {"properties": {"p": {"anyOf": [SYMBOL, NULL]}}}),
        (SYMBOL, {"allOf": [SYMBOL]}),
        ({"type": "array"}, {"type": "array", "items": True}),
        (NULL, {"type": "null", "properties": {}}),
    ],
)
def test_up_to_draft_7_the_first_library_decides(draft: str, writer: Any, reader: Any) -> None:
    assert breaks(reader, writer, draft)


@pytest.mark.parametrize("draft", ["", *OLDER[1:], *DATED])
@pytest.mark.parametrize("anything", [True, {}])
def test_true_is_an_empty_schema(draft: str, *, anything: Any) -> None:
    added = {"type": "object", "properties": {"a": anything}}
    assert breaks(added, {"type": "object"}, draft) == []
    word = "prefixItems" if "2020" in draft else "items"
    assert breaks({"type": "array", word: [NULL, anything]}, {"type": "array", word: [NULL]}, draft) == []
    assert breaks({"properties": {"a": True}}, {"properties": {"a": {}}}, draft) == []
    assert breaks({"properties": {"a": {}}}, {"properties": {"a": True}}, draft) == []


@pytest.mark.parametrize("sum_word", ["anyOf", "oneOf"])
def test_fewer_branches_than_an_all_of_had_are_fewer_to_fulfil(sum_word: str) -> None:
    """The kind follows the original's criterion; with ``oneOf`` a single branch is left."""
    writer = {"allOf": [{"type": "string"}, {"maxLength": 3}, {"minLength": 1}]}
    kept = writer["allOf"][:2] if sum_word == "anyOf" else writer["allOf"][:1]
    found = [one.check for one in findings({sum_word: kept}, writer)]
    assert "JSON_PRODUCT_TYPE_NARROWED" in found
    assert "JSON_SUM_TYPE_NARROWED" not in found
    assert breaks({sum_word: kept}, writer) == []
    assert breaks({"anyOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}, NULL]}) == ["SUM_TYPE_NARROWED"]


TYPE = "A type at path '#/{}' is different between the new schema and the old schema"
OPEN = (
    "The new schema has an open content model and has a property or item at path '#/{}' which is missing in the old "
    "schema"
)


@pytest.mark.parametrize(
    ("reader", "writer", "kind", "description"),
    [
        ({"properties": {"a": {"minimum": 3}}}, {"properties": {"a": {}}}, "TYPE_CHANGED", TYPE.format("properties/a")),
        ({"type": "string"}, {"type": "number"}, "TYPE_CHANGED", TYPE.format("")),
        (
            {"minLength": 3},
            {"minLength": 2},
            "MIN_LENGTH_INCREASED",
            "The value at path '#/minLength' in the new schema is more than its value in the old schema",
        ),
        (
            {"properties": {"a": True, "{%s}": False}},
            {"properties": {"a": True}},
            "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
            OPEN.format("properties/{%s}"),
        ),
        ({"items": {}}, {"minItems": 0, "items": [{}]}, "SCHEMA_ADDED", ""),
    ],
)
def test_a_json_message_has_the_unbalanced_quotes_of_the_reference(
    reader: Any, writer: Any, kind: str, description: str
) -> None:
    broken = select_breaking(findings(reader, writer), Policy.STRICT)
    messages = [finding.message.format(reader="new", writer="old") for finding in broken]
    assert messages == [f'{{errorType:"{kind}", description:"{description}\'}}']


def test_the_policies_are_the_reference_s_tables() -> None:
    assert (len(DIFFERENCE_KINDS), len(STRICT), len(LENIENT - STRICT)) == (132, 65, 9)
    assert LENIENT > STRICT


def test_lenient_takes_a_branch_that_strict_does_not() -> None:
    writer = {"anyOf": [{"type": "object"}, {"type": "null"}]}
    reader = {"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "null"}]}
    assert select_breaking(findings(reader, writer), Policy.STRICT)
    lenient = findings(reader, writer, Policy.LENIENT)
    assert [f"{finding.check} {finding.reader_at}" for finding in lenient] == [
        "JSON_OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL /anyOf/0/properties/a"
    ]
    assert not select_breaking(lenient, Policy.LENIENT)


def test_a_verdict_reached_inside_a_recursion_does_not_outlive_it() -> None:
    """A pair that looked right while another was open is looked at again once that one has failed."""

    def schema(number: str, more: list[Any]) -> dict[str, Any]:
        first = {"type": "object", "properties": {"b": {"$ref": "#/definitions/B"}, "n": {"type": number}}}
        second = {"type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}}
        branches = [{"$ref": "#/definitions/A"}, *more]
        return {
            "properties": {"u": {"anyOf": branches}, "v": {"anyOf": [{"$ref": "#/definitions/B"}, {"type": "null"}]}},
            "definitions": {"A": first, "B": second},
        }

    open_object = {"type": "object", "minProperties": 0}
    found = findings(schema("string", [open_object]), schema("integer", [{"type": "null"}]))
    assert "JSON_COMBINED_TYPE_SUBSCHEMAS_CHANGED /properties/v" in {f"{one.check} {one.reader_at}" for one in found}


def test_a_schema_that_a_reference_brings_is_followed_and_its_place_names_the_reference() -> None:
    draft = SchemaDraft('{"properties":{"leg":{"$ref":"leg.json#/definitions/t"}}}', SchemaType.JSON)
    new = parse_schema(draft, {"leg.json": '{"definitions":{"t":{"type":"string"}}}'})
    old = parse_schema(draft, {"leg.json": '{"$id":"leg.json","definitions":{"t":{"type":"number"}}}'})
    assert [(one.check, one.reader_at, one.writer_at) for one in compare_schemas(new, old)] == [
        ("JSON_TYPE_CHANGED", "leg.json#/definitions/t", "leg.json#/definitions/t")
    ]


def test_two_choices_that_nobody_can_match_end_in_a_finding() -> None:
    def nested(width: int, depth: int, limit: int) -> dict[str, Any]:
        if depth == 0:
            return {"type": "string", "maxLength": limit}
        return {"oneOf": [nested(width, depth - 1, limit + index) for index in range(width)]}

    found = findings(nested(4, 5, 100), nested(4, 5, 200))
    assert found
    assert found[-1].check in {"WORK_LIMIT_EXCEEDED", "JSON_COMBINED_TYPE_SUBSCHEMAS_CHANGED"}


def test_a_long_chain_of_references_is_followed_to_its_end() -> None:
    def chain(last: str) -> dict[str, Any]:
        links = {
            f"d{index}": {"properties": {"next": {"$ref": f"#/definitions/d{index + 1}"}}} for index in range(3000)
        }
        return {"$ref": "#/definitions/d0", "definitions": links | {"d3000": {"type": last}}}

    assert [finding.reader_at for finding in findings(chain("string"), chain("number"))] == ["/definitions/d3000"]


@pytest.mark.parametrize("count", [256, 257, 600])
def test_each_pattern_is_compiled_once_for_a_comparison_however_many_there_are(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []

    def counting(schema: Any, **options: Any) -> Any:
        compiled.append(schema["pattern"])
        return validator_for(schema, **options)

    validator_for = jsonschema_rs.validator_for
    monkeypatch.setattr(jsonschema_rs, "validator_for", counting)
    writer = {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {f"^x{number}_": {"type": "string"} for number in range(count)},
    }
    added = {f"new{number}": {"type": "string"} for number in range(200)}
    assert len(findings({**writer, "properties": added}, writer)) == len(added)
    assert len(compiled) == count


def test_more_patterns_than_anybody_writes_end_in_a_finding() -> None:
    many = {"type": "object", "patternProperties": {f"^x{number}_": True for number in range(25_000)}}
    found = findings({**many, "properties": {"new": {"type": "string"}}}, many)
    assert found[-1].check == "WORK_LIMIT_EXCEEDED"
