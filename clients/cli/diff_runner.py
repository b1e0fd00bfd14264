"""Implementation of ``contractlog diff``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from contractlog.clients.calls import VersionLike
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.file_check import MAX_FINDINGS
from contractlog.clients.cli.findings import finding_lines
from contractlog.clients.cli.options import connect, parse_version_name
from contractlog.clients.cli.output import (
    Tone,
    count_noun,
    is_quiet,
    print_document,
    print_json,
    print_result,
    with_tone,
)
from contractlog.clients.cli.report_formats.check_report import report_finding
from contractlog.clients.cli.report_formats.markdown import render_markdown
from contractlog.clients.cli.report_formats.report import Report, ReportedFile
from contractlog.clients.cli.schema_folder.resolver import parse_draft
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile, format_of, read_file, read_stream
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import UsageError, VersionNotFound
from contractlog.compatibility.formats import CATALOGUE, parse_schema
from contractlog.compatibility.level import Direction
from contractlog.compatibility.schema import SchemaType
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


_READERS: Final = {
    Direction.BACKWARD: "the new schema cannot read what `{earlier}` wrote",
    Direction.FORWARD: "`{earlier}` cannot read what the new schema writes",
}


def run(options: Namespace) -> int:
    """Compare the schemas, print the result, and return the exit code."""
    referenced = dict(_parse_reference(text) for text in options.references)
    earlier, later = _read_sides(options, referenced)
    difference = diff_schemas(
        earlier, later, level=options.level, policy=options.policy, also=_parse_checks(options.also)
    )
    if options.format == "json":
        print_json(difference.body())
    elif options.format == "markdown":
        print_document(render_markdown(_diff_report(difference)))
    elif not (is_quiet() and difference.compatible):
        _print_difference(difference)
    return exit_codes.CLEAN if difference.compatible else exit_codes.FINDINGS


def _read_sides(options: Namespace, referenced: dict[str, str]) -> Sequence[DiffSide]:
    """Read each side from a file or, if it is SUBJECT:VERSION and no such file exists, from the registry."""
    paths = (options.earlier, options.later)
    registered = [None if Path(path).exists() else parse_version_name(path) for path in paths]
    sides: list[DiffSide | None] = [None, None]
    if any(registered):
        with connect(options) as registry:
            for index, version in enumerate(registered):
                if version is not None:
                    sides[index] = _fetch_side(registry, paths[index], *version)
    schema_type = next((side.parsed.type for side in sides if side is not None), None)
    files = _read_files([path for path, side in zip(paths, sides, strict=True) if side is None], schema_type)
    for index, side in enumerate(sides):
        if side is None:
            file = files.pop(0)
            sides[index] = DiffSide(
                str(paths[index]), file.draft.text, parse_draft(file, referenced, strict=index == 1)
            )
    return [side for side in sides if side is not None]


def _fetch_side(registry: Registry, name: str, subject: str, version: VersionLike) -> DiffSide:
    try:
        existing = registry.version(subject, version, deleted=True)
    except VersionNotFound as error:
        raise UsageError(f"`{name}` is not registered: {error}") from None
    referenced = registry.referenced(existing.draft, subject=subject)
    return DiffSide(name, existing.text, parse_schema(existing.draft, referenced, strict=False))


def _parse_checks(checks: Sequence[str]) -> frozenset[str]:
    for check in checks:
        if check not in CATALOGUE:
            raise UsageError(f"unknown check `{check}`: docs/checks.md lists the checks")
    return frozenset(checks)


def _read_files(paths: Sequence[str], schema_type: SchemaType | None) -> list[SchemaFile]:
    """Read files; a pipe, or a file without a known suffix, has the format of the other side."""
    kinds = [format_of(Path(path)) for path in paths]
    schema_type = next((kind for kind in kinds if kind is not None), schema_type)
    if list(paths) == ["-", "-"]:
        raise UsageError("only one of the two can be `-`, standard input")
    for path in paths:
        if Path(path).is_dir():
            raise UsageError(f"`{path}` is a folder: name two schema files")
        if ":" in path and not Path(path).exists():
            raise UsageError(
                f"`{path}` is neither a file nor SUBJECT:VERSION, with a number or `latest` as the version"
            )
    return [
        read_file(Path(path), "") if kind or schema_type is None else read_stream(Path(path), schema_type)
        for path, kind in zip(paths, kinds, strict=True)
    ]


def _parse_reference(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise UsageError(f"`{text}` does not have the form NAME=FILE")
    return name, read_file(Path(path), "").draft.text


def _describe_change(difference: SchemaDiff) -> str:
    kind = difference.change.kind
    decision = "allows the change" if difference.compatible else "rejects the change"
    return f"{kind.value} ({_KIND_DESCRIPTIONS[kind]}); level {difference.level} {decision}"


def _diff_report(difference: SchemaDiff) -> Report:
    """Return the report with findings grouped by direction; those that the level rejects come first."""
    findings = []
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
    return Report(
        command="contractlog diff",
        summary=_describe_change(difference),
        files=(
            ReportedFile(
                difference.later.name,
                "passed" if difference.compatible else "failed",
                f"compared with `{difference.earlier.name}`; levels that admit the change: {levels}",
                tuple(findings),
            ),
        ),
    )


def _print_difference(difference: SchemaDiff) -> None:
    file, change = difference.later.name, difference.change
    sentence = f"{file}: {_describe_change(difference)}"
    print_result(with_tone(Tone.GOOD if difference.compatible else Tone.BAD, escape_line(sentence)))
    print_result(f"    levels that admit the change: {', '.join(change.levels)}")
    at_level = True
    for finding in difference.findings[:MAX_FINDINGS]:
        if at_level and finding.direction not in difference.level.directions:
            at_level = False
            print_result("    findings that only other levels report:")
        for line in finding_lines(file, difference.later.text, finding):
            print_result(line)
    if len(difference.findings) > MAX_FINDINGS:
        print_result(f"    note: {count_noun(len(difference.findings) - MAX_FINDINGS, 'more finding')} not listed")
