"""Laws of the pair walk: verified assumptions, counted steps, unlimited depth."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest

from contractlog.compatibility.avro.checks import compare_avro
from contractlog.compatibility.avro.parser import parse_avro
from contractlog.compatibility.common_check_catalogue import WORK_LIMIT_EXCEEDED
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.formats import compare_schemas, parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft
from contractlog.compatibility.verdict_messages import format_messages

from support.avro_codecs import parse
from support.deadlines import hang_guard


def record(name: str, *fields: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields], **more}


def findings(reader: Any, writer: Any) -> list[Finding]:
    return list(compare_schemas(*(parse_schema(SchemaDraft(json.dumps(schema))) for schema in (reader, writer))))


def open_pair(number: str, *others: Any) -> dict[str, Any]:
    """A's verdict is open while B's is made, and B depends on it."""
    b = record("B", ("a", ["null", "A"]))
    a = record("A", ("b", ["null", b]), ("n", number))
    return record("R", ("u", [a, *others] if others else a), ("v", "B"))


def test_a_verdict_reached_while_a_pair_is_open_is_not_kept() -> None:
    writer, reader = open_pair("long"), open_pair("string", record("D", aliases=["A"]))
    found = findings(reader, writer)
    assert [finding.check for finding in found] == ["AVRO_TYPE_CHANGED"]
    data = io.BytesIO()
    inner = {"b": None, "n": 2}
    fastavro.schemaless_writer(data, fastavro.parse_schema(writer), {"u": inner, "v": {"a": inner}})
    data.seek(0)
    with pytest.raises(fastavro.read.SchemaResolutionError):
        fastavro.schemaless_reader(data, fastavro.parse_schema(writer), fastavro.parse_schema(reader))


def test_findings_caused_by_a_parent_pair_are_omitted() -> None:
    old = record("T", ("self", ["null", "T"]), ("n", "long"))
    new = record("T", ("self", ["null", "T"]), ("n", "int"))
    assert [finding.reader_at for finding in findings(new, old)] == ["/fields/1/type"]


CHANGED = record("G", ("a", "int"), ("b", "int"))
EARLIER = record("G", ("a", "int"))
USES_AGAIN = {
    "union": (lambda g: [("f", g), ("g", ["null", "G"])], 2),
    "union first": (lambda g: [("g", ["null", g]), ("f", "G")], 1),
    "two unions": (lambda g: [("f", ["null", g]), ("g", ["null", "G"])], 2),
    "map of unions": (lambda g: [("f", g), ("g", {"type": "map", "values": ["null", "G"]})], 2),
    "array in a union": (lambda g: [("f", g), ("g", ["null", {"type": "array", "items": "G"}])], 2),
    "union in a type in a union": (lambda g: [("f", g), ("g", ["null", record("X", ("x", ["null", "G"]))])], 2),
    "three unions": (lambda g: [("f", g), *((name, ["null", "G"]) for name in "ghi")], 4),
}


@pytest.mark.parametrize("case", USES_AGAIN)
def test_a_type_that_changed_is_the_only_finding_however_often_unions_use_it(case: str) -> None:
    """The reference has a message about each union, too."""
    fields, messages = USES_AGAIN[case]
    new, old = (record("R", *fields(used)) for used in (CHANGED, EARLIER))
    (finding,) = findings(new, old)
    assert finding.check == "AVRO_FIELD_DEFAULT_MISSING"
    assert 1 + len(finding.later_messages) == messages
    assert all("MISSING_UNION_BRANCH" in text for text in finding.later_messages)


def test_messages_about_unions_come_where_the_reference_has_them() -> None:
    new, old = (
        record("R", ("f", used), ("g", ["null", "G"]), ("h", number))
        for used, number in ((CHANGED, "int"), (EARLIER, "string"))
    )
    verdict = check_compatibility(parse(new), [ParsedVersion(1, parse(old))], Level.BACKWARD)
    kinds = [text.split("'")[1] for text in format_messages(verdict) if text.startswith("{errorType")]
    assert kinds == ["READER_FIELD_MISSING_DEFAULT_VALUE", "MISSING_UNION_BRANCH", "TYPE_MISMATCH"]


def test_a_compatible_change_of_a_type_leaves_every_union_with_it_readable() -> None:
    longer = record("G", ("a", "int")) | {
        "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "int", "default": 1}]
    }
    for fields, _ in USES_AGAIN.values():
        assert findings(record("R", *fields(longer)), record("R", *fields(EARLIER))) == []


def test_recursive_schemas_that_agree_are_compatible() -> None:
    schema = record("T", ("left", ["null", "T"]), ("many", {"type": "array", "items": "T"}))
    assert findings(schema, schema) == []
    longer = {**schema, "fields": [*schema["fields"], {"name": "more", "type": "int", "default": 1}]}
    assert findings(longer, schema) == findings(schema, longer) == []


def fan_out(number: str, levels: int) -> list[Any]:
    """Each level names the one before it twice."""
    return [
        record("L0", ("x", number)),
        *(record(f"L{i}", ("a", f"L{i - 1}"), ("b", f"L{i - 1}")) for i in range(1, levels)),
    ]


def test_a_fan_out_is_compared_in_as_many_steps_as_it_has_pairs() -> None:
    with hang_guard():  # two to the power of 60 steps if each pair is compared wherever it stands
        assert findings(fan_out("long", 60), fan_out("int", 60)) == []
        assert findings(fan_out("int", 60), fan_out("long", 60))[0].check == "AVRO_TYPE_CHANGED"


def test_a_fan_out_over_references_is_parsed_and_compared_without_writing_it_out() -> None:
    levels = fan_out("int", 18)
    referenced = {level["name"]: json.dumps(level) for level in levels}
    top = SchemaDraft(json.dumps(record("Top", ("a", "L17"), ("b", "L17"))))
    new, old = (
        parse_schema(top, referenced),
        parse_schema(top, {**referenced, "L0": json.dumps(record("L0", ("x", "long")))}),
    )
    assert len(new.canonical) < 100
    assert [finding.reader_at for finding in compare_schemas(new, old)] == ["L0#/fields/0/type"]


def test_thousands_of_types_in_a_row_do_not_exhaust_the_stack() -> None:
    def row(number: str) -> Any:
        first = record("C0", ("x", number))
        return record("Top", ("c0", first), *((f"c{i}", record(f"C{i}", ("x", f"C{i - 1}"))) for i in range(1, 5_000)))

    assert [finding.reader_at for finding in findings(row("int"), row("string"))] == ["/fields/0/type/fields/0/type"]


def test_going_over_the_step_limit_is_a_finding() -> None:
    reader, writer = (
        parse_avro(json.dumps([record(f"n{i}.R", ("x", number)) for i in range(50)]), {}, strict=True)[0]
        for number in ("int", "string")
    )
    (finding,) = compare_avro(reader, writer, limit=1_000)
    assert finding.check == WORK_LIMIT_EXCEEDED.id
    assert "1000" in finding.detail
    assert len(list(compare_avro(reader, writer))) == 50
    assert list(compare_avro(reader, writer, limit=1_000)) == [finding]


def test_unions_of_many_branches_that_all_look_alike_end_within_the_limit() -> None:
    with hang_guard():
        found = findings(*([record(f"n{i}.R", ("x", number)) for i in range(1_000)] for number in ("int", "string")))
    assert [finding.check for finding in found] == [WORK_LIMIT_EXCEEDED.id]


HOSTILE = {
    "10,000 levels": '{"type":"array","items":' * 10_000 + '"int"' + "}" * 10_000,
    "10,000 brackets": "[" * 10_000,
    "no end of a string": '"' + '\\"' * 500_000,
    "many quotes": '"' * 500_000,
    "no end of a comment": "/*" * 500_000,
    "100,000 symbols": json.dumps({"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(100_000)]}),
    "8,000 branches": json.dumps([record(f"R{i}") for i in range(8_000)]),
    "21,000 fields": json.dumps(record("R", *((f"f{i}", "int") for i in range(21_000)))),
    "11,000 types": json.dumps(record("R", *((f"f{i}", record(f"T{i}")) for i in range(11_000)))),
    "a number of 5,000 digits": '{"type":"int","x":' + "9" * 5_000 + "}",
    "an exponent beyond all": '{"type":"int","x":1e99999999999999999999}',
    "defaults that fill each other": json.dumps(
        [
            record(name, *((field, ["A", "B"]) for field in "xyz"), n=1)
            | {"fields": [{"name": field, "type": ["A", "B"], "default": {}} for field in "xyz"]}
            for name in "AB"
        ]
    ),
    "names ahead that nest when written out": json.dumps(
        record("T", ("q", [record(f"C{i}", ("x", f"C{i + 1}")) for i in range(900)]), ("end", record("C900")))
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_are_refused(name: str) -> None:
    with hang_guard(), pytest.raises(InvalidSchema):
        parse_schema(SchemaDraft(HOSTILE[name]))


def test_large_schemas_within_the_limits_are_understood() -> None:
    symbols = json.dumps({"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(50_000)]})
    branches = json.dumps([record(f"R{i}", ("a", "int")) for i in range(1_000)])
    for text in (symbols, branches):
        schema = parse_schema(SchemaDraft(text))
        assert list(compare_schemas(schema, parse_schema(SchemaDraft(text)))) == []


def test_leaning_on_too_much_is_refused() -> None:
    many = {f"r{i}": '"int"' for i in range(101)}
    large = {f"r{i}": '{"type":"int","doc":"' + "x" * 1_000_000 + '"}' for i in range(11)}
    for referenced in (many, large):
        with pytest.raises(InvalidSchema, match="over the limit"):
            parse_schema(SchemaDraft('"int"'), referenced)


def test_a_sentence_about_a_hostile_name_stays_short() -> None:
    with pytest.raises(InvalidSchema) as refusal:
        parse_schema(SchemaDraft(json.dumps("x" * 900_000)))
    assert len(refusal.value.message) < 1_000
