"""The verdict over all levels agrees with each level's verdict, and names the change."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.avro.check_catalogue import AVRO_WARNINGS
from contractlog.compatibility.change_classification import ChangeKind, classify_change, classify_change_between
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

from support.avro_schemas import AvroSchemaGenerator, evolve_schema


def avro(value: Any) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(value)))


def record(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


GATE = {"name": "gate", "type": "string"}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (record(GATE), {"name": "R", "fields": [GATE], "type": "record"}, ChangeKind.NONE),
        (record(GATE), record(GATE, doc="of departure"), ChangeKind.ANNOTATION),
        (record(GATE), record(GATE | {"owner": "ops"}), ChangeKind.ANNOTATION),
        (record(GATE), record(GATE | {"default": ""}), ChangeKind.FULL),
        (record(GATE), record(GATE | {"type": "bytes"}), ChangeKind.FULL),
        (record(GATE), record(GATE | {"aliases": ["stand"]}), ChangeKind.FULL),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 4},
            {"type": "bytes", "logicalType": "decimal", "precision": 9},
            ChangeKind.FULL,
        ),
        ("int", "long", ChangeKind.BACKWARD),
        (record(GATE), record(), ChangeKind.BACKWARD),
        ("long", "int", ChangeKind.FORWARD),
        (record(), record(GATE), ChangeKind.FORWARD),
        ("int", "string", ChangeKind.BREAKING),
        (record(GATE | {"doc": "a"}), record(GATE | {"type": "int", "doc": "b"}), ChangeKind.BREAKING),
    ],
)
def test_the_kind_of_a_change(old: Any, new: Any, kind: ChangeKind) -> None:
    assert classify_change_between(avro(old), avro(new)).kind is kind


def test_a_field_named_as_an_annotation_is_none() -> None:
    old, new = (record(GATE | {"name": name, "default": ""}) for name in ("doc", "owner"))
    assert classify_change_between(avro(old), avro(new)).kind is ChangeKind.FULL


def test_a_change_of_what_is_leaned_on_is_a_change() -> None:
    draft = SchemaDraft('{"type":"record","name":"R","fields":[{"name":"leg","type":"Leg"}]}')
    legs = ['{"type":"record","name":"Leg","fields":[%s]}' % field for field in ("", '{"name":"a","type":"int"}')]  # noqa: UP031
    old, new = (parse_schema(draft, {"leg": leg}) for leg in legs)
    assert classify_change_between(old, old).kind is ChangeKind.NONE
    assert classify_change_between(old, new).kind is ChangeKind.FORWARD


def test_annotations_of_json_schema_are_words_where_words_stand() -> None:
    texts = (
        '{"type":"object","title":"a","properties":{"title":{"const":{"title":"t"},"description":"d"}}}',
        '{"type":"object","title":"b","properties":{"title":{"const":{"title":"t"}}}}',
    )
    old, new = (parse_schema(SchemaDraft(text, SchemaType.JSON)) for text in texts)
    from contractlog.compatibility.formats import strip_annotations

    assert strip_annotations(old) == strip_annotations(new)
    assert '"title":"t"' in strip_annotations(old)[""]
    assert '"properties":{"title":' in strip_annotations(old)[""]


def test_schemas_of_two_types_break_and_only_none_admits_them() -> None:
    verdict = classify_change_between(avro("int"), parse_schema(SchemaDraft("true", SchemaType.JSON)))
    assert (verdict.kind, verdict.levels) == (ChangeKind.BREAKING, (Level.NONE,))


def test_without_history_every_level_admits() -> None:
    assert classify_change(avro("int"), []).levels == tuple(Level)


def test_the_body_tells_kind_levels_and_findings_of_each_version_and_direction() -> None:
    body = classify_change(avro("int"), [ParsedVersion(3, avro("long")), ParsedVersion(7, avro("string"))]).body()
    assert (body["kind"], body["levels"]) == ("breaking", ["NONE"])
    assert [(finding["version"], finding["direction"]) for finding in body["findings"]] == [
        (3, "BACKWARD"),
        (7, "BACKWARD"),
        (7, "FORWARD"),
    ]
    assert json.loads(json.dumps(body)) == body


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 3))
def test_it_says_of_every_level_what_the_level_says_itself(random: Random, versions: int) -> None:
    schema = AvroSchemaGenerator(random).schema()
    try:
        history = [ParsedVersion(n, avro(evolve_schema(schema, random, n - 1))) for n in range(1, versions + 1)]
        candidate = avro(evolve_schema(schema, random, 2))
    except InvalidSchema:
        assume(False)  # noqa: FBT003 - a renamed type that is used elsewhere
    for additional_checks in (frozenset[str](), AVRO_WARNINGS):
        verdict = classify_change(candidate, history, additional_checks=additional_checks)
        assert [
            level
            for level in Level
            if check_compatibility(candidate, history, level, additional_checks=additional_checks).compatible
        ] == list(verdict.levels)


@pytest.mark.parametrize("number", ["1e1000000", "1e99900000000000", "-9e-99900000000000", "1" * 40])
def test_numbers_of_any_size_and_length_are_told_apart_and_break_nothing(number: str) -> None:
    def schema(figure: str) -> ParsedSchema:
        text = f'{{"type": "object", "enum": [{{"a": {figure}}}], "default": {figure}, "x-noted": {figure}}}'
        return parse_schema(SchemaDraft(text, SchemaType.JSON))

    other = number[:-1] + "2"
    for policy in Policy:
        assert classify_change_between(schema(number), schema(number), policy=policy).kind is ChangeKind.NONE
        assert classify_change_between(schema(number), schema(other), policy=policy).kind is not ChangeKind.NONE
