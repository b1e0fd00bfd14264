"""Implementation of ``contractlog check``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.file_check import FileCheck, SubjectChecker, parse_file
from contractlog.clients.cli.findings import detail_lines, verdict_line
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import count_noun, print_json, print_message, print_result, quote_word
from contractlog.clients.cli.report_formats.renderer import output_check
from contractlog.clients.cli.schema_files import SchemaFile, UnreadableFiles, collect_files
from contractlog.clients.registry import Registry
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["parse_all", "print_check", "run"]

FORMAT: Final = "contractlog.check/1"


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Check every file, print the outcomes, and return the exit code."""
    unreadable = UnreadableFiles()
    groups = collect_files(options.files, subject=options.subject, references=options.references, unreadable=unreadable)
    checks: list[FileCheck] = []
    with connect(options) as registry:
        parsed_files = parse_all(groups, registry, unreadable)
        for subject, files in parsed_files.items():
            checker = SubjectChecker(registry, subject, options.normalize)
            for file, parsed in files:
                with unreadable.collect(file.path):
                    checks.append(checker.check(file, parsed))
                    if options.format == "text":
                        print_check(checks[-1])
    incompatible = [examined for examined in checks if examined.outcome == "incompatible"]
    refused = [examined for examined in checks if examined.outcome == "refused"]
    output_check(options, checks, unreadable.problems)
    if options.format == "json":
        print_json(_json_body(checks, incompatible, unreadable))
    elif options.format == "text" and not unreadable.problems:
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


def parse_all(
    groups: dict[str, list[SchemaFile]], registry: Registry, unreadable: UnreadableFiles
) -> dict[str, list[tuple[SchemaFile, ParsedSchema]]]:
    """Parse the files of all subjects, so that invalid schemas are found before anything is registered."""
    parsed_files: dict[str, list[tuple[SchemaFile, ParsedSchema]]] = {subject: [] for subject in groups}
    for subject, files in groups.items():
        for file in files:
            with unreadable.collect(file.path):
                parsed_files[subject].append((file, parse_file(file, registry)))
    return parsed_files


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
    """Yield the arguments without reports, and without the URL, whose password would appear in logs."""
    before = ""
    for argument in argv:
        if not {"--registry", "--report"} & {before, argument.partition("=")[0]}:
            yield argument
        before = argument
