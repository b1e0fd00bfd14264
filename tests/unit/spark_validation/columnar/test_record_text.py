"""Texts of bodies are bounded, end where the body fails, and hold no value unless values are shown."""

from __future__ import annotations

import json

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.column_validation import Validator, make_validator
from contractlog.spark_validation.columnar.record_text import MAX_TEXT, render_bytes, render_json

from support.archives import create_schema

ROW = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "tags", "type": {"type": "map", "values": "string"}},
        {"name": "notes", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "raw", "type": "bytes"},
        {"name": "ok", "type": "boolean"},
        {"name": "share", "type": "double"},
    ],
}
BODY = b"\x0e\x02\x02\x02k\x04ab\x00\x04\x00\x02\x02x\x00\x04\x01\x02\x01" + bytes(8)


def avro_validator(schema: object = ROW) -> Validator:
    """Return the validator of an Avro schema."""
    return make_validator(create_schema(1, json.dumps(schema)))


def test_a_whole_record_is_rendered_with_and_without_its_values() -> None:
    validator = avro_validator()
    assert validator.render(BODY, show=True).text == (
        '{id: 7, kind: B, tags: {"k": "ab"}, notes: [null, "x"], raw: 0x0102, ok: true, share: 0.0}'
    )
    assert validator.render(BODY, show=False).text == (
        "{id: long, kind: enum, tags: {string(1): string(2)}, notes: [null, string(1)], raw: bytes(2), ok: boolean, "
        "share: double}"
    )


@settings(deadline=None)
@given(st.integers(0, len(BODY) - 1), st.binary(max_size=3))
def test_the_text_ends_where_validation_fails(length: int, rest: bytes) -> None:
    validator = avro_validator()
    body = BODY[:length] + rest
    data = np.frombuffer(body, np.uint8)
    outcome = validator.validate(data, np.zeros(1, np.int64), np.array([len(body)]), columns=False)
    rendered = validator.render(body, show=False)
    if outcome.codes[0] == Outcome.CONFORMS:
        assert rendered.failed_at == -1
        assert "✗" not in rendered.text
    else:
        assert outcome.details[0].endswith(f"(byte {rendered.failed_at} of the body)")
        assert "✗" in rendered.text


def test_a_text_is_bounded_and_has_its_beginning_and_its_end() -> None:
    validator = avro_validator({"type": "array", "items": "string"})
    body = b"\x90\x03" + b"\x14" + b"\x14".join([b"x" * 10] * 199) + b"\x14" + b"x"
    rendered = validator.render(body, show=False)
    assert rendered.text.startswith("[string(10), string(10)")
    assert rendered.text.endswith("string(10), ✗")
    assert " … " in rendered.text
    assert len(rendered.text) <= MAX_TEXT + 3


def test_the_work_for_a_text_is_bounded() -> None:
    validator = avro_validator({"type": "array", "items": "int"})
    rendered = validator.render(b"\x80\x89\x7a" + bytes(1_000_000), show=False)
    assert rendered.text.endswith("…")
    assert rendered.failed_at == -1


def test_the_deepest_record_is_rendered() -> None:
    tree = {"type": "record", "name": "T", "fields": [{"name": "down", "type": {"type": "array", "items": "T"}}]}
    rendered = avro_validator(tree).render(b"\x02" * 500, show=False)
    assert rendered.text.endswith("✗")
    assert rendered.failed_at == 64


def test_documents_are_masked_with_the_names_of_the_schema() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}, "tags": {"type": "object"}}}
    validator = make_validator(RegisteredSchema(SchemaId(1), json.dumps(schema), type=SchemaType.JSON))
    document = {"id": "a\nb", "tags": {"max@example.com": None}, "list": [1, 2.5, True]}
    body = json.dumps(document).encode()
    assert validator.render(body, show=False).text == (
        "{id: string(3), tags: {name(15): null}, name(4): [integer, number, boolean]}"
    )
    rendered = validator.render(b'{"id": secret}', show=False)
    assert (rendered.text, rendered.failed_at) == ("JSON-like text(14)", 7)
    assert render_json(document, (), show=True) == (
        '{id: "a\\nb", tags: {max@example.com: null}, list: [1, 2.5, true]}'
    )


@pytest.mark.parametrize("show", [False, True])
@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.text() | st.integers() | st.booleans(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_the_text_of_any_document_is_bounded(show: bool, document: object) -> None:  # noqa: FBT001 - a parameter
    assert len(render_json(document, (), show=show)) <= MAX_TEXT + 500


def test_deep_documents_are_rendered() -> None:
    document = orjson.loads(b"[" * 200 + b"]" * 200)
    assert render_json(document, (), show=False).startswith("[" * 16 + "…")


def test_bytes_are_described_by_what_they_look_like() -> None:
    assert render_bytes(b"", show=False) == "text(0)"
    assert render_bytes(b"\xff" * 5_000, show=False) == "bytes(5000)"
    assert render_bytes(b"x" * 5_000, show=False) == "bytes(5000)"
    assert render_bytes(b"\x1b[2J", show=True) == "0x1b5b324a"
    assert len(render_bytes(b"\xff" * 5_000, show=True)) < 80
