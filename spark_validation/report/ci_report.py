"""Report of an audit for CI and chat: a test case for each part of a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    ReportSeverity,
)
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import AuditReport, QualityResult, TopicPart, ViolationLine
from contractlog.contracts.quality.evaluation import failed_rules
from contractlog.spark_validation.report.formatters import format_count, format_percent, format_plural, format_time
from contractlog.spark_validation.report.quality_sentences import describe_quality
from contractlog.spark_validation.report.sentences import (
    VERDICT_ORDER,
    consume_command,
    describe_producers,
    format_conformance,
    group_by_code,
)

__all__ = ["make_ci_report"]

QUALITY_RULE: Final = "QUALITY_RULE"
_QUALITY: Final = ReportedRule(
    QUALITY_RULE, "A quality rule is not satisfied", "The values of a topic differ from what its quality file says."
)
_SEVERITIES: Final[Mapping[str, ReportSeverity]] = {"error": "error", "warning": "warning", "info": "note"}
MAX_KINDS: Final = 50  #: findings of a part; the rest is in report.json


def make_ci_report(report: AuditReport, root: Path, tool_version: str = "") -> Report:
    """Build the report of an audit.

    A part fails if it conforms less than ``--fail-under``; its violations are errors then, else warnings. In place of
    a file, a test case has the topic and the part.

    Args:
        report: the audit.
        root: the working directory, which reports of files need.
        tool_version: the version of contractlog.
    """
    del root
    parts = sorted(
        report["topics"],
        key=lambda part: (VERDICT_ORDER.index(part["verdict"]), -part["violating"], part["topic"], part["part"]),
    )
    codes = {line["code"] for part in parts for line in part["violations"]}
    return Report(
        "contractlog audit",
        _summarize(report),
        tuple(_report_part(report, part) for part in parts),
        {QUALITY_RULE: _QUALITY}
        | {code: ReportedRule(code, Outcome[code].meaning, Outcome[code].fix) for code in sorted(codes)},
        tool_version,
    )


def _summarize(report: AuditReport) -> str:
    """Return the verdicts in one sentence, without names, which come from outside."""
    counts = Counter(part["verdict"] for part in report["topics"])
    if not counts:
        return "nothing was audited: no topic was found"
    verdicts = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in VERDICT_ORDER if counts[verdict])
    return f"{format_plural(len(report['topics']), 'part')} of topics: {verdicts}"


def _report_part(report: AuditReport, part: TopicPart) -> ReportedFile:
    limit = report["thresholds"]["fail_under"]
    below = part["conformance"] is not None and part["conformance"] < limit
    quality = [result for result in part.get("quality", ()) if result["outcome"] in {"failed", "not evaluated"}]
    failed = below or bool(failed_rules(part))
    name = f"{part['topic']} {part['part']}"
    lines = [line for lines in group_by_code(part["violations"]).values() for line in lines]
    verdict = f"{part['verdict']}: {format_conformance(part)} records conform" if lines else part["verdict"]
    if below:
        verdict += f", less than --fail-under {format_percent(limit)}"
    if failed_rules(part):
        verdict += f", {format_plural(len(failed_rules(part)), 'quality rule')} failed"
    notes = list(part["notes"])
    if len(lines) > MAX_KINDS:
        notes.append(f"{format_plural(len(lines) - MAX_KINDS, 'more kind')} of violations in report.json.")
    return ReportedFile(
        name,
        "failed" if failed else "passed",
        verdict,
        (
            *(_report_line(report, part, line, name, failed=below) for line in lines[:MAX_KINDS]),
            *(_report_quality(result, name) for result in quality),
        ),
        tuple(notes),
    )


def _report_line(
    report: AuditReport, part: TopicPart, line: ViolationLine, name: str, *, failed: bool
) -> ReportedFinding:
    command = consume_command(report, part, line)
    details = [Outcome[line["code"]].fix]
    if command:
        details.append(f"`{command}` shows a record")
    return ReportedFinding(
        path=name,
        line=None,
        column=None,
        rule=line["code"],
        severity="error" if failed else "warning",
        message=_describe_line(line),
        details=tuple(details),
        pointer=line["path"],
        identity=f"{line['schema_id']} {line['path']} {line['field']}",
    )


def _report_quality(result: QualityResult, name: str) -> ReportedFinding:
    return ReportedFinding(
        path=name,
        line=None,
        column=None,
        rule=QUALITY_RULE,
        severity=_SEVERITIES[result["severity"]] if result["outcome"] == "failed" else "note",
        message=describe_quality(result),
        identity=f"{result['field']} {result['metric']} {result['rule']}",
    )


def _describe_line(line: ViolationLine) -> str:
    where = f" in `{line['field']}`" if line["field"] else ""
    schema = f" with schema id {format_count(line['schema_id'])}" if line["schema_id"] else ""
    writer = f", from {describe_producers(line['producers'])}" if line["producers"] else ""
    first, last = format_time(line["first_seen"]), format_time(line["last_seen"])
    times = f", {first} to {last}" if line["first_seen"] != line["last_seen"] else f", {first}"
    detail = f": {line['detail']}" if line["detail"] else ""
    return f"{format_plural(line['records'], 'record')}{where}{schema}{writer}{times}{detail}"
