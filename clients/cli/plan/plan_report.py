"""Report of ``plan`` in the formats of CI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from contractlog.clients.cli.plan.planner import Plan
from contractlog.clients.cli.plan.registration_report import registration_report
from contractlog.clients.cli.plan.steps import RegisterWaived, SetConfig
from contractlog.clients.cli.report_formats.check_report import relative_path
from contractlog.clients.cli.report_formats.manifest_report import add_manifest_warnings
from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding, ReportedRule

__all__ = ["plan_report"]

PLAN_DRIFT: Final = ReportedRule(
    "PLAN_DRIFT",
    "The registry has what the files do not have",
    "The registry has a later version than the file of a subject, or a subject that [[subjects]] of the manifest owns "
    "has no file. `contractlog plan --exit-code` ends with 1. Add it to the files, or delete it in the registry.",
)


def plan_report(
    plan: Plan, unreadable: Iterable[tuple[Path, Exception]], summary: str, root: Path, tool_version: str
) -> Report:
    """Build the report of ``plan``, with its settings, deletions and drift as tables."""
    report = registration_report(plan.registrations, unreadable, summary, root, tool_version)
    settings = [step for step in plan.settings if isinstance(step, SetConfig)]
    tables = (
        (
            "Settings",
            ("subject", "setting", "now", "planned"),
            tuple((each.subject, each.change.setting, *each.format_values()) for each in settings),
        ),
        (
            "By waivers, in this order",
            ("subject", "step"),
            tuple(row for each in plan.waived for row in _list_steps(each)),
        ),
        (
            "Soft deletions",
            ("subject", "versions"),
            tuple((each.subject, ", ".join(map(str, each.versions))) for each in plan.deletions),
        ),
        ("Not deleted", ("subject", "referenced by"), plan.referenced),
        (
            "Drift",
            ("subject", "version of the file", "latest version"),
            tuple((subject, str(version), str(latest)) for subject, version, latest in plan.drift()),
        ),
        ("Subjects without a file", ("subject", "rule in [[subjects]]"), tuple((plan.without_file or {}).items())),
    )
    filled = tuple(table for table in tables if table[2])
    path = "." if plan.manifest is None else relative_path(plan.manifest.path, root)
    outcome: Literal["passed", "failed"] = "failed" if plan.referenced else "passed"
    only_drift = {table[0] for table in filled} <= {"Drift", "Subjects without a file"}
    verdict = "the registry has versions that are not in the files" if only_drift else "changes other than versions"
    findings = tuple(_find_drift(plan, path, root))
    changes = (ReportedFile(path, outcome, verdict, findings, tables=filled, listed=True),) if filled else ()
    rules = {**report.rules, PLAN_DRIFT.id: PLAN_DRIFT} if findings else report.rules
    report = replace(report, command="contractlog plan", files=(*report.files, *changes), rules=rules)
    return add_manifest_warnings(report, plan.manifest_warnings, root)


def _find_drift(plan: Plan, path: str, root: Path) -> Iterator[ReportedFinding]:
    """Yield a warning for each drifted subject: in its file, or in the manifest if it has none."""
    files = {each.file.subject: relative_path(each.file.path, root) for each in plan.registrations}
    for subject, message in plan.describe_drift():
        file = files.get(subject, path)
        yield ReportedFinding(file, None, None, PLAN_DRIFT.id, "warning", message, identity=subject)


def _list_steps(waived: RegisterWaived) -> list[tuple[str, str]]:
    """Return the three steps of a registration that the level refuses, as rows."""
    before, after = (" -> ".join(each.format_values()) for each in waived.level_changes)
    registration = f"register {waived.planned.file.path}"
    return [(waived.subject, step) for step in (f"set level {before}", registration, f"set level {after}")]
