"""Implementation of ``contractlog check``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.associations.comparison import compare_associations
from contractlog.clients.cli.associations.file_facts import collect_file_facts
from contractlog.clients.cli.associations.refused_associations import RefusedAssociation
from contractlog.clients.cli.check.against_option import open_file_registry
from contractlog.clients.cli.check.check_output import (
    check_body,
    print_check,
    print_rejected_changes,
    print_removed_subjects,
    print_summary,
    print_unknown_permissions,
)
from contractlog.clients.cli.check.check_text import ReferencedFindings
from contractlog.clients.cli.check.checked_files import check_files, find_manifest_warnings
from contractlog.clients.cli.check.file_check import FAILED, FileCheck
from contractlog.clients.cli.check.finding_reach import ReachCheck, list_reaches
from contractlog.clients.cli.check.refused_changes import (
    RefusedChange,
)
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import (
    print_error,
    print_message,
    print_result,
)
from contractlog.clients.cli.plan_and_apply.contract_steps import find_contract_files
from contractlog.clients.cli.report_formats.check_report import check_report
from contractlog.clients.cli.report_formats.report_output import output_json, output_report, reported_failures
from contractlog.clients.cli.report_formats.warning_report import add_manifest_warnings
from contractlog.clients.cli.schema_folder.argument_files import read_files, reads_whole_folder
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.functions_by_name import import_function
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["run"]


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Check every file, print the outcomes, and return the exit code."""
    with reported_failures(options, "contractlog check", argv):
        return _run(options, argv)


def _run(options: Namespace, argv: Sequence[str]) -> int:
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    checks: list[FileCheck] = []
    referenced = ReferencedFindings()
    refused_changes: list[RefusedChange] = []
    reach_check = ReachCheck.read(options.lineage)
    with open_file_registry(options) if options.against else connect(options) as registry:
        access = WriteAccess(registry)
        if isinstance(registry, FileRegistry):
            print_removed_subjects(registry, files)
        for checked in check_files(options, access, files, unreadable, refused_changes):
            check = replace(checked, reaches=list_reaches(reach_check, checked.file.subject, checked.findings))
            checks.append(check)
            if options.format == "text":
                print_check(check, referenced)
        problems = _find_refused_associations(options, access, checks, unreadable)
    _check_contracts(options, checks, unreadable)
    for line in referenced.lines():
        print_result(line)
    if options.format == "text":
        print_rejected_changes(options.manifest, problems, refused_changes)
        print_unknown_permissions(access, checks)
    incompatible = [examined for examined in checks if examined.outcome in FAILED]
    refused = [examined for examined in checks if examined.outcome == "refused"]
    # compared with files, a change may have no finding that the registry still has to accept
    warnings = list(find_manifest_warnings(options, files, unreadable, None if options.against else checks))
    for warning in warnings:
        print_error(f"{warning.severity}: {warning.describe()}")
    fail_on = Severity(options.fail_on)
    warned = any(warning.severity.reaches(fail_on) for warning in warnings)
    warned = warned or (bool(unreadable.warnings) and Severity.WARNING.reaches(fail_on))
    warned = warned or any(_reaches(check, fail_on) for check in checks)
    path = None if options.manifest is None else options.manifest.path
    build = partial(
        check_report,
        checks,
        unreadable.problems,
        manifest=path,
        associations=problems,
        refused_changes=refused_changes,
    )
    output_report(options, lambda root, version: add_manifest_warnings(build(root, version), warnings, root))
    if options.format == "json":
        rejected = _list_rejected(options, problems, refused_changes)
        is_permitted = not (refused or refused_changes or any(each.is_permission for each in problems))
        output_json(
            options, check_body(checks, incompatible, unreadable, warnings, is_permitted=is_permitted) | rejected
        )
    elif options.format == "text" and not unreadable.problems and (incompatible or not (problems or refused_changes)):
        print_summary(checks, incompatible, refused, options, argv, fails_by_option=warned)
    unreadable.raise_errors()
    if incompatible or warned or not all(each.is_permission for each in problems):
        return exit_codes.FINDINGS
    return exit_codes.REFUSED if refused or refused_changes or problems else exit_codes.CLEAN


def _check_contracts(options: Namespace, checks: Sequence[FileCheck], unreadable: UnreadableFiles) -> None:
    """Add the contracts beside the files that are not valid to the unreadable files; name deprecated ones."""
    files = {} if options.context else find_contract_files(check.file for check in checks)
    for topic, path in files.items():
        read = import_function("contractlog.clients.cli.plan_and_apply.contract_comparison:read_topic_contract")
        with unreadable.collect(path):
            life = read(topic, path).life
            if life.retires_on is not None and life.status == "deprecated":
                successor = "" if life.successor is None else f", and replaced by {life.successor}"
                print_message(
                    escape_line(f"note: {path}: the contract is deprecated until {life.retires_on}{successor}")
                )


def _list_rejected(
    options: Namespace, problems: Sequence[RefusedAssociation], refused_changes: Sequence[RefusedChange]
) -> dict[str, Any]:
    """Return the members of the JSON document about changes that the manifest makes besides versions."""
    body: dict[str, Any] = {}
    if _has_associations(options):
        body["rejected_associations"] = [each.body() for each in problems]
    if options.manifest is not None:
        body["refused_changes"] = [each.body() for each in refused_changes]
    return body


def _has_associations(options: Namespace) -> bool:
    return options.manifest is not None and bool(options.manifest.associations)


def _find_refused_associations(
    options: Namespace, access: WriteAccess, checks: Sequence[FileCheck], unreadable: UnreadableFiles
) -> tuple[RefusedAssociation, ...]:
    """Return the associations of the manifest that cannot be set."""
    registry = access.registry
    if isinstance(registry, FileRegistry) or not _has_associations(options):
        return ()
    new = (check.file for check in checks if check.registered is None)
    covers_folder = reads_whole_folder(options) and not unreadable.problems
    subjects = {check.file.subject for check in checks}
    facts = collect_file_facts(new, subjects, options.manifest, covers_folder=covers_folder)
    return compare_associations(registry, options.manifest, options.context, facts, access=access).problems


def _reaches(check: FileCheck, threshold: Severity) -> bool:
    """Return whether a file has findings of checks beyond the level or from data of at least a severity."""
    return threshold is not Severity.ERROR and any(each.severity.reaches(threshold) for each in check.active_findings)
