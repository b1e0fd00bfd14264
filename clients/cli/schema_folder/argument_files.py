"""The files that the arguments of a command name, with their folder's manifest."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path

from contractlog.clients.cli.output import print_error, print_message
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, collect_files, list_files
from contractlog.clients.cli.schema_folder.dependencies import order_files
from contractlog.clients.cli.schema_folder.environment import select_environment
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Manifest
from contractlog.clients.cli.schema_folder.manifest_warnings import is_whole_folder
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.errors import UsageError

__all__ = ["collect_argument_files", "print_folder_warnings", "read_files", "reads_whole_folder"]


def read_files(options: Namespace, unreadable: UnreadableFiles) -> list[SchemaFile]:
    """Read the files of the arguments, each after its dependencies, and print warnings."""
    select_environment(options)
    if not options.files:
        options.files = [_manifest_folder(options.manifest)]
    groups = collect_argument_files(options, options.files, options.manifest, unreadable)
    print_folder_warnings(options, unreadable)
    options.files_beside = []
    named = [file for files in groups.values() for file in files]
    if options.subject is None and options.manifest is not None and any(file.unresolved for file in named):
        return _read_with_folder(options, options.manifest, named, unreadable)
    return order_files(groups, unreadable.collect)


def _read_with_folder(
    options: Namespace, manifest: Manifest, named: Sequence[SchemaFile], unreadable: UnreadableFiles
) -> list[SchemaFile]:
    """Read files again with what they depend on in the manifest's folder, which become ``files_beside``."""
    problems = UnreadableFiles()
    paths = {file.path.resolve(): file.path for file in named}
    others: list[Path] = []
    with problems.collect(manifest.path):
        others += (path for path in list_files(manifest.path.parent, problems, manifest) if path.resolve() not in paths)
    groups = collect_argument_files(options, map(str, (*paths.values(), *others)), manifest, problems)
    files = {file.path: file for versions in groups.values() for file in versions}
    pending, needed = list(paths.values()), set(paths.values())
    while pending:
        path = pending.pop()
        targets = {target for _, target in files[path].dependencies} if path in files else set()
        pending += targets - needed
        needed |= targets
    kept = {name: [file for file in versions if file.path in needed] for name, versions in groups.items()}
    ordered = order_files(kept, problems.collect)
    options.files_beside = [file for file in ordered if file.path.resolve() not in paths]
    reported = {str(error) for _, error in unreadable.problems}
    unreadable.problems += [each for each in problems.problems if each[0] in needed and str(each[1]) not in reported]
    return [file for file in ordered if file.path.resolve() in paths]


def print_folder_warnings(options: Namespace, unreadable: UnreadableFiles) -> None:
    """Print notes and warnings about files; the reports of the command get the warnings.

    Warnings are printed also if quiet.
    """
    for note in unreadable.notes:
        print_message(f"note: {note}")
    options.folder_warnings = unreadable.warnings
    for warning in unreadable.warnings:
        print_error(f"warning: {warning.message}")


def reads_whole_folder(options: Namespace) -> bool:
    """Return whether the files are all those of the folder of the manifest, under their own subjects."""
    return not options.subject and is_whole_folder(options.manifest, options.files)


def collect_argument_files(
    options: Namespace, paths: Iterable[str], manifest: Manifest | None, unreadable: UnreadableFiles
) -> dict[str, list[SchemaFile]]:
    """Return the files at some paths by subject, with the options of the command."""
    return collect_files(
        paths,
        subject=options.subject,
        references=options.references,
        manifest=manifest,
        context=options.context,
        unreadable=unreadable,
        skip_ignored=True,
    )


def _manifest_folder(manifest: Manifest | None) -> str:
    if manifest is None:
        raise UsageError(f"name files or folders, or write {MANIFEST} for the folder of the schemas")
    return str(manifest.path.parent)
