"""What a gate says of files, judged against the real service in this process."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.check.check_text import detail_lines, verdict_line
from contractlog.clients.cli.check.file_check import MAX_FINDINGS, FileCheck
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.output import Tone, with_tone
from contractlog.clients.cli.schema_folder.resolver import FileResolver
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import PlannedSettings
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType

SUBJECT = "orders-value"
NOTE = {"name": "note", "type": ["null", "string"], "default": None}
TOTAL = {"name": "total", "type": "double"}


def file(*fields: dict[str, Any], path: str = "orders-value.avsc") -> SchemaFile:
    first = {"name": "id", "type": "long"}
    text = json.dumps({"type": "record", "name": "Order", "fields": [first, *fields]}, indent=1)
    return SchemaFile(Path(path), SUBJECT, SchemaDraft(text))


def examined(gate: SubjectChecker, what: SchemaFile) -> FileCheck:
    return gate.check(FileResolver(gate.registry).resolve(what))


def test_a_refusal_of_the_registry_alone_decides_and_is_told(registry: Registry) -> None:
    registry.register(SUBJECT, file().draft)
    registry.set_level(Level.NONE, SUBJECT)
    gate = SubjectChecker(registry, SUBJECT)
    assert gate.level is Level.NONE
    registry.set_level(Level.BACKWARD, SUBJECT)  # somebody else, in between
    result = examined(gate, file(TOTAL))
    assert (result.outcome, result.findings) == ("incompatible", ())
    lines = "\n".join(detail_lines(result))
    assert "the registry says: " in lines
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in lines
    assert "the registry rejects this schema" in lines


def test_a_consent_of_the_registry_alone_decides_and_is_told(registry: Registry) -> None:
    registry.register(SUBJECT, file().draft)
    gate = SubjectChecker(registry, SUBJECT)
    assert gate.level is Level.BACKWARD
    registry.set_level(Level.NONE, SUBJECT)
    result = examined(gate, file(TOTAL))
    assert result.outcome == "compatible"
    assert [line.strip() for line in detail_lines(result)] == [
        "note: the registry accepts this schema, though this command finds reasons against it; the registry decides"
    ]


def test_a_forward_finding_points_into_the_file_as_the_writer(registry: Registry) -> None:
    registry.register(SUBJECT, file(TOTAL).draft)
    registry.set_level(Level.FORWARD, SUBJECT)
    result = examined(SubjectChecker(registry, SUBJECT), file())
    assert result.outcome == "incompatible"
    (found,) = result.findings
    assert found.direction is Direction.FORWARD
    assert "version 1 cannot read what the new schema writes" in "\n".join(detail_lines(result))


def test_of_many_findings_the_first_are_told_and_the_rest_counted(registry: Registry) -> None:
    registry.register(SUBJECT, file().draft)
    many = [{"name": f"f{number}", "type": "int"} for number in range(MAX_FINDINGS + 50)]
    result = examined(SubjectChecker(registry, SUBJECT), file(*many))
    assert len(result.findings) == MAX_FINDINGS
    assert result.notes == ("50 more findings are not listed",)
    lines = [found.position.line for found in result.findings if found.position]
    assert len(lines) == MAX_FINDINGS
    assert lines == sorted(lines)


def test_under_a_transitive_level_registry_and_earlier_files_count(registry: Registry) -> None:
    registry.set_level(Level.BACKWARD_TRANSITIVE, SUBJECT)
    registry.register(SUBJECT, file().draft)
    gate = SubjectChecker(registry, SUBJECT)
    first = examined(gate, file(NOTE, path="2/orders-value.avsc"))
    second = examined(gate, file(NOTE, TOTAL, path="3/orders-value.avsc"))
    assert (first.outcome, first.compared) == ("compatible", ("version 1",))
    assert (second.outcome, second.compared) == ("incompatible", ("version 1", "2/orders-value.avsc"))
    assert "version 1 of `orders-value` and 2/orders-value.avsc" in verdict_line(second)


def test_a_refused_file_is_no_history_for_the_next(registry: Registry) -> None:
    registry.register(SUBJECT, file().draft)
    gate = SubjectChecker(registry, SUBJECT)
    assert examined(gate, file(TOTAL)).outcome == "incompatible"
    assert examined(gate, file(NOTE)).compared == ("version 1",)


def test_a_planned_level_is_judged_without_asking_under_the_old_one(registry: Registry) -> None:
    registry.register(SUBJECT, file().draft)
    assert (
        examined(SubjectChecker(registry, SUBJECT, planned=PlannedSettings(level=Level.NONE)), file(TOTAL)).outcome
        == "compatible"
    )
    assert registry.level(SUBJECT) is Level.BACKWARD


def test_history_with_references_is_read(registry: Registry) -> None:
    registry.register("address", SchemaDraft('{"type":"record","name":"Address","fields":[]}'))
    to = {"name": "to", "type": "Address"}
    leaning = SchemaDraft(file(to).draft.text, references=(Reference("Address", "address", 1),))
    registry.register(SUBJECT, leaning)
    result = examined(SubjectChecker(registry, SUBJECT), file())
    assert (result.outcome, result.notes) == ("compatible", ())


def test_a_finding_in_a_schema_that_the_file_leans_on_has_no_line_of_the_file(registry: Registry) -> None:
    registry.register("address", SchemaDraft('{"type":"record","name":"Address","fields":[]}'))
    registry.set_level(Level.NONE, "address")
    registry.register("address", SchemaDraft('{"type":"record","name":"Address","fields":[{"name":"a","type":"int"}]}'))
    text = file({"name": "to", "type": "Address"}).draft.text
    registry.register(SUBJECT, SchemaDraft(text, references=(Reference("Address", "address", 1),)))
    what = SchemaFile(
        Path("x.avsc"), SUBJECT, SchemaDraft(text + " ", references=(Reference("Address", "address", 2),))
    )
    (found,) = examined(SubjectChecker(registry, SUBJECT), what).findings
    assert (found.pointer, found.position, found.body()["line"]) == ("Address#/fields/0", None, None)
    assert "referenced by x.avsc" in "\n".join(detail_lines(examined(SubjectChecker(registry, SUBJECT), what)))


def test_a_mend_that_was_tried_is_shown_and_holds(registry: Registry) -> None:
    registry.register(SUBJECT, file().draft)
    result = examined(SubjectChecker(registry, SUBJECT), file(TOTAL))
    (found,) = result.findings
    told = "\n".join(detail_lines(result))
    assert 'fix: make the field "total" a union with null' in told
    assert "+   " in told
    for fix in found.fixes:
        assert registry.check(SUBJECT, SchemaDraft(fix.text)).compatible
        assert {"sentence": fix.sentence, "text": fix.text} in found.body()["mends"]


def test_a_mend_breaks_with_no_other_version_either(registry: Registry) -> None:
    registry.set_level(Level.NONE, SUBJECT)
    for kind in ("string", "int", "long"):
        registry.register(SUBJECT, file(TOTAL | {"type": kind}).draft)
    registry.set_level(Level.FULL_TRANSITIVE, SUBJECT)
    result = examined(SubjectChecker(registry, SUBJECT), file(TOTAL | {"type": "boolean"}))
    assert len(result.findings) == 2
    assert all(found.earlier == "version 3" for found in result.findings)
    for fix in (fix for found in result.findings for fix in found.fixes):
        assert '"long"' in fix.text


def test_an_unreadable_reference_is_told_as_such(registry: Registry) -> None:
    registry.register("address", SchemaDraft('{"type":"record","name":"Address","fields":[]}'))
    what = SchemaFile(
        Path("x.avsc"), SUBJECT, SchemaDraft('{"type": "Nowhere"}', references=(Reference("Address", "address", 1),))
    )
    with pytest.raises(UsageError, match=r"^x\.avsc:1:\d+: .*Nowhere"):
        FileResolver(registry).resolve(what)


def test_a_reference_that_is_not_registered_is_told_with_its_file(registry: Registry) -> None:
    what = SchemaFile(Path("x.avsc"), SUBJECT, SchemaDraft('"A"', references=(Reference("A", "gone", 1),)))
    with pytest.raises(UsageError, match=r"^x\.avsc: a schema that it refers to is not registered: .*gone"):
        FileResolver(registry).resolve(what)


def test_a_consent_of_the_registry_is_none_for_what_breaks_the_files_before(registry: Registry) -> None:
    registry.set_level(Level.FULL_TRANSITIVE, SUBJECT)
    registry.register(SUBJECT, file().draft)
    gate = SubjectChecker(registry, SUBJECT)
    assert examined(gate, file(NOTE)).outcome == "compatible"
    registry.set_level(Level.NONE, SUBJECT)  # somebody else, in between
    result = examined(gate, file(NOTE | {"type": ["null", "long"]}))
    assert result.outcome == "incompatible"
    assert {found.earlier for found in result.findings} == {"orders-value.avsc"}


def test_a_schema_of_another_type_is_refused_with_a_way_out(registry: Registry) -> None:
    registry.register(SUBJECT, file().draft)
    what = SchemaFile(Path("x.json"), SUBJECT, SchemaDraft("{}", SchemaType.JSON))
    result = examined(SubjectChecker(registry, SUBJECT), what)
    assert [found.finding.check for found in result.findings] == ["SCHEMA_TYPE_CHANGED"]
    assert "fix: " in "\n".join(detail_lines(result))


def test_words_from_outside_are_shown_harmless(registry: Registry) -> None:
    registry.register(SUBJECT, file().draft)
    result = examined(SubjectChecker(registry, SUBJECT), file(TOTAL, path="\x1b[2J.avsc"))
    told = "\n".join([verdict_line(result), *detail_lines(result)])
    assert "\x1b" not in told
    assert r"\x1b[2J.avsc" in told


def test_colour_is_for_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert with_tone(Tone.BAD, "x") == "\x1b[31m✗ x\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert with_tone(Tone.BAD, "x") == "✗ x"


def test_the_policy_of_the_subject_has_a_say_in_json_schemas(registry: Registry) -> None:
    def schema(*names: str) -> SchemaFile:
        text = json.dumps({"type": "object", "properties": {name: {"type": "string"} for name in names}})
        return SchemaFile(Path("legs-value.schema.json"), "legs-value", SchemaDraft(text, SchemaType.JSON))

    registry.register("legs-value", schema("a").draft)
    refused = examined(SubjectChecker(registry, "legs-value"), schema("a", "b"))
    assert (refused.outcome, refused.notes) == ("incompatible", ())
    assert [found.finding.check for found in refused.findings] == ["JSON_OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"]
    assert registry.set_policy(Policy.LENIENT, "legs-value") is registry.policy("legs-value") is Policy.LENIENT
    admitted = examined(SubjectChecker(registry, "legs-value"), schema("a", "b"))
    assert (admitted.outcome, admitted.notes) == ("compatible", ())


def test_mends_are_tried_under_the_policy_of_the_subject(registry: Registry) -> None:
    def schema(**body: object) -> SchemaFile:
        text = json.dumps({"type": "object", "propertyNames": body})
        return SchemaFile(Path("legs-value.schema.json"), "legs-value", SchemaDraft(text, SchemaType.JSON))

    registry.register("legs-value", schema(maxLength=9).draft)
    registry.set_policy(Policy.EXACT, "legs-value")
    refused = examined(SubjectChecker(registry, "legs-value"), schema(maxLength=3))
    (found,) = refused.findings
    assert (refused.outcome, found.finding.check) == ("incompatible", "JSON_EXACT_FORBIDDEN")
    assert next(json.loads(fix.text)["propertyNames"] for fix in found.fixes) == {"maxLength": 9}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("version 1",), "version 1 of {} at level {}"),
        (("version 1", "version 2"), "versions 1 to 2 of {} at level {}"),
        (("version 1", "version 2", "version 7"), "versions 1 to 7 of {} at level {}"),
        (("version 3", "a.avsc"), "version 3 of {} and a.avsc at level {}"),
        (("version 1", "version 2", "a.avsc", "b.avsc"), "versions 1 to 2 of {} and a.avsc to b.avsc at level {}"),
        (("a.avsc", "b.avsc"), "a.avsc to b.avsc at level {1} of {0}"),
    ],
)
def test_several_versions_are_in_the_plural(registry: Registry, names: tuple[str, ...], words: str) -> None:
    registry.set_level(Level.BACKWARD_TRANSITIVE, SUBJECT)
    told = replace(examined(SubjectChecker(registry, SUBJECT), file()), compared=names)
    expected = words.format(f"`{SUBJECT}`", "BACKWARD_TRANSITIVE")
    assert verdict_line(told).endswith(f": compatible with {expected}")


def test_a_member_that_is_there_twice_is_located(registry: Registry) -> None:
    text = '{"type": "record", "name": "R",\n "name": "S", "fields": []}'
    with pytest.raises(
        UsageError, match=r'r-value.avsc:2:10: the member "name" is given 2 times; only the last counts'
    ):
        FileResolver(registry).resolve(SchemaFile(Path("r-value.avsc"), "r-value", SchemaDraft(text)))
