"""Report of ``contractlog diff``: the changes between two schemas or folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.diff.folder_diff import FolderDiff
from contractlog.clients.cli.git_revision import is_git_revision
from contractlog.clients.cli.report_formats.check_report import (
    list_rules,
    report_finding,
)
from contractlog.clients.cli.report_formats.error_report import report_unreadable
from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding, relative_path
from contractlog.compatibility.change_classification import ChangeKind
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.finding_positions import find_position
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.located_finding import locate_finding
from contractlog.compatibility.named_change import NamedChange, Risk, name_changes
from contractlog.compatibility.schema_diff import SchemaDiff

__all__ = ["describe_change", "diff_report", "find_unreadable_side", "group_changes", "unreadable_side_report"]

_COMMAND: Final = "contractlog diff"
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
_DANGEROUS: Final = "Dangerous: every level admits it, but readers may see other values"


def diff_report(difference: SchemaDiff | FolderDiff, subject: str | None, root: Path, tool_version: str) -> Report:
    """Build the report of a comparison; ``subject`` is that of a single file, if known.

    Findings that the level rejects are errors, dangerous changes are warnings, and what only other levels reject are
    notes.
    """
    if isinstance(difference, SchemaDiff):
        files = [replace(_report_file(difference, root), subject=subject or "")]
        summary = describe_change(difference, subject)
    else:
        files = list(_report_files(difference, root))
        summary = difference.summary
    rules = list_rules(finding for file in files for finding in file.findings)
    return Report(_COMMAND, summary, tuple(files), rules, tool_version)


def find_unreadable_side(names: Sequence[str], message: str) -> Path:
    """Return the file or side that a message begins with, else the last side."""
    name = next((each for each in names if message.startswith((f"{each}:", f"{each}/", f"`{each}`"))), names[-1])
    inner = message.startswith(f"{name}/") and not is_git_revision(name)
    return Path(message.partition(":")[0] if inner else name)


def unreadable_side_report(path: Path, message: str, root: Path, tool_version: str) -> Report:
    """Build the report about a side that cannot be read."""
    file = report_unreadable(path, message, root)
    return Report(_COMMAND, "the schemas cannot be compared", (file,), list_rules(file.findings), tool_version)


def describe_change(difference: SchemaDiff, subject: str | None) -> str:
    """Return the kind of a change, and whether the level of the subject allows it."""
    kind = difference.change.kind
    of_subject = f" of `{subject}`" if subject else ""
    decision = "allows the change" if difference.compatible else "rejects the change"
    description = _describe_same_text(difference) if kind is ChangeKind.NONE else ""
    return f"{kind.value} ({description or _KIND_DESCRIPTIONS[kind]}); level {difference.level}{of_subject} {decision}"


def _describe_same_text(difference: SchemaDiff) -> str:
    """Return that both sides are the same version, or have the same text; empty if their texts differ."""
    earlier, later = difference.earlier, difference.later
    if earlier.text != later.text:
        return ""
    subjects = {name.rpartition(":")[0] for name in (earlier.name, later.name)}
    return "the same version" if len(subjects) == 1 and "" not in subjects else "the same text"


def group_changes(difference: SchemaDiff) -> list[tuple[Risk, list[NamedChange]]]:
    """Return the named changes by risk, the highest first."""
    changes = name_changes(difference)
    return [(risk, [change for change in changes if change.risk is risk]) for risk in Risk]


def _report_files(difference: FolderDiff, root: Path) -> Iterator[ReportedFile]:
    """Yield each changed file, with the other subject that it had if it is renamed, then the other files."""
    others = {(subject, file): phrase for subject, file, phrase in difference.describe_subjects()}
    for subject, each in difference.changed:
        renamed = others.pop((subject, each.later.name), None)
        file = replace(_report_file(each, root), subject=subject or "")
        yield file if renamed is None else replace(file, notes=(renamed,))
    for (subject, name), phrase in others.items():
        yield ReportedFile(_path_of(name, root), "passed", phrase, subject=subject or "", listed=True)
    if not (difference.changed or others):  # a report without any file looks like one that failed
        yield ReportedFile(_path_of(difference.later, root), "passed", difference.summary)


def _report_file(difference: SchemaDiff, root: Path) -> ReportedFile:
    """Return a changed file with findings grouped by direction; those that the level rejects come first."""
    path, changes = _path_of(difference.later.name, root), group_changes(difference)
    findings: list[ReportedFinding] = []
    for direction in sorted(Direction, key=lambda direction: direction not in difference.level.directions):
        required = direction in difference.level.directions
        reads = _READERS[direction].format(earlier=difference.earlier.name)
        group = f"{'Breaking' if required else 'Only for other levels'}: {reads}"
        findings += [
            report_finding(path, difference.later.text, finding, "error" if required else "note", group)
            for finding in difference.findings
            if finding.direction is direction
        ]
    dangerous = [change for risk, listed in changes if risk is Risk.DANGEROUS for change in listed]
    findings += [_report_dangerous(path, difference.later.text, change) for change in dangerous]
    levels = ", ".join(f"`{level}`" for level in difference.change.levels)
    return ReportedFile(
        path,
        "passed" if difference.compatible else "failed",
        f"compared with `{difference.earlier.name}`; levels that admit the change: {levels}",
        tuple(findings),
        tables=tuple(
            (risk.value.capitalize(), ("change", "levels that admit it"), rows)
            for risk, listed in changes
            if (rows := tuple((change.text, _list_levels(change.levels)) for change in listed))
        ),
        listed=True,
    )


def _report_dangerous(path: str, text: str, change: NamedChange) -> ReportedFinding:
    """Return a dangerous change as a warning: no level has a finding about it."""
    finding = Finding(change.checks[0], change.pointer, "", change.text)
    located = locate_finding(finding, Direction.BACKWARD, "", find_position(text, finding, Direction.BACKWARD))
    return report_finding(path, text, located, "warning", _DANGEROUS)


def _path_of(name: str, root: Path) -> str:
    """Return the path of a file, or the name of what is none: a version, or a file of a git revision."""
    return name if is_git_revision(name) or not (root / name).exists() else relative_path(Path(name), root)


def _list_levels(levels: Sequence[Level]) -> str:
    return "all" if len(levels) == len(Level) else ", ".join(f"`{level}`" for level in levels)
