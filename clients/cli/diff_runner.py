"""Implementation of ``contractlog diff``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.diff_file import FileSide
from contractlog.clients.cli.diff_folders import FolderDiff, diff_body, diff_folders
from contractlog.clients.cli.diff_sides import FolderSide, read_sides
from contractlog.clients.cli.file_check import MAX_FINDINGS
from contractlog.clients.cli.findings import finding_lines
from contractlog.clients.cli.output import (
    Tone,
    count_noun,
    is_quiet,
    print_document,
    print_json,
    print_message,
    print_result,
    with_tone,
)
from contractlog.clients.cli.report_formats.check_report import report_finding
from contractlog.clients.cli.report_formats.markdown import render_markdown
from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding
from contractlog.clients.cli.schema_folder.manifest import find_manifest
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.formats import CATALOGUE
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.named_change import NamedChange, Risk, name_changes
from contractlog.compatibility.schema_change import ChangeKind
from contractlog.compatibility.schema_diff import DiffSide, SchemaDiff, diff_schemas
from contractlog.compatibility.terminal_text import escape_line

__all__ = ["run"]

_KIND_DESCRIPTIONS: Final = {
    ChangeKind.NONE: "only the layout changed",
    ChangeKind.ANNOTATION: "only annotations changed",
    ChangeKind.FULL: "each version reads what the other writes",
    ChangeKind.BACKWARD: "the new version reads what the existing one wrote, but not the other way round",
    ChangeKind.FORWARD: "the existing version reads what the new one writes, but not the other way round",
    ChangeKind.BREAKING: "neither version reads what the other writes",
}


_TONES: Final = {Risk.BREAKING: Tone.BAD, Risk.DANGEROUS: Tone.WARNING, Risk.HARMLESS: Tone.GOOD}
_READERS: Final = {
    Direction.BACKWARD: "the new schema cannot read what `{earlier}` wrote",
    Direction.FORWARD: "`{earlier}` cannot read what the new schema writes",
}


def run(options: Namespace) -> int:
    """Compare the schemas, print the result, and return the exit code."""
    also = _parse_checks(options.also)
    earlier, later = read_sides(options)
    manifest = later.manifest or earlier.manifest or find_manifest(None, [])
    subject: str | None = None

    def compare(before: DiffSide, after: DiffSide, name: str | None) -> SchemaDiff:
        level = options.level or (manifest.find_level(name) if manifest and name else None) or Level.BACKWARD
        return diff_schemas(before, after, level=level, policy=options.policy, also=also)

    difference: SchemaDiff | FolderDiff
    if isinstance(earlier, FolderSide) and isinstance(later, FolderSide):
        difference = diff_folders(earlier, later, compare)
    elif isinstance(earlier, FileSide) and isinstance(later, FileSide):
        subject = later.subject or earlier.subject
        difference = compare(earlier.schema, later.schema, subject)
    if options.format == "json":
        print_json(
            difference.body() if isinstance(difference, FolderDiff) else {"subject": subject} | diff_body(difference)
        )
    elif options.format == "markdown":
        print_document(render_markdown(_diff_report(difference, subject)))
    elif isinstance(difference, FolderDiff):
        _print_folders(difference)
    elif not (is_quiet() and difference.compatible):
        _print_difference(difference, subject)
    return exit_codes.CLEAN if difference.compatible else exit_codes.FINDINGS


def _parse_checks(checks: Sequence[str]) -> frozenset[str]:
    for check in checks:
        if check not in CATALOGUE:
            raise UsageError(f"unknown check `{check}`: docs/checks.md lists the checks")
    return frozenset(checks)


def _describe_change(difference: SchemaDiff, subject: str | None) -> str:
    kind = difference.change.kind
    of_subject = f" of `{subject}`" if subject else ""
    decision = "allows the change" if difference.compatible else "rejects the change"
    return f"{kind.value} ({_KIND_DESCRIPTIONS[kind]}); level {difference.level}{of_subject} {decision}"


def _diff_report(difference: SchemaDiff | FolderDiff, subject: str | None) -> Report:
    if isinstance(difference, SchemaDiff):
        return Report("contractlog diff", _describe_change(difference, subject), (_report_file(difference),))
    files = [_report_file(each) for _, each in difference.changed]
    files += [ReportedFile(file, "passed", verdict, listed=True) for file, verdict in difference.describe_subjects()]
    return Report("contractlog diff", difference.summary, tuple(files))


def _report_file(difference: SchemaDiff) -> ReportedFile:
    """Return a changed file with findings grouped by direction; those that the level rejects come first."""
    findings: list[ReportedFinding] = []
    for direction in sorted(Direction, key=lambda direction: direction not in difference.level.directions):
        required = direction in difference.level.directions
        reads = _READERS[direction].format(earlier=difference.earlier.name)
        group = f"{'Breaking' if required else 'Only for other levels'}: {reads}"
        findings += [
            report_finding(
                difference.later.name, difference.later.text, finding, "error" if required else "note", group
            )
            for finding in difference.findings
            if finding.direction is direction
        ]
    levels = ", ".join(f"`{level}`" for level in difference.change.levels)
    return ReportedFile(
        difference.later.name,
        "passed" if difference.compatible else "failed",
        f"compared with `{difference.earlier.name}`; levels that admit the change: {levels}",
        tuple(findings),
        tables=tuple(
            (risk.value.capitalize(), ("change", "levels that admit it"), rows)
            for risk, changes in _group_changes(difference)
            if (rows := tuple((change.text, _list_levels(change.levels)) for change in changes))
        ),
        listed=True,
    )


def _group_changes(difference: SchemaDiff) -> list[tuple[Risk, list[NamedChange]]]:
    changes = name_changes(difference)
    return [(risk, [change for change in changes if change.risk is risk]) for risk in Risk]


def _list_levels(levels: Sequence[Level]) -> str:
    return "all" if len(levels) == len(Level) else ", ".join(f"`{level}`" for level in levels)


def _print_folders(difference: FolderDiff) -> None:
    for subject, each in difference.changed:
        if not (is_quiet() and each.compatible):
            _print_difference(each, subject)
    for file, verdict in difference.describe_subjects():
        print_result(with_tone(Tone.PLAIN, escape_line(f"{file}: {verdict}")))
    print_message(difference.summary)


def _print_difference(difference: SchemaDiff, subject: str | None) -> None:
    file, change = difference.later.name, difference.change
    sentence = f"{file}: {_describe_change(difference, subject)}"
    print_result(with_tone(Tone.GOOD if difference.compatible else Tone.BAD, escape_line(sentence)))
    print_result(f"    levels that admit the change: {', '.join(change.levels)}")
    for risk, changes in _group_changes(difference):
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
