"""``contractlog init``: a manifest for the schema files of a folder."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import add_output, add_registry, connect
from contractlog.clients.cli.output import (
    Tone,
    apply_output_options,
    count_noun,
    print_message,
    print_result,
    with_tone,
)
from contractlog.clients.cli.pull.manifest_import import find_subjects, import_associations, import_subject_rules
from contractlog.clients.cli.schema_folder.association_entries import AssociationEntry
from contractlog.clients.cli.schema_folder.file_names import subject_from_name
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Environment, SubjectRule
from contractlog.clients.cli.schema_folder.manifest_file_entries import FileRule
from contractlog.clients.cli.schema_folder.manifest_writer import (
    format_manifest,
    registry_of_manifest,
    write_manifest,
)
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line, shell_command

__all__ = ["init"]


def init(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write a manifest with the registry, and with subjects for the files whose names give none."""
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="the folder (default: working directory)"
    )
    parser.add_argument(
        "--from-registry",
        action="store_true",
        help="also write settings and associations of the registry's subjects",
    )
    add_registry(parser, environments=False)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    with apply_output_options(options):
        return _run(options)


def _run(options: Namespace) -> int:
    folder: Path = options.folder
    path = folder / MANIFEST
    if os.path.lexists(path):
        raise UsageError(f"`{path}` exists already: edit it, or remove it first")
    if not folder.is_dir():
        raise UsageError(f"`{folder}` is not a folder")
    url = registry_of_manifest(options.registry)
    environments = {} if url is None else {"default": Environment(url)}
    paths = list(_find_without_subject(folder))
    registered: dict[Path, tuple[str, ...]] = {}
    settings: list[SubjectRule] = []
    associations: list[AssociationEntry] = []
    if options.from_registry:
        with connect(options) as registry:
            subjects = registry.subjects()
            registered = find_subjects(registry, subjects, paths)
            settings = list(import_subject_rules(registry, subjects))
            associations = list(import_associations(registry, subjects))
    rules = []
    for each in paths:
        relative = each.resolve().relative_to(folder.resolve()).as_posix()
        names = registered.get(each, (f"{subject_from_name(each)}-value",))
        rules.append(FileRule(relative, names))
        listed = ", ".join(f"`{name}`" for name in names)
        text = f"registered as {listed}" if each in registered else f"suggested subject {listed}"
        print_result(with_tone(Tone.PLAIN if each in registered else Tone.WARNING, escape_line(f"{relative}: {text}")))
    write_manifest(path, format_manifest(environments, rules, settings, associations))
    suggested = len(paths) - len(registered)
    parts = [count_noun(len(environments), "environment"), count_noun(suggested, "suggested subject")]
    if options.from_registry:
        parts += [f"subjects of {count_noun(len(registered), 'registered file')}"] if registered else []
        parts += [f"settings of {count_noun(len(settings), 'subject')}", count_noun(len(associations), "association")]
    print_message(f"{path} was written: {', '.join(parts)}; read it, then run: {shell_command('check', folder)}")
    return exit_codes.CLEAN


def _find_without_subject(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that have no subject.

    Raises:
        UsageError: the folder cannot be read.
    """
    # slow to import, not needed for --help
    from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, collect_files  # noqa: PLC0415
    from contractlog.clients.cli.schema_folder.dependencies import MissingSubjectError  # noqa: PLC0415
    from contractlog.clients.cli.schema_folder.discovery import discover_files  # noqa: PLC0415

    if not discover_files(folder).schemas:
        return
    unreadable = UnreadableFiles()
    collect_files([str(folder)], unreadable=unreadable)
    for warning in unreadable.warnings:
        print_message(f"note: {warning.message}")
    for path, error in unreadable.problems:
        if isinstance(error, MissingSubjectError):
            yield path
        else:
            print_message(f"note: {error}")
