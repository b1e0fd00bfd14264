"""Schemas that a meta-schema rejects, accepted or rejected as by the reference's parsers.

Each row was loaded by everit-json-schema 1.14.4 (drafts 4 to 7) or json-sKema 0.20.0 (2020-12).
"""

from __future__ import annotations

import itertools
import json
from typing import Any, Final

import pytest

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import build_shape, find_nonconformity, list_inline_tags, parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.located_finding import locate_nonconformity
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.schema import SchemaDraft, SchemaType

DRAFTS: Final = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2020": "https://json-schema.org/draft/2020-12/schema",
}
EVERY: Final = tuple(DRAFTS)
OLD: Final = EVERY[:3]
NOTHING: Final = {"type": "nothing"}

#: Schemas that their meta-schema rejects -> the drafts in which the reference accepts them.
MEASURED: Final[list[tuple[dict[str, Any], tuple[str, ...]]]] = [
    ({"required": ["a", "a"]}, EVERY),
    ({"minLength": -1}, EVERY),
    ({"minItems": -1, "maxProperties": -3}, EVERY),
    ({"anyOf": []}, EVERY),
    ({"allOf": [], "oneOf": []}, EVERY),
    ({"type": ["string", "string"]}, EVERY),
    ({"type": []}, EVERY),
    ({"multipleOf": -1}, EVERY),
    ({"items": []}, OLD),
    ({"definitions": {"a": NOTHING}}, EVERY),
    ({"definitions": 1}, EVERY),
    ({"properties": {"a": {"anyOf": []}}, "definitions": {"b": {"minLength": "x"}}}, EVERY),
    ({"$ref": "#/definitions/a", "definitions": {"a": {}}, "minLength": "x"}, OLD),
    ({"then": NOTHING, "minLength": -1}, ("4", "6", "2020")),
    ({"pattern": "a++"}, EVERY),
    ({"pattern": r"\p{Alpha}(?i)\Qa[b\E"}, EVERY),
    ({"examples": 1}, EVERY),
    (NOTHING, ()),
    ({"type": ["string", "nothing"]}, ()),
    ({"type": 1}, ()),
    ({"properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": NOTHING}}, ()),
    ({"properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": 1}}, ()),
    ({"minLength": "a"}, ()),
    ({"minLength": 1.5}, ("2020",)),
    ({"enum": 1}, ()),
    ({"required": "a"}, ()),
    ({"required": ["a", 1]}, ()),
    ({"properties": []}, ()),
    ({"properties": {"a": 1}}, ()),
    ({"patternProperties": {"[": {}}}, ()),
    ({"pattern": "["}, ()),
    ({"pattern": "(?P<a>b)"}, ()),
    ({"title": 1}, ()),
    ({"additionalProperties": 1}, ()),
    ({"items": 1}, ()),
    ({"not": 1}, ()),
    ({"anyOf": [1]}, ()),
    ({"anyOf": {}}, ()),
    ({"uniqueItems": 1}, ()),
    ({"maximum": "a"}, ()),
    ({"multipleOf": 0}, ("2020",)),
    ({"$ref": 1}, ()),
    ({"$defs": {"a": {"minLength": "x"}}}, OLD),
    ({"dependencies": {"a": [1]}}, ("2020",)),
    ({"dependentRequired": 1}, OLD),
    ({"required": ["a", "a"], "properties": {"b": NOTHING}}, ()),
]
CASES: Final = [
    pytest.param({"$schema": DRAFTS[draft], **schema}, draft in accepting, id=f"{draft}-{json.dumps(schema)}")
    for schema, accepting in MEASURED
    for draft in EVERY
]


def read(schema: Any, *, strict: bool = True) -> Any:
    return parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON), strict=strict)


@pytest.mark.parametrize(("schema", "accepted"), CASES)
def test_a_schema_is_accepted_if_its_meta_schema_or_the_reference_s_parser_does(
    schema: dict[str, Any], *, accepted: bool
) -> None:
    if accepted or find_nonconformity(read(schema, strict=False)) is None:
        assert read(schema).canonical
    else:
        with pytest.raises(InvalidSchema) as refusal:
            read(schema)
        assert refusal.value.facts["at"] is not None


def test_each_row_is_rejected_by_a_meta_schema() -> None:
    for schema, _ in MEASURED:
        assert any(find_nonconformity(read({"$schema": uri, **schema}, strict=False)) for uri in DRAFTS.values()), (
            schema
        )


def test_a_reference_of_an_unused_definition_may_lead_nowhere() -> None:
    unused = {"definitions": {"a": {"$ref": "#/nowhere"}, "b": {"$ref": "http://127.0.0.1:9/never.json"}}}
    problem = find_nonconformity(read(unused))
    assert problem is not None
    assert "is not fetched" in problem.message
    with pytest.raises(InvalidSchema, match="is not fetched") as refusal:
        read({**unused, "items": {"$ref": "#/definitions/a"}})
    assert refusal.value.facts["at"] == "/definitions/a/$ref"


def test_rejections_have_a_position_even_after_accepted_deviations() -> None:
    with pytest.raises(InvalidSchema, match=r'"nothing" is not the name of a type') as refusal:
        read({"required": ["a", "a"], "properties": {"a/b": NOTHING}})
    assert refusal.value.facts["at"] == "/properties/a~1b/type"
    assert (refusal.value.facts["line"], refusal.value.facts["column"]) == (1, 57)


def test_a_nonconforming_schema_has_a_finding_with_its_place() -> None:
    text = '{\n "properties": {"a": {\n  "minLength": -1}}}'
    found = locate_nonconformity(parse_schema(SchemaDraft(text, SchemaType.JSON)), text)
    assert found is not None
    assert (found.finding.check, found.pointer, str(found.position)) == (
        "JSON_SCHEMA_NONCONFORMING",
        "/properties/a/minLength",
        "3:16",
    )
    assert "not a schema of draft-07: -1 is less than the minimum" in found.finding.detail
    assert locate_nonconformity(parse_schema(SchemaDraft("{}", SchemaType.JSON)), "{}") is None
    assert locate_nonconformity(parse_schema(SchemaDraft('"int"')), '"int"') is None


def test_every_engine_takes_nonconforming_schemas() -> None:
    schemas = [read({"$schema": DRAFTS[d], **schema}) for schema, accepting in MEASURED for d in accepting]
    memo = Memo(shapes=10_000, verdicts=10_000)
    for one, other in itertools.pairwise([*schemas, schemas[0]]):
        assert build_shape(one, memo) is not None
        assert list_inline_tags(SchemaType.JSON, one.canonical) == {}
        for policy in Policy:
            verdict = check_compatibility(one, [ParsedVersion(1, other)], Level.FULL, policy=policy)
            assert all(finding.check for finding in verdict.findings)
            assert check_compatibility(one, [ParsedVersion(1, one)], Level.FULL, policy=policy).compatible
