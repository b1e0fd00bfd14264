"""Text output of checked files and of findings: verdict, position, detail and suggested fixes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from typing import Final

from contractlog.clients.cli.check.file_check import FAILED, FileCheck
from contractlog.clients.cli.check.impact_text import describe_impact
from contractlog.clients.cli.json_formatter import format_json
from contractlog.clients.cli.output import Tone, count_noun, is_quiet, is_verbose, with_tone
from contractlog.clients.cli.schema_folder.waivers import describe_silenced
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.located_finding import LocatedFinding
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = [
    "ReferencedFindings",
    "describe_finding",
    "describe_verdict",
    "detail_lines",
    "diff_lines",
    "finding_lines",
    "impact_lines",
    "lines_beyond_level",
    "verdict_line",
]

_VERSION: Final = re.compile(r"version (\d+)")
_TONES: Final = {
    "registered": Tone.PLAIN,
    "unchanged": Tone.PLAIN,
    "compatible": Tone.GOOD,
    "waived": Tone.WARNING,
    "incompatible": Tone.BAD,
    "data_unreadable": Tone.BAD,
    "check_failed": Tone.BAD,
    "refused": Tone.BAD,
}


def verdict_line(check: FileCheck) -> str:
    """Return one line with the file, its verdict, and what it was compared with or why it is refused."""
    warns = check.outcome == "compatible" and check.active_findings
    tone = Tone.WARNING if warns else _TONES[check.outcome]
    reason = f": {'; '.join(check.messages)}" if check.outcome == "refused" and check.messages else ""
    return with_tone(tone, escape_line(f"{check.file.path}: {describe_verdict(check)}{reason}"))


class ReferencedFindings:
    """Findings in referenced types, each of them once for all files that refer to the type."""

    def __init__(self) -> None:
        self._findings: dict[tuple[object, ...], tuple[LocatedFinding, Severity | None, dict[str, None]]] = {}

    def add(self, file: str, finding: LocatedFinding, severity: Severity | None = None) -> None:
        """Add a finding in a type that a file refers to; ``severity`` as in ``finding_lines``."""
        key = (finding.finding.check, finding.direction, finding.pointer, finding.finding.detail, severity)
        first, _, files = self._findings.get(key, (finding, severity, {}))
        if first.earlier != finding.earlier:
            first = replace(first, earlier="earlier versions")
        self._findings[key] = first, severity, {**files, file: None}

    def lines(self) -> Iterator[str]:
        """Yield the output lines: each finding once, with all files that refer to its type."""
        if self._findings:
            yield "findings in referenced types:"
        for finding, severity, files in self._findings.values():
            yield from finding_lines(", ".join(files), "", finding, severity)


def detail_lines(check: FileCheck, referenced: ReferencedFindings | None = None) -> Iterator[str]:
    """Yield the lines below a verdict: findings, messages, impact and notes.

    Findings in types of other files are added to ``referenced``, if it is given.
    """
    incompatibilities = check.findings if check.outcome in {"incompatible", "waived"} else ()
    yield from _list_findings(check, referenced, [(finding, None) for finding in incompatibilities])
    yield from lines_beyond_level(check, referenced, with_data=True)
    if check.outcome == "incompatible" and not check.findings:
        for message in check.messages:
            yield f"    the registry says: {escape_line(message)}"
    if check.outcome in {*FAILED, "waived", "refused"} or not is_quiet():
        yield from impact_lines(check)
        for note in check.notes:
            yield f"    note: {escape_line(note)}"


def lines_beyond_level(
    check: FileCheck, referenced: ReferencedFindings | None = None, *, with_data: bool = False
) -> Iterator[str]:
    """Yield the lines of findings that the level admits, and the number of those that waivers silence.

    Args:
        check: the check.
        referenced: gets the findings in types of other files, if it is given.
        with_data: whether findings from data are included, whose lines have no severity.
    """
    beyond_level = {each.finding for each in check.findings_beyond_level}
    active = [each for each in check.active_findings if with_data or each.finding in beyond_level]
    listed = [(each.finding, each.severity if each.finding in beyond_level else None) for each in active]
    yield from _list_findings(check, referenced, listed)
    silenced = check.silenced_findings
    if is_verbose():
        for each in silenced:
            yield from finding_lines(str(check.file.path), check.file.draft.text, each.finding, each.severity)
            waiver = check.find_waiver(each.finding)
            yield "" if waiver is None else f"        silenced: {escape_line(waiver.describe())}"
    elif silenced and not is_quiet():
        yield f"    {describe_silenced(len(silenced))}"


def _list_findings(
    check: FileCheck, referenced: ReferencedFindings | None, listed: Sequence[tuple[LocatedFinding, Severity | None]]
) -> Iterator[str]:
    elsewhere = 0
    for finding, severity in listed:
        if referenced is not None and finding.position is None:
            referenced.add(str(check.file.path), finding, severity)
            elsewhere += 1
        else:
            yield from finding_lines(str(check.file.path), check.file.draft.text, finding, severity)
            if check.reaches and finding in check.reaches:
                yield f"        {escape_line(check.reaches[finding].describe())}"
    if elsewhere:
        yield f"    {count_noun(elsewhere, 'finding')} in types that it refers to: see the end"


def impact_lines(check: FileCheck, *, with_findings: bool = False) -> Iterator[str]:
    """Yield the output lines about the clients and records of earlier versions, as ``describe_impact``."""
    for sentence in describe_impact(check.impact, check.file.subject, with_findings=with_findings):
        yield f"    impact: {escape_line(sentence)}"


def describe_verdict(check: FileCheck) -> str:
    """Return the verdict on a file as a phrase."""
    subject = f"`{check.file.subject}`"
    if check.registered is not None:
        registered = check.registered
        text = f"registered already, as version {registered.version} of {subject} (id {registered.schema_id})"
        return f"{subject} is unchanged" if check.outcome == "unchanged" else text
    if check.outcome == "refused":
        return f"cannot be registered under {subject}"
    if check.outcome == "incompatible" and not check.compared:
        return f"rejected by the registry under {subject}"
    if check.level is Level.NONE:
        return f"compatible: level NONE allows any schema in {subject}{_describe_failure(check)}"
    if not check.compared:
        return f"compatible: {subject} has no version yet{_describe_failure(check)}"
    return _describe_comparison(check)


def _describe_failure(check: FileCheck) -> str:
    """Return why a compatible file fails, as the end of a sentence; empty if it does not."""
    if check.outcome == "data_unreadable":
        return ", but it cannot read records that the previous version can"
    if check.outcome == "check_failed":
        return ", but it has findings that are errors"
    return ""


def _describe_comparison(check: FileCheck) -> str:
    subject = f"`{check.file.subject}`"
    versions = _join_versions(check.compared, subject)
    level = f"level {check.level}" if subject in versions else f"level {check.level} of {subject}"
    compared = f"with {versions} at {level}"
    if check.needs_level_change:
        return f"incompatible {compared}, and waived by the manifest"
    if check.outcome == "data_unreadable":
        return f"compatible {compared}, but cannot read records that the previous version can"
    if check.outcome == "check_failed":
        return f"compatible {compared}, but it has findings that are errors"
    if check.outcome == "waived":
        return f"compatible {compared}, but cannot read records, which is waived by the manifest"
    return f"{check.outcome} {compared}"


def _join_versions(names: tuple[str, ...], subject: str) -> str:
    """Join registered versions of a subject as one range, and preceding files as another.

    >>> _join_versions(("version 1", "version 2", "orders.avsc"), "`orders`")
    'versions 1 to 2 of `orders` and orders.avsc'
    """
    numbers = [match[1] for match in map(_VERSION.fullmatch, names) if match]
    files = names[len(numbers) :]
    listed = []
    if numbers:
        versions = f"version {numbers[0]}" if len(numbers) == 1 else f"versions {numbers[0]} to {numbers[-1]}"
        listed.append(f"{versions} of {subject}")
    if files:
        listed.append(files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}")
    return " and ".join(listed)


_LONGEST_LINE: Final = 10_000  #: characters; a text with a longer line is reformatted before its diff is shown


def finding_lines(file: str, text: str, finding: LocatedFinding, severity: Severity | None = None) -> Iterator[str]:
    """Yield the output lines of a finding in a file; ``severity`` is that of a check beyond the level."""
    where = f"{file}:{finding.position}" if finding.position else f"referenced by {file}"
    label = "" if severity is None else f" ({severity})"
    yield f"    {escape_line(where)}  at {escape_line(finding.pointer or '/')}  {finding.finding.check}{label}"
    yield f"        {escape_line(describe_finding(finding, optional=severity is not None))}"
    if finding.fix:
        yield f"        fix: {escape_line(finding.fix)}"
    for fix in finding.fixes[:1]:
        yield from (f"        {line}" for line in diff_lines(text, fix.text))
    for fix in finding.fixes[1:]:
        yield f"        or: {escape_line(fix.sentence)}"


def describe_finding(finding: LocatedFinding, *, optional: bool = False) -> str:
    """Return a finding as a sentence about the versions compared.

    Args:
        finding: the finding.
        optional: whether the level admits it, so that the schema can be read.
    """
    if not finding.earlier:
        return finding.finding.detail
    if optional:
        return f"compared with {finding.earlier}: {finding.finding.detail}"
    reads = (
        f"the new schema cannot read what {finding.earlier} wrote"
        if finding.direction is Direction.BACKWARD
        else f"{finding.earlier} cannot read what the new schema writes"
    )
    return f"{reads}: {finding.finding.detail}"


def diff_lines(before: str, after: str) -> Iterator[str]:
    """Yield the diff of two texts as a hunk that ``patch`` can apply to the file.

    If a line is too long to read, both texts are reformatted first, and the diff has no hunk header.
    """
    if max(map(len, before.split("\n"))) > _LONGEST_LINE:
        formatted = unified_diff(format_json(before).split("\n"), format_json(after).split("\n"), n=1, lineterm="")
        yield from (_escape_diff_line(line) for line in formatted if not line.startswith(("---", "+++", "@@")))
        return
    if before.count("\r\n") == before.count("\n"):
        after = re.sub(r"(?<!\r)\n", "\r\n", after) if "\r\n" in before else after
    for line in list(unified_diff(_split_lines(before), _split_lines(after), n=1))[2:]:
        yield _escape_diff_line(line.removesuffix("\n"))
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _split_lines(text: str) -> list[str]:
    """Split a text into lines like ``patch``, with line ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _escape_diff_line(line: str) -> str:
    """Escape a line except for tabs and the CR of a CRLF, which ``patch`` needs."""
    inner = line.removesuffix("\r")
    return "\t".join(map(escape_line, inner.split("\t"))) + line[len(inner) :]
