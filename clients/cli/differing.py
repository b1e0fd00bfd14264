"""What ``contractlog diff`` does once its arguments are known."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.examine import MOST_FINDINGS, MOST_MENDED, unreadable
from contractlog.clients.cli.files import SchemaFile, format_of, read_file, read_stream
from contractlog.clients.cli.findings import Located, lines, located
from contractlog.clients.cli.output import Tone, count, harmless, result, result_json, toned
from contractlog.compatibility.change import Change, Kind, change_between
from contractlog.compatibility.checks import CATALOGUE
from contractlog.compatibility.errors import InvalidSchema, UsageError
from contractlog.compatibility.mends import Trial
from contractlog.compatibility.parsing import parse
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["run"]

FORMAT: Final = "contractlog.diff/1"
_KINDS: Final = {
    Kind.NONE: "nothing changed but the layout",
    Kind.ANNOTATION: "only what is said for people changed",
    Kind.FULL: "each reads what the other writes",
    Kind.BACKWARD: "it reads what the earlier wrote, but not the other way round",
    Kind.FORWARD: "the earlier reads what it writes, but not the other way round",
    Kind.BREAKING: "neither reads what the other writes",
}


def run(options: Namespace) -> int:
    """Compare, print what the change is, return the exit code."""
    referenced = dict(_leaned_on(text) for text in options.references)
    old, new = _files(options.earlier, options.later)
    earlier, later = _understood(old, referenced, strict=False), _understood(new, referenced, strict=True)
    also = _known(options.also)
    verdict = change_between(earlier[1], later[1], policy=options.policy, also=also)
    found = _found(verdict, earlier, later, options, also)
    admitted = verdict.satisfies(options.level)
    if options.format == "json":
        result_json(_body(options, verdict, found))
    else:
        _print(options, verdict, found, later[0])
    return exit_codes.CLEAN if admitted else exit_codes.FINDINGS


def _known(checks: Sequence[str]) -> frozenset[str]:
    for check in checks:
        if check not in CATALOGUE:
            raise UsageError(f"`{check}` is no check: docs/checks.md lists them")
    return frozenset(checks)


def _files(*paths: str) -> Sequence[SchemaFile]:
    """Read both; a pipe, or another file whose name tells no format, has that of the file beside it."""
    kinds = [format_of(Path(path)) for path in paths]
    known = next((kind for kind in kinds if kind is not None), None)
    if paths == ("-", "-"):
        raise UsageError("one of the two can be `-`, standard input: name the other one")
    for path in paths:
        if Path(path).is_dir():
            raise UsageError(f"`{path}` is a folder: name two schema files")
    return [
        read_file(Path(path), "") if kind or known is None else read_stream(Path(path), known)
        for path, kind in zip(paths, kinds, strict=True)
    ]


def _understood(file: SchemaFile, referenced: dict[str, str], *, strict: bool) -> tuple[SchemaFile, ParsedSchema]:
    """Parse as the registry does: what was registered earlier may be older than the rules for new schemas."""
    try:
        return file, parse(file.draft, referenced, strict=strict)
    except InvalidSchema as error:
        raise UsageError(unreadable(file, error)) from None


def _leaned_on(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise UsageError(f"`{text}` does not read NAME=FILE")
    return name, read_file(Path(path), "").draft.text


def _found(
    verdict: Change,
    earlier: tuple[SchemaFile, ParsedSchema],
    later: tuple[SchemaFile, ParsedSchema],
    options: Namespace,
    also: frozenset[str],
) -> Sequence[Located]:
    """Put the findings that the level asks for first; they alone are mended."""
    asked = options.level.directions
    comparisons = sorted(verdict.comparisons, key=lambda comparison: comparison.direction not in asked)
    trial = Trial(
        text=later[0].draft.text,
        candidate=later[1],
        earlier_text=earlier[0].draft.text,
        earlier=earlier[1],
        directions=asked,
        policy=options.policy,
        also=also,
    )
    found = [(finding, comparison.direction) for comparison in comparisons for finding in comparison.findings]
    return [
        located(
            finding,
            direction,
            str(earlier[0].path),
            later[0].draft.text,
            trial.mends(finding, direction) if direction in asked and number < MOST_MENDED else (),
        )
        for number, (finding, direction) in enumerate(found)
    ]


def _body(options: Namespace, verdict: Change, found: Sequence[Located]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "earlier": options.earlier,
        "later": options.later,
        "level": options.level.value,
        "policy": options.policy.value,
        "compatible": verdict.satisfies(options.level),
        "kind": verdict.kind.value,
        "levels": [level.value for level in verdict.levels],
        "findings": [one.body() for one in found],
    }


def _print(options: Namespace, verdict: Change, found: Sequence[Located], later: SchemaFile) -> None:
    admitted = verdict.satisfies(options.level)
    does = "admits it" if admitted else "refuses it"
    words = f"{later.path}: {verdict.kind.value} ({_KINDS[verdict.kind]}); level {options.level} {does}"
    result(toned(Tone.GOOD if admitted else Tone.BAD, harmless(words)))
    result(f"    levels that admit it: {', '.join(verdict.levels)}")
    asked = True
    for one in found[:MOST_FINDINGS]:
        if asked and one.direction not in options.level.directions:
            asked = False
            result("    what other levels hold against it:")
        for line in lines(str(later.path), later.draft.text, one):
            result(line)
    if len(found) > MOST_FINDINGS:
        result(f"    note: {count(len(found) - MOST_FINDINGS, 'more finding')} not listed")
