"""Reports of one run of a command in all formats, read back by the parsers of each format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contractlog.clients.cli.options import REPORT_FORMATS
from contractlog.compatibility.text.terminal_text import escape_line

from support.ci_formats import TestCase, read_gitlab, read_junit, read_workflow_commands
from support.sarif import SarifResult, read_sarif

SEVERITIES: Final = {"error": ("error", "critical"), "warning": ("warning", "minor"), "note": ("notice", "info")}


@dataclass(frozen=True)
class CiReports:
    """The reports of a run."""

    cases: dict[str, TestCase]  #: of JUnit, by name
    results: list[SarifResult]  #: of SARIF; those of GitHub and GitLab are the same
    notes: list[str]
    markdown: str
    completed: bool

    @property
    def findings(self) -> list[tuple[str, str, str]]:
        """Rule, severity and path of each finding."""
        return [(each.rule, each.level, each.path) for each in self.results]

    @property
    def failed(self) -> list[str]:
        """The names of the test cases that fail."""
        return [name for name, case in self.cases.items() if case.failure is not None or case.error is not None]


def report_options(folder: Path) -> list[str]:
    """Return the options that write a report of each format to a folder."""
    return [f"--report={each}={folder / f'.{each}.report'}" for each in REPORT_FORMATS]


def read_reports(folder: Path) -> CiReports:
    """Read the reports in a folder; all formats must have the same findings."""
    texts = {each: (folder / f".{each}.report").read_text("utf-8") for each in REPORT_FORMATS}
    log, cases = read_sarif(texts["sarif"]), read_junit(texts["junit"])
    issues, commands = read_gitlab(texts["gitlab"]), read_workflow_commands(texts["github"])
    assert [(each.severity, each.check, each.path, each.line) for each in issues] == [
        (SEVERITIES[each.level][1], each.rule, escape_line(each.path), each.line or 1) for each in log.results
    ]
    assert [(each.name, each.file, each.line) for each in commands] == [
        (SEVERITIES[each.level][0], escape_line(each.path), each.line) for each in log.results
    ]
    for issue, command, result in zip(issues, commands, log.results, strict=True):  # the notes of a file may follow
        assert issue.description.startswith(result.message)
        assert command.message.startswith(result.message)
    assert len({case.name for case in cases}) == len(cases) > 0
    assert all(result.rule in texts["markdown"] for result in log.results)
    by_name = {case.name: case for case in cases}
    return CiReports(by_name, log.results, log.notifications, texts["markdown"], log.completed)
