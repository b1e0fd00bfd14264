"""JSON records: validation, positions of errors, and no downloads."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.errors import DecodeError, EncodeError, SchemaNotUsable
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.json_schema.readers_and_writers import JsonWriter

from support.deadlines import hang_guard

if TYPE_CHECKING:
    from contractlog.clients import Registry

CONTEXT = SerializationContext("weather", MessageField.VALUE)
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
WEATHER = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Weather",
        "type": "object",
        "properties": {
            "station": {"type": "string"},
            "readings": {"type": "array", "items": {"type": "object", "properties": {"wind": {"type": "number"}}}},
            "at": {"type": "string", "format": "date-time"},
        },
        "required": ["station"],
    }
)


def reader(registry: Registry, schema: str | None = None, **conf: Any) -> JSONDeserializer:
    return JSONDeserializer(schema, schema_registry_client=registry, conf=conf)


def test_values_go_and_come(registry: Registry) -> None:
    value = {"station": "JFK", "readings": [{"wind": 1.5}, {}], "more": None}
    written = JSONSerializer(WEATHER, registry)(value, CONTEXT)
    assert written == b"\0\0\0\0\x01" + json.dumps(value, separators=(",", ":")).encode()
    assert reader(registry)(written, CONTEXT) == value


def test_errors_have_path_keyword_and_schema(registry: Registry) -> None:
    """Defect 5 of the reference's client: only the words were kept."""
    with pytest.raises(EncodeError) as caught:
        JSONSerializer(WEATHER, registry)({"station": "JFK", "readings": [{}, {"wind": "no"}]}, CONTEXT)
    error = caught.value
    assert (error.outcome, error.keyword, error.schema_id) == (Outcome.SCHEMA_VIOLATION, "type", 1)
    assert (error.field, error.where, error.instance_path) == (
        "readings[].wind",
        "readings[1].wind",
        "/readings/1/wind",
    )
    assert error.schema_path == "/properties/readings/items/properties/wind/type"
    assert '"no" is not of type "number"' in str(error)


def test_read_documents_are_validated(registry: Registry) -> None:
    JSONSerializer(WEATHER, registry)({"station": "JFK"}, CONTEXT)
    with pytest.raises(DecodeError) as caught:
        reader(registry)(b"\0\0\0\0\x01{}", CONTEXT)
    assert (caught.value.outcome, caught.value.keyword) == (Outcome.SCHEMA_VIOLATION, "required")
    assert reader(registry, validate=False)(b"\0\0\0\0\x01{}", CONTEXT) == {}


def test_a_second_schema_may_be_wanted(registry: Registry) -> None:
    written = JSONSerializer(WEATHER, registry)({"station": "JFK"}, CONTEXT)
    with pytest.raises(DecodeError):
        reader(registry, '{"properties": {"station": {"maxLength": 2}}}')(written, CONTEXT)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b"", Outcome.NOT_JSON),
        (b"{", Outcome.NOT_JSON),
        (b"{} {}", Outcome.NOT_JSON),
        (b"NaN", Outcome.NOT_JSON),
        (b'"\xff"', Outcome.NOT_JSON),
        (b"[" * 1_000_000, Outcome.TOO_DEEP),
        (b"[]", Outcome.SCHEMA_VIOLATION),
        (b'{"station": 1}', Outcome.SCHEMA_VIOLATION),
    ],
)
def test_hostile_bodies_have_their_code(registry: Registry, body: bytes, outcome: Outcome) -> None:
    JSONSerializer(WEATHER, registry)({"station": "JFK"}, CONTEXT)
    with pytest.raises(DecodeError) as caught:
        reader(registry)(b"\0\0\0\0\x01" + body, CONTEXT)
    assert caught.value.outcome is outcome


def test_values_that_json_cannot_represent_are_rejected_unchanged(registry: Registry) -> None:
    serializer = JSONSerializer('{"type": ["number", "array", "object", "string"]}', registry)
    for value in (float("nan"), float("inf"), 10**309, {1: 2**70}, {1: 2}, b"bytes", object()):
        with pytest.raises(EncodeError):
            serializer(value, CONTEXT)
    written = serializer(datetime(2013, 7, 1, tzinfo=UTC), CONTEXT)
    assert reader(registry)(written, CONTEXT) == "2013-07-01T00:00:00+00:00"


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_lacks_are_refused_with_their_place_even_where_null_is_admitted(
    registry: Registry, number: float, *, validate: bool
) -> None:
    serializer = JSONSerializer('{"title": "x", "type": "object"}', registry, conf={"validate": validate})
    with pytest.raises(EncodeError, match="JSON has no number for NaN and infinity") as caught:
        serializer({"fine": None, "a": [{"b": 1.5}, {"b": number}]}, CONTEXT)
    error = caught.value
    assert (error.outcome, error.field, error.where) == (Outcome.NOT_JSON, "a[].b", "a[1].b")


def test_integers_are_read_exactly_and_judged_as_what_they_are(registry: Registry) -> None:
    schema = '{"properties": {"a": {"maximum": 18446744073709551617}}}'
    head = JSONSerializer(schema, registry)({}, CONTEXT)
    assert head is not None
    value = reader(registry)(head[:5] + b'{"a":18446744073709551617}', CONTEXT)
    assert (type(value["a"]), value["a"]) == (int, 2**64 + 1)
    with pytest.raises(DecodeError) as caught:
        reader(registry)(head[:5] + b'{"a":18446744073709551618}', CONTEXT)
    assert (caught.value.outcome, caught.value.field) == (Outcome.SCHEMA_VIOLATION, "a")


@pytest.mark.parametrize("validate", [True, False])
def test_integers_of_any_length_are_written_as_they_are_read(registry: Registry, *, validate: bool) -> None:
    schema = '{"properties": {"a": {"maximum": 18446744073709551617}}}'
    serializer = JSONSerializer(schema, registry, validate=validate)
    value = {"a": 2**64 + 1, "b": [-(2**63) - 1, "é", None, 1.5, {"c": True}]}
    written = serializer(value, CONTEXT)
    assert written[5:] == '{"a":18446744073709551617,"b":[-9223372036854775809,"é",null,1.5,{"c":true}]}'.encode()
    assert reader(registry)(written, CONTEXT) == value
    dated = {"a": 2**63 - 1, "b": [10**30, datetime(2013, 7, 1, tzinfo=UTC)]}
    assert serializer(dated, CONTEXT)[5:] == b'{"a":9223372036854775807,"b":[%d,"2013-07-01T00:00:00+00:00"]}' % 10**30
    with pytest.raises(EncodeError):
        serializer({"a": [2**64, "\ud800"]}, CONTEXT)
    if validate:
        with pytest.raises(EncodeError, match="a: maximum"):
            serializer({"a": 2**64 + 2}, CONTEXT)


def test_formats_are_not_asserted(registry: Registry) -> None:
    assert JSONSerializer(WEATHER, registry)({"station": "JFK", "at": "whenever"}, CONTEXT)


@pytest.mark.parametrize("words", ["jsonschema-rs", "jsonschema"])
@pytest.mark.parametrize("formats", [False, True])
@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#", DRAFT_2020]
)
def test_content_keywords_are_annotations(registry: Registry, draft: str, words: str, *, formats: bool) -> None:
    """As in the reference's client; the validator would assert them in drafts 6 and 7."""
    text = {"type": "string", "contentEncoding": "base64", "contentMediaType": "application/json"}
    schema = json.dumps({"$schema": draft, "properties": {"a": text}})
    conf = {"validate.formats": formats, "validate.words": words}
    written = JSONSerializer(schema, registry, conf=conf)({"a": "("}, CONTEXT)
    assert reader(registry, **conf)(written, CONTEXT) == {"a": "("}


@pytest.mark.parametrize("root_id", [None, "http://x.example/root.json", "root.json"])
def test_references_are_found_by_name_whatever_the_id(registry: Registry, root_id: str | None) -> None:
    """Defect 7 of the reference's client: a name relative to an absolute ``$id`` was not found."""
    registry.register("address", SchemaDraft('{"type": "string", "$id": "http://y.example/a.json"}', SchemaType.JSON))
    schema = {"type": "object", "properties": {"a": {"$ref": "address.json"}}} | ({"$id": root_id} if root_id else {})
    draft = SchemaDraft(json.dumps(schema), SchemaType.JSON, (Reference("address.json", "address", 1),))
    serializer = JSONSerializer(draft, registry)
    assert reader(registry)(serializer({"a": "x"}, CONTEXT), CONTEXT) == {"a": "x"}
    with pytest.raises(EncodeError, match=r"a: type: 1 is not of type"):
        serializer({"a": 1}, CONTEXT)


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/never.json", "file:///etc/passwd", "never.json"])
def test_nothing_is_fetched(target: str) -> None:
    draft = SchemaDraft(json.dumps({"$ref": target}), SchemaType.JSON)
    with pytest.raises(InvalidSchema):
        JsonWriter(parse_schema(draft, strict=False)).encode(1)


@pytest.mark.parametrize("dialect", ["http://json-schema.org/draft-04/schema#", "https://unknown.example/x", None])
def test_any_dialect_is_read(registry: Registry, dialect: str | None) -> None:
    schema = {"type": "integer"} | ({"$schema": dialect} if dialect else {})
    assert JSONSerializer(json.dumps(schema), registry)(3, CONTEXT) is not None


def test_patterns_that_explode_do_not(registry: Registry) -> None:
    serializer = JSONSerializer('{"type": "string", "pattern": "^(a+)+$"}', registry)
    with hang_guard(), pytest.raises(EncodeError):
        serializer("a" * 10_000 + "!", CONTEXT)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"required": ["a", "a"]}', '["a","a"] has non-unique elements, at `/required` (topic'),
        ('{"minLength": -1}', "-1 is less than the minimum of 0, at `/minLength` (topic"),
        ('{"properties": {"a\\n": {"anyOf": []}}}', "[] has less than 1 item, at `/properties/a\\n/anyOf` (topic"),
    ],
)
def test_a_schema_that_its_meta_schema_rejects_is_named_in_an_error_of_ours(
    registry: Registry, text: str, reason: str
) -> None:
    schema_id = registry.register("t-value", SchemaDraft(text, SchemaType.JSON)).schema_id
    with pytest.raises(SchemaNotUsable, match=re.escape(f"validators cannot use the schema: {reason}")) as writing:
        JSONSerializer(text, registry)({"a": 1}, CONTEXT)
    assert (writing.value.schema_id, writing.value.topic) == (schema_id, CONTEXT.topic)
    record = b"\0" + int(schema_id).to_bytes(4) + b'{"a": 1}'
    with pytest.raises(SchemaNotUsable, match=f"schema id {schema_id}"):
        reader(registry)(record, CONTEXT)
    assert reader(registry, validate=False)(record, CONTEXT) == {"a": 1}
