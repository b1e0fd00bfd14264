"""The report of a check: outcomes, severities, positions, and paths relative to the folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.check.file_check import FileCheck
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.report_formats.check_report import check_report
from contractlog.clients.cli.report_formats.report import Report, ReportedFile
from contractlog.clients.cli.schema_folder.manifest import Manifest, SubjectRule
from contractlog.clients.cli.schema_folder.resolver import FileResolver
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.schema_folder.waivers import Waiver
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft, SchemaType

SUBJECT = "orders-value"
ROOT = Path("/repository")


def order(*fields: str) -> str:
    listed = [{"name": "id", "type": "long"}, *({"name": name, "type": "string"} for name in fields)]
    return json.dumps({"type": "record", "name": "Order", "fields": listed}, indent=2)


def check(
    registry: Registry,
    text: str,
    kind: SchemaType = SchemaType.AVRO,
    path: str = "s/orders.avsc",
    waivers: Sequence[Waiver] = (),
) -> FileCheck:
    file = SchemaFile(Path(path), SUBJECT, SchemaDraft(text, kind))
    rules = (SubjectRule(SUBJECT, {"level": "BACKWARD"}),)
    manifest = Manifest(Path("contractlog.toml"), {}, (), rules, waivers=tuple(waivers))
    return SubjectChecker(registry, SUBJECT, manifest=manifest).check(FileResolver(registry).resolve(file))


def report(*checks: FileCheck, unreadable: tuple[tuple[Path, Exception], ...] = ()) -> Report:
    return check_report(checks, unreadable, root=ROOT, tool_version="1")


def only_file(result: Report) -> ReportedFile:
    (file,) = result.files
    return file


def test_an_incompatible_file_has_its_findings_with_position_fixes_and_rule(registry: Registry) -> None:
    registry.register(SUBJECT, SchemaDraft(order()))
    result = report(check(registry, order("note")))
    file = only_file(result)
    assert (file.path, file.outcome) == ("s/orders.avsc", "failed")
    assert file.verdict == "incompatible with version 1 of `orders-value` at level BACKWARD"
    (finding,) = file.findings
    assert (finding.line, finding.column, finding.pointer) == (9, 5, "/fields/1")
    assert (finding.rule, finding.severity) == ("AVRO_FIELD_DEFAULT_MISSING", "error")
    assert finding.message.startswith("the new schema cannot read what version 1 wrote: ")
    assert finding.details[0].startswith("fix: ")
    assert all(detail.startswith("or: ") for detail in finding.details[1:])
    assert finding.diff[0].startswith("@@ ")
    assert '"note"' in finding.identity
    assert "version" not in finding.identity
    rule = result.rules["AVRO_FIELD_DEFAULT_MISSING"]
    assert [caption for caption, _ in rule.examples] == ["Reported", "Not reported"]
    assert result.summary == "1 of 1 file cannot be registered (1 incompatible)"


def test_files_that_pass_are_in_the_report(registry: Registry) -> None:
    new = check(registry, order())
    assert (only_file(report(new)).outcome, report(new).summary) == ("passed", "1 file can be registered")
    registry.register(SUBJECT, SchemaDraft(order()))
    existing = check(registry, order())
    assert report(existing).summary == "nothing to register, 1 file registered already"
    assert report(new, existing).summary == "1 file can be registered, 1 registered already"
    assert report(new, existing).findings == []


def test_findings_that_are_waived_are_warnings_of_a_file_that_passes(registry: Registry) -> None:
    registry.register(SUBJECT, SchemaDraft(order()))
    waiver = Waiver(SUBJECT, "AVRO_FIELD_DEFAULT_MISSING", "no reader", "ana", date(2999, 1, 1), line=1)
    result = report(check(registry, order("note"), waivers=[waiver]))
    file = only_file(result)
    assert (file.outcome, [finding.severity for finding in file.findings]) == ("passed", ["warning"])
    assert file.notes == ("AVRO_FIELD_DEFAULT_MISSING is waived by ana until 2999-01-01: no reader",)
    assert result.summary == "1 file can be registered, 1 by a waiver"


def test_a_finding_that_does_not_prevent_registration_is_a_warning(registry: Registry) -> None:
    (finding,) = only_file(report(check(registry, '{"minLength": -1}', SchemaType.JSON))).findings
    assert (finding.rule, finding.severity) == ("JSON_SCHEMA_NONCONFORMING", "warning")


def test_a_missing_permission_is_an_error_without_position(registry: Registry) -> None:
    registry.set_mode(Mode.READONLY, SUBJECT)
    result = report(check(registry, order()))
    (finding,) = only_file(result).findings
    assert (finding.rule, finding.severity, finding.line) == ("NOT_PERMITTED", "error", None)
    assert "is in mode READONLY, and new versions can be registered only in mode READWRITE" in finding.message
    assert result.rules["NOT_PERMITTED"].title == "Not permitted by the subject's mode or your permissions"
    assert only_file(result).verdict == f"cannot be registered under `{SUBJECT}`"
    assert result.summary == "1 of 1 file cannot be registered (1 not permitted)"


def test_a_rejection_without_findings_of_our_own_has_the_words_of_the_registry() -> None:
    file = SchemaFile(Path("a.avsc"), SUBJECT, SchemaDraft('"int"'))
    check = FileCheck(file, "incompatible", Level.FULL, messages=("no", "because"))
    (finding,) = only_file(report(check)).findings
    assert (finding.rule, finding.message, finding.details) == ("REGISTRY_REJECTED", "no", ("because",))
    (finding,) = only_file(report(FileCheck(file, "incompatible", Level.FULL))).findings
    assert finding.message


@pytest.mark.parametrize(
    ("message", "position", "said"),
    [
        ("a/b.avsc:3:14: the text is not JSON", (3, 14), "the text is not JSON"),
        ("`a/b.avsc` cannot be read: Permission denied", (None, None), "`a/b.avsc` cannot be read: Permission denied"),
        ("a/b.avsc: it depends on `a/c.avsc`", (None, None), "it depends on `a/c.avsc`"),
        ("a/c.avsc:3:14: of another file", (None, None), "a/c.avsc:3:14: of another file"),
    ],
)
def test_an_unreadable_file_has_the_position_of_its_message(
    message: str, position: tuple[int | None, int | None], said: str
) -> None:
    result = report(unreadable=((Path("a/b.avsc"), UsageError(message)),))
    (finding,) = only_file(result).findings
    assert ((finding.line, finding.column), finding.message) == (position, said)
    assert (finding.rule, only_file(result).outcome) == ("UNREADABLE_FILE", "unreadable")
    assert result.summary == "1 of 1 file cannot be registered (1 unreadable)"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("./a/../b.avsc", "b.avsc"),
        ("/repository/a.avsc", "a.avsc"),
        ("/elsewhere/a.avsc", "/elsewhere/a.avsc"),
        ("../a.avsc", "/a.avsc"),
    ],
)
def test_paths_are_relative_to_the_folder_if_they_are_below_it(path: str, shown: str) -> None:
    assert only_file(report(unreadable=((Path(path), UsageError("bad")),))).path == shown
