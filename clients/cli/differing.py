"""Implementation of ``contractlog diff``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from contractlog.clients.calls import VersionLike
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.examine import MOST_FINDINGS, unreadable
from contractlog.clients.cli.files import SchemaFile, format_of, read_file, read_stream
from contractlog.clients.cli.findings import lines
from contractlog.clients.cli.options import connect, named_version
from contractlog.clients.cli.output import Tone, count, harmless, result, result_json, toned
from contractlog.clients.client import Registry
from contractlog.compatibility.change import Kind
from contractlog.compatibility.checks import CATALOGUE
from contractlog.compatibility.differing import Difference, Side, difference_of
from contractlog.compatibility.errors import InvalidSchema, UsageError, VersionNotFound
from contractlog.compatibility.parsing import parse
from contractlog.compatibility.schema import ParsedSchema, SchemaType

__all__ = ["run"]

_KINDS: Final = {
    Kind.NONE: "only the layout changed",
    Kind.ANNOTATION: "only annotations changed",
    Kind.FULL: "each version reads what the other writes",
    Kind.BACKWARD: "the new version reads what the existing one wrote, but not the other way round",
    Kind.FORWARD: "the existing version reads what the new one writes, but not the other way round",
    Kind.BREAKING: "neither version reads what the other writes",
}


def run(options: Namespace) -> int:
    """Compare the schemas, print the result, and return the exit code."""
    referenced = dict(_leaned_on(text) for text in options.references)
    earlier, later = _sides(options, referenced)
    found = difference_of(earlier, later, level=options.level, policy=options.policy, also=_known(options.also))
    if options.format == "json":
        result_json(found.body())
    else:
        _print(found)
    return exit_codes.CLEAN if found.compatible else exit_codes.FINDINGS


def _sides(options: Namespace, referenced: dict[str, str]) -> Sequence[Side]:
    """Read each side from a file or, if it is SUBJECT:VERSION and no such file exists, from the registry."""
    paths = (options.earlier, options.later)
    registered = [None if Path(path).exists() else named_version(path) for path in paths]
    sides: list[Side | None] = [None, None]
    if any(registered):
        with connect(options) as registry:
            for place, version in enumerate(registered):
                if version is not None:
                    sides[place] = _registered(registry, paths[place], *version)
    known = next((side.parsed.type for side in sides if side is not None), None)
    files = _files([path for path, side in zip(paths, sides, strict=True) if side is None], known)
    for place, side in enumerate(sides):
        if side is None:
            file = files.pop(0)
            sides[place] = Side(str(paths[place]), file.draft.text, _understood(file, referenced, strict=place == 1))
    return [side for side in sides if side is not None]


def _registered(registry: Registry, name: str, subject: str, version: VersionLike) -> Side:
    try:
        existing = registry.version(subject, version, deleted=True)
    except VersionNotFound as error:
        raise UsageError(f"`{name}` is not registered: {error}") from None
    referenced = registry.referenced(existing.draft, subject=subject)
    return Side(name, existing.text, parse(existing.draft, referenced, strict=False))


def _known(checks: Sequence[str]) -> frozenset[str]:
    for check in checks:
        if check not in CATALOGUE:
            raise UsageError(f"unknown check `{check}`: docs/checks.md lists the checks")
    return frozenset(checks)


def _files(paths: Sequence[str], known: SchemaType | None) -> list[SchemaFile]:
    """Read files; a pipe, or a file without a known suffix, has the format of the other side."""
    kinds = [format_of(Path(path)) for path in paths]
    known = next((kind for kind in kinds if kind is not None), known)
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
        read_file(Path(path), "") if kind or known is None else read_stream(Path(path), known)
        for path, kind in zip(paths, kinds, strict=True)
    ]


def _understood(file: SchemaFile, referenced: dict[str, str], *, strict: bool) -> ParsedSchema:
    """Parse a file as the registry does: only new schemas strictly, as existing ones may predate a rule.

    Raises:
        UsageError: it is not a valid schema.
    """
    try:
        return parse(file.draft, referenced, strict=strict)
    except InvalidSchema as error:
        raise UsageError(unreadable(file, error)) from None


def _leaned_on(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise UsageError(f"`{text}` does not have the form NAME=FILE")
    return name, read_file(Path(path), "").draft.text


def _print(told: Difference) -> None:
    file, change = told.later.name, told.change
    does = "admits the change" if told.compatible else "refuses the change"
    words = f"{file}: {change.kind.value} ({_KINDS[change.kind]}); level {told.level} {does}"
    result(toned(Tone.GOOD if told.compatible else Tone.BAD, harmless(words)))
    result(f"    levels that admit the change: {', '.join(change.levels)}")
    asked = True
    for one in told.found[:MOST_FINDINGS]:
        if asked and one.direction not in told.level.directions:
            asked = False
            result("    findings that only other levels report:")
        for line in lines(file, told.later.text, one):
            result(line)
    if len(told.found) > MOST_FINDINGS:
        result(f"    note: {count(len(told.found) - MOST_FINDINGS, 'more finding')} not listed")
