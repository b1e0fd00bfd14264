"""Workflow commands of GitHub Actions, which annotate the lines of a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFinding,
    ReportSeverity,
    finding_lines,
    message_text,
)
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["MAX_ANNOTATIONS", "render_github"]

MAX_ANNOTATIONS: Final = 10  #: of each severity that the runner shows per step
_COMMANDS: Final[dict[ReportSeverity, str]] = {"error": "error", "warning": "warning", "note": "notice"}
_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render_github(report: Report) -> str:
    """Return a workflow command for each finding, the most severe first, and a summary as the last line.

    Findings beyond the runner's limit are plain text.
    """
    annotated: list[ReportedFinding] = []
    others: list[ReportedFinding] = []
    counts: Counter[ReportSeverity] = Counter()
    for finding in report.findings_with_notes:
        counts[finding.severity] += 1
        (annotated if counts[finding.severity] <= MAX_ANNOTATIONS else others).append(finding)
    lines = [_command(finding, report) for finding in annotated]
    lines += _other_lines(others)
    lines.append(f"{report.command}: {report.summary}")
    return "".join(f"{line}\n" for line in lines)


def _command(finding: ReportedFinding, report: Report) -> str:
    rule = report.rules.get(finding.rule)
    properties = {
        "file": finding.path,
        "line": finding.line,
        "col": None if finding.line is None else finding.column,
        "title": f"{finding.rule}: {rule.title}" if rule else finding.rule,
    }
    listed = ",".join(
        f"{name}={escape_line(str(value)).translate(_PROPERTY)}"
        for name, value in properties.items()
        if value not in {None, ""}
    )
    return f"::{_COMMANDS[finding.severity]} {listed}::{message_text(finding).translate(_DATA)}"


def _other_lines(findings: list[ReportedFinding]) -> Iterator[str]:
    if not findings:
        return
    yield (
        f"{len(findings):,} more without annotation, because GitHub shows at most {MAX_ANNOTATIONS} errors, "
        f"{MAX_ANNOTATIONS} warnings and {MAX_ANNOTATIONS} notices per step:"
    )
    for finding in findings:
        yield from finding_lines(finding)
