"""Every Avro check by its case file; clean verdicts are proven by writing and reading data."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import fastavro
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.avro.check_catalogue import AVRO_WARNINGS
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.formats import CATALOGUE, compare_schemas, find_warnings, parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft

from support.avro_schemas import AvroSchemaGenerator, create_value, evolve_schema

CASES = Path(__file__).parents[1] / "cases" / "avro"


def parsed(schema: Any) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(schema)))


def findings(reader: Any, writer: Any) -> list[Finding]:
    return list(compare_schemas(parsed(reader), parsed(writer)))


def everything(reader: ParsedSchema, writer: ParsedSchema, *, own: bool) -> list[Finding]:
    """What breaks, or what breaks and what our own checks find."""
    return [*compare_schemas(reader, writer), *(find_warnings(reader, writer) if own else ())]


def cases() -> list[Any]:
    return [
        pytest.param({**case, "file": path.stem}, id=f"{path.stem}: {case['title']}")
        for path in sorted(CASES.glob("*.json"))
        for case in json.loads(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("case", cases())
def test_a_case_has_its_findings(case: dict[str, Any]) -> None:
    found = everything(parsed(case["reader"]), parsed(case["writer"]), own=case["file"] in AVRO_WARNINGS)
    assert [f"{finding.check} {finding.reader_at}" for finding in found] == case["findings"]


def test_every_avro_check_has_a_case_that_shows_it() -> None:
    shown = {finding.split(" ")[0] for case in cases() for finding in case.values[0]["findings"]}
    assert shown == {check for check in CATALOGUE if check.startswith("AVRO_")}
    assert {path.stem for path in CASES.iterdir()} == shown


@pytest.mark.parametrize("check_id", [check for check in CATALOGUE if check.startswith("AVRO_")])
def test_the_examples_of_the_catalogue_are_true(check_id: str) -> None:
    spec = CATALOGUE[check_id]
    assert spec.bad is not None
    assert spec.good is not None
    for example, expected in ((spec.bad, [check_id]), (spec.good, [])):
        reader, writer = parse_schema(SchemaDraft(example.reader)), parse_schema(SchemaDraft(example.writer))
        found = everything(reader, writer, own=check_id in AVRO_WARNINGS)
        assert [finding.check for finding in found] == expected


@pytest.mark.parametrize("case", [case for case in cases() if case.values[0]["findings"]])
def test_every_finding_says_what_is_the_case_and_what_mends_it_on_either_side(case: dict[str, Any]) -> None:
    for finding in everything(parsed(case["reader"]), parsed(case["writer"]), own=True):
        assert finding.detail
        assert finding.fix
        assert finding.writer_fix
        finding.message.format(reader="new", writer="old")


def test_the_reasons_inside_a_branch_carry_one_message_that_of_the_branch() -> None:
    leg = {"type": "record", "name": "Leg", "fields": []}
    longer = {**leg, "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "int"}]}
    first, second = findings(["null", longer], ["null", leg])
    assert first.message.startswith("{{errorType:'MISSING_UNION_BRANCH'")
    assert (first.reader_at, second.reader_at, second.message) == ("/1/fields/0", "/1/fields/1", "")


def test_a_type_that_a_reference_brings_is_looked_into_and_its_place_names_the_reference() -> None:
    draft = SchemaDraft('{"type":"record","name":"R","fields":[{"name":"leg","type":"Leg"}]}')
    new = parse_schema(draft, {"leg": '{"type":"record","name":"Leg","fields":[{"name":"gate","type":"int"}]}'})
    old = parse_schema(draft, {"leg": '{"type":"record","name":"Leg","fields":[]}'})
    assert new.canonical == old.canonical
    assert [(finding.check, finding.reader_at, finding.writer_at) for finding in compare_schemas(new, old)] == [
        ("AVRO_FIELD_DEFAULT_MISSING", "leg#/fields/0", "leg#")
    ]


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_schema_reads_itself_whatever_it_is(random: Random) -> None:
    schema = AvroSchemaGenerator(random).schema()
    assert findings(schema, schema) == []


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 3))
def test_data_of_pairs_without_findings_is_decoded(random: Random, changes: int) -> None:
    writer = AvroSchemaGenerator(random, recursive=False).schema()
    reader = evolve_schema(writer, random, changes)
    try:
        clean = not findings(reader, writer)
    except InvalidSchema:
        assume(False)  # noqa: FBT003 - a renamed type that is used elsewhere
    assume(clean)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fastavro on defaults that fit a later branch of a union
        try:
            writes, reads = (fastavro.parse_schema(json.loads(parsed(schema).canonical)) for schema in (writer, reader))
        except fastavro.schema.UnknownType:
            assume(False)  # noqa: FBT003 - inside a namespace fastavro does not find a type without one
    for _ in range(3):
        record = io.BytesIO()
        fastavro.schemaless_writer(record, writes, create_value(writer, random))
        record.seek(0)
        fastavro.schemaless_reader(record, writes, reads)
        assert record.read() == b""
