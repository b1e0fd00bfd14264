"""Parsing of JSON schemas: validity, draft, dependencies and canonical text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.json_schema.parser import JsonSchema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

from support.deadlines import count_calls, hang_guard


def parsed(text: str, referenced: Mapping[str, str] | None = None, *, strict: bool = True) -> ParsedSchema:
    return parse_schema(SchemaDraft(text, SchemaType.JSON), referenced or {}, strict=strict)


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        (None, "draft-07"),
        ("http://nobody.example/knows", "draft-07"),
        ("http://json-schema.org/draft-04/schema#", "draft-04"),
        ("http://json-schema.org/draft-06/schema", "draft-06"),
        ("https://json-schema.org/draft-07/schema#", "draft-07"),
        ("https://json-schema.org/draft/2019-09/schema", "2019-09"),
        ("https://json-schema.org/draft/2020-12/schema", "2020-12"),
    ],
)
def test_a_schema_names_its_draft_and_draft_7_is_the_default(uri: str | None, name: str) -> None:
    schema = parsed(json.dumps({"$schema": uri} if uri else {})).root
    assert isinstance(schema, JsonSchema)
    assert schema.draft.name == name


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("5", ""),
        ('"string"', ""),
        ("[]", ""),
        ("{", ""),
        ("", ""),
        ('{"type":"obj"}', "/type"),
        ('{"properties":{"a/b":{"minLength":[]}}}', "/properties/a~1b/minLength"),
        ('{"pattern":"("}', "/pattern"),
        ('{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":5}', "/exclusiveMinimum"),
        ('{"a":{"b":{"$ref":"nobody"}},"properties":{"p":{"$ref":"nowhere"}}}', "/properties/p/$ref"),
        ('{"$ref":"#/definitions/nobody"}', "/$ref"),
        ('{"title":"\\udc00"}', "/title"),
    ],
)
def test_invalid_schemas_are_rejected_with_a_position(text: str, at: str) -> None:
    with pytest.raises(InvalidSchema) as refusal:
        parsed(text)
    assert refusal.value.at == at


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/x", "https://169.254.169.254/", "file:///etc/passwd", "/etc/passwd"]
)
def test_no_url_and_no_file_is_ever_opened(reference: str) -> None:
    with pytest.raises(InvalidSchema, match="not fetched"):
        parsed(json.dumps({"$ref": reference}))
    assert parsed(json.dumps({"$ref": reference}), strict=False)


STRING = '{"type":"string","definitions":{"inner":{"type":"integer"}}}'


@pytest.mark.parametrize(
    ("text", "referenced"),
    [
        ('{"$ref":"address.json"}', {"address.json": STRING}),
        ('{"$ref":"./address.json"}', {"address.json": STRING}),
        ('{"$ref":"address.json#/definitions/inner"}', {"address.json": STRING}),
        ('{"$ref":"address.json#/$defs/inner"}', {"address.json": STRING}),
        ('{"$id":"http://x/root.json","$ref":"address.json"}', {"address.json": STRING}),
        ('{"$ref":"http://other/a"}', {"any": '{"$id":"http://other/a"}'}),
        ('{"$ref":"a"}', {"b": "true", "a": '{"$ref":"b"}'}),
        ('{"$ref":"#/definitions/a","definitions":{"a":true}}', {}),
        ('{"$ref":"#/$defs/a","definitions":{"a":true}}', {}),
        ('{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#x","$defs":{"a":{"$anchor":"x"}}}', {}),
        ('{"$ref":"http://json-schema.org/draft-07/schema#"}', {}),
        ('{"properties":{"$ref":{"type":"string"}}}', {}),
    ],
)
def test_references_are_found_by_name_by_id_and_inside(text: str, referenced: dict[str, str]) -> None:
    assert parsed(text, referenced).canonical == text


def test_a_fault_in_a_reference_names_it() -> None:
    with pytest.raises(InvalidSchema) as refusal:
        parsed('{"$ref":"a"}', {"a": "["})
    assert refusal.value.at == "a#"


@pytest.mark.parametrize("named", ["-1", '["contains"]', "{}", "1.5"])
@pytest.mark.parametrize("draft", ["draft-04", "draft-07"])
def test_a_reference_whose_own_name_is_none_is_refused(named: str, draft: str) -> None:
    text = f'{{"$schema":"http://json-schema.org/{draft}/schema#","id":{named},"$id":{named}}}'
    with pytest.raises(InvalidSchema, match=r"is not a URI|cannot be followed"):
        parsed('{"$ref":"a"}', {"a": text})


def test_the_canonical_text_keeps_order_and_digits_and_the_normalized_one_sorts() -> None:
    text = ' { "b" : 1.50, "a" : { "z" : [ 3 , 1e2, 1E-7, -0 ], "é" : null } , "c": 12345678901234567890 } '
    schema = parsed(text)
    assert schema.canonical == '{"b":1.50,"a":{"z":[3,1E+2,1E-7,0],"é":null},"c":12345678901234567890}'
    assert schema.normalized == '{"a":{"z":[3,1E+2,1E-7,0],"é":null},"b":1.50,"c":12345678901234567890}'
    assert parsed(schema.canonical).canonical == schema.canonical
    assert parsed(schema.normalized).normalized == schema.normalized
    assert parsed(" true ").canonical == "true"


HOSTILE = {
    "10,000 levels": '{"not":' * 10_000 + "{}" + "}" * 10_000,
    "a regular expression that counts to the sky": '{"pattern":"((((a{0,99}){0,99}){0,99}){0,99}){0,99}[","type":"x"}',
    "an exponent beyond all": '{"minimum":1e99999999999999999999}',
    "a number of 5,000 digits": '{"minimum":' + "9" * 5_000 + "}",
    "an id that is no address": '{"$id":"http://[","$ref":"a"}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_are_refused(name: str) -> None:
    with hang_guard(), pytest.raises(InvalidSchema):
        parsed(HOSTILE[name])


def enumeration(size: int) -> Any:
    return {"enum": list(range(size))}


def properties(size: int) -> Any:
    return {"properties": {f"p{i}": {"type": "string"} for i in range(size)}}


def fan_out(size: int) -> Any:
    levels = {f"d{i}": {"allOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 2} for i in range(size)}
    return {"definitions": {**levels, f"d{size}": {}}, "$ref": "#/definitions/d0"}


def nested(size: int) -> Any:
    return {"not": nested(size - 1)} if size else {}


@pytest.mark.parametrize(("make", "size"), [(enumeration, 20_000), (properties, 2_000), (fan_out, 40), (nested, 60)])
def test_twice_the_schema_is_at_most_thrice_the_work(make: Callable[[int], Any], size: int) -> None:
    once, twice = (json.dumps(make(number)) for number in (size, 2 * size))
    with hang_guard():
        assert 0 < count_calls(lambda: parsed(twice).canonical) < 3 * count_calls(lambda: parsed(once).canonical)
