"""Implementation of ``contractlog check``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.file_check import FileCheck, SubjectChecker
from contractlog.clients.cli.file_collection import UnreadableFiles, collect_files
from contractlog.clients.cli.file_dependencies import order_files
from contractlog.clients.cli.file_resolver import FileResolver
from contractlog.clients.cli.findings import detail_lines, verdict_line
from contractlog.clients.cli.manifest import MANIFEST, Manifest, load_manifest
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import count_noun, print_json, print_message, print_result, quote_word
from contractlog.clients.cli.schema_files import SchemaFile
from contractlog.compatibility.errors import UsageError

__all__ = ["print_check", "read_files", "run"]

FORMAT: Final = "contractlog.check/1"


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Check every file, print the outcomes, and return the exit code."""
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    checks: list[FileCheck] = []
    with connect(options) as registry:
        checkers: dict[str, SubjectChecker] = {}
        for resolved in FileResolver(registry, options.normalize).resolve_all(files, unreadable.collect):
            subject = resolved.file.subject
            checker = checkers.setdefault(subject, SubjectChecker(registry, subject, options.normalize))
            with unreadable.collect(resolved.file.path):
                checks.append(checker.check(resolved))
                if options.format == "text":
                    print_check(checks[-1])
    incompatible = [examined for examined in checks if examined.outcome == "incompatible"]
    refused = [examined for examined in checks if examined.outcome == "refused"]
    if options.format == "json":
        print_json(_json_body(checks, incompatible, unreadable))
    elif not unreadable.problems:
        _print_summary(checks, incompatible, refused, argv)
    unreadable.raise_errors()
    if incompatible:
        return exit_codes.FINDINGS
    return exit_codes.REFUSED if refused else exit_codes.CLEAN


def _json_body(checks: list[FileCheck], incompatible: list[FileCheck], unreadable: UnreadableFiles) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "compatible": not (incompatible or unreadable.problems),
        "permitted": all(examined.outcome != "refused" for examined in checks),
        "files": [examined.body() for examined in checks],
        "unreadable": [{"file": str(path), "reason": str(error)} for path, error in unreadable.problems],
    }


def read_files(options: Namespace, unreadable: UnreadableFiles) -> list[SchemaFile]:
    """Read the files of the arguments, each after its dependencies, and print warnings."""
    manifest = _load_manifest(options)
    context = ""
    if options.environment is not None:
        if manifest is None:
            raise UsageError(f"--environment needs a manifest: write {MANIFEST}, or pass --manifest")
        environment = manifest.environment(options.environment)
        options.registry, context = options.registry or environment.registry, environment.context
    groups = collect_files(
        options.files or [_manifest_folder(manifest)],
        subject=options.subject,
        references=options.references,
        manifest=manifest,
        context=context,
        unreadable=unreadable,
    )
    for warning in unreadable.warnings:
        print_message(f"note: {warning}")
    return order_files(groups, unreadable.collect)


def _load_manifest(options: Namespace) -> Manifest | None:
    """Return the given manifest, else that of the working directory or of the only given folder."""
    if options.manifest is not None:
        return load_manifest(options.manifest)
    folders = [Path()] + ([Path(options.files[0])] if len(options.files) == 1 else [])
    return next((load_manifest(folder / MANIFEST) for folder in folders if (folder / MANIFEST).is_file()), None)


def _manifest_folder(manifest: Manifest | None) -> str:
    if manifest is None:
        raise UsageError(f"name files or folders, or write {MANIFEST} for the folder of the schemas")
    return str(manifest.path.parent)


def print_check(check: FileCheck) -> None:
    """Print the verdict on a file, and its findings."""
    print_result(verdict_line(check))
    for line in detail_lines(check):
        print_result(line)


def _print_summary(
    checks: list[FileCheck], incompatible: list[FileCheck], refused: list[FileCheck], argv: Sequence[str]
) -> None:
    new = sum(examined.outcome == "compatible" for examined in checks)
    if incompatible:
        files = count_noun(len(checks), "file")
        print_message(f"{len(incompatible):,} of {files} cannot be registered: fix the findings above and check again")
    elif refused:
        files = count_noun(len(checks), "file")
        print_message(
            f"{len(refused):,} of {files} cannot be registered now: ask an operator of the registry for permission"
        )
    elif new:
        arguments = " ".join(map(quote_word, _without_url(argv)))
        print_message(f"{count_noun(new, 'file')} can be registered: contractlog register {arguments}")
    else:
        print_message("nothing to register: every file is registered already")


def _without_url(argv: Sequence[str]) -> Iterator[str]:
    """Yield the arguments without the registry's URL, whose password would otherwise appear in logs."""
    before = ""
    for argument in argv:
        if "--registry" not in (before, argument.partition("=")[0]):
            yield argument
        before = argument
