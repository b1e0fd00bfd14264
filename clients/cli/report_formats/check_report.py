"""Report of ``contractlog check`` and ``compat``: their findings, and a verdict on each file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.associations.refused_associations import RefusedAssociation
from contractlog.clients.cli.check.check_text import describe_finding, describe_verdict, diff_lines
from contractlog.clients.cli.check.file_check import FAILED, FileCheck
from contractlog.clients.cli.check.impact_text import describe_affected, describe_impact
from contractlog.clients.cli.check.refused_changes import RefusedChange, summarize_refused
from contractlog.clients.cli.file_counts import count_files, count_part
from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.report_formats.error_report import ERROR_RULES, report_unreadable_files
from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    ReportSeverity,
    relative_path,
)
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.schema_folder.waivers import describe_silenced
from contractlog.clients.file_errors import list_file_errors
from contractlog.compatibility.formats import CATALOGUE
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.located_finding import LocatedFinding

__all__ = [
    "ASSOCIATION_REJECTED",
    "NOT_PERMITTED",
    "check_report",
    "list_rules",
    "report_association",
    "report_file",
    "report_finding",
    "report_refused_change",
]


REGISTRY_REJECTED: Final = ReportedRule(
    "REGISTRY_REJECTED",
    "The registry rejects the schema",
    "The registry decides whether a schema can be registered. This command found no reason of its own; the finding has "
    "the words of the registry.",
)
NOT_PERMITTED: Final = ReportedRule(
    "NOT_PERMITTED",
    "Not permitted by the subject's mode or your permissions",
    "The mode of the subject, or missing permission of the caller, prevents the registration of a schema, which itself "
    "is compatible, or a change that the manifest makes. Ask an operator of the registry.",
)
ASSOCIATION_REJECTED: Final = ReportedRule(
    "ASSOCIATION_REJECTED",
    "A subject cannot be bound to a topic",
    "An entry of [[associations]] contradicts another entry or an association of the registry, or the caller may not "
    "write the subject or the topic's own. `contractlog apply` changes nothing until the entry can be set.",
)
CONSUMERS_AFFECTED: Final = ReportedRule(
    "CONSUMERS_AFFECTED",
    "Clients read versions that the new schema breaks",
    "In the last 30 days these clients fetched versions that are incompatible with the new schema in one direction: "
    "they cannot read its records, or it cannot read theirs. Change them first, or keep the schema compatible.",
)
_PROBLEMS: Final = (
    "incompatible",
    "with unreadable records",
    "with findings of the manifest's checks",
    "not permitted",
)
#: Words of the summary by outcome.
_GROUPS: Final[dict[str, str]] = {
    "registered": "known",
    "unchanged": "known",
    "compatible": "new",
    "waived": "new",
    "incompatible": _PROBLEMS[0],
    "data_unreadable": _PROBLEMS[1],
    "check_failed": _PROBLEMS[2],
    "refused": _PROBLEMS[3],
}
_OWN_RULES: Final = {
    rule.id: rule for rule in (REGISTRY_REJECTED, NOT_PERMITTED, CONSUMERS_AFFECTED, ASSOCIATION_REJECTED)
} | ERROR_RULES


def check_report(
    checks: Sequence[FileCheck],
    unreadable: Iterable[tuple[Path, Exception]],
    root: Path,
    tool_version: str = "",
    *,
    command: str = "contractlog check",
    manifest: Path | None = None,
    associations: Sequence[RefusedAssociation] = (),
    refused_changes: Sequence[RefusedChange] = (),
) -> Report:
    """Build the report of checked files, and of those that cannot be read.

    Args:
        checks: the outcomes, in the order of output.
        unreadable: files that cannot be read as schemas, with the error.
        root: the folder that paths are relative to, if they are below it.
        tool_version: the version of contractlog.
        command: the command that checked them.
        manifest: the file that has the associations.
        associations: those that cannot be set.
        refused_changes: changes of settings that are not permitted.
    """
    files = [report_file(check, root) for check in checks]
    problems = list(unreadable)
    files += report_unreadable_files(problems, root)
    summary = _summarize(checks, list(dict(reversed(problems)).values()))  # of the errors of a file, the first
    if manifest is not None and (associations or refused_changes):
        path = relative_path(manifest, root)
        findings = [report_association(each, path) for each in associations]
        findings += [report_refused_change(each, path) for each in refused_changes]
        verdict = "associations that cannot be set" if associations else "changes that are not permitted"
        files.append(ReportedFile(path, "failed", verdict, tuple(findings)))
        summary += f"; {count_noun(len(associations), 'association')} cannot be set" if associations else ""
        summary += f"; {summarize_refused(refused_changes)}" if refused_changes else ""
    return Report(
        command=command,
        summary=summary,
        files=tuple(files),
        rules=list_rules(finding for file in files for finding in file.findings),
        tool_version=tool_version,
    )


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
    path: str, text: str, finding: LocatedFinding, severity: ReportSeverity, group: str = "", *, optional: bool = False
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
        reported = report_finding(path, text, finding, "error" if check.outcome == "incompatible" else "warning")
        reach = (check.reaches or {}).get(finding)
        yield reported if reach is None else replace(reported, details=(*reported.details, reach.describe()))
    for each in check.findings_beyond_level:
        if not check.is_silenced(each):
            yield report_finding(path, text, each.finding, each.severity.value, optional=True)
    if check.outcome == "incompatible" and not check.findings:
        reason, *details = check.messages or (REGISTRY_REJECTED.explanation,)
        yield ReportedFinding(path, None, None, REGISTRY_REJECTED.id, "error", reason, tuple(details))
    for data in check.data_findings:
        if data.is_error or check.find_waiver(data.finding) is None:
            severity: ReportSeverity = (
                "warning" if data.is_error and check.outcome not in FAILED else data.severity.value
            )
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
    """Yield notes about the impact, without the sentence that is a finding."""
    affected = "" if check.impact is None else describe_affected(check.impact, check.file.subject)
    for sentence in describe_impact(check.impact, check.file.subject):
        if sentence != affected:
            yield f"impact: {sentence}"


def report_association(problem: RefusedAssociation, path: str) -> ReportedFinding:
    """Return an association that cannot be set as a finding in the manifest."""
    identity = "\0".join(problem.change.key)
    message = problem.describe()
    return ReportedFinding(
        path, problem.change.line, None, ASSOCIATION_REJECTED.id, "error", message, identity=identity
    )


def report_refused_change(change: RefusedChange, path: str) -> ReportedFinding:
    """Return a change that is not permitted as a finding in the manifest."""
    identity = f"{change.action} {change.subject}"
    return ReportedFinding(path, change.line, None, NOT_PERMITTED.id, "error", change.describe(), identity=identity)


def _summarize(checks: Sequence[FileCheck], errors: Sequence[Exception]) -> str:
    files: dict[str, list[SchemaFile]] = {}
    for check in checks:
        files.setdefault(_GROUPS[check.outcome], []).append(check.file)
    existing, new = files.get("known", []), files.get("new", [])
    problems = [f"{len({file.path for file in files[word]}):,} {word}" for word in _PROBLEMS if word in files]
    unchecked = sum(bool(list_file_errors(error)) for error in errors)
    problems += [f"{len(errors) - unchecked:,} unreadable"] if len(errors) > unchecked else []
    problems += [f"{unchecked:,} not checked"] if unchecked else []
    if problems:
        failed = [file for word in _PROBLEMS for file in files.get(word, ())]
        part = count_part(failed, (check.file for check in checks), len(errors))
        return f"{part} cannot be registered ({', '.join(problems)})"
    state = "unchanged" if any(check.outcome == "unchanged" for check in checks) else "registered already"
    if not new:
        return f"nothing to register, {count_files(existing)} {state}"
    others = f", {len({file.path for file in existing}):,} {state}" if existing else ""
    waived = {check.file.path for check in checks if check.outcome == "waived"}
    by_waiver = f", {len(waived):,} by a waiver" if waived else ""
    warnings = sum(check.count_findings(Severity.WARNING) for check in checks)
    warned = f", with {count_noun(warnings, 'warning')}" if warnings else ""
    return f"{count_files(new)} can be registered{by_waiver}{others}{warned}"
