"""Tags inside the text of a schema."""

from __future__ import annotations

import json
from functools import partial

import pytest

from contractlog.compatibility import formats
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.compatibility.tags import Entity, EntityType

list_inline_tags = partial(formats.list_inline_tags, SchemaType.AVRO)
edit_tags = partial(formats.edit_tags, SchemaType.AVRO)
TEXT = (
    '{"type":"record","name":"T1","namespace":"ns","fields":['
    '{"name":"a","type":{"type":"record","name":"T2","fields":[{"name":"b","type":"int"}]}},'
    '{"name":"c","type":["null",{"type":"array","items":{"type":"map","values":'
    '{"type":"record","name":"other.T3","fields":[{"name":"d","type":"int","confluent:tags":["Z","B"]}]}}}]},'
    '{"name":"g","type":"T2","size":1.50}]}'
)


def field(path: str) -> Entity:
    return Entity(path, EntityType.FIELD)


def record(path: str) -> Entity:
    return Entity(path, EntityType.RECORD)


@pytest.mark.parametrize(
    ("entity", "pointed"),
    [
        (field("ns.T1.a"), ("fields", 0)),
        (field("T1.a"), ("fields", 0)),
        (field(".T1.a"), ("fields", 0)),
        (field("ns.T2.b"), ("fields", 0, "type", "fields", 0)),
        (record("ns.T1"), ()),
        (record("T2"), ("fields", 0, "type")),
        (record("other.T3"), ("fields", 1, "type", 1, "items", "values")),
    ],
)
def test_tags_are_added_where_a_path_leads(entity: Entity, pointed: tuple[str | int, ...]) -> None:
    place = json.loads(edit_tags(TEXT, {entity: ["PII", "A"]}))
    for token in pointed:
        place = place[token]
    assert place["confluent:tags"] == ["PII", "A"]


def test_nothing_but_the_tags_is_changed() -> None:
    assert edit_tags(TEXT) == TEXT
    added = edit_tags(TEXT, {field("T1.g"): ["A"]})
    assert added == TEXT.replace('"size":1.50', '"size":1.50,"confluent:tags":["A"]')
    assert edit_tags(added, remove={field("T1.g"): ["A", "B"]}) == TEXT
    assert parse_schema(SchemaDraft(added)).canonical != parse_schema(SchemaDraft(TEXT)).canonical


def test_existing_tags_keep_their_order_without_repetition() -> None:
    place = field("other.T3.d")
    assert list_inline_tags(edit_tags(TEXT, {place: ["B", "C"]})) == {place: ("Z", "B", "C")}
    assert list_inline_tags(edit_tags(TEXT, {place: ["C"]}, {place: ["Z"]})) == {place: ("B", "C")}
    assert list_inline_tags(edit_tags(TEXT, remove={place: ["Z", "B"]})) == {}


@pytest.mark.parametrize(
    "entity",
    [field("T1.x"), field("T1"), field(".ns.T1.a"), field("T1.a.b"), record("T1.a"), record(""), record("n.T1")],
)
def test_a_path_that_leads_nowhere_is_refused(entity: Entity) -> None:
    with pytest.raises(InvalidSchema) as refused:
        edit_tags(TEXT, {entity: ["A"]})
    assert refused.value.message == f"No matching path '{entity.path}' found in the schema"


def test_tags_that_are_no_list_of_texts_are_not_tags() -> None:
    odd = '{"type":"record","name":"R","fields":[{"name":"a","type":"int","confluent:tags":"A"}],"confluent:tags":[1]}'
    assert list_inline_tags(odd) == {}
    assert list_inline_tags(edit_tags(odd, {field("R.a"): ["B"]})) == {field("R.a"): ("B",)}
