"""Reports of commands that end early."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding
from contractlog.clients.cli.report_formats.report_output import render

from support.sarif import read_sarif


def test_a_report_has_the_reason_if_the_registry_is_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)
    Path("orders-value.avsc").write_text('"int"')
    arguments = ["check", "orders-value.avsc", "--report", "junit=junit.xml", "--report", "sarif=check.sarif"]
    assert main([*arguments, "--format", "github"]) == exit_codes.UNREACHABLE
    printed = capsys.readouterr()
    assert printed.out.startswith("::error ")
    (case,) = ET.parse("junit.xml").getroot().iter("testcase")  # noqa: S314 - our own file
    error = case.find("error")
    assert error is not None
    assert "http://127.0.0.1:9 cannot be reached" in error.attrib["message"]
    (result,) = json.loads(Path("check.sarif").read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("REGISTRY_FAILED", "error")
    log = read_sarif(Path("check.sarif").read_text())
    assert not log.completed, "the invocation was not successful"
    assert main([*arguments, "--format", "markdown"]) == exit_codes.UNREACHABLE
    assert capsys.readouterr().out.count("cannot be reached (") == 1, "the reason is not repeated"
    assert "cannot be reached" in result["message"]["text"]


def test_the_test_cases_of_a_file_with_several_subjects_have_distinct_names() -> None:
    files = [ReportedFile("a.avsc", "passed", "fine", subject=subject) for subject in ("a-value", "b-value")]
    files.append(ReportedFile("c.avsc", "passed", "fine", subject="c-value"))
    root = ET.fromstring(render(Report("contractlog check", "", tuple(files)), "junit"))  # noqa: S314 - our own text
    cases = [(case.attrib["name"], case.attrib["file"]) for case in root.iter("testcase")]
    assert cases == [("a.avsc (a-value)", "a.avsc"), ("a.avsc (b-value)", "a.avsc"), ("c.avsc", "c.avsc")]


@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_a_format_of_findings_shows_the_notes_of_their_file_once(name: str) -> None:
    findings = tuple(ReportedFinding("a.avsc", line, 1, "R", "warning", "bad") for line in (1, 2))
    file = ReportedFile("a.avsc", "passed", "waived", findings, notes=("R is waived by ana",))
    text = render(Report("contractlog check", "", (file,)), name)
    assert text.count("bad") == 2
    assert text.count("note: R is waived by ana") == 1


def test_rejected_files_come_first_in_markdown() -> None:
    files = (
        ReportedFile("a.avsc", "passed", "waived", listed=True),
        ReportedFile("b.avsc", "failed", "bad"),
        ReportedFile("c.avsc", "unreadable", "bad"),
    )
    text = render(Report("contractlog check", "", files), "markdown")
    assert re.findall(r"^#### (.*)$", text, re.MULTILINE) == ["✗ `b.avsc`", "✗ `c.avsc`", "✓ `a.avsc`"]


def test_a_list_of_types_is_one_code_span_in_markdown() -> None:
    fix = 'fix: set the type to ["null", {"type": "array", "items": ["a.B_c", "int"]}]; or `x`'
    finding = ReportedFinding("a.avsc", 1, 1, "R", "error", 'not "x" [1] of <b>', (fix,))
    text = render(Report("contractlog check", "", (ReportedFile("a.avsc", "failed", "bad", (finding,)),)), "markdown")
    assert '- Fix: set the type to `["null", {"type": "array", "items": ["a.B_c", "int"]}]`; or `x`.\n' in text
    assert 'not "x" `[1]` of `<b>`.' in text


def test_a_bar_in_a_table_does_not_end_its_cell() -> None:
    table = ("Breaking", ("change", "levels"), (("type changed to `null | int`", "NONE"),))
    file = ReportedFile("a.avsc", "passed", "fine", tables=(table,), listed=True)
    text = render(Report("contractlog diff", "", (file,)), "markdown")
    assert "| change | levels |\n| --- | --- |\n| type changed to `null \\| int` | NONE |\n" in text
