"""Warnings about entries of the manifest that have ended, or that apply to nothing in its folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.schema_folder.severity_overrides import SeverityOverride
from contractlog.clients.cli.schema_folder.waivers import Waiver
from contractlog.compatibility.lint.rule import Severity

__all__ = [
    "ManifestWarning",
    "find_check_warnings",
    "find_ended_entries",
    "find_unused_overrides",
    "find_unused_waivers",
    "is_whole_folder",
]

_ADVICE = "correct or remove it"


@dataclass(frozen=True, slots=True)
class ManifestWarning:
    """A warning about an entry of the manifest."""

    path: Path  #: of the manifest
    line: int
    message: str
    severity: Severity = Severity.WARNING
    is_rule_problem: bool = False  #: about an expression in the entry

    def describe(self) -> str:
        """Return one line for people, with the position."""
        return f"{self.path}:{self.line}: {self.message}"

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"file": str(self.path), "line": self.line, "message": self.message}


def is_whole_folder(manifest: Manifest | None, files: Iterable[str]) -> bool:
    """Return whether the named files are all those of the folder of the manifest."""
    return manifest is not None and [Path(name).resolve() for name in files] == [manifest.path.parent.resolve()]


def find_check_warnings(
    manifest: Manifest | None, files: Sequence[SchemaFile] | None, owned: Collection[str] = ()
) -> Iterator[ManifestWarning]:
    """Yield warnings about rules for files and subjects, and about entries for checks.

    Args:
        manifest: the manifest, if there is one.
        files: all files of its folder; None: not all were read, so that it is not known what is unused.
        owned: names of rules for subjects that apply to subjects without files.
    """
    if manifest is None:
        return
    yield from find_ended_entries(manifest, manifest.checks, datetime.now(UTC).date())
    if files is not None:
        yield from _find_unused_rules(manifest, files, owned)
        checks = manifest.checks
        used = {entry for file in files for entry in manifest.find_overrides(checks, file.path, [file.subject])}
        yield from find_unused_overrides(manifest, manifest.checks, used)


def find_ended_entries(
    manifest: Manifest, entries: Iterable[SeverityOverride], today: date
) -> Iterator[ManifestWarning]:
    """Yield a warning for each entry whose last day has passed."""
    for entry in entries:
        if entry.is_expired(today):
            yield ManifestWarning(manifest.path, entry.line, entry.describe_end())


def _find_unused_rules(
    manifest: Manifest, files: Sequence[SchemaFile], owned: Collection[str]
) -> Iterator[ManifestWarning]:
    """Yield a warning for each rule for files or subjects that applies to none."""
    used_rules = set(map(manifest.find_rule, dict.fromkeys(file.path for file in files)))
    for file_rule in manifest.files:
        if file_rule not in used_rules:
            message = f"`{file_rule.path}` in [[files]] applies to no file: {_ADVICE}"
            yield ManifestWarning(manifest.path, file_rule.line, message)
    rules = map(manifest.find_subject_rule, dict.fromkeys(file.subject for file in files))
    used_names = {*owned, *(rule.name for rule in rules if rule is not None)}
    for rule in manifest.subjects:
        if rule.name not in used_names:
            message = f"`{rule.name}` in [[subjects]] applies to no file's subject: {_ADVICE}"
            yield ManifestWarning(manifest.path, rule.line, message)


def find_unused_overrides(
    manifest: Manifest, entries: Iterable[SeverityOverride], used: Collection[SeverityOverride]
) -> Iterator[ManifestWarning]:
    """Yield a warning for each entry for a check or lint rule whose path and subject match no file."""
    for entry in entries:
        if entry not in used:
            message = f"the entry for {entry.name} applies to no file: {_ADVICE}"
            yield ManifestWarning(manifest.path, entry.line, message)


def find_unused_waivers(manifest: Manifest, used: Collection[Waiver], *, of_lint: bool) -> Iterator[ManifestWarning]:
    """Yield a warning for each waiver, of lint rules or of checks, that covers no finding."""
    unless = ", unless another environment needs it" if len(manifest.environments) > 1 and not of_lint else ""
    for waiver in manifest.waivers:
        if waiver.is_for_lint is of_lint and waiver not in used:
            message = (
                f"the waiver of {waiver.check} for `{waiver.subject}` covers no finding: it can be removed{unless}"
            )
            yield ManifestWarning(manifest.path, waiver.line, message)
