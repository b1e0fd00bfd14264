"""Report of the outcomes of files in the formats of CI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.check.file_check import FileCheck
from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.plan_and_apply.file_registration import (
    FileRegistration,
    describe_outcome,
    describe_version,
)
from contractlog.clients.cli.report_formats.check_report import (
    list_rules,
    report_file,
)
from contractlog.clients.cli.report_formats.error_report import STEP_FAILED, failed_step, report_unreadable_files
from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding, relative_path
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile

__all__ = ["NOT_REACHED", "add_failure", "interrupted_report", "registration_report"]

NOT_REACHED: Final = "not registered, because an earlier step failed"


def registration_report(
    registrations: Sequence[FileRegistration],
    unreadable: Iterable[tuple[Path, Exception]],
    summary: str,
    root: Path,
    tool_version: str,
    *,
    command: str = "contractlog register",
) -> Report:
    """Build the report of files that are registered, or would be.

    Args:
        registrations: the outcomes, in the order of output.
        unreadable: files that cannot be read as schemas, with the error.
        summary: one sentence.
        root: the folder that paths are relative to, if they are below it.
        tool_version: the version of contractlog.
        command: the command.
    """
    files = [_report_registration(each, root) for each in registrations]
    files += report_unreadable_files(unreadable, root)
    rules = list_rules(finding for file in files for finding in file.findings)
    return Report(command, summary, tuple(files), rules, tool_version)


def interrupted_report(
    steps: Sequence[FileRegistration],
    remaining: Sequence[SchemaFile],
    root: Path,
    tool_version: str,
    *,
    unreadable: Iterable[tuple[Path, Exception]],
    message: str,
) -> Report:
    """Build the report of a ``register`` that an error ended after it had registered files.

    Args:
        steps: the outcomes so far.
        remaining: the files without an outcome; the first is the one that failed.
        root: the folder that paths are relative to, if they are below it.
        tool_version: the version of contractlog.
        unreadable: files that cannot be read as schemas, with the error.
        message: the error, for people.
    """
    skipped = [
        FileRegistration(file, "skipped", reason="not registered" if number == 0 else NOT_REACHED)
        for number, file in enumerate(remaining)
    ]
    registered = sum(step.outcome == "registered" for step in steps)
    rest = max(len(remaining) - 1, 0)
    summary = f"ended early: {count_noun(registered, 'version')} registered; 1 step failed, {rest:,} not reached"
    report = registration_report([*steps, *skipped], unreadable, summary, root, tool_version)
    last = remaining[0] if remaining else steps[-1].file
    done = [describe_version(step) for step in steps if step.outcome == "registered"]
    not_reached = [f"`{file.subject}`" for file in remaining[1:]]
    path = relative_path(last.path, root)
    return add_failure(report, last.subject, failed_step(path, message, last.subject, done, not_reached))


def add_failure(report: Report, subject: str, finding: ReportedFinding) -> Report:
    """Return the report of a command that ended at a file, with the error as a finding of that file."""
    files = tuple(
        replace(each, findings=(*each.findings, finding))
        if (each.path, each.subject) == (finding.path, subject)
        else each
        for each in report.files
    )
    return replace(report, files=files, rules={**report.rules, STEP_FAILED.id: STEP_FAILED}, completed=False)


def _report_registration(registration: FileRegistration, root: Path) -> ReportedFile:
    file = registration.file
    unchanged = FileCheck(file, "registered", None, registration.schema)
    if registration.outcome == "skipped":
        return ReportedFile(
            relative_path(file.path, root), "failed", describe_outcome(registration), subject=file.subject, listed=True
        )
    reported = report_file(registration.check or unchanged, root)
    if registration.outcome == "refused":
        return reported
    return replace(reported, verdict=describe_outcome(registration), listed=registration.outcome != "unchanged")
