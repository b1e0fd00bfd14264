"""Report of ``plan`` in the formats of CI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from contractlog.clients.cli.associations.bindings import association_key
from contractlog.clients.cli.plan.planner import Plan
from contractlog.clients.cli.plan.registration_report import registration_report
from contractlog.clients.cli.plan.steps import RegisterWaived
from contractlog.clients.cli.report_formats.check_report import (
    ASSOCIATION_REJECTED,
    relative_path,
    report_association,
)
from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding, ReportedRule

__all__ = ["plan_report"]

PLAN_DRIFT: Final = ReportedRule(
    "PLAN_DRIFT",
    "The registry has what the files do not have",
    "The registry has a later version than the file of a subject, or a subject that [[subjects]] of the manifest owns "
    "has no file. `contractlog plan --exit-code` ends with 1. Add it to the files, or delete it in the registry.",
)

_DRIFT_TABLES: Final = {"Drift", "Subjects without a file", "Associations that the manifest does not have"}


def plan_report(
    plan: Plan, unreadable: Iterable[tuple[Path, Exception]], summary: str, root: Path, tool_version: str
) -> Report:
    """Build the report of ``plan``, with its settings, deletions and drift as tables."""
    report = registration_report(plan.registrations, unreadable, summary, root, tool_version)
    tables = (
        (
            "Settings",
            ("subject", "setting", "now", "planned"),
            tuple((each.subject, each.change.setting, *each.format_values()) for each in plan.settings),
        ),
        (
            "Associations",
            ("topic", "part", "lifecycle", "now", "planned"),
            tuple(_list_associations(plan)),
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
        (
            "Associations that the manifest does not have",
            ("topic", "part", "subject"),
            tuple((*association_key(each)[1:], each.subject) for each in plan.associations.unlisted),
        ),
        ("Subjects without a file", ("subject", "rule in [[subjects]]"), tuple((plan.without_file or {}).items())),
    )
    filled = tuple(table for table in tables if table[2])
    path = "." if plan.manifest is None else relative_path(plan.manifest.path, root)
    problems = tuple(report_association(each, path) for each in plan.associations.problems)
    outcome: Literal["passed", "failed"] = "failed" if plan.referenced or problems else "passed"
    only_drift = {table[0] for table in filled} <= _DRIFT_TABLES
    verdict = "the registry has versions that are not in the files" if only_drift else "changes other than versions"
    if problems:
        verdict = "associations that cannot be set"
    findings = (*problems, *_find_drift(plan, path, root))
    changes = (
        (ReportedFile(path, outcome, verdict, findings, tables=filled, listed=True),) if filled or problems else ()
    )
    used = {finding.rule for finding in findings}
    rules = {**report.rules, **{rule.id: rule for rule in (PLAN_DRIFT, ASSOCIATION_REJECTED) if rule.id in used}}
    return replace(report, command="contractlog plan", files=(*report.files, *changes), rules=rules)


def _find_drift(plan: Plan, path: str, root: Path) -> Iterator[ReportedFinding]:
    """Yield a warning for each drifted subject: in its file, or in the manifest if it has none."""
    files = {each.file.subject: relative_path(each.file.path, root) for each in plan.registrations}
    for subject, message in plan.describe_drift():
        file = files.get(subject, path)
        yield ReportedFinding(file, None, None, PLAN_DRIFT.id, "warning", message, identity=subject)


def _list_associations(plan: Plan) -> Iterator[tuple[str, ...]]:
    """Yield the associations that are set or removed, as rows."""
    for change in plan.associations.changes:
        before = change.before or "not bound"
        yield change.resource.name, change.part, change.lifecycle.value, before, change.subject
    for each in (step.association for step in plan.unbindings):
        yield *association_key(each)[1:], str(each.lifecycle), each.subject, "not bound"


def _list_steps(waived: RegisterWaived) -> list[tuple[str, str]]:
    """Return the three steps of a registration that the level refuses, as rows."""
    before, after = (" -> ".join(each.format_values()) for each in waived.level_changes)
    registration = f"register {waived.planned.file.path}"
    return [(waived.subject, step) for step in (f"set level {before}", registration, f"set level {after}")]
