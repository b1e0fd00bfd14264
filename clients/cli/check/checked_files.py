"""Checks of files: what ``check``, ``register`` and ``plan`` find before anything is written."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Sequence

from contractlog.clients.cli.check.checks_beyond_level import ReportedChanges
from contractlog.clients.cli.check.file_check import FileCheck
from contractlog.clients.cli.check.known_versions import KnownVersions
from contractlog.clients.cli.check.recorded_usage import RecordedUsage, fetch_usage
from contractlog.clients.cli.check.refused_changes import (
    RefusedChange,
    find_refused_settings,
)
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.output import print_message
from contractlog.clients.cli.schema_folder.argument_files import reads_whole_folder
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.manifest_warnings import (
    ManifestWarning,
    find_check_warnings,
    find_unused_waivers,
)
from contractlog.clients.cli.schema_folder.resolver import FileResolver, ResolvedFile
from contractlog.clients.cli.schema_folder.rule_warnings import find_rule_warnings
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import PlannedSettings, SettingChange, find_setting_changes, plan_settings
from contractlog.clients.registry import Registry
from contractlog.compatibility.level import Level

__all__ = ["check_files", "find_manifest_warnings", "find_usages"]


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
    yield from find_rule_warnings(options.manifest, files)
    if whole and checks is not None:
        used = {waiver for check in checks for waiver in check.waivers}
        yield from find_unused_waivers(options.manifest, used, of_lint=False)


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
    options: Namespace, registry: Registry | FileRegistry, files: Iterable[ResolvedFile]
) -> dict[str, RecordedUsage]:
    """Return the usage of the subjects that get new versions, as far as a registry knows it."""
    if isinstance(registry, FileRegistry):
        return {}
    subjects = [each.file.subject for each in files if each.registered is None]
    return fetch_usage(registry, subjects, verbose=options.verbose) if subjects else {}


def _plan_settings(
    options: Namespace, registry: Registry | FileRegistry, subject: str
) -> tuple[PlannedSettings, Sequence[SettingChange]]:
    """Return the settings that the manifest would change, by which versions are checked, and the changes."""
    if not isinstance(registry, FileRegistry):
        rule = None if options.manifest is None else options.manifest.find_settings(subject)
        changes = list(find_setting_changes(registry, options.manifest, subject))
        return plan_settings(changes, rule), changes
    level = None if options.level or options.manifest is None else options.manifest.find_level(subject)
    return PlannedSettings(level=None if level is registry.level(subject) else level), ()
