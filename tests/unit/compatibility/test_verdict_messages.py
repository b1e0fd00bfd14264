"""The reference's list of messages, literally."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.compatibility.verdict_messages import format_details, format_messages

LONG, INT = '"long"', '"int"'


def told(new: Any, old: Any, level: Level = Level.BACKWARD, version: int = 3) -> list[str]:
    texts = [schema if isinstance(schema, str) else json.dumps(schema) for schema in (new, old)]
    candidate, earlier = (parse_schema(SchemaDraft(text), strict=False) for text in texts)
    return format_messages(check_compatibility(candidate, [ParsedVersion(version, earlier)], level))


def record(*fields: dict[str, Any], name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


TEXTS = json.loads((Path(__file__).parent / "cases" / "messages.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", TEXTS)
def test_each_difference_has_the_references_text(case: dict[str, Any]) -> None:
    assert told(json.dumps(case["new"]), json.dumps(case["old"]))[0] == case["message"]


def test_the_list_ends_with_the_earlier_version_its_schema_and_the_settings() -> None:
    assert told(INT, LONG, version=7)[1:] == [
        "{oldSchemaVersion: 7}",
        "{oldSchema: '\"long\"'}",
        "{validateFields: 'false', compatibility: 'BACKWARD'}",
    ]


def test_forward_swaps_new_and_old() -> None:
    (text, *trailers) = told(LONG, INT, Level.FORWARD_TRANSITIVE)
    assert "in the old schema does not match with the new schema" in text
    assert trailers == [
        "{oldSchemaVersion: 3}",
        "{oldSchema: '\"int\"'}",
        "{validateFields: 'false', compatibility: 'FORWARD_TRANSITIVE'}",
    ]


def test_full_reports_forward_first_and_the_old_schema_only_after_the_backward_part() -> None:
    both = told('"string"', INT, Level.FULL)
    assert "a field in the old schema" in both[0]
    assert "a field in the new schema" in both[1]
    assert both[2:4] == ["{oldSchemaVersion: 3}", "{oldSchema: '\"int\"'}"]
    forward_alone = told(LONG, INT, Level.FULL)
    assert len(forward_alone) == 2
    assert forward_alone[1] == "{validateFields: 'false', compatibility: 'FULL'}"


def test_a_long_schema_is_cut_after_ten_kibibytes() -> None:
    old = record({"name": "n", "type": "string", "doc": "x" * 20_000})
    text = told(record({"name": "n", "type": "int"}), old)[2]
    assert text.startswith('{oldSchema: <truncated> \'{"type":"record"')
    assert text.endswith("xxx...'}")
    assert len(text) == 10 * 1024 + len("{oldSchema: <truncated> '...'}")


@pytest.mark.parametrize("name", ["a%s.Old", "a{reader}.Old", "a{}.Old", "a{0}%.Old", "}}{{.Old"])
def test_no_name_is_taken_for_a_slot(name: str) -> None:
    text = told(record(name="New"), record(name=name))[0]
    assert text.endswith(f"additionalInfo:'expected: {name}'}}")


def test_another_schema_type_is_one_message_without_the_earlier_schema() -> None:
    candidate, earlier = parse_schema(SchemaDraft("{}", SchemaType.JSON)), parse_schema(SchemaDraft(INT))
    verdict = check_compatibility(candidate, [ParsedVersion(1, earlier)], Level.FULL)
    assert format_messages(verdict) == [
        "Incompatible because of different schema type",
        "{validateFields: 'false', compatibility: 'FULL'}",
    ]


def test_a_compatible_verdict_has_no_messages_and_a_refusal_has_them_in_brackets() -> None:
    assert told(LONG, INT) == []
    verdict = check_compatibility(
        parse_schema(SchemaDraft(INT)), [ParsedVersion(1, parse_schema(SchemaDraft(LONG)))], Level.BACKWARD
    )
    assert format_details(verdict, validate_fields=True) == (
        "[{errorType:'TYPE_MISMATCH', description:'The type (path '/') of a field in the new schema does not match "
        "with the old schema', additionalInfo:'reader type: INT not compatible with writer type: LONG'}, "
        "{oldSchemaVersion: 1}, {oldSchema: '\"long\"'}, {validateFields: 'true', compatibility: 'BACKWARD'}]"
    )
