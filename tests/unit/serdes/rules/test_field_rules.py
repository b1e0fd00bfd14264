"""Rules visit the same fields, with the same names, types and tags, as in confluent-kafka."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from confluent_kafka.schema_registry import Metadata, MetadataTags, Rule, RuleMode, Schema
from confluent_kafka.schema_registry.common import avro as their_avro
from confluent_kafka.schema_registry.common import json_schema as their_json
from confluent_kafka.schema_registry.common.serde import RuleContext as TheirContext
from fastavro.schema import expand_schema, parse_schema
from hypothesis import given
from hypothesis import strategies as st
from referencing import Registry, Resource

from contractlog.compatibility.data_contract import Metadata as OurMetadata
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.serdes.avro.field_rules import avro_field_rules
from contractlog.serdes.json_schema.field_rules import json_field_rules
from contractlog.serdes.rules import RuleContext
from contractlog.serdes.schema_source import parse_steps
from contractlog.serdes.source_requests import run_sync

TAGS = ("A", "B")
PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["", "x", "yy"]),
    "int": st.integers(-5, 5),
    "boolean": st.booleans(),
    "bytes": st.sampled_from([b"", b"x"]),
    "double": st.sampled_from([0.5, 1.5]),
}


def parse(text: str, kind: SchemaType) -> ParsedSchema:
    return run_sync(parse_steps(SchemaDraft(text, kind), None), None)


def make_rule(tags: list[str]) -> Rule:
    return Rule.from_dict({"name": "r", "kind": "TRANSFORM", "mode": "WRITE", "type": "T", "tags": tags})


def make_contexts(tags: list[str], paths: dict[str, list[str]], inline: Any, transformers: Any) -> list[Any]:
    schema = Schema("{}", "AVRO", [], Metadata(MetadataTags(paths), None, None), None)
    rule = make_rule(tags)
    common = (None, None, None, schema, "s", RuleMode.WRITE, rule, 0, [rule])
    return [kind(*common, inline, transformer) for kind, transformer in zip((TheirContext, RuleContext), transformers)]  # noqa: B905


def visit(ctx: Any, message: Any) -> tuple[Any, list[Any]]:
    visits: list[Any] = []

    def change(_: Any, field: Any, value: Any) -> Any:
        visits.append((field.full_name, field.name, str(field.type_name()), sorted(field.tags), value))
        return value + value if isinstance(value, str | bytes) else value

    return ctx.field_transformer(ctx, change, message), visits


@st.composite
def avro_types(draw: Any, names: list[str], depth: int = 2) -> tuple[Any, st.SearchStrategy[Any]]:
    kind = draw(st.sampled_from([*PRIMITIVES, *(("record", "array", "map", "nullable") if depth else ())]))
    if kind in PRIMITIVES:
        return kind, PRIMITIVES[kind]
    if kind == "record":
        return draw(avro_records(names, depth - 1))
    inner, values = draw(avro_types(names, depth - 1))
    if kind == "array":
        return {"type": "array", "items": inner}, st.lists(values, max_size=2)
    if kind == "map":
        return {"type": "map", "values": inner}, st.dictionaries(st.sampled_from("kl"), values, max_size=2)
    return (["null", inner], st.none() | values) if not isinstance(inner, list) else (inner, values)


@st.composite
def avro_records(draw: Any, names: list[str], depth: int) -> tuple[Any, st.SearchStrategy[Any]]:
    name = f"R{len(names)}"
    names.append(name)
    fields, values = [], {}
    for number in range(draw(st.integers(1, 3))):
        inner, strategy = draw(avro_types(names, depth))
        tags = draw(st.lists(st.sampled_from(TAGS), unique=True))
        fields.append({"name": f"f{number}", "type": inner} | ({"confluent:tags": tags} if tags else {}))
        values[f"f{number}"] = strategy
    return {"type": "record", "name": name, "namespace": "n", "fields": fields}, st.fixed_dictionaries(values)


@given(st.data(), st.lists(st.sampled_from([*TAGS, "P"]), unique=True), st.sampled_from(["n.*.f0", "**.f1", "n.R1.*"]))
def test_avro_fields_are_visited_as_in_the_reference(data: st.DataObject, tags: list[str], path: str) -> None:
    schema, values = data.draw(avro_records([], 2))
    message = data.draw(values)
    rules = avro_field_rules(parse(json.dumps(schema), SchemaType.AVRO), OurMetadata(tags={path: ("P",)}))
    theirs = parse_schema(copy.deepcopy(schema))
    expanded = expand_schema(theirs)

    def their_transformer(ctx: Any, transform: Any, value: Any) -> Any:
        return their_avro.transform(ctx, expanded, value, transform)

    inline = their_avro.get_inline_tags(theirs)
    assert rules.inline_tags == {name: found for name, found in inline.items() if found}
    their_context, our_context = make_contexts(tags, {path: ["P"]}, inline, (their_transformer, rules.transform))
    expected = visit(their_context, copy.deepcopy(message))
    given_message = copy.deepcopy(message)
    assert visit(our_context, given_message) == expected
    assert given_message == message


ADDRESS = {"type": "object", "properties": {"street": {"type": "string", "confluent:tags": ["A"]}}}
OBJECT = {"street": "s"}
DEFINED: dict[str, Any] = {"definitions": {"d": ADDRESS}}
REFERENCE = {"$ref": "#/definitions/d"}
LONG_OR_ANY = [{"type": "string", "minLength": 9}, {"type": "string"}]


def having(**properties: Any) -> dict[str, Any]:
    return {"properties": properties}


JSON_CASES: list[tuple[Any, Any]] = [
    (having(a=ADDRESS, b={"type": ["null", "string"]}) | {"type": "object"}, {"a": OBJECT, "b": "x"}),
    (having(a=REFERENCE) | DEFINED, {"a": OBJECT}),
    (having(a={"type": "array", "items": ADDRESS}), {"a": [OBJECT, {"street": "t"}]}),
    (having(a={"oneOf": [{"type": "integer"}, REFERENCE]}) | DEFINED, {"a": OBJECT}),
    (having(a={"anyOf": LONG_OR_ANY, "confluent:tags": ["A"]}), {"a": "s"}),
    ({"allOf": [ADDRESS, having(n={"type": "number"})], **having(e={"enum": ["x"]})}, {**OBJECT, "n": 1.5, "e": "x"}),
    (having(a={"type": "string", "confluent:tags": ["A", "B"]}, b={"type": "boolean"}), {"b": True, "c": 1}),
    (having(a={"type": ["integer", "string"], "confluent:tags": ["B"]}), {"a": "s"}),
]


@pytest.mark.parametrize("tags", [[], ["A"], ["B"], ["P"]])
@pytest.mark.parametrize(("schema", "message"), JSON_CASES)
def test_json_properties_are_visited_as_in_the_reference(schema: Any, message: Any, tags: list[str]) -> None:
    rules = json_field_rules(parse(json.dumps(schema), SchemaType.JSON), OurMetadata(tags={"$.*": ("P",)}))
    registry: Any = Registry()
    resource = Resource.from_contents(schema, default_specification=their_json.DEFAULT_SPEC)

    def their_transformer(ctx: Any, transform: Any, value: Any) -> Any:
        resolver = registry.resolver_with_root(resource)
        return their_json.transform(ctx, schema, registry, resolver, "$", value, transform)

    their_context, our_context = make_contexts(tags, {"$.*": ["P"]}, None, (their_transformer, rules.transform))
    expected = visit(their_context, copy.deepcopy(message))
    given_message = copy.deepcopy(message)
    assert visit(our_context, given_message) == expected
    assert given_message == message
