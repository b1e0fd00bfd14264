"""Warnings about entries of the manifest and about files of the folder, in the report of a command."""

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
from contractlog.clients.cli.schema_folder.folder_warnings import FolderRule, FolderWarning
from contractlog.clients.cli.schema_folder.manifest_warnings import ManifestWarning
from contractlog.compatibility.lint.rule import Severity

__all__ = ["add_folder_warnings", "add_manifest_warnings", "fail_files"]

MANIFEST_ENTRY: Final = ReportedRule(
    "MANIFEST_ENTRY",
    "An entry of the manifest has ended, or has no effect",
    "The last day of the entry has passed, or it applies to no file, subject or finding of the folder any more.",
)
MANIFEST_RULE: Final = ReportedRule(
    "MANIFEST_RULE",
    "A rule of the manifest does not fit its schema",
    "An expression has a syntax or type error, which the registry rejects, or is not checked.",
)
_FOLDER_RULES: Final = {
    FolderRule.FILES_LEFT_OUT: ReportedRule(
        FolderRule.FILES_LEFT_OUT,
        "Files of the folder are not read",
        "Their names are not those of schema files. Rename them, give a JSON schema its `$schema` or a rule in the "
        "manifest, or list them in .contractlogignore.",
    ),
    FolderRule.AVRO_IDL: ReportedRule(
        FolderRule.AVRO_IDL,
        "A file of Avro IDL is not read",
        "Its schemas are not covered. Convert it with avro-tools, or list it in .contractlogignore.",
    ),
    FolderRule.LINK: ReportedRule(
        FolderRule.LINK,
        "A symbolic link to a folder outside is not followed",
        "The files in that folder are not covered. Name the folder as well, or list the link in .contractlogignore.",
    ),
    FolderRule.SIMILAR_SUBJECTS: ReportedRule(
        FolderRule.SIMILAR_SUBJECTS,
        "Subjects differ only in case",
        "A registry distinguishes them. Rename one file if both mean the same subject.",
    ),
    FolderRule.REMOVED_TYPE: ReportedRule(
        FolderRule.REMOVED_TYPE,
        "A type is taken from the lock, because its file was removed",
        "Schemas still refer to the version that contractlog.lock names. Restore the file, or remove its uses.",
    ),
}


def add_manifest_warnings(report: Report, warnings: Sequence[ManifestWarning], root: Path) -> Report:
    """Return a report with the warnings, at their lines of the manifest."""
    if not warnings:
        return report
    path = relative_path(warnings[0].path, root)
    entries = [each for each in warnings if not each.is_rule_problem]
    if entries:
        verdict = count_noun(len(entries), "entry of the manifest", "entries of the manifest") + " without effect"
        report = _add_findings(report, path, _report_entries(path, entries, MANIFEST_ENTRY), MANIFEST_ENTRY, verdict)
    problems = [each for each in warnings if each.is_rule_problem]
    if not problems:
        return report
    findings = _report_entries(path, problems, MANIFEST_RULE)
    report = _add_findings(report, path, findings, MANIFEST_RULE, MANIFEST_RULE.title)
    if all(each.severity is not Severity.ERROR for each in problems):
        return report
    files = tuple(replace(file, outcome="failed") if file.path == path else file for file in report.files)
    return replace(report, files=files)


def _report_entries(path: str, warnings: Sequence[ManifestWarning], rule: ReportedRule) -> tuple[ReportedFinding, ...]:
    return tuple(
        ReportedFinding(path, each.line, None, rule.id, each.severity.value, each.message, identity=each.message)
        for each in warnings
    )


def add_folder_warnings(report: Report, warnings: Sequence[FolderWarning], root: Path) -> Report:
    """Return a report with the warnings, each for its file or folder."""
    for each in warnings:
        path = relative_path(each.path, root)
        rule = _FOLDER_RULES[each.rule]
        finding = ReportedFinding(path, None, None, rule.id, "warning", each.message, identity=each.message)
        report = _add_findings(report, path, (finding,), rule, rule.title)
    return report


def _add_findings(
    report: Report, path: str, findings: tuple[ReportedFinding, ...], rule: ReportedRule, verdict: str
) -> Report:
    """Return a report with findings of a file, which is added with the verdict if it is not there."""
    position = next((number for number, file in enumerate(report.files) if file.path == path), None)
    files = list(report.files)
    if position is None:
        files.append(ReportedFile(path, "passed", verdict, findings))
    else:
        files[position] = replace(files[position], findings=files[position].findings + findings)
    return replace(report, files=tuple(files), rules={**report.rules, rule.id: rule})


def fail_files(report: Report, fail_on: Severity) -> Report:
    """Return a report in which files with findings of a severity that fails the command do not pass."""
    if fail_on is Severity.ERROR:
        return report
    files = tuple(
        replace(file, outcome="failed")
        if file.outcome == "passed" and any(Severity(each.severity).reaches(fail_on) for each in file.findings)
        else file
        for file in report.files
    )
    return replace(report, files=files)
