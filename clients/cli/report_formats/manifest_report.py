"""Warnings about entries of the manifest, in the report of a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    relative_path,
)
from contractlog.clients.cli.schema_folder.manifest_warnings import ManifestWarning

__all__ = ["add_manifest_warnings"]

MANIFEST_ENTRY: Final = ReportedRule(
    "MANIFEST_ENTRY",
    "An entry of the manifest has ended, or has no effect",
    "The last day of the entry has passed, or it applies to no file, subject or finding of the folder any more.",
)


def add_manifest_warnings(report: Report, warnings: Sequence[ManifestWarning], root: Path) -> Report:
    """Return a report with the warnings, at their lines of the manifest."""
    if not warnings:
        return report
    path = relative_path(warnings[0].path, root)
    findings = tuple(
        ReportedFinding(path, each.line, None, MANIFEST_ENTRY.id, "warning", each.message, identity=each.message)
        for each in warnings
    )
    rules = {**report.rules, MANIFEST_ENTRY.id: MANIFEST_ENTRY}
    if any(file.path == path for file in report.files):
        files = [
            replace(each, findings=each.findings + findings) if each.path == path else each for each in report.files
        ]
    else:
        verdict = count_noun(len(warnings), "entry of the manifest", "entries of the manifest") + " without effect"
        files = [*report.files, ReportedFile(path, "passed", verdict, findings)]
    return replace(report, files=tuple(files), rules=rules)
