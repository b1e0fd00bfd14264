"""The canonical text decides identity: golden texts, and laws for every schema."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.avro.canonical_form import format_java_number
from contractlog.compatibility.content_identity import compute_guid
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.json_text import Number
from contractlog.compatibility.schema import SchemaDraft

from support.avro_annotations import add_annotations
from support.avro_schemas import AvroSchemaGenerator

CASES = Path(__file__).parents[1] / "cases" / "canonical"
GOLDEN = json.loads((CASES / "avro.json").read_text(encoding="utf-8"))
NORMALIZED = json.loads((CASES / "avro_normalized.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("golden", GOLDEN)
def test_the_canonical_text(golden: dict[str, str]) -> None:
    assert parse_schema(SchemaDraft(golden["text"])).canonical == golden["canonical"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1.50", "1.5"), ("1e2", "100.0"), ("12345678901234567890", "12345678901234567890"), ("1e-5", "1.0E-5"),
        ("-0.0", "-0.0"), ("-0", "0"), ("0", "0"), ("123456789.0", "1.23456789E8"), ("0.001", "0.001"),
        ("0.00095", "9.5E-4"), ("1e7", "1.0E7"), ("9999999.5", "9999999.5"), ("1e400", '"Infinity"'),
        ("-1e400", '"-Infinity"'), ("3.4028236e38", "3.4028236E38"), ("5e-324", "4.9E-324"), ("1200.0", "1200.0"),
        ("0.1000000000000000055511151231257827", "0.1"), ("-12.5e-1", "-1.25"), ("100000.0", "100000.0"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_java_writes_them(text: str, written: str) -> None:
    assert format_java_number(Number(text)) == written


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None)
def test_no_double_is_changed_by_being_written(double: float) -> None:
    assert float(format_java_number(Number(repr(double)))) == double


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_canonical_text_is_its_own_and_does_not_depend_on_how_the_text_was_written(random: Random) -> None:
    schema = AvroSchemaGenerator(random).schema()
    first = parse_schema(SchemaDraft(json.dumps(schema)))
    assert parse_schema(SchemaDraft(json.dumps(schema, indent=2))).canonical == first.canonical
    assert parse_schema(SchemaDraft(first.canonical)).canonical == first.canonical
    assert parse_schema(SchemaDraft(first.normalized)).normalized == first.normalized
    assert parse_schema(SchemaDraft(first.normalized)).canonical == first.normalized


def test_the_normalized_text_sorts_what_has_no_order_and_keeps_the_rest() -> None:
    one = '{"type":"fixed","name":"F","size":2,"doc":"","z":{"y":1,"x":2},"precision":4,"logicalType":"decimal","a":2,'
    other = '{"type":"fixed","name":"F","size":2,"logicalType":"decimal","precision":4,"a":2,"z":{"x":2,"y":1},'
    first, second = (
        parse_schema(SchemaDraft(one + '"aliases":["H","G"]}')),
        parse_schema(SchemaDraft(other + '"aliases":["G","H"]}')),
    )
    assert first.canonical != second.canonical
    assert first.normalized == second.normalized == second.canonical


@pytest.mark.parametrize("golden", NORMALIZED)
def test_the_normalized_text_is_the_references(golden: dict[str, str]) -> None:
    assert parse_schema(SchemaDraft(golden["text"])).normalized == golden["normalized"]


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_normalized_text_is_its_own_however_much_there_was_to_sort(random: Random) -> None:
    schema = add_annotations(AvroSchemaGenerator(random).schema(), random)
    first = parse_schema(SchemaDraft(json.dumps(schema)), strict=False)
    again = parse_schema(SchemaDraft(first.normalized), strict=False)
    assert first.normalized == again.normalized == again.canonical


def test_the_normalized_text_keeps_what_the_reference_loses() -> None:
    later = '{"type":"record","name":"R","fields":[{"name":"a","type":["null","string"],"default":"s"}]}'
    outside = (
        '{"type":"record","name":"n.R","fields":[{"name":"a","type":'
        '{"type":"fixed","name":"F","namespace":"","size":1}},{"name":"b","type":"F"}]}'
    )
    assert parse_schema(SchemaDraft(later)).normalized == later
    assert (
        '"name":"F","namespace":""'
        in parse_schema(SchemaDraft(outside.replace('"F"}]', '"F","z":1,"y":2}]'))).normalized
    )


def test_documentation_aliases_and_properties_make_a_new_schema_and_spaces_do_not() -> None:
    plain = '{"type":"record","name":"R","fields":[]}'
    texts = [
        plain,
        plain.replace(":", " : "),
        *(plain[:-1] + more for more in (',"doc":"d"}', ',"aliases":["S"]}', ',"p":1}')),
    ]
    assert len({compute_guid(parse_schema(SchemaDraft(text)).canonical) for text in texts}) == 4


def test_a_referenced_type_stays_a_name_and_what_it_holds_inside_is_written_out() -> None:
    leaned_on = '{"type":"record","name":"B","fields":[{"name":"c","type":{"type":"enum","name":"C","symbols":["X"]}}]}'
    text = '{"type":"record","name":"R","fields":[{"name":"a","type":"B"},{"name":"b","type":"C"}]}'
    assert parse_schema(SchemaDraft(text), {"b": leaned_on}).canonical == (
        '{"type":"record","name":"R","fields":[{"name":"a","type":"B"},'
        '{"name":"b","type":{"type":"enum","name":"C","symbols":["X"]}}]}'
    )
