# ruff: noqa: E501 -- one case per line
"""Schemas on which Avro parsers differ, compared with Java."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft

from support.java_avro import JavaProcess

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ROWS = (
    *("name that starts with a digit", "name with a hyphen", "duplicate field names", "duplicate union branches"),
    *("nested unions", "two arrays in a union", "int default out of range", "record default without a required field"),
    *("negative fixed size", "record without fields", "type named int", "empty namespace part", "bad order"),
    *("aliases as a string", "identical redefinition", "forward reference", "decimal scale above its precision"),
    *("decimal precision too big for its fixed", "union default of any branch", "NaN as a default"),
    *("fixed default of a wrong length", "enum default outside the symbols", "unknown logical type"),
    *("malformed logical type", "Unicode letters in names", "missing member", "type within type"),
    *("stored: defaults are not looked at", "stored: namespaces are not looked at"),
)
"""Each row; the cases below say what it means."""
E = '{"type":"enum","name":"E","symbols":["A"]}'
F = '{"type":"fixed","name":"F","size":2}'


@dataclass(frozen=True)
class Case:
    """A text, whether it may be registered, and whether it is read where it is stored already."""

    row: str
    text: str
    new: bool
    stored: bool
    java_stored: bool | None = None  #: where Java's answer is another


def one(row: str, field: str, *, new: bool, stored: bool, **more: Any) -> Case:
    """A record with one field, or several; the rest of its text is given."""
    return Case(
        row, f'{{"type":"record","name":"R","fields":[{{"name":"a",{field}}}]}}', new=new, stored=stored, **more
    )


CASES = [
    Case("name that starts with a digit", '{"type":"record","name":"1R","fields":[]}', new=False, stored=False),
    Case("name with a hyphen", '{"type":"record","name":"a-b","fields":[]}', new=False, stored=False),
    one("name with a hyphen", '"type":"int"},{"name":"b-c","type":"int"', new=False, stored=False),
    one("duplicate field names", '"type":"int"},{"name":"a","type":"int"', new=False, stored=False),
    Case("duplicate union branches", '["int","int"]', new=False, stored=False),
    Case("nested unions", '["null",["int"]]', new=False, stored=False),
    Case("two arrays in a union", '[{"type":"array","items":"int"},{"type":"array","items":"long"}]', new=False, stored=False),
    one("int default out of range", '"type":"int","default":2147483648', new=False, stored=True),
    one("record default without a required field", '"type":{"type":"record","name":"S","fields":[{"name":"b","type":"int"}]},"default":{}', new=False, stored=True),
    Case("negative fixed size", '{"type":"fixed","name":"F","size":-1}', new=False, stored=False),
    Case("record without fields", '{"type":"record","name":"R"}', new=False, stored=False),
    Case("type named int", '{"type":"record","name":"int","fields":[]}', new=False, stored=False),
    Case("empty namespace part", '{"type":"record","name":"a..b","fields":[]}', new=False, stored=True, java_stored=False),
    one("bad order", '"type":"int","order":"up"', new=False, stored=False),
    Case("aliases as a string", '{"type":"record","name":"R","aliases":"S","fields":[]}', new=False, stored=False),
    one("identical redefinition", f'"type":{F}}},{{"name":"b","type":{F}', new=True, stored=True),
    one("identical redefinition", f'"type":{F}}},{{"name":"b","type":{F.replace("2", "3")}', new=False, stored=False),
    one("forward reference", f'"type":"F"}},{{"name":"b","type":{F}', new=True, stored=True),
    one("decimal scale above its precision", '"type":{"type":"bytes","logicalType":"decimal","precision":2,"scale":3}', new=True, stored=True),
    one("decimal precision too big for its fixed", f'"type":{F[:-1]},"logicalType":"decimal","precision":9}}', new=True, stored=True),
    one("union default of any branch", '"type":["null","int"],"default":3', new=True, stored=True),
    one("union default of any branch", '"type":["null","int"],"default":"x"', new=False, stored=True),
    one("NaN as a default", '"type":"double","default":"NaN"', new=True, stored=True),
    one("fixed default of a wrong length", f'"type":{F},"default":"a"', new=True, stored=True),
    one("enum default outside the symbols", f'"type":{E},"default":"B"', new=True, stored=True),
    one("unknown logical type", '"type":{"type":"int","logicalType":"nonsense"}', new=True, stored=True),
    one("malformed logical type", '"type":{"type":"bytes","logicalType":"decimal"}', new=True, stored=True),
    one("malformed logical type", '"type":{"type":"bytes","logicalType":"decimal","precision":"2"}', new=True, stored=True),
    Case("Unicode letters in names", '{"type":"record","name":"Größe","fields":[]}', new=False, stored=True),
    Case("missing member", '{"type":"fixed","name":"F"}', new=False, stored=False),
    Case("missing member", '{"type":"array"}', new=False, stored=False),
    Case("missing member", '{"type":"map"}', new=False, stored=False),
    Case("type within type", '{"type":{"type":"int"}}', new=False, stored=False),
    one("stored: defaults are not looked at", '"type":"long","default":"1"', new=False, stored=True),
    Case("stored: namespaces are not looked at", '{"type":"record","namespace":"a-b","name":"R","fields":[]}', new=False, stored=True, java_stored=False),
]  # fmt: skip


def test_each_row_has_a_case() -> None:
    assert {case.row for case in CASES} == set(ROWS)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.row}-{index}" for index, case in enumerate(CASES)])
def test_a_text_is_a_schema_where_it_is_one_to_java(java_avro: JavaProcess, case: Case) -> None:
    new, stored = java_avro.ask([{"op": "parse", "schema": [case.text], "strict": strict} for strict in (True, False)])
    assert ("error" not in new, "error" not in stored) == (
        case.new,
        case.stored if case.java_stored is None else case.java_stored,
    )
    assert (_is_one(case.text, strict=True), _is_one(case.text, strict=False)) == (case.new, case.stored)


def _is_one(text: str, *, strict: bool) -> bool:
    try:
        parse_schema(SchemaDraft(text), strict=strict)
    except InvalidSchema:
        return False
    return True
