"""Implementation of ``contractlog check``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.associations.comparison import compare_associations
from contractlog.clients.cli.associations.problems import AssociationProblem, locate_problem, summarize_folder
from contractlog.clients.cli.check.baseline import Baseline
from contractlog.clients.cli.check.file_check import FAILED, FileCheck
from contractlog.clients.cli.check.findings import ReferencedFindings, detail_lines, verdict_line
from contractlog.clients.cli.check.optional_checks import ReportedChanges
from contractlog.clients.cli.check.recorded_usage import RecordedUsage, fetch_usage
from contractlog.clients.cli.check.refused_changes import (
    RefusedChange,
    find_refused_settings,
    print_refused_changes,
    summarize_refused,
)
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.check.unknown_versions import KnownVersions
from contractlog.clients.cli.check.write_access import UNKNOWN_PERMISSIONS, WriteAccess
from contractlog.clients.cli.file_counts import count_files, count_part
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import (
    Tone,
    count_noun,
    print_error,
    print_message,
    print_result,
    quote_word,
    with_tone,
)
from contractlog.clients.cli.report_formats.check_report import check_report
from contractlog.clients.cli.report_formats.renderer import output_json, output_report, reported_failures
from contractlog.clients.cli.report_formats.warning_report import add_manifest_warnings
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.command_files import open_baseline, read_files, reads_whole_folder
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.manifest_warnings import (
    ManifestWarning,
    find_check_warnings,
    find_unused_waivers,
)
from contractlog.clients.cli.schema_folder.resolver import FileResolver, ResolvedFile
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import PlannedSettings, SettingChange, find_setting_changes, plan_settings
from contractlog.clients.registry import Registry
from contractlog.compatibility.level import Level
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.terminal_text import escape_line

__all__ = ["check_files", "find_manifest_warnings", "find_usages", "print_check", "run"]

FORMAT: Final = "contractlog.check/1"


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
    with open_baseline(options) if options.against else connect(options) as registry:
        access = WriteAccess(registry)
        if isinstance(registry, Baseline):
            _print_removed(registry, files)
        for check in check_files(options, access, files, unreadable, refused_changes):
            checks.append(check)
            if options.format == "text":
                print_check(check, referenced)
        problems = _find_association_problems(options, access, checks, unreadable)
    for line in referenced.lines():
        print_result(line)
    if options.format == "text":
        _print_rejected(options.manifest, problems, refused_changes)
        _print_unknown(access, checks)
    incompatible = [examined for examined in checks if examined.outcome in FAILED]
    refused = [examined for examined in checks if examined.outcome == "refused"]
    # compared with files, a change may have no finding that the registry still has to accept
    warnings = list(find_manifest_warnings(options, files, unreadable, None if options.against else checks))
    for warning in warnings:
        print_error(f"warning: {warning.describe()}")
    fail_on = Severity(options.fail_on)
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
            options, _json_body(checks, incompatible, unreadable, warnings, is_permitted=is_permitted) | rejected
        )
    elif options.format == "text" and not unreadable.problems and (incompatible or not (problems or refused_changes)):
        _print_summary(checks, incompatible, refused, options, argv)
    unreadable.raise_errors()
    warned = bool(warnings or unreadable.warnings) and Severity.WARNING.reaches(fail_on)
    failed = incompatible or warned or any(_reaches(check, fail_on) for check in checks)
    if failed or not all(each.is_permission for each in problems):
        return exit_codes.FINDINGS
    return exit_codes.REFUSED if refused or refused_changes or problems else exit_codes.CLEAN


def _print_rejected(
    manifest: Manifest | None, problems: Sequence[AssociationProblem], refused_changes: Sequence[RefusedChange]
) -> None:
    for problem in problems:
        print_result(with_tone(Tone.BAD, escape_line(locate_problem(manifest, problem))))
    if problems:
        print_message(f"{count_noun(len(problems), 'association')} cannot be set: change [[associations]]")
    print_refused_changes(manifest, refused_changes)
    if refused_changes:
        print_message(summarize_refused(refused_changes))


def _print_unknown(access: WriteAccess, checks: Sequence[FileCheck]) -> None:
    """Print a note if permissions are unknown that no note of a new version is about."""
    if access.unknown_subjects - {check.file.subject for check in checks if check.registered is None}:
        print_message(f"note: {UNKNOWN_PERMISSIONS}")


def _list_rejected(
    options: Namespace, problems: Sequence[AssociationProblem], refused_changes: Sequence[RefusedChange]
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


def _find_association_problems(
    options: Namespace, access: WriteAccess, checks: Sequence[FileCheck], unreadable: UnreadableFiles
) -> tuple[AssociationProblem, ...]:
    """Return the associations of the manifest that cannot be set."""
    registry = access.registry
    if isinstance(registry, Baseline) or not _has_associations(options):
        return ()
    new = (check.file for check in checks if check.registered is None)
    is_whole = reads_whole_folder(options) and not unreadable.problems
    folder = summarize_folder(new, {check.file.subject for check in checks}, options.manifest, is_whole=is_whole)
    return compare_associations(registry, options.manifest, options.context, folder, access=access).problems


def find_manifest_warnings(
    options: Namespace,
    files: Sequence[SchemaFile],
    unreadable: UnreadableFiles,
    checks: Sequence[FileCheck] | None,
    owned: Collection[str] = (),
) -> Iterator[ManifestWarning]:
    """Yield warnings about entries of the manifest; those about unused ones need its whole folder.

    Args:
        options: the arguments of the command.
        files: its files.
        unreadable: those that cannot be read.
        checks: their checks; None: it is not known which waivers are unused.
        owned: names of rules for subjects that apply to subjects without files.
    """
    whole = not unreadable.problems and reads_whole_folder(options)
    yield from find_check_warnings(options.manifest, files if whole else None, owned)
    if whole and checks is not None:
        used = {waiver for check in checks for waiver in check.waivers}
        yield from find_unused_waivers(options.manifest, used, of_lint=False)


def _reaches(check: FileCheck, threshold: Severity) -> bool:
    """Return whether a file has findings of optional checks or from data of at least a severity."""
    return threshold is not Severity.ERROR and any(each.severity.reaches(threshold) for each in check.active_findings)


def check_files(
    options: Namespace,
    access: WriteAccess,
    files: Sequence[SchemaFile],
    unreadable: UnreadableFiles,
    refused_changes: list[RefusedChange],
) -> Iterator[FileCheck]:
    """Yield the checks of the files that can be read, each file after those that it depends on.

    The changes of settings that the registry would refuse are added to ``refused_changes``.
    """
    registry = access.registry
    checkers: dict[str, SubjectChecker] = {}
    reported = ReportedChanges()
    resolver = FileResolver(registry, options.normalize, options.manifest, options.files_beside)
    resolved_files = resolver.resolve_all(files, unreadable.collect)
    usages = find_usages(options, registry, resolved_files)
    known_versions = KnownVersions(options.context)
    for resolved in resolved_files:
        subject = resolved.file.subject
        if subject not in checkers:
            planned, changes = _plan_settings(options, registry, subject)
            _print_lowered_level(options.manifest, changes)
            refused_changes += find_refused_settings(access, options.manifest, changes)
            checkers[subject] = SubjectChecker(
                registry,
                subject,
                resolver.normalizes(subject),
                planned,
                options.manifest,
                usages.get(subject),
                reported,
                known_versions,
                access,
            )
        with unreadable.collect(resolved.file.path):
            yield checkers[subject].check(resolved)


def _print_lowered_level(manifest: Manifest | None, changes: Sequence[SettingChange]) -> None:
    """Print a note about a subject that an interrupted registration by waiver may have left at level NONE."""
    for change in changes:
        if change.setting == "level" and change.before == Level.NONE and manifest is not None and manifest.waivers:
            print_message(
                f"note: `{change.subject}` accepts any schema: it has level NONE, perhaps because `--use-waivers` was "
                f"interrupted; `contractlog apply` sets level {change.after}, as in the manifest"
            )


def find_usages(
    options: Namespace, registry: Registry | Baseline, files: Iterable[ResolvedFile]
) -> dict[str, RecordedUsage]:
    """Return the usage of the subjects that get new versions, as far as a registry knows it."""
    if isinstance(registry, Baseline):
        return {}
    subjects = [each.file.subject for each in files if each.registered is None]
    return fetch_usage(registry, subjects, verbose=options.verbose) if subjects else {}


def _json_body(
    checks: list[FileCheck],
    incompatible: list[FileCheck],
    unreadable: UnreadableFiles,
    warnings: list[ManifestWarning],
    *,
    is_permitted: bool,
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "compatible": not (unreadable.problems or any(each.outcome == "incompatible" for each in incompatible)),
        "reads_data": all(examined.outcome != "data_unreadable" for examined in incompatible),
        "passes_checks": all(examined.outcome != "check_failed" for examined in incompatible),
        "permitted": is_permitted,
        "files": [examined.body() for examined in checks],
        "unreadable": unreadable.bodies(),
        "manifest_warnings": [warning.body() for warning in warnings],
        "folder_warnings": [warning.body() for warning in unreadable.warnings],
    }


def _print_removed(baseline: Baseline, files: Iterable[SchemaFile]) -> None:
    removed = sorted(baseline.subjects.keys() - baseline.unnamed - {file.subject for file in files})
    if removed:
        print_message(
            f"note: subjects with files in {baseline.name}, but no longer in the folder: {', '.join(removed)}"
        )


def _plan_settings(
    options: Namespace, registry: Registry | Baseline, subject: str
) -> tuple[PlannedSettings, Sequence[SettingChange]]:
    """Return the settings that the manifest would change, by which versions are checked, and the changes."""
    if not isinstance(registry, Baseline):
        rule = None if options.manifest is None else options.manifest.find_settings(subject)
        changes = list(find_setting_changes(registry, options.manifest, subject))
        return plan_settings(changes, rule), changes
    level = None if options.level or options.manifest is None else options.manifest.find_level(subject)
    return PlannedSettings(level=None if level is registry.level(subject) else level), ()


def print_check(check: FileCheck, referenced: ReferencedFindings | None = None) -> None:
    """Print the verdict on a file, and its findings, as ``detail_lines`` returns them."""
    print_result(verdict_line(check))
    for line in detail_lines(check, referenced):
        print_result(line)


def _print_summary(
    checks: list[FileCheck],
    incompatible: list[FileCheck],
    refused: list[FileCheck],
    options: Namespace,
    argv: Sequence[str],
) -> None:
    _print_warnings(checks, Severity(options.fail_on))
    files = [examined.file for examined in checks]
    rejected = [examined.file for examined in incompatible]
    new = [examined.file for examined in checks if examined.outcome in {"compatible", "waived"}]
    if options.against:
        changed = count_files([*new, *rejected]).replace(" file", " changed file", 1)
        against = "the lock" if options.against == "lock" else options.against
        number = len({file.path for file in rejected})
        count = f"{changed}, {number:,} incompatible with {against}"
        print_message(count if new or rejected else f"no file differs from {against}")
    elif incompatible:
        or_waive = " or waive" if any(examined.outcome != "incompatible" for examined in incompatible) else ""
        print_message(
            f"{count_part(rejected, files)} cannot be registered: fix{or_waive} the findings above and check again"
        )
    elif refused:
        part = count_part((examined.file for examined in refused), files)
        print_message(f"{part} cannot be registered now: ask an operator of the registry for permission")
    elif new:
        arguments = "".join(f" {quote_word(word)}" for word in _without_url(argv))
        manifest = options.manifest
        sets_more = manifest is not None and (manifest.subjects or manifest.associations or manifest.default_level)
        command = "apply" if sets_more else "register"
        arguments += " --use-waivers" if any(examined.needs_level_change for examined in checks) else ""
        print_message(f"{count_files(new)} can be registered: contractlog {command}{arguments}")
    else:
        print_message("nothing to register: every file is registered already")


def _print_warnings(checks: list[FileCheck], fail_on: Severity) -> None:
    """Print the number of warnings, and how to deal with them if they fail the check."""
    files = [check for check in checks if check.count_findings(Severity.WARNING)]
    number = sum(check.count_findings(Severity.WARNING) for check in files)
    if number:
        fails = Severity.WARNING.reaches(fail_on)
        way_out = f": fix or waive them, because of --fail-on {fail_on}" if fails else ""
        print_message(f"{count_noun(number, 'warning')} in {count_noun(len(files), 'file')}{way_out}")


def _without_url(argv: Sequence[str]) -> Iterator[str]:
    """Yield the arguments without reports, and without the URL, whose password would appear in logs."""
    before = ""
    for argument in argv:
        if not {"--registry", "--report"} & {before, argument.partition("=")[0]}:
            yield argument
        before = argument
