"""Report of ``contractlog check``: its findings, and a verdict on each file."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.file_check import FAILED, FileCheck
from contractlog.clients.cli.findings import describe_finding, describe_verdict, diff_lines
from contractlog.clients.cli.impact_text import describe_affected, describe_impact
from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    Severity,
)
from contractlog.clients.cli.schema_folder.waivers import describe_silenced
from contractlog.compatibility.formats import CATALOGUE
from contractlog.compatibility.lint.rule import Severity as RuleSeverity
from contractlog.compatibility.located_finding import LocatedFinding

__all__ = [
    "UNREADABLE_FILE",
    "check_report",
    "list_rules",
    "relative_path",
    "report_file",
    "report_finding",
    "report_unreadable",
]

_POSITION: Final = re.compile(r"(\d+):(\d+): (.*)", re.DOTALL)  # at the begin of a message about a file, after its path

REGISTRY_REJECTED: Final = ReportedRule(
    "REGISTRY_REJECTED",
    "The registry rejects the schema",
    "The registry decides whether a schema can be registered. This command found no reason of its own; the finding has "
    "the words of the registry.",
)
NOT_PERMITTED: Final = ReportedRule(
    "NOT_PERMITTED",
    "New versions of the subject are rejected",
    "The mode of the subject, or missing permission of the caller, prevents registration. The schema itself is "
    "compatible. Ask an operator of the registry.",
)
UNREADABLE_FILE: Final = ReportedRule(
    "UNREADABLE_FILE",
    "The file cannot be read as a schema",
    "The file cannot be read, is not a valid schema, or has no subject.",
)
CONSUMERS_AFFECTED: Final = ReportedRule(
    "CONSUMERS_AFFECTED",
    "Clients read versions that the new schema breaks",
    "In the last 30 days these clients fetched versions that are incompatible with the new schema in one direction: "
    "they cannot read its records, or it cannot read theirs. Change them first, or keep the schema compatible.",
)
_OWN_RULES: Final = {rule.id: rule for rule in (REGISTRY_REJECTED, NOT_PERMITTED, CONSUMERS_AFFECTED, UNREADABLE_FILE)}


def check_report(
    checks: Sequence[FileCheck],
    unreadable: Iterable[tuple[Path, Exception]],
    root: Path,
    tool_version: str = "",
    *,
    fail_on: RuleSeverity = RuleSeverity.ERROR,
) -> Report:
    """Build the report of checked files, and of those that cannot be read.

    Args:
        checks: the outcomes, in the order of output.
        unreadable: files that cannot be read as schemas, with the error.
        root: the folder that paths are relative to, if they are below it.
        tool_version: the version of contractlog.
        fail_on: the least severity with which a file fails.
    """
    files = [_fail_file(report_file(check, root), fail_on) for check in checks]
    files += [report_unreadable(path, str(error), root) for path, error in unreadable]
    return Report(
        command="contractlog check",
        summary=_summary(checks, len(files)),
        files=tuple(files),
        rules=list_rules(finding for file in files for finding in file.findings),
        tool_version=tool_version,
    )


def _fail_file(file: ReportedFile, fail_on: RuleSeverity) -> ReportedFile:
    """Return a file as failed if it has findings of a severity with which files fail."""
    if fail_on is RuleSeverity.ERROR or not any(RuleSeverity(each.severity).reaches(fail_on) for each in file.findings):
        return file
    return replace(file, outcome="failed")


def list_rules(findings: Iterable[ReportedFinding]) -> dict[str, ReportedRule]:
    """Return the rules of the findings that have an explanation."""
    rules = {}
    for name in dict.fromkeys(finding.rule for finding in findings):
        if name in _OWN_RULES:
            rules[name] = _OWN_RULES[name]
        elif name in CATALOGUE:
            spec = CATALOGUE[name]
            examples = tuple(
                (caption, f"reader  {example.reader}\nwriter  {example.writer}")
                for caption, example in (("Reported", spec.bad), ("Not reported", spec.good))
                if example is not None
            )
            rules[name] = ReportedRule(spec.id, spec.title, spec.explanation, examples)
    return rules


def report_finding(
    path: str, text: str, finding: LocatedFinding, severity: Severity, group: str = "", *, optional: bool = False
) -> ReportedFinding:
    """Return a finding of the engines for a report.

    Args:
        path: path of the file.
        text: content of the file.
        finding: the finding.
        severity: its severity for the command.
        group: heading for the findings of its kind.
        optional: whether the level admits it.
    """
    details = [f"fix: {finding.fix}"] if finding.fix else []
    details += [f"or: {fix.sentence}" for fix in finding.fixes[1:]]
    return ReportedFinding(
        path=path,
        line=None if finding.position is None else finding.position.line,
        column=None if finding.position is None else finding.position.column,
        rule=finding.finding.check,
        severity=severity,
        message=describe_finding(finding, optional=optional),
        details=tuple(details),
        pointer=finding.pointer,
        diff=tuple(diff_lines(text, finding.fixes[0].text)) if finding.fixes else (),
        group=group,
        identity=finding.finding.detail,
    )


def report_file(check: FileCheck, root: Path) -> ReportedFile:
    """Return a checked file with its findings."""
    path = relative_path(check.file.path, root)
    return ReportedFile(
        path=path,
        outcome="passed" if check.outcome in {"registered", "unchanged", "compatible", "waived"} else "failed",
        verdict=describe_verdict(check),
        findings=tuple(_report_findings(check, path)),
        notes=(*_report_impact(check), *check.notes, *_report_silenced(check)),
        subject=check.file.subject,
    )


def _report_findings(check: FileCheck, path: str) -> Iterator[ReportedFinding]:
    text = check.file.draft.text
    for finding in check.findings if check.outcome in {"incompatible", "waived"} else ():
        yield report_finding(path, text, finding, "error" if check.outcome == "incompatible" else "warning")
    for each in check.optional_findings:
        if not check.is_silenced(each):
            yield report_finding(path, text, each.finding, each.severity.value, optional=True)
    if check.outcome == "incompatible" and not check.findings:
        reason, *details = check.messages or (REGISTRY_REJECTED.explanation,)
        yield ReportedFinding(path, None, None, REGISTRY_REJECTED.id, "error", reason, tuple(details))
    for data in check.data_findings:
        if data.is_error or check.find_waiver(data.finding) is None:
            severity: Severity = "warning" if data.is_error and check.outcome not in FAILED else data.severity.value
            # the sentence changes with each audit
            yield replace(report_finding(path, text, data.finding, severity), identity=data.identity)
    affected = "" if check.impact is None else describe_affected(check.impact, check.file.subject)
    if affected:
        yield ReportedFinding(path, None, None, CONSUMERS_AFFECTED.id, "note", affected)
    if check.outcome == "refused":
        for message in check.messages:
            yield ReportedFinding(path, None, None, NOT_PERMITTED.id, "error", message)


def _report_silenced(check: FileCheck) -> Iterator[str]:
    """Yield a note about the findings that waivers silence."""
    if check.silenced_findings:
        yield describe_silenced(len(check.silenced_findings))


def _report_impact(check: FileCheck) -> Iterator[str]:
    """Yield what is no finding."""
    affected = "" if check.impact is None else describe_affected(check.impact, check.file.subject)
    for sentence in describe_impact(check.impact, check.file.subject):
        if sentence != affected:
            yield f"impact: {sentence}"


def report_unreadable(path: Path, message: str, root: Path) -> ReportedFile:
    """Return a file that cannot be read, with the position from its message."""
    name = relative_path(path, root)
    line = column = None
    if message.startswith(f"{path}:"):
        message = message.removeprefix(f"{path}:").lstrip()
        if match := _POSITION.fullmatch(message):
            line, column, message = int(match[1]), int(match[2]), match[3]
    finding = ReportedFinding(name, line, column, UNREADABLE_FILE.id, "error", message)
    return ReportedFile(name, "unreadable", "cannot be read as a schema", (finding,))


def relative_path(path: Path, root: Path) -> str:
    """Return a path relative to ``root`` if it is below it, without ``..`` where possible, with ``/``."""
    absolute = Path(os.path.normpath(root / path))
    return (absolute.relative_to(root) if absolute.is_relative_to(root) else absolute).as_posix()


def _summary(checks: Sequence[FileCheck], files: int) -> str:
    outcomes = Counter(check.outcome for check in checks)
    unreadable = files - len(checks)
    problems = [
        f"{number:,} {word}"
        for number, word in (
            (outcomes["incompatible"], "incompatible"),
            (outcomes["data_unreadable"], "with unreadable records"),
            (outcomes["check_failed"], "with findings of the manifest's checks"),
            (outcomes["refused"], "not permitted"),
            (unreadable, "unreadable"),
        )
        if number
    ]
    known = outcomes["registered"] + outcomes["unchanged"]
    new = outcomes["compatible"] + outcomes["waived"]
    state = "unchanged" if outcomes["unchanged"] else "registered already"
    if problems:
        failed = files - known - new
        return f"{failed:,} of {count_noun(files, 'file')} cannot be registered ({', '.join(problems)})"
    if not new:
        return f"nothing to register, {count_noun(files, 'file')} {state}"
    others = f", {known:,} {state}" if known else ""
    by_waiver = f", {outcomes['waived']:,} by a waiver" if outcomes["waived"] else ""
    warnings = sum(check.count_findings(RuleSeverity.WARNING) for check in checks)
    warned = f", with {count_noun(warnings, 'warning')}" if warnings else ""
    return f"{count_noun(new, 'file')} can be registered{by_waiver}{others}{warned}"
