"""Each format of a fixed report, byte for byte; and laws of all formats, for hostile texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from contractlog.clients.cli.options import REPORT_FORMATS
from contractlog.clients.cli.report_formats.github import MAX_ANNOTATIONS
from contractlog.clients.cli.report_formats.markdown import MAX_CHARACTERS
from contractlog.clients.cli.report_formats.report import (
    MAX_MESSAGE,
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    clean_text,
    fingerprint_findings,
)
from contractlog.clients.cli.report_formats.report_output import RENDERERS, render
from contractlog.clients.cli.report_formats.sarif import MAX_RESULTS
from contractlog.compatibility.text.terminal_text import escape_line

from support.ci_formats import read_gitlab, read_junit, read_workflow_command, read_workflow_commands
from support.hostile_reports import reports
from support.sarif import read_sarif

GOLDEN: Final = Path(__file__).parent / "golden"
NAMES: Final = {
    "junit": "junit.xml",
    "sarif": "sarif.json",
    "github": "github.txt",
    "gitlab": "gitlab.json",
    "markdown": "markdown.md",
}

ORDERS: Final = "schemas/orders-value.avsc"
ODD: Final = "schemas/50 %, ä`b`-value.avsc"
REPORT: Final = Report(
    command="contractlog check",
    summary="3 of 5 files cannot be registered (1 incompatible, 1 not permitted, 1 unreadable)",
    tool_version="1.2.3",
    rules={
        "AVRO_FIELD_DEFAULT_MISSING": ReportedRule(
            "AVRO_FIELD_DEFAULT_MISSING",
            "The writer lacks a field that has no default",
            "A reader sets a field that the writer lacks to its default.",
            (("Reported", "reader  {…}\nwriter  {…}"),),
        )
    },
    files=(
        ReportedFile("schemas/a-key.avsc", "passed", "compatible: `a-key` has no version yet"),
        ReportedFile(
            "schemas/b-value.schema.json",
            "passed",
            "compatible with version 1 of `b-value` at level BACKWARD",
            (
                ReportedFinding(
                    "schemas/b-value.schema.json",
                    1,
                    14,
                    "JSON_SCHEMA_NONCONFORMING",
                    "warning",
                    "not a schema of draft-07: -1 is less than the minimum of 0",
                    pointer="/minLength",
                ),
            ),
            ("this registry does not show permissions: whether you may register here is not known",),
        ),
        ReportedFile(
            ORDERS,
            "failed",
            "incompatible with versions 1 to 2 of `orders-value` at level FULL",
            (
                ReportedFinding(
                    ORDERS,
                    5,
                    5,
                    "AVRO_FIELD_DEFAULT_MISSING",
                    "error",
                    'the new schema cannot read what version 1 wrote: the field "total_sum" has no default',
                    ('fix: give the field "total_sum" the default 0.0', 'or: leave the field "total_sum" out'),
                    "/fields/1",
                    (
                        "@@ -5,1 +5,1 @@",
                        '-    {"name": "total_sum", "type": "double"}',
                        '+    {"name": "total_sum", "type": "double", "default": 0.0}',
                    ),
                ),
                ReportedFinding(
                    ORDERS,
                    None,
                    None,
                    "AVRO_FIELD_DEFAULT_MISSING",
                    "error",
                    "version 1 cannot read what the new schema writes:\n50 % of <it>, @all",
                    pointer="Money#/fields/0",
                ),
            ),
        ),
        ReportedFile(
            ODD,
            "failed",
            "cannot be registered under `odd`",
            (ReportedFinding(ODD, None, None, "NOT_PERMITTED", "error", "`odd` is in mode READONLY"),),
        ),
        ReportedFile(
            "schemas/c-value.avsc",
            "unreadable",
            "cannot be read as a schema",
            (ReportedFinding("schemas/c-value.avsc", 3, 1, "UNREADABLE_FILE", "error", "the text is not JSON"),),
        ),
    ),
)


def test_each_format_has_a_renderer_and_a_golden_file() -> None:
    assert tuple(RENDERERS) == REPORT_FORMATS == tuple(NAMES)
    assert {path.name for path in GOLDEN.iterdir()} == {*NAMES.values(), "diff.md"}


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_a_report_is_rendered_to_the_letter(name: str) -> None:
    assert render(REPORT, name) == (GOLDEN / NAMES[name]).read_text("utf-8")


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_a_report_without_findings_is_valid(name: str) -> None:
    text = render(Report("contractlog check", "nothing to register", ()), name)
    if name == "junit":
        assert read_junit(text) == []
    elif name == "sarif":
        assert read_sarif(text).results == []
    elif name == "gitlab":
        assert read_gitlab(text) == []
    else:
        assert "nothing to register" in text


def test_the_golden_files_say_what_the_report_says() -> None:
    """The golden files, read by parsers written from the formats' documentation."""
    junit = read_junit((GOLDEN / "junit.xml").read_text("utf-8"))
    assert [case.name for case in junit] == [case.file for case in junit] == [file.path for file in REPORT.files]
    assert [bool(case.failure) for case in junit] == [file.outcome == "failed" for file in REPORT.files]
    assert [bool(case.error) for case in junit] == [file.outcome == "unreadable" for file in REPORT.files]

    commands = read_workflow_commands((GOLDEN / "github.txt").read_text("utf-8"))
    assert [command.name for command in commands] == ["error"] * 4 + ["warning"]
    assert commands[0].properties == {
        "file": ORDERS,
        "line": "5",
        "col": "5",
        "title": "AVRO_FIELD_DEFAULT_MISSING: The writer lacks a field that has no default",
    }
    assert commands[1].message.endswith("\n50 % of <it>, @all")
    assert commands[2].properties["file"] == ODD

    log = read_sarif((GOLDEN / "sarif.json").read_text("utf-8"))
    assert [result.path for result in log.results] == [finding.path for finding in REPORT.findings]
    assert (log.completed, log.notifications) == (True, [note for file in REPORT.files for note in file.notes])


@given(reports)
def test_no_line_is_a_command_to_a_runner_or_a_terminal(report: Report) -> None:
    for name in REPORT_FORMATS:
        text = render(report, name)
        assert not re.search(r"[^\n\t -~\xa0-\U0010ffff]", text), "no control characters"
        assert not re.search("[\u2028\u202e\u200b\ufeff\ufffe]", text)
        commands = [line for line in text.split("\n") if read_workflow_command(line)]
        assert not any("##" in line.partition("::")[0] for line in commands)
        if name != "github":
            assert commands == []
            continue
        counts = Counter(finding.severity for finding in report.findings)
        assert len(commands) == sum(min(count, MAX_ANNOTATIONS) for count in counts.values())
        assert all(re.match(r"::(error|warning|notice) file=", line) for line in commands)


@given(reports)
def test_workflow_commands_carry_every_text(report: Report) -> None:
    text = render(report, "github")
    lines, commands = text.split("\n"), read_workflow_commands(text)
    shown = sorted(report.findings_with_notes, key=lambda finding: ["error", "warning", "note"].index(finding.severity))
    assert len(commands) <= len(shown)
    for command, finding in zip(commands, shown, strict=False):
        if len(commands) == len(shown):
            assert command.message == "\n".join(map(clean_text, (finding.message, *finding.details)))
            assert (command.file, command.line) == (escape_line(finding.path), finding.line)
            assert command.column == (None if finding.line is None else finding.column)
    assert lines[-2] == f"contractlog check: {report.summary}"


@given(reports)
def test_junit_is_xml_with_a_case_for_each_file(report: Report) -> None:
    cases = read_junit(render(report, "junit"))
    assert len(cases) == len(report.files)
    for case, file in zip(cases, report.files, strict=True):
        assert (case.failure is not None) == (file.outcome == "failed")
        assert (case.error is not None) == (file.outcome == "unreadable")
        listed = "\n".join(filter(None, (case.failure, case.error)))
        errors = [finding for finding in file.findings if finding.severity == "error"]
        assert (case.file, case.class_name) == (escape_line(file.path), "contractlog.check")
        others = [finding for finding in file.findings if finding.severity != "error"]
        for findings, text in ((errors, listed), (others, case.output)):
            if file.outcome != "passed" or findings is others:
                assert all(line in text for finding in findings for line in clean_text(finding.message).split("\n"))
        if file.outcome != "passed":
            assert case.message == escape_line(file.verdict)
            assert all(finding.diff == () or escape_line(finding.diff[-1]) in listed for finding in errors)


@given(reports)
def test_json_formats_are_valid_and_their_fingerprints_unique(report: Report) -> None:
    log, issues = read_sarif(render(report, "sarif")), read_gitlab(render(report, "gitlab"))
    assert [result.fingerprint for result in log.results] == [issue.fingerprint for issue in issues]
    annotated = report.findings_with_notes
    for result, issue, finding, noted in zip(log.results, issues, report.findings, annotated, strict=True):
        message, description = ("\n".join(map(clean_text, (each.message, *each.details))) for each in (finding, noted))
        column = None if finding.line is None else finding.column
        assert (result.path, result.line, result.column) == (finding.path, finding.line, column)
        assert (issue.path, issue.line) == (escape_line(finding.path), finding.line or 1)
        assert (result.rule, result.level) == (escape_line(finding.rule), finding.severity)
        assert (issue.check, result.message, issue.description) == (finding.rule, message, description)
        assert issue.severity == {"error": "critical", "warning": "minor", "note": "info"}[finding.severity]


EXPECTED: Final = {"heading", "paragraph", "bullet_list", "list_item", "fence", "inline"}
EXPECTED_INLINE: Final = {"text", "code_inline", "strong"}


def kinds(tokens: list[Token]) -> set[str]:
    return {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}


@given(reports)
def test_markdown_has_only_the_structure_that_we_write(report: Report) -> None:
    """Read by another parser: no markup, link, mention or raw HTML comes from a text, and fences are balanced."""
    text = render(report, "markdown")
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    assert kinds(tokens) <= EXPECTED
    inline = [child for token in tokens for child in token.children or ()]
    assert kinds(inline) <= EXPECTED_INLINE
    outside = " ".join(child.content for child in inline if child.type == "text")
    assert not re.search(r"[@<>\[\]*_#&`~|\\]|www\.|://", outside)
    listed = [file for file in report.files if file.findings or file.outcome != "passed"]
    groups = sum(sum(bool(name) for name, _ in groupby(finding.group for finding in file.findings)) for file in listed)
    assert sum(token.type == "heading_open" for token in tokens) == 1 + len(listed) + groups
    listed.sort(key=lambda file: file.outcome == "passed")  # rejected files first
    wanted = [finding.diff for file in listed for finding in file.findings if finding.diff]
    fences = [token for token in tokens if token.type == "fence"]
    assert len(fences) == len(wanted)
    for fence, diff in zip(fences, wanted, strict=True):
        assert fence.info == "diff"
        assert fence.content == "".join(escape_line(line.removesuffix("\r")) + "\n" for line in diff)


def many_findings(count: int, size: int = 10) -> Report:
    findings = [
        ReportedFinding("a.avsc", line, 1, "RULE", "note" if line % 3 else "error", "word " * size, diff=("+ a",))
        for line in range(1, count + 1)
    ]
    return Report("contractlog check", "summary", (ReportedFile("a.avsc", "failed", "bad", tuple(findings)),))


def test_markdown_is_cut_at_whole_findings_and_says_so() -> None:
    text = render(many_findings(5_000), "markdown")
    assert MAX_CHARACTERS - 1_000 < len(text) <= MAX_CHARACTERS < 65_536
    shown = text.count("**`RULE`**")
    assert f"**Not shown here: {5_000 - shown:,} more of 5,000 findings.**" in text
    assert text.count("```") == 2 * shown


def test_markdown_is_cut_at_whole_files_and_says_so() -> None:
    one = many_findings(1, 150)
    report = Report("contractlog check", "summary", one.files * 500)
    text = render(report, "markdown")
    assert len(text) <= MAX_CHARACTERS
    shown = text.count("#### ")
    assert f"of 500 findings, and {500 - shown:,} of 500 files.**" in text


def test_a_diff_that_is_too_long_is_left_out_of_markdown_with_a_sentence() -> None:
    finding = ReportedFinding("a.avsc", 1, 1, "RULE", "error", "bad", diff=("+" + "a" * 5_000,))
    text = render(Report("c", "s", (ReportedFile("a.avsc", "failed", "bad", (finding,)),)), "markdown")
    assert "The suggested change is too long to be shown here." in text
    assert "```" not in text


def test_annotations_beyond_the_limit_of_the_runner_are_plain_lines() -> None:
    text = render(many_findings(100), "github")
    commands = [command for command in map(read_workflow_command, text.split("\n")) if command]
    assert Counter(command.name for command in commands) == {"error": 10, "notice": 10}
    assert (
        "80 more without annotation, because GitHub shows at most 10 errors, 10 warnings and 10 notices per step:"
        in text
    )
    assert sum(bool(re.match(r"a\.avsc:\d+:1: RULE$", line)) for line in text.split("\n")) == 80


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_a_message_of_a_megabyte_is_cut(name: str) -> None:
    finding = ReportedFinding("a.avsc", None, None, "REGISTRY_REJECTED", "error", "no", ("{oldSchema: " + "a" * 10**6,))
    text = render(Report("c", "s", (ReportedFile("a.avsc", "failed", "bad", (finding,)),)), name)
    assert "{oldSchema" in text
    assert len(text) < MAX_MESSAGE + 3_000


def test_sarif_has_at_most_what_github_accepts_and_says_what_is_left_out() -> None:
    (run,) = json.loads(render(many_findings(MAX_RESULTS + 2), "sarif"))["runs"]
    assert len(run["results"]) == MAX_RESULTS
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith(
        "2 more findings are not"
    )


def test_a_fingerprint_does_not_change_with_positions_or_versions() -> None:
    first = ReportedFinding("a.avsc", 1, 1, "RULE", "error", "version 1", pointer="/fields/1", identity="total")
    moved = ReportedFinding("a.avsc", 9, 3, "RULE", "note", "version 2", pointer="/fields/2", identity="total")
    other = ReportedFinding("a.avsc", 1, 1, "RULE", "error", "version 1", pointer="/fields/1", identity="note")
    assert fingerprint_findings([first]) == fingerprint_findings([moved]) != fingerprint_findings([other])
    assert len({*fingerprint_findings([first, moved, other])}) == 3
