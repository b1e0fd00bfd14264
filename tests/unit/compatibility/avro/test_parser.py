"""Accepted and rejected Avro schemas, with the position of the error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.avro.logical_types import describe_logical_type, parse_decimal
from contractlog.compatibility.avro.types import Array, AvroSchema, Enum, Fixed, Map, Primitive, Record, TypeName, Union
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.json_text import Number
from contractlog.compatibility.schema import SchemaDraft

from support.deadlines import count_calls


def root(text: str) -> AvroSchema:
    schema = parse_schema(SchemaDraft(text)).root
    assert isinstance(schema, AvroSchema)
    return schema


def record(fields: str, **more: str) -> str:
    members = "".join(f',"{name}":{value}' for name, value in more.items())
    return f'{{"type":"record","name":"R","fields":[{fields}]{members}}}'


def field(kind: str, default: str) -> str:
    return record(f'{{"name":"f","type":{kind},"default":{default}}}')


REFUSED = [
    ("string", ""),
    ("", ""),
    ("5", ""),
    ("null", ""),
    ("NaN", ""),
    ('"string" x', ""),
    ('{"type":"int",}', ""),
    ('"Nobody"', ""),
    ('{"type":{"type":"string"}}', ""),
    ('{"type":["int"]}', ""),
    ('{"type":"union"}', ""),
    ('{"type":"array"}', ""),
    ('{"type":"map"}', ""),
    ('{"type":"record","fields":[]}', ""),
    ('{"type":"record","name":"R"}', ""),
    ('{"type":"record","name":"R","fields":{}}', ""),
    ('{"type":"record","name":"1R","fields":[]}', "/name"),
    ('{"type":"record","name":"R-x","fields":[]}', "/name"),
    ('{"type":"record","name":"Ré","fields":[]}', "/name"),
    ('{"type":"record","name":"","fields":[]}', "/name"),
    ('{"type":"record","name":"int","fields":[]}', "/name"),
    ('{"type":"record","name":"R","namespace":"a..b","fields":[]}', "/name"),
    ('{"type":"record","name":"R","namespace":"a-b","fields":[]}', "/name"),
    ('{"type":"record","name":"R","aliases":"a","fields":[]}', "/aliases"),
    ('{"type":"record","name":"R","aliases":["a-b"],"fields":[]}', "/aliases"),
    (record("5"), "/fields/0"),
    (record('{"type":"int"}'), "/fields/0"),
    (record('{"name":"a"}'), "/fields/0"),
    (record('{"name":"a.b","type":"int"}'), "/fields/0/name"),
    (record('{"name":"a","type":"int"},{"name":"a","type":"int"}'), "/fields/1"),
    (record('{"name":"a","type":"int","order":"up"}'), "/fields/0/order"),
    (record('{"name":"a","type":"int","order":5}'), "/fields/0/order"),
    (record('{"name":"a","type":"B"}'), "/fields/0/type"),
    ('{"type":"enum","name":"E"}', ""),
    ('{"type":"enum","name":"E","symbols":["A","A"]}', "/symbols/1"),
    ('{"type":"enum","name":"E","symbols":["A-"]}', "/symbols/0"),
    ('{"type":"enum","name":"E","symbols":[5]}', "/symbols/0"),
    ('{"type":"enum","name":"E","symbols":["A"],"default":"B"}', "/default"),
    ('{"type":"fixed","name":"F"}', ""),
    ('{"type":"fixed","name":"F","size":-1}', ""),
    ('{"type":"fixed","name":"F","size":4.0}', ""),
    ('{"type":"fixed","name":"F","size":"4"}', ""),
    ('{"type":"fixed","name":"F","size":99999999999}', ""),
    ('["int","int"]', "/1"),
    ('["int",{"type":"int","logicalType":"date"}]', "/1"),
    ('["int",["string"]]', "/1"),
    ('["B",{"type":"record","name":"B","fields":[]}]', "/1"),
    (field('"int"', "2147483648"), "/fields/0/default"),
    (field('"long"', "9223372036854775808"), "/fields/0/default"),
    (field('"long"', "1.0"), "/fields/0/default"),
    (field('"int"', "null"), "/fields/0/default"),
    (field('"double"', '"x"'), "/fields/0/default"),
    (field('"double"', "true"), "/fields/0/default"),
    (field('"bytes"', "5"), "/fields/0/default"),
    (field('["int","string"]', "true"), "/fields/0/default"),
    (field('{"type":"array","items":"int"}', '[1,"x"]'), "/fields/0/default"),
    (field('{"type":"record","name":"S","fields":[{"name":"x","type":"int"}]}', "{}"), "/fields/0/default"),
    (field('"R"', "{}"), "/fields/0/default"),
    ('{"type":"string","x":"\\ud800"}', "/x"),
]


@pytest.mark.parametrize(("text", "at"), REFUSED)
def test_invalid_schemas_are_rejected_with_a_position(text: str, at: str) -> None:
    with pytest.raises(InvalidSchema) as refusal:
        parse_schema(SchemaDraft(text))
    assert refusal.value.at == at
    assert refusal.value.error_code == 42201
    assert refusal.value.message


ACCEPTED = [
    '"string"',
    '/* why */ {"type": "string"} // so',
    "[]",
    '{"type":"enum","name":"E","symbols":[]}',
    '{"type":"fixed","name":"F","size":0}',
    field('["string","null"]', "null"),
    field('["int","string"]', '"x"'),
    field('"double"', "3"),
    field('"double"', '"NaN"'),
    field('{"type":"fixed","name":"F","size":2}', '"B"'),
    field('{"type":"enum","name":"E","symbols":["A"]}', '"B"'),
    field('{"type":"record","name":"S","fields":[{"name":"x","type":"int","default":1}]}', "{}"),
    record('{"name":"a","type":"int","aliases":["a-b c"]}'),
    '{"type":"bytes","logicalType":"decimal","precision":2,"scale":5}',
    '{"type":"bytes","logicalType":5}',
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_schemas_accepted_by_the_reference_are_accepted(text: str) -> None:
    assert parse_schema(SchemaDraft(text)).canonical


def test_stored_schemas_are_read_without_the_rules_for_new_ones() -> None:
    text = '{"type":"record","name":"Ré","namespace":"a-b","fields":[{"name":"é","type":"int","default":"x"}]}'
    with pytest.raises(InvalidSchema):
        parse_schema(SchemaDraft(text))
    assert parse_schema(SchemaDraft(text), strict=False).canonical == text
    with pytest.raises(InvalidSchema):
        parse_schema(SchemaDraft('{"type":"record","name":"a-b","fields":[]}'), strict=False)


def test_a_tree_knows_its_places_properties_and_logical_types() -> None:
    schema = root(
        record(
            '{"name":"day","type":{"type":"int","logicalType":"date","pii":true},"default":1.50},'
            '{"name":"u","type":["null",{"type":"map","values":{"type":"array","items":"R"}}]},'
            '{"name":"e","type":{"type":"enum","name":"n.E","symbols":["A"],"default":"A"}},'
            '{"name":"x","type":{"type":"fixed","name":"F","size":3}}'.replace("1.50", "15"),
            owner='"ops"',
        )
    )
    assert isinstance(schema.root, TypeName | Record)
    top = schema.resolve(schema.root)
    assert isinstance(top, Record)
    assert top.props == {"owner": "ops"}
    day, union, enum, fixed = (one.type for one in top.fields)
    assert isinstance(day, Primitive)
    assert (day.at, day.logical_type, day.props["pii"]) == ("/fields/0/type", "date", True)
    assert top.fields[0].default == Number("15")
    assert isinstance(union, Union)
    assert isinstance(union.branches[1], Map)
    assert isinstance(union.branches[1].values, Array)
    assert union.branches[1].values.items.at == "/fields/1/type/1/values/items"
    assert schema.resolve(union.branches[1].values.items) is top
    assert isinstance(enum, Enum)
    assert (enum.name, enum.default) == ("n.E", "A")
    assert isinstance(fixed, Fixed)
    assert fixed.size == 3


def test_names_may_be_used_before_they_are_defined_and_are_written_where_they_are_used_first() -> None:
    text = record('{"name":"a","type":"B"},{"name":"b","type":{"type":"record","name":"B","fields":[]}}')
    assert parse_schema(SchemaDraft(text)).canonical == record(
        '{"name":"a","type":{"type":"record","name":"B","fields":[]}},{"name":"b","type":"B"}'
    )


def test_a_type_may_be_defined_twice_when_both_say_the_same() -> None:
    once = '{"type":"record","name":"S","doc":"d","fields":[]}'
    same = '{"type":"record","name":"S","aliases":["T"],"fields":[]}'
    other = '{"type":"record","name":"S","fields":[{"name":"z","type":"int"}]}'
    both = '{{"name":"a","type":{}}},{{"name":"b","type":{}}}'
    assert parse_schema(SchemaDraft(record(both.format(once, same)))).canonical == record(both.format(once, '"S"'))
    with pytest.raises(InvalidSchema, match="defined twice"):
        parse_schema(SchemaDraft(record(both.format(once, other))))


@pytest.mark.parametrize(
    ("once", "again", "same"),
    [
        ({"doc": "x"}, {}, True),
        ({"aliases": ["x"]}, {}, True),
        ({"p": 1, "q": {"a": 1, "b": 2}}, {"q": {"b": 2, "a": 1}, "p": 1}, True),
        ({"default": {"a": 1, "b": 2}}, {"default": {"b": 2, "a": 1}}, True),
        ({"p": [1, 2]}, {"p": [2, 1]}, False),
        ({"p": 1}, {"p": 2}, False),
        ({"order": "descending"}, {}, False),
        ({"default": {}}, {}, False),
    ],
)
def test_properties_beside_a_fields_type_are_handled_as_in_java(once: Any, again: Any, *, same: bool) -> None:
    """As Java Avro answered: documentation and aliases do not count, nor does the order of members."""
    texts = [
        json.dumps({"type": "record", "name": "S", "fields": [{"name": "f", "type": kind, **more}]})
        for kind, more in (({"type": "map", "values": "int"}, one) for one in (once, again))
    ]
    both = record(",".join(f'{{"name":"{name}","type":{text}}}' for name, text in zip("ab", texts, strict=True)))
    if same:
        assert parse_schema(SchemaDraft(both)).canonical.count('"type":"record"') == 2
    else:
        with pytest.raises(InvalidSchema, match="defined twice"):
            parse_schema(SchemaDraft(both))


def test_references_resolve_by_text_alone_and_their_faults_name_them() -> None:
    leg = '{"type":"record","name":"n.Leg","fields":[{"name":"at","type":"n.Airport"}]}'
    airport = '{"type":"enum","name":"n.Airport","symbols":["EWR"]}'
    text = record('{"name":"leg","type":"n.Leg"}')
    assert parse_schema(SchemaDraft(text), {"airport": airport, "leg": leg}).canonical == text
    with pytest.raises(InvalidSchema) as refusal:
        parse_schema(SchemaDraft(text), {"leg": leg, "airport": airport})
    assert refusal.value.at == "leg#/fields/0/type"
    with pytest.raises(InvalidSchema) as refusal:
        parse_schema(SchemaDraft(text), {"leg": "{"})
    assert refusal.value.at == "leg#"


@pytest.mark.parametrize(
    ("size", "fitting", "beyond"), [(1, 2, 3), (4, 9, 10), (16, 38, 39), (2_000, 4_816, 4_817), (10**9, 10**9, 10**10)]
)
def test_a_decimal_in_a_fixed_of_any_size_has_as_many_digits_as_its_bytes(size: int, fitting: int, beyond: int) -> None:
    for precision, known in ((fitting, f"decimal({fitting},0)"), (beyond, "")):
        props = f'"size":{size},"logicalType":"decimal","precision":{precision}'
        assert describe_logical_type(root(f'{{"type":"fixed","name":"F",{props}}}').root) == known


@pytest.mark.parametrize(("precision", "known"), [(2**31 - 1, "decimal(2147483647,0)"), (2**31, ""), (0, "")])
def test_the_precision_of_a_decimal_is_an_int_as_in_java(precision: int, known: str) -> None:
    node = root(f'{{"type":"bytes","logicalType":"decimal","precision":{precision}}}').root
    assert describe_logical_type(node) == known
    assert parse_decimal(node.props, None) == ((precision, 0) if known else None)


@pytest.mark.parametrize(
    ("kind", "item", "says"),
    [
        ({"type": "array", "items": "int"}, "0", "takes more than 200000 steps"),
        ({"type": "array", "items": "string"}, '"a"', "takes more than 200000 steps"),
        ("int", "0", "is not a value of its type"),
    ],
)
def test_a_huge_default_is_refused_before_its_items_are_looked_at(kind: Any, item: str, says: str) -> None:
    huge = f"[{','.join([item] * 480_000)}]"
    text = f'{{"type":"record","name":"R","fields":[{{"name":"a","type":{json.dumps(kind)},"default":{huge}}}]}}'

    def refuse() -> None:
        with pytest.raises(InvalidSchema, match=says) as refused:
            parse_schema(SchemaDraft(text))
        assert refused.value.facts["line"] == 1

    assert count_calls(refuse) < 10_000
