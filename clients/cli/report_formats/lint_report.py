"""Report of ``contractlog lint``: the findings of each file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.report_formats.error_report import ERROR_RULES, report_unreadable_files
from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    relative_path,
)
from contractlog.compatibility.lint.rule import LintFinding, LintRule, Severity

__all__ = ["lint_report"]


def lint_report(
    findings: Mapping[Path, Sequence[LintFinding]],
    unreadable: Iterable[tuple[Path, Exception]],
    threshold: Severity,
    root: Path,
    tool_version: str = "",
) -> Report:
    """Build the report of linted files, and of those that cannot be read.

    Args:
        findings: the findings of each file, in the order of output.
        unreadable: files that cannot be read as schemas, with the error.
        threshold: the least severity with which a file fails.
        root: the folder that paths are relative to, if they are below it.
        tool_version: the version of contractlog.
    """
    files = [_report_file(relative_path(path, root), each, threshold) for path, each in findings.items()]
    errors = report_unreadable_files(unreadable, root)
    rules = {finding.rule.id: _report_rule(finding.rule) for each in findings.values() for finding in each}
    rules |= {finding.rule: ERROR_RULES[finding.rule] for file in errors for finding in file.findings}
    files += errors
    return Report("contractlog lint", _summary(files), tuple(files), rules, tool_version)


def _report_file(path: str, findings: Sequence[LintFinding], threshold: Severity) -> ReportedFile:
    failed = any(finding.rule.severity.reaches(threshold) for finding in findings)
    return ReportedFile(
        path,
        "failed" if failed else "passed",
        count_noun(len(findings), "finding"),
        tuple(_report_finding(path, finding) for finding in findings),
    )


def _report_finding(path: str, finding: LintFinding) -> ReportedFinding:
    rule = finding.rule
    return ReportedFinding(
        path=path,
        line=finding.position.line,
        column=finding.position.column,
        rule=rule.id,
        severity=rule.severity.value,
        message=finding.message,
        details=("fix: contractlog lint --fix",) if finding.changes else (),
        pointer=finding.pointer,
        identity=finding.pointer,
    )


def _report_rule(rule: LintRule) -> ReportedRule:
    return ReportedRule(
        rule.id, rule.summary, f"{rule.summary}.", (("Reported", rule.bad), ("Not reported", rule.good))
    )


def _summary(files: Sequence[ReportedFile]) -> str:
    counts = Counter(finding.severity for file in files for finding in file.findings)
    listed = [count_noun(counts[severity.value], severity.value) for severity in Severity if counts[severity.value]]
    return f"{', '.join(listed) or 'no findings'} in {count_noun(len(files), 'file')}"
