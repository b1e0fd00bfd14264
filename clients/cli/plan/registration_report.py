"""Reports of ``plan`` and ``register`` in the formats of CI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from contractlog.clients.cli.file_check import FileCheck
from contractlog.clients.cli.plan.planner import Plan
from contractlog.clients.cli.plan.registration import FileRegistration, describe_outcome
from contractlog.clients.cli.plan.steps import SetConfig
from contractlog.clients.cli.report_formats.check_report import (
    list_rules,
    relative_path,
    report_file,
    report_unreadable,
)
from contractlog.clients.cli.report_formats.report import Report, ReportedFile
from contractlog.compatibility.level import Level

__all__ = ["plan_report", "registration_report"]


def registration_report(
    registrations: Sequence[FileRegistration],
    unreadable: Iterable[tuple[Path, Exception]],
    summary: str,
    root: Path,
    tool_version: str,
) -> Report:
    """Build the report of ``register``.

    Args:
        registrations: the outcomes, in the order of output.
        unreadable: files that cannot be read as schemas, with the error.
        summary: one sentence.
        root: the folder that paths are relative to, if they are below it.
        tool_version: the version of contractlog.
    """
    files = [_report_registration(each, root) for each in registrations]
    files += [report_unreadable(path, str(error), root) for path, error in unreadable]
    rules = list_rules(finding for file in files for finding in file.findings)
    return Report("contractlog register", summary, tuple(files), rules, tool_version)


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
    )
    filled = tuple(table for table in tables if table[2])
    path = "." if plan.manifest is None else relative_path(plan.manifest.path, root)
    outcome: Literal["passed", "failed"] = "failed" if plan.referenced else "passed"
    only_drift = [table[0] for table in filled] == ["Drift"]
    verdict = "the registry has versions that are not in the files" if only_drift else "changes other than versions"
    changes = (ReportedFile(path, outcome, verdict, tables=filled, listed=True),) if filled else ()
    return replace(report, command="contractlog plan", files=(*report.files, *changes))


def _report_registration(registration: FileRegistration, root: Path) -> ReportedFile:
    file = registration.file
    known = FileCheck(file, "registered", Level.NONE, registration.schema)
    if registration.outcome == "skipped":
        return ReportedFile(
            relative_path(file.path, root), "failed", describe_outcome(registration), subject=file.subject, listed=True
        )
    reported = report_file(registration.check or known, root)
    if registration.outcome == "refused":
        return reported
    return replace(reported, verdict=describe_outcome(registration), listed=registration.outcome != "unchanged")
