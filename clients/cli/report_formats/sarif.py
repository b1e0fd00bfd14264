"""SARIF 2.1.0, which code scanning of GitHub and most editors read."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import quote

from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFinding,
    ReportedRule,
    clean_text,
    fingerprint_findings,
    message_text,
)
from contractlog.compatibility.text.terminal_text import escape_json_line, escape_line

__all__ = ["MAX_RESULTS", "render_sarif"]

MAX_RESULTS: Final = 25_000  #: GitHub rejects a file with more
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT: Final = "contractlog/v1"  #: change it when ``fingerprint_findings`` changes
_ROOT: Final = "%SRCROOT%"


def render_sarif(report: Report) -> str:
    """Return the report as a SARIF log with one run, in ASCII.

    Each rule of the findings is listed with its help. Paths are relative URIs, columns count code points, and notes
    about files are notifications of the invocation.
    """
    findings = report.findings[:MAX_RESULTS]
    rules = list(dict.fromkeys(finding.rule for finding in findings))
    run = {
        "tool": {"driver": _driver(report, rules)},
        "invocations": [
            {"executionSuccessful": report.completed, "toolExecutionNotifications": _notifications(report)}
        ],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder in which the command ran."}}},
        "results": [
            _result(finding, fingerprint, rules.index(finding.rule))
            for finding, fingerprint in zip(findings, fingerprint_findings(findings), strict=True)
        ],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return "".join(f"{escape_json_line(line)}\n" for line in json.dumps(log, indent=2).split("\n"))


def _driver(report: Report, rules: list[str]) -> dict[str, Any]:
    driver: dict[str, Any] = {"name": "contractlog"}
    if report.tool_version:
        driver["version"] = report.tool_version
    return driver | {"rules": [_rule(report.rules.get(rule) or ReportedRule(rule, rule, rule)) for rule in rules]}


def _rule(rule: ReportedRule) -> dict[str, Any]:
    texts = "".join(f"\n\n{caption}:\n\n{text}" for caption, text in rule.examples)
    blocks = "".join(f"\n\n{caption}:\n\n```text\n{text}\n```" for caption, text in rule.examples)
    return {
        "id": escape_line(rule.id),
        "shortDescription": {"text": clean_text(rule.title)},
        "fullDescription": {"text": clean_text(rule.explanation)},
        "help": {"text": clean_text(rule.explanation + texts), "markdown": clean_text(rule.explanation + blocks)},
    }


def _result(finding: ReportedFinding, fingerprint: str, rule_index: int) -> dict[str, Any]:
    encoded = quote(finding.path, safe="/", errors="surrogateescape")
    physical: dict[str, Any] = {"artifactLocation": {"uri": encoded, "uriBaseId": _ROOT}}
    if finding.path.startswith("/"):
        physical["artifactLocation"] = {"uri": "file://" + encoded}
    if finding.line is not None:
        physical["region"] = {"startLine": finding.line}
        if finding.column is not None:
            physical["region"]["startColumn"] = finding.column
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": escape_line(finding.pointer), "kind": "member"}]
    return {
        "ruleId": escape_line(finding.rule),
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": {"text": message_text(finding)},
        "locations": [location],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
    }


def _notifications(report: Report) -> list[dict[str, Any]]:
    notes = list(dict.fromkeys(note for file in report.files for note in file.notes))
    omitted = len(report.findings) - MAX_RESULTS
    if omitted > 0:
        notes.append(f"{omitted:,} more findings are not listed, because GitHub accepts at most {MAX_RESULTS:,}")
    return [{"level": "note", "message": {"text": clean_text(note)}} for note in notes]
