"""Reports of ``plan`` and ``apply`` in the formats of CI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from contractlog.clients.cli.associations.association_keys import association_key
from contractlog.clients.cli.plan_and_apply.association_steps import BindSubject, UnbindSubject
from contractlog.clients.cli.plan_and_apply.file_registration import FileRegistration, describe_version
from contractlog.clients.cli.plan_and_apply.planner import Plan
from contractlog.clients.cli.plan_and_apply.steps import DeleteSubject, Register, RegisterWaived, SetConfig, Step
from contractlog.clients.cli.report_formats.check_report import (
    ASSOCIATION_REJECTED,
    NOT_PERMITTED,
    report_association,
    report_refused_change,
)
from contractlog.clients.cli.report_formats.error_report import STEP_FAILED, failed_step
from contractlog.clients.cli.report_formats.registration_report import NOT_REACHED, add_failure, registration_report
from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    relative_path,
)
from contractlog.clients.cli.report_formats.warning_report import add_manifest_warnings
from contractlog.clients.cli.subject_settings import SettingIgnored

__all__ = ["Applied", "apply_report", "outdated_plan_report", "plan_report"]

PLAN_DRIFT: Final = ReportedRule(
    "PLAN_DRIFT",
    "The registry has what the files do not have",
    "The registry has a later version than the file of a subject, or a subject that [[subjects]] of the manifest owns "
    "has no file. `contractlog plan --exit-code` ends with 1. Add it to the files, or delete it in the registry.",
)
PLAN_OUTDATED: Final = ReportedRule(
    "PLAN_OUTDATED",
    "The registry or the files have changed since the plan",
    "A saved plan is applied only as it was shown. Nothing was applied: plan again, and look at the difference.",
)
SETTING_IGNORED: Final = ReportedRule(
    "SETTING_IGNORED",
    "The registry does not have a setting of the manifest",
    "The registry accepted the request and ignored the setting. Remove it from the manifest.",
)
SUBJECT_REFERENCED: Final = ReportedRule(
    "SUBJECT_REFERENCED",
    "A subject without a file cannot be deleted",
    "A registered version or a file references it. Restore its file, or delete what references it.",
)
_RULES: Final = (PLAN_DRIFT, SETTING_IGNORED, STEP_FAILED, SUBJECT_REFERENCED, ASSOCIATION_REJECTED, NOT_PERMITTED)
_DRIFT_TABLES: Final = {"Drift", "Subjects without a file", "Associations that the manifest does not have"}
_Table = tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]


@dataclass(slots=True)
class Applied:
    """The steps of a plan that ``apply`` has made so far, and the error that ended it."""

    plan: Plan
    done: list[FileRegistration] = field(default_factory=list)
    steps_made: list[Step] = field(default_factory=list)
    ignored: list[tuple[Step, SettingIgnored]] = field(default_factory=list)
    failure: str = ""  #: message of the error that ended it; empty: all steps were made

    @property
    def remaining(self) -> list[Step]:
        """The steps that were not made; the first is the one that failed."""
        return self.plan.steps()[len(self.steps_made) + len(self.ignored) :]

    @property
    def registrations(self) -> list[FileRegistration]:
        """The outcomes of files, in the order of the plan."""
        order = {each.file.key: number for number, each in enumerate(self.plan.registrations)}
        return sorted(self.done, key=lambda each: order[each.file.key])


def plan_report(
    plan: Plan,
    unreadable: Iterable[tuple[Path, Exception]],
    summary: str,
    root: Path,
    tool_version: str,
    *,
    command: str = "contractlog plan",
) -> Report:
    """Build the report of ``plan``, with its settings, deletions and drift as tables."""
    report = registration_report(plan.registrations, unreadable, summary, root, tool_version, command=command)
    tables = (
        *_list_changes(plan.steps(), ("now", "planned")),
        ("Not deleted", ("subject", "referenced by"), plan.referenced),
        *_list_drift(plan),
    )
    path = _manifest_path(plan, root)
    problems = (report_association(each, path) for each in plan.associations.problems)
    refused = (report_refused_change(each, path) for each in plan.refused_changes)
    findings = (*problems, *refused, *_find_referenced(plan, root), *_find_drift(plan, root))
    return add_manifest_warnings(_with_changes(report, plan, root, tables, findings), plan.manifest_warnings, root)


def apply_report(applied: Applied, summary: str, root: Path, tool_version: str) -> Report:
    """Build the report of ``apply``: what was changed, and the settings that the registry ignored."""
    plan, steps_made, remaining = applied.plan, applied.steps_made, applied.remaining
    command = "contractlog apply"
    skipped = [
        FileRegistration(step.planned.file, "skipped", reason="not registered" if number == 0 else NOT_REACHED)
        for number, step in enumerate(remaining)
        if isinstance(step, Register)
    ]
    report = registration_report([*applied.registrations, *skipped], (), summary, root, tool_version, command=command)
    others = [step for step in remaining[1:] if not isinstance(step, Register)]
    tables = [
        *_list_changes(steps_made),
        ("Not reached", ("step", "of"), tuple((step.action, step.label) for step in others)),
        *(_list_drift(plan) if plan.is_empty else ()),
    ]
    path = _manifest_path(plan, root)
    findings = [
        ReportedFinding(
            path,
            None,
            None,
            SETTING_IGNORED.id,
            "error",
            f"{error.facts['setting']} of `{step.subject}`: {error}",
            identity=f"{step.subject} {error.facts['setting']}",
        )
        for step, error in applied.ignored
    ]
    findings += _find_drift(plan, root) if plan.is_empty else ()
    if applied.failure:
        done = [step.label for step in steps_made if not isinstance(step, Register)]
        done += [describe_version(each) for each in applied.registrations if each.outcome == "registered"]
        not_reached = [f"{step.action} ({step.label})" for step in remaining[1:]]
        file = remaining[0].planned.file if remaining and isinstance(remaining[0], Register) else None
        if file is not None:
            name = relative_path(file.path, root)
            finding = failed_step(name, applied.failure, file.subject, done, not_reached)
            report = add_failure(report, file.subject, finding)
        else:
            label = f"the step `{remaining[0].action}` ({remaining[0].label}) failed: " if remaining else ""
            findings.append(failed_step(path, f"{label}{applied.failure}", label, done, not_reached))
    report = _with_changes(report, plan, root, tables, findings)
    return replace(report, completed=not applied.failure)


def outdated_plan_report(plan_file: Path, deviation: str, root: Path, tool_version: str) -> Report:
    """Build the report of an ``apply`` that is refused because of changes since the plan."""
    path = relative_path(plan_file, root)
    finding = ReportedFinding(path, None, None, PLAN_OUTDATED.id, "error", deviation)
    file = ReportedFile(path, "failed", "the registry or the files have changed since the plan", (finding,))
    rules = {PLAN_OUTDATED.id: PLAN_OUTDATED}
    return Report("contractlog apply", "nothing was applied: plan again", (file,), rules, tool_version)


def _list_changes(steps: Sequence[Step], values: tuple[str, str] = ("before", "after")) -> tuple[_Table, ...]:
    settings = [step for step in steps if isinstance(step, SetConfig)]
    waived = [step for step in steps if isinstance(step, RegisterWaived)]
    deletions = [step for step in steps if isinstance(step, DeleteSubject)]
    return (
        (
            "Settings",
            ("subject", "setting", *values),
            tuple((each.subject, each.change.setting, *each.format_values()) for each in settings),
        ),
        ("Associations", ("topic", "part", "lifecycle", *values), tuple(_list_associations(steps))),
        ("By waivers, in this order", ("subject", "step"), tuple(row for each in waived for row in _list_steps(each))),
        (
            "Soft deletions",
            ("subject", "versions"),
            tuple((each.subject, ", ".join(map(str, each.versions))) for each in deletions),
        ),
    )


def _list_associations(steps: Iterable[Step]) -> Iterator[tuple[str, ...]]:
    """Yield the associations that are set or removed, as rows."""
    for step in steps:
        if isinstance(step, BindSubject):
            change = step.change
            yield change.resource.name, change.part, change.lifecycle.value, change.before or "not bound", step.subject
        elif isinstance(step, UnbindSubject):
            lifecycle = str(step.association.lifecycle)
            yield *association_key(step.association)[1:], lifecycle, step.association.subject, "not bound"


def _list_drift(plan: Plan) -> tuple[_Table, ...]:
    return (
        (
            "Drift",
            ("subject", "version of the file", "latest version"),
            tuple((subject, str(version), str(latest)) for subject, version, latest in plan.drift()),
        ),
        (
            "Associations that the manifest does not have",
            ("topic", "part", "subject"),
            tuple((*association_key(each)[1:], each.subject) for each in plan.associations.unlisted),
        ),
        ("Subjects without a file", ("subject", "rule in [[subjects]]"), tuple((plan.without_file or {}).items())),
    )


def _with_changes(
    report: Report, plan: Plan, root: Path, tables: Iterable[_Table], findings: Sequence[ReportedFinding]
) -> Report:
    """Return a report with the changes other than versions, as tables and findings about the manifest."""
    filled = tuple(table for table in tables if table[2])
    if not (filled or findings):
        return report
    failed = any(finding.severity == "error" for finding in findings)
    only_drift = not failed and {table[0] for table in filled} <= _DRIFT_TABLES
    verdict = "the registry has versions that are not in the files" if only_drift else "changes other than versions"
    if plan.associations.problems:
        verdict = "associations that cannot be set"
    elif plan.refused_changes:
        verdict = "changes that are not permitted"
    outcome: Literal["passed", "failed"] = "failed" if failed else "passed"
    file = ReportedFile(_manifest_path(plan, root), outcome, verdict, tuple(findings), tables=filled, listed=True)
    used = {finding.rule for finding in findings}
    rules = {rule.id: rule for rule in _RULES if rule.id in used}
    return replace(report, files=(*report.files, file), rules={**report.rules, **rules})


def _find_referenced(plan: Plan, root: Path) -> Iterator[ReportedFinding]:
    """Yield an error for each subject that cannot be deleted."""
    for subject, user in plan.referenced:
        message = f"`{subject}` has no file, and cannot be deleted: it is referenced by {user}"
        path = _manifest_path(plan, root)
        yield ReportedFinding(path, None, None, SUBJECT_REFERENCED.id, "error", message, identity=f"{subject} {user}")


def _find_drift(plan: Plan, root: Path) -> Iterator[ReportedFinding]:
    """Yield a warning for each drifted subject: in its file, or in the manifest if it has none."""
    files = {each.file.subject: relative_path(each.file.path, root) for each in plan.registrations}
    for subject, message in plan.describe_drift():
        file = files.get(subject, _manifest_path(plan, root))
        yield ReportedFinding(file, None, None, PLAN_DRIFT.id, "warning", message, identity=subject)


def _manifest_path(plan: Plan, root: Path) -> str:
    return "." if plan.manifest is None else relative_path(plan.manifest.path, root)


def _list_steps(waived: RegisterWaived) -> list[tuple[str, str]]:
    """Return the three steps of a registration that the level refuses, as rows."""
    before, after = (" -> ".join(each.format_values()) for each in waived.level_changes)
    registration = f"register {waived.planned.file.path}"
    return [(waived.subject, step) for step in (f"set level {before}", registration, f"set level {after}")]
