"""GitLab's code quality report, shown in the diff of a merge request."""

from __future__ import annotations

import json
from typing import Final

from contractlog.clients.cli.report_formats.report import Report, ReportSeverity, fingerprint_findings, message_text
from contractlog.compatibility.text.terminal_text import escape_json_line, escape_line

__all__ = ["render_gitlab"]

_SEVERITIES: Final[dict[ReportSeverity, str]] = {"error": "critical", "warning": "minor", "note": "info"}


def render_gitlab(report: Report) -> str:
    """Return a JSON list with an entry for each finding, in ASCII; without a position, it is on line 1."""
    findings = report.findings_with_notes
    entries = [
        {
            "description": message_text(finding),
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": {"path": escape_line(finding.path), "lines": {"begin": finding.line or 1}},
        }
        for finding, fingerprint in zip(findings, fingerprint_findings(findings), strict=True)
    ]
    return "".join(f"{escape_json_line(line)}\n" for line in json.dumps(entries, indent=2).split("\n"))
