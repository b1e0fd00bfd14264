"""Suggested fixes work, are small, and leave the rest of the text unchanged."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import find_differences
from contractlog.compatibility.fixes.fix_search import Fix, FixSearch
from contractlog.compatibility.fixes.json_text_edits import count_changed_tokens
from contractlog.compatibility.formats import parse_schema, select_breaking
from contractlog.compatibility.level import Direction
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.compatibility.step_budget import StepBudget

from support.fix_search import find_fix
from support.fix_statistics import (
    EACH_AVRO_CHECK,
    EACH_EXACT_CHECK,
    EACH_JSON_CHECK,
    measure_avro_check,
    measure_json_check,
)

BACKWARD, FORWARD = Direction.BACKWARD, Direction.FORWARD


def record(*fields: Any, **more: Any) -> Any:
    return {"type": "record", "name": "R", **more, "fields": list(fields)}


def field(name: str, kind: Any, **more: Any) -> Any:
    return {"name": name, "type": kind, **more}


def mends(earlier: Any, candidate: Any, *directions: Direction) -> list[tuple[Fix, ...]]:
    """Return what is offered for each finding of the first direction, all directions kept."""
    texts = [value if isinstance(value, str) else json.dumps(value) for value in (earlier, candidate)]
    old, new = (parse_schema(SchemaDraft(text)) for text in texts)
    trial = FixSearch(text=texts[1], candidate=new, earlier_text=texts[0], earlier=old, directions=directions)
    return [trial.find_fixes(finding, directions[0]) for finding in find_differences(new, old, directions[0])]


def first(earlier: Any, candidate: Any, *directions: Direction) -> Any:
    """Return the schema after the first fix of the only finding."""
    (offered,) = mends(earlier, candidate, *directions)
    return json.loads(offered[0].text)


def test_trials_count_their_reads_and_stop_for_disconnected_callers() -> None:
    texts = [
        json.dumps(record(field("a", "int"))),
        json.dumps(record(field("b", "int"), field("c", "int"), doc="x" * 40_000)),
    ]
    old, new = (parse_schema(SchemaDraft(text)) for text in texts)
    steps = StepBudget(1_000_000)
    trial = FixSearch(
        text=texts[1], candidate=new, earlier_text=texts[0], earlier=old, directions=[BACKWARD], steps=steps
    )
    finding, another, *_ = find_differences(new, old, BACKWARD)
    before = steps.left
    assert trial.find_fixes(finding, BACKWARD)
    assert before - steps.left > 3 * len(texts[1]) // 40  # three ways at least; the comparisons take a few steps
    steps.stop()
    before = steps.left
    assert trial.find_fixes(another, BACKWARD) == ()
    assert steps.left == before


@pytest.mark.parametrize(("check", "direction"), EACH_AVRO_CHECK)
def test_mutations_of_a_check_are_mended_by_no_more_than_they_changed(check: str, direction: Direction) -> None:
    row = measure_avro_check(check, direction, 8, Random(7))  # noqa: S311 - a repeatable one
    assert row.mutations == 8
    assert (row.fixed, row.larger) == (8, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("check", "direction"), EACH_AVRO_CHECK)
def test_fifty_mutations_of_a_check_are_mended(check: str, direction: Direction) -> None:
    row = measure_avro_check(check, direction, 50, Random(f"{check} {direction}"))  # noqa: S311 - a repeatable one
    assert row.mutations == 50
    assert row.fixed >= 45
    assert row.larger == 0


@pytest.mark.parametrize(("check", "direction"), [*EACH_JSON_CHECK, *EACH_EXACT_CHECK])
def test_mutations_of_a_json_check_are_mended_too(check: str, direction: Direction) -> None:
    row = measure_json_check(check, direction, 3, Random(7))  # noqa: S311 - a repeatable one
    assert (row.mutations, row.fixed, row.larger) == (3, 3, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("check", "direction"), [*EACH_JSON_CHECK, *EACH_EXACT_CHECK])
def test_fifty_mutations_of_a_json_check_are_mended(check: str, direction: Direction) -> None:
    row = measure_json_check(check, direction, 50, Random(f"{check} {direction}"))  # noqa: S311 - a repeatable one
    assert row.mutations == 50
    assert row.fixed >= 45
    assert row.larger == 0


def test_a_new_field_becomes_a_union_with_null() -> None:
    new = field("gate", "string")
    assert first(record(), record(new), BACKWARD) == record(field("gate", ["null", "string"], default=None))
    optional = field("gate", ["string", "null"])
    assert first(record(), record(optional), BACKWARD) == record({**optional, "default": None})
    assert first(record(), record(field("none", "null")), BACKWARD) == record(field("none", "null", default=None))


def test_a_default_is_chosen_that_keeps_the_other_direction_too() -> None:
    earlier, candidate = record(field("a", "int")), record(field("a", "int"), field("b", "int"))
    assert first(earlier, candidate, BACKWARD, FORWARD)["fields"][1] == field("b", ["null", "int"], default=None)


def test_a_renamed_field_gets_its_name_back_or_the_old_one_as_an_alias() -> None:
    earlier, candidate = record(field("gate", "string")), record(field("stand", "string"))
    (offered,) = mends(earlier, candidate, BACKWARD)
    assert json.loads(offered[0].text) == earlier
    assert offered[0].sentence == 'name the field "gate" again'
    assert any("alias" in other.sentence for other in offered[1:])
    assert first(earlier, candidate, FORWARD) == earlier


def test_a_renamed_type_gets_its_name_back_or_the_old_one_as_an_alias() -> None:
    leg = {"type": "fixed", "name": "x.Leg", "size": 2}
    earlier = record(field("a", leg), field("b", "x.Leg"))
    candidate = record(field("a", {**leg, "name": "x.Part"}), field("b", "x.Part"))
    (offered,) = mends(earlier, candidate, BACKWARD)
    assert json.loads(offered[0].text) in (
        earlier,
        record(field("a", {"type": "fixed", "name": "x.Part", "aliases": ["Leg"], "size": 2}), field("b", "x.Part")),
    )
    assert json.loads(mends(earlier, candidate, FORWARD)[0][0].text) == earlier


def test_a_definition_that_goes_with_a_mend_moves_to_who_still_names_it() -> None:
    leg = record(field("x", "int")) | {"name": "Leg"}
    earlier = record(field("a", "int"))
    candidate = record(field("a", leg), field("b", ["null", "Leg"], default=None))
    assert first(earlier, candidate, BACKWARD) == record(field("a", "int"), field("b", ["null", leg], default=None))


def test_a_type_is_brought_with_the_types_that_it_names() -> None:
    leg = record(field("x", "int")) | {"name": "Leg", "namespace": "air"}
    earlier = record(field("a", leg), field("b", {"type": "array", "items": "air.Leg"}), namespace="air")
    candidate = record(field("b", {"type": "array", "items": "int"}), namespace="sea")
    mended = first(earlier, candidate, BACKWARD)
    assert mended["fields"][0]["type"] == {"type": "array", "items": leg}


def test_restored_types_have_their_full_name() -> None:
    leg = {"type": "fixed", "name": "Leg", "size": 2}
    earlier, candidate = record(field("a", leg), namespace="air"), record(namespace="sea")
    mended = first(earlier, candidate, FORWARD)
    assert mended["fields"][0]["type"]["name"] == "air.Leg"


def test_a_type_goes_back_with_the_default_that_fitted_it() -> None:
    earlier, candidate = record(field("a", "int", default=3)), record(field("a", "string", default="3"))
    assert first(earlier, candidate, BACKWARD) == earlier
    assert first(record(field("a", "int")), record(field("a", ["null", "int"], default=None)), FORWARD) == record(
        field("a", "int")
    )


def test_the_default_of_an_enum_goes_with_its_symbol() -> None:
    earlier = {"type": "enum", "name": "E", "symbols": ["A"]}
    candidate = {"type": "enum", "name": "E", "symbols": ["A", "B"], "default": "B"}
    assert first(earlier, candidate, FORWARD) == earlier


def test_layout_and_comments_stay_as_they_were() -> None:
    earlier = json.dumps(record(field("a", "int"), field("b", {"type": "enum", "name": "E", "symbols": ["A", "B"]})))
    text = """{
    // the record
    "type": "record", "name": "R",
    "fields": [
        {"name" : "a", "type" : "int"}, /* first */
        {"name" : "b", "type" : {"type":"enum","name":"E","symbols":["A"]}},
        {"name" : "c", "type" : "int"}
    ]
}"""
    enum, added = mends(earlier, text, BACKWARD)
    assert enum[0].text == text.replace('["A"]', '["A", "B"]')
    assert added[0].text == text.replace('"c", "type" : "int"}', '"c", "type" : ["null", "int"], "default" : null}')


def test_a_mend_that_would_break_another_version_is_not_offered() -> None:
    texts = [json.dumps(kind) for kind in ("boolean", "long", "int")]
    candidate, earlier, other = (parse_schema(SchemaDraft(text)) for text in texts)
    (finding,) = find_differences(candidate, earlier, FORWARD)
    trial = FixSearch(
        text=texts[0],
        candidate=candidate,
        earlier_text=texts[1],
        earlier=earlier,
        directions=[FORWARD],
        other_versions=[other],
    )
    alone = FixSearch(text=texts[0], candidate=candidate, earlier_text=texts[1], earlier=earlier, directions=[FORWARD])
    assert [offered.text for offered in alone.find_fixes(finding, FORWARD)] == ['"long"']
    assert [offered.text for offered in trial.find_fixes(finding, FORWARD)] == ['"long"']  # it failed there before


def test_findings_in_referenced_schemas_are_not_fixed() -> None:
    draft = SchemaDraft('{"type":"record","name":"R","fields":[{"name":"leg","type":"Leg"}]}')
    new = parse_schema(draft, {"leg": '{"type":"record","name":"Leg","fields":[{"name":"gate","type":"int"}]}'})
    old = parse_schema(draft, {"leg": '{"type":"record","name":"Leg","fields":[]}'})
    (finding,) = find_differences(new, old, BACKWARD)
    assert find_fix(draft.text, finding, new, old, BACKWARD) is None


def test_removed_references_are_restored() -> None:
    leaning = SchemaDraft('{"type":"record","name":"R","fields":[{"name":"leg","type":"Leg"}]}')
    old = parse_schema(leaning, {"leg": '{"type":"record","name":"Leg","fields":[]}'})
    text = '{"type":"record","name":"R","fields":[]}'
    new = parse_schema(SchemaDraft(text))
    (finding,) = find_differences(new, old, FORWARD)
    offered = find_fix(text, finding, new, old, FORWARD)
    assert offered is not None
    assert json.loads(offered.text)["fields"][0]["type"]["name"] == "Leg"


def test_the_earlier_text_is_the_canonical_one_where_none_is_given() -> None:
    old, text = parse_schema(SchemaDraft('{ "type" : "long" }')), '"int"'
    new = parse_schema(SchemaDraft(text))
    (finding,) = find_differences(new, old, BACKWARD)
    offered = find_fix(text, finding, new, old, BACKWARD)
    assert offered == Fix('set the type back to "long"', '"long"')
    assert count_changed_tokens(text, offered.text) == 2


def json_mends(earlier: Any, candidate: Any, direction: Direction) -> list[tuple[Fix, ...]]:
    texts = [json.dumps(value) for value in (earlier, candidate)]
    old, new = (parse_schema(SchemaDraft(text, SchemaType.JSON)) for text in texts)
    trial = FixSearch(text=texts[1], candidate=new, earlier_text=texts[0], earlier=old, directions=[direction])
    return [
        trial.find_fixes(found, direction)
        for found in select_breaking(find_differences(new, old, direction), Policy.STRICT)
    ]


def test_a_required_property_is_asked_for_no_more_or_has_a_default() -> None:
    earlier = {"type": "object", "properties": {"a": {"type": "string"}}}
    (offered,) = json_mends(earlier, {**earlier, "required": ["a"]}, BACKWARD)
    assert [fix.sentence for fix in offered] == [
        'do not require "a"',
        'give the property "a" a default, such as ""',
    ]
    assert json.loads(offered[0].text) == earlier


def test_a_property_that_a_closed_model_lost_is_kept_with_its_definition() -> None:
    earlier = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"$ref": "#/definitions/b"}},
        "required": ["b"],
        "additionalProperties": False,
        "definitions": {"b": {"type": "integer"}},
    }
    candidate = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    offered = [fix for mends in json_mends(earlier, candidate, BACKWARD) for fix in mends]
    assert offered[0].sentence.startswith('keep the property "b"')
    kept = json.loads(offered[0].text)
    assert kept["properties"] == earlier["properties"]
    assert kept["definitions"] == earlier["definitions"]


def test_another_format_has_no_mend() -> None:
    text = '"int"'
    new, old = parse_schema(SchemaDraft(text)), parse_schema(SchemaDraft("true", SchemaType.JSON))
    (finding,) = find_differences(new, old, BACKWARD)
    assert find_fix(text, finding, new, old, BACKWARD) is None
