"""Parsing canonical form and fingerprints."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft

from support.avro_fingerprints import compute_crc64, compute_fingerprints, write_parsing_form
from support.avro_schemas import AvroSchemaGenerator


def form(text: str, **referenced: str) -> str:
    return write_parsing_form(parse_schema(SchemaDraft(text), referenced).root)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{"type": "int", "logicalType": "date"}', '"int"'),
        ('{"type":"fixed","size":3,"name":"F","namespace":"a","doc":"d"}', '{"name":"a.F","type":"fixed","size":3}'),
        ('{"type":"enum","symbols":["B","A"],"name":"E","default":"A"}',
         '{"name":"E","type":"enum","symbols":["B","A"]}'),
        ('{"type":"array","items":["null",{"type":"map","values":"long"}]}',
         '{"type":"array","items":["null",{"type":"map","values":"long"}]}'),
        ('{"type":"error","name":"n.R","aliases":["Q"],"fields":[{"name":"r","type":["null","R"],"default":null}]}',
         '{"name":"n.R","type":"record","fields":[{"name":"r","type":["null","n.R"]}]}'),
    ],
)  # fmt: skip
def test_the_form_keeps_what_reading_needs_and_names_in_full(text: str, written: str) -> None:
    assert form(text) == written


def test_a_type_that_is_leaned_on_is_written_in_place() -> None:
    written = form('{"type":"array","items":"Leg"}', leg='{"type":"record","name":"Leg","fields":[]}')
    assert written == '{"type":"array","items":{"name":"Leg","type":"record","fields":[]}}'


def test_the_fingerprints_of_int_are_those_of_the_specification() -> None:
    prints = compute_fingerprints(parse_schema(SchemaDraft('"int"')).root)
    assert prints.crc64 == 0x7275D51A3F395C8F
    assert prints.md5 == "ef524ea1b91e73173d938ade36c1db32"
    assert prints.sha256 == "3f2b87a9fe7cc9b13835598c3981cd45e3e355309e5090aa0933d7becb6fba45"


def test_the_crc_is_signed_as_in_java() -> None:
    assert compute_crc64(b'"double"') >> 63 == 1
    assert compute_fingerprints(parse_schema(SchemaDraft('"double"')).root).crc64 == compute_crc64(b'"double"') - 2**64


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_form_is_a_schema_whose_form_it_is(random: Random) -> None:
    written = form(json.dumps(AvroSchemaGenerator(random).schema()))
    assert form(written) == written


def test_types_that_lead_deep_are_refused_and_not_written() -> None:
    texts = {"R0": '{"type":"fixed","name":"R0","size":1}'}
    for level in range(1, 80):
        field = {"name": "f", "type": {"type": "array", "items": ["null", f"R{level - 1}"]}}
        texts[f"R{level}"] = json.dumps({"type": "record", "name": f"R{level}", "fields": [field]})
    schema = parse_schema(SchemaDraft('{"type":"array","items":"R79"}'), texts).root
    with pytest.raises(InvalidSchema, match="levels deep"):
        write_parsing_form(schema)
