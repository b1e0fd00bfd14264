"""Errors with the messages of ``jsonschema``, on request and without hangs."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONSerializer as TheirSerializer

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.errors import DecodeError, EncodeError
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.json_schema.jsonschema_wording import MAX_BYTES, JsonschemaWording

from support.deadlines import count_calls, hang_guard

if TYPE_CHECKING:
    from contractlog.clients import Registry

CONTEXT = SerializationContext("orders", MessageField.VALUE)
ORDER: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z]+$"},
        "n": {"type": "integer", "minimum": 0},
        "lines": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"$ref": "#/definitions/line"}]}},
        "tags": {"uniqueItems": True, "maxItems": 3},
        "kind": {"enum": ["a", "b"]},
    },
    "patternProperties": {"^x-": {"type": "string"}},
    "definitions": {"line": {"type": "object", "required": ["sku"], "additionalProperties": False}},
}

DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
DRAFT_2020 = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
BINARY_TREE = {"properties": {"a": {"oneOf": [{"$ref": "#"}, {"$ref": "#"}]}}, "required": ["a"]}
BINARY_TREE_OF_REFERENCES = {
    "properties": {"a": {"oneOf": [{"$ref": "#/definitions/tree"}, {"$ref": "#/definitions/tree"}]}},
    "required": ["a"],
}


def nest(levels: int) -> Any:
    """An object in an object, and so on; the innermost one lacks the required member."""
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def nest_lists(levels: int) -> Any:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def words(schema: Any, **options: Any) -> JsonschemaWording:
    return JsonschemaWording(parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON), strict=False), **options)


def order(random: Random) -> dict[str, Any]:
    """An order with any number of faults."""
    members: dict[str, list[Any]] = {
        "id": ["abc", "A", 1],
        "n": [0, -1, 1.5, "n"],
        "lines": [[], ["a"], [{}], [{"sku": 1}, 2], "x"],
        "tags": [[], [1, 2], [1, 1], [{}, {}], list("abcd")],
        "kind": ["a", "c", None],
        "x-a": ["", 1],
    }
    return {name: random.choice(values) for name, values in members.items() if random.random() < 0.7}


def test_they_are_the_words_of_the_package() -> None:
    ours, reference = words(ORDER), jsonschema.Draft7Validator(ORDER)
    said = set()
    for seed in range(2_000):
        value = order(Random(seed))  # noqa: S311
        error = next(reference.iter_errors(value), None)
        assert ours.find_message(value) == (None if error is None else error.message)
        said.add(None if error is None else error.validator)
    assert said == {None, "required", "pattern", "type", "minimum", "anyOf", "uniqueItems", "maxItems", "enum"}


def test_they_are_the_words_of_the_reference_s_serializer(registry: Registry) -> None:
    text = json.dumps(ORDER)
    ours = JSONSerializer(text, registry, validate_words="jsonschema")
    client = SchemaRegistryClient.new_client({"url": "mock://words"})
    theirs = TheirSerializer(text, client)
    for value in ({}, {"id": 1}, {"id": "A"}, {"id": "a", "lines": [3]}, {"id": "a", "tags": [1, 1]}):
        with pytest.raises(Exception) as wanted:  # noqa: PT011 -- theirs, whatever its class
            theirs(value, CONTEXT)
        with pytest.raises(EncodeError) as caught:
            ours(value, CONTEXT)
        assert caught.value.reason == str(wanted.value)
        assert (caught.value.topic, caught.value.schema_id) == ("orders", 1)
        assert caught.value.keyword
    written = JSONSerializer(text, registry, validate=False)({"id": 1}, CONTEXT)
    with pytest.raises(DecodeError, match="1 is not of type 'string'"):
        JSONDeserializer(None, schema_registry_client=registry, validate_words="jsonschema")(written, CONTEXT)


def test_references_are_followed_and_nothing_is_fetched(registry: Registry) -> None:
    registry.register("address", SchemaDraft('{"type": "string"}', SchemaType.JSON))
    schema = {"$id": "http://x.example/root.json", "properties": {"a": {"$ref": "address.json"}}}
    draft = SchemaDraft(json.dumps(schema), SchemaType.JSON, (Reference("address.json", "address", 1),))
    with pytest.raises(EncodeError, match="1 is not of type 'string'"):
        JSONSerializer(draft, registry, validate_words="jsonschema")({"a": 1}, CONTEXT)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 50 + "!"),
        ({"patternProperties": {"^(a+)+$": False}}, {"a" * 50 + "!": 1}),
        ({"patternProperties": {"^(a+)+$": True}, "additionalProperties": False}, {"a" * 50 + "!": 1}),
        ({"anyOf": [{"$ref": "#"}, {"items": {"$ref": "#"}}], "type": "array"}, [[[[[[[[1]]]]]]]]),
        ({"items": {"anyOf": [{"const": n} for n in range(200)]}}, [-1] * 1_000),
        ({"uniqueItems": True}, [{"a": n} for n in range(20_000)]),
        ({"maxLength": 1}, "x" * (MAX_BYTES + 1)),
        (BINARY_TREE, nest(40)),
        ({"$ref": "#/definitions/tree", "definitions": {"tree": {**DRAFT_7, **BINARY_TREE_OF_REFERENCES}}}, nest(40)),
        ({**DRAFT_2020, "unevaluatedProperties": False, **BINARY_TREE}, nest(40)),
        (
            {**DRAFT_2020, "items": {"not": {"anyOf": [{"$dynamicRef": "#x"}] * 2}}, "$dynamicAnchor": "x"},
            nest_lists(60),
        ),
        (
            {"allOf": [{"$ref": "#/definitions/a"}], "definitions": {"a": {**DRAFT_7, "pattern": "^(a+)+$"}}},
            "a" * 50 + "!",
        ),
        ({"allOf": [{"$ref": "#/definitions/a"}] * 50, "definitions": {"a": {"items": {}}}}, [1] * 20_000),
        ({"items": {"enum": [{"a": n} for n in range(3_000)]}}, [{"a": -1}] * 5_000),
    ],
)
def test_expensive_messages_are_replaced(schema: Any, value: Any) -> None:
    ours = words(schema)
    with hang_guard():
        assert count_calls(lambda: ours.find_message(value)) < 100_000


def test_messages_that_quote_a_large_document_are_few() -> None:
    ours = words({"oneOf": [{"allOf": [{"type": "string"}] * 1_000}, {"type": "array"}]})
    tracemalloc.start()
    try:
        assert ours.find_message({"a": "x" * 60_000}) is None
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("levels", [4, 40])
def test_a_record_of_a_hundred_bytes_with_exponential_alternatives_is_explained(
    registry: Registry, levels: int
) -> None:
    """In the package, each level doubles the evaluations: its message is given only if it takes few."""
    text = json.dumps(BINARY_TREE)
    serializer = JSONSerializer(text, registry, validate_words="jsonschema")
    told = "is not valid under any of the given schemas" if levels == 4 else "oneOf: "
    with hang_guard(), pytest.raises(EncodeError, match=told) as caught:
        serializer(nest(levels), CONTEXT)
    assert caught.value.keyword == "oneOf"


def test_schemas_of_other_drafts_have_the_words_of_their_draft() -> None:
    items = {"prefixItems": [{"type": "string"}]}
    schema = {**DRAFT_7, "properties": {name: {"$ref": f"#/definitions/{name}"} for name in ("new", "old")}}
    schema |= {"definitions": {"new": {**DRAFT_2020, **items}, "old": {**DRAFT_7, **items}}}
    assert words(schema).find_message({"old": [1]}) is None
    assert words(schema).find_message({"new": [1]}) == "1 is not of type 'string'"


def test_without_words_of_theirs_ours_stand(registry: Registry) -> None:
    serializer = JSONSerializer('{"type": "string", "maxLength": 3}', registry, validate_words="jsonschema")
    with pytest.raises(EncodeError, match="maxLength: "):
        serializer("x" * (MAX_BYTES + 1), CONTEXT)
    with pytest.raises(EncodeError, match="'long' is too long"):
        serializer("long", CONTEXT)


def test_schemas_without_words_are_told_too() -> None:
    assert words(False).find_message(1) == "False schema does not allow 1"  # noqa: FBT003
    assert words(True).find_message(1) is None  # noqa: FBT003
    parsed = parse_schema(SchemaDraft('{"$ref": "never.json"}', SchemaType.JSON), strict=False)
    assert (
        JsonschemaWording(replace(parsed, referenced={"never.json": "false"})).find_message([1])
        == "False schema does not allow [1]"
    )


@pytest.mark.parametrize("document", [2**70, [2**70], [[]] * 40_000])
def test_any_document_is_told(registry: Registry, document: Any) -> None:
    written = JSONSerializer("true", registry)(1, CONTEXT)
    reader = JSONDeserializer('{"type": "string"}', None, registry, validate_words="jsonschema")
    with pytest.raises(DecodeError, match="type"):
        reader((written or b"")[:5] + json.dumps(document).encode(), CONTEXT)


def test_formats_are_asserted_when_asked(registry: Registry) -> None:
    """Defect 6 of the reference's client: a format was never asserted."""
    schema = '{"type": "object", "properties": {"at": {"type": "string", "format": "date"}}}'
    assert JSONSerializer(schema, registry)({"at": "whenever"}, CONTEXT)
    for options, told in (({}, 'format: "whenever"'), ({"validate_words": "jsonschema"}, "'whenever' is not a 'date'")):
        with pytest.raises(EncodeError, match=told) as caught:
            JSONSerializer(schema, registry, validate_formats=True, **options)({"at": "whenever"}, CONTEXT)
        assert (caught.value.keyword, caught.value.instance_path) == ("format", "/at")
    written = JSONSerializer(schema, registry)({"at": "whenever"}, CONTEXT)
    with pytest.raises(DecodeError, match="format"):
        JSONDeserializer(None, schema_registry_client=registry, conf={"validate.formats": True})(written, CONTEXT)


def test_the_package_is_loaded_only_when_its_words_are_asked_for() -> None:
    code = (
        "import sys; import contractlog.serdes.json_schema.serde; "
        "print([name for name in ('jsonschema', 'fastavro') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
