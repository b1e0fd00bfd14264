"""Reports of ``contractlog diff``: files and folders, in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main

from support.ci_formats import read_workflow_command
from support.ci_reports import CiReports, read_reports, report_options

ID = {"name": "id", "type": "long"}
NOTE = {"name": "note", "type": "string"}
STATUS = {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["NEW", "OLD"], "default": "NEW"}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    return tmp_path


def put(name: str, *fields: Any) -> str:
    schema = {"type": "record", "name": "Order", "fields": [ID, *fields]}
    Path(name).write_text(json.dumps(schema, indent=2))
    return name


def diff(*arguments: str, code: int) -> CiReports:
    assert main(["diff", *arguments, *report_options(Path())]) == code
    return read_reports(Path())


def test_what_the_level_rejects_is_an_error_and_what_others_reject_a_note() -> None:
    earlier, later = put("a.avsc", {**NOTE, "name": "lost"}), put("b.avsc", NOTE)
    reports = diff(earlier, later, code=exit_codes.FINDINGS)
    check = "AVRO_FIELD_DEFAULT_MISSING"
    assert reports.findings == [(check, "error", later), (check, "note", later)]
    assert [each.line for each in reports.results] == [9, 1]
    assert "a.avsc cannot read what the new schema writes" in reports.results[1].message
    assert reports.failed == [later]
    assert "    fix: " in (reports.cases[later].failure or "")


def test_a_dangerous_change_is_a_warning_at_its_line_and_passes() -> None:
    earlier, later = put("a.avsc", {**NOTE, "default": "x"}), put("b.avsc", {**NOTE, "default": "y"})
    reports = diff(earlier, later, code=exit_codes.CLEAN)
    (warning,) = reports.results
    assert (warning.level, warning.path, warning.line) == ("warning", later, 9)
    assert "default" in warning.message
    assert reports.failed == []


def test_folders_have_a_case_for_each_changed_and_each_other_subject() -> None:
    put("one/gone-value.avsc")
    put("one/orders-value.avsc")
    put("two/new-value.avsc")
    put("two/orders-value.avsc", NOTE)
    put("one/same-value.avsc")
    put("two/same-value.avsc")
    reports = diff("one", "two", code=exit_codes.FINDINGS)
    assert sorted(reports.cases) == ["one/gone-value.avsc", "two/new-value.avsc", "two/orders-value.avsc"]
    assert reports.failed == ["two/orders-value.avsc"]
    assert "`gone-value` was removed" in reports.markdown


def test_a_file_with_several_subjects_has_a_case_for_each_and_a_renamed_one_has_a_note() -> None:
    for name, subjects in (("one", '["a-value", "b-value"]'), ("two", '["a-value", "c-value"]')):
        put(f"{name}/order.avsc", *([NOTE] if name == "two" else []))
        Path(name, "contractlog.toml").write_text(f'[[files]]\npath = "order.avsc"\nsubjects = {subjects}\n')
    reports = diff("one", "two", code=exit_codes.FINDINGS)
    assert list(reports.cases) == ["two/order.avsc (a-value)", "two/order.avsc (c-value)"]
    assert reports.notes == ["has `c-value`, and had `b-value` in one"]


def test_equal_folders_have_one_passing_case() -> None:
    put("one/orders-value.avsc")
    reports = diff("one", "one", code=exit_codes.CLEAN)
    assert (list(reports.cases), reports.failed) == (["one"], [])


def test_a_side_that_cannot_be_read_is_an_error_at_its_line() -> None:
    put("one/orders-value.avsc")
    Path("two/orders-value.avsc").write_text('{\n"type": }')
    reports = diff("one", "two", code=exit_codes.USAGE)
    (error,) = reports.results
    assert (error.rule, error.path, error.line) == ("UNREADABLE_FILE", "two/orders-value.avsc", 2)
    reports = diff("one/orders-value.avsc", "gone.avsc", code=exit_codes.USAGE)
    assert reports.findings == [("UNREADABLE_FILE", "error", "gone.avsc")]


def test_a_registry_that_cannot_be_reached_is_in_the_reports() -> None:
    later = put("a.avsc")
    reports = diff("orders-value:1", later, "--registry", "http://127.0.0.1:1", code=exit_codes.UNREACHABLE)
    assert (reports.findings, reports.completed) == ([("REGISTRY_FAILED", "error", later)], False)


def test_names_and_messages_break_no_line_of_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    earlier = put("a.avsc")
    later = put("b\n::error::x]]>`%0A.avsc", {**NOTE, "doc": "\r\n::warning::y"})
    reports = diff(earlier, later, code=exit_codes.FINDINGS)
    assert len(reports.results) == 1
    for name in ("junit", "sarif", "gitlab", "markdown", "text"):
        capsys.readouterr()
        main(["diff", earlier, later, "--format", name])
        printed = capsys.readouterr()
        assert not any(map(read_workflow_command, (printed.out + printed.err).split("\n"))), name
