"""Report of the outcomes of files in the formats of CI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from contractlog.clients.cli.file_check import FileCheck
from contractlog.clients.cli.plan.file_registration import FileRegistration, describe_outcome
from contractlog.clients.cli.report_formats.check_report import (
    list_rules,
    report_file,
)
from contractlog.clients.cli.report_formats.error_report import report_unreadable_files
from contractlog.clients.cli.report_formats.report import Report, ReportedFile, relative_path

__all__ = ["registration_report"]


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


def _report_registration(registration: FileRegistration, root: Path) -> ReportedFile:
    file = registration.file
    known = FileCheck(file, "registered", None, registration.schema)
    if registration.outcome == "skipped":
        return ReportedFile(
            relative_path(file.path, root), "failed", describe_outcome(registration), subject=file.subject, listed=True
        )
    reported = report_file(registration.check or known, root)
    if registration.outcome == "refused":
        return reported
    return replace(reported, verdict=describe_outcome(registration), listed=registration.outcome != "unchanged")
