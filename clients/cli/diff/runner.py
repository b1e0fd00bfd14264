"""Implementation of ``contractlog diff``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.check.check_text import finding_lines
from contractlog.clients.cli.check.file_check import MAX_FINDINGS
from contractlog.clients.cli.diff.folder_diff import FolderDiff, diff_body, diff_folders
from contractlog.clients.cli.diff.side_reader import read_sides
from contractlog.clients.cli.diff.sides import FileSide, FolderSide
from contractlog.clients.cli.output import (
    Tone,
    count_noun,
    is_quiet,
    print_message,
    print_result,
    with_tone,
)
from contractlog.clients.cli.report_formats.diff_report import (
    describe_change,
    diff_report,
    find_unreadable_side,
    group_changes,
    unreadable_side_report,
)
from contractlog.clients.cli.report_formats.report_output import output_json, output_report, reported_failures
from contractlog.clients.cli.schema_folder.manifest import find_manifest
from contractlog.clients.file_errors import list_file_errors
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.formats import CATALOGUE
from contractlog.compatibility.level import Level
from contractlog.compatibility.named_change import Risk
from contractlog.compatibility.schema_diff import DiffSide, SchemaDiff, diff_schemas
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["run"]

_TONES: Final = {Risk.BREAKING: Tone.BAD, Risk.DANGEROUS: Tone.WARNING, Risk.HARMLESS: Tone.GOOD}


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Compare the schemas, print the result, and return the exit code."""
    with reported_failures(options, "contractlog diff", argv, path=options.later):
        return _run(options)


def _run(options: Namespace) -> int:
    additional_checks = _parse_checks(options.also)
    try:
        earlier, later = read_sides(options)
    except UsageError as error:
        if list_file_errors(error):
            raise
        path = find_unreadable_side((options.earlier, options.later), str(error))
        output_report(options, partial(unreadable_side_report, path, str(error)))
        raise UsageError(str(error), **error.facts, unreadable_files=((path, error),)) from None
    manifest = later.manifest or earlier.manifest or find_manifest(None, [])
    subject: str | None = None

    def compare(before: DiffSide, after: DiffSide, name: str | None) -> SchemaDiff:
        level = options.level or (manifest.find_level(name) if manifest and name else None) or Level.BACKWARD
        return diff_schemas(before, after, level=level, policy=options.policy, additional_checks=additional_checks)

    difference: SchemaDiff | FolderDiff
    if isinstance(earlier, FolderSide) and isinstance(later, FolderSide):
        difference = diff_folders(earlier, later, compare)
    elif isinstance(earlier, FileSide) and isinstance(later, FileSide):
        subject = later.subject or earlier.subject
        difference = compare(earlier.schema, later.schema, subject)
    output_report(options, partial(diff_report, difference, subject))
    body = difference.body() if isinstance(difference, FolderDiff) else {"subject": subject} | diff_body(difference)
    output_json(options, body)
    if options.format == "text" and isinstance(difference, FolderDiff):
        _print_folders(difference)
    elif options.format == "text" and isinstance(difference, SchemaDiff) and not (is_quiet() and difference.compatible):
        _print_difference(difference, subject)
    return exit_codes.CLEAN if difference.compatible else exit_codes.FINDINGS


def _parse_checks(checks: Sequence[str]) -> frozenset[str]:
    for check in checks:
        if check not in CATALOGUE:
            raise UsageError(f"unknown check `{check}`: docs/checks.md lists the checks")
    return frozenset(checks)


def _print_folders(difference: FolderDiff) -> None:
    for subject, each in difference.changed:
        if not (is_quiet() and each.compatible):
            _print_difference(each, subject)
    for _, file, verdict in difference.describe_subjects():
        print_result(with_tone(Tone.PLAIN, escape_line(f"{file}: {verdict}")))
    print_message(difference.summary)


def _print_difference(difference: SchemaDiff, subject: str | None) -> None:
    file, change = difference.later.name, difference.change
    sentence = f"{file}: {describe_change(difference, subject)}"
    print_result(with_tone(Tone.GOOD if difference.compatible else Tone.BAD, escape_line(sentence)))
    print_result(f"    levels that admit the change: {', '.join(change.levels)}")
    for risk, changes in group_changes(difference):
        if changes:
            print_result(f"    {risk.value}:")
        for named in changes[:MAX_FINDINGS]:
            admitted = f" (admitted by {', '.join(named.levels)})" if risk is Risk.BREAKING else ""
            print_result(with_tone(_TONES[risk], escape_line(f"{named.text}{admitted}"), "      "))
        if len(changes) > MAX_FINDINGS:
            print_result(f"      {count_noun(len(changes) - MAX_FINDINGS, 'more change')} not listed")
    at_level = True
    for finding in difference.findings[:MAX_FINDINGS]:
        if at_level and finding.direction not in difference.level.directions:
            at_level = False
            print_result("    findings that only other levels report:")
        for line in finding_lines(file, difference.later.text, finding):
            print_result(line)
    if len(difference.findings) > MAX_FINDINGS:
        print_result(f"    note: {count_noun(len(difference.findings) - MAX_FINDINGS, 'more finding')} not listed")
