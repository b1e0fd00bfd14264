"""Entries of the manifest for lint: severities of rules, and waivers of single findings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.manifest_warnings import (
    ManifestWarning,
    find_ended_entries,
    find_unused_overrides,
    find_unused_waivers,
    is_whole_folder,
)
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.schema_folder.severity_overrides import SeverityOverride
from contractlog.clients.cli.schema_folder.waivers import Waiver
from contractlog.compatibility.formats import list_names
from contractlog.compatibility.lint.rule import LintFinding, LintRule

__all__ = ["FileLint", "LintEntries"]


@dataclass(frozen=True, slots=True)
class FileLint:
    """Rules for a file, and the waivers for its findings."""

    rules: Sequence[LintRule]
    subjects: Sequence[str] = ()
    waivers: Sequence[Waiver] = ()  #: of lint rules, expired ones included
    today: date = date.max

    def find_waiver(self, finding: LintFinding) -> Waiver | None:
        """Return the current waiver that covers a finding, or None."""
        return next((waiver for waiver in self.list_waivers(finding) if waiver.until >= self.today), None)

    def list_waivers(self, finding: LintFinding) -> list[Waiver]:
        """Return the waivers for a finding, expired ones included."""
        return [
            waiver
            for waiver in self.waivers
            if any(waiver.covers(finding.rule.id, finding.pointer, subject, {}) for subject in self.subjects)
        ]


@dataclass
class LintEntries:
    """The manifest's entries for lint rules, as far as the day allows."""

    manifest: Manifest | None
    today: date
    waivers: Sequence[Waiver] = field(init=False)  #: of lint rules, expired ones included
    used: set[SeverityOverride] = field(default_factory=set)  #: entries for files that were linted

    def __post_init__(self) -> None:
        self.waivers = [] if self.manifest is None else [each for each in self.manifest.waivers if each.is_for_lint]

    @property
    def expired(self) -> list[SeverityOverride]:
        """Entries for rules whose last day has passed."""
        return [] if self.manifest is None else [each for each in self.manifest.lint if each.is_expired(self.today)]

    def select(self, file: SchemaFile, rules: Sequence[LintRule]) -> FileLint:
        """Return the rules for a file: without those that are off, the others with their severities.

        Raises:
            UsageError: the manifest's subjects do not fit the file.
        """
        manifest = self.manifest
        if manifest is None or not (manifest.lint or self.waivers):
            return FileLint(rules)
        subjects = self._list_subjects(file, manifest)
        self.used.update(manifest.find_overrides(manifest.lint, file.path, subjects))
        severities = manifest.select_severities(manifest.lint, file.path, subjects, self.today)
        chosen = ((rule, severities.get(rule.id, rule.severity)) for rule in rules)
        selected = [replace(rule, severity=severity) for rule, severity in chosen if severity is not None]
        return FileLint(selected, subjects, self.waivers, self.today)

    def _list_subjects(self, file: SchemaFile, manifest: Manifest) -> Sequence[str]:
        """Return the subjects of a file: by the manifest, else by its name, else by its type."""
        if not self.waivers and all(entry.subject == "*" for entry in manifest.lint):
            return ()
        rule = manifest.find_rule(file.path)
        if file.subject and not (rule and rule.names_subjects):
            return [file.subject]
        names = list_names(file.draft.type, file.draft.text)
        return rule.list_subjects(file.path, names) if rule and rule.names_subjects else [names.type_name]

    def list_warnings(
        self, files: Sequence[str], used_waivers: Collection[Waiver], *, complete: bool
    ) -> Iterator[ManifestWarning]:
        """Yield warnings about entries that have ended, and if the whole folder was linted, about unused ones.

        Args:
            files: the files and folders that the user named.
            used_waivers: the waivers for findings, expired ones included.
            complete: whether all rules were applied to all files.
        """
        manifest = self.manifest
        if manifest is None:
            return
        yield from find_ended_entries(manifest, manifest.lint, self.today)
        for waiver in used_waivers:
            if waiver.until < self.today:
                yield ManifestWarning(manifest.path, waiver.line, waiver.describe_end())
        if complete and is_whole_folder(manifest, files):
            yield from find_unused_overrides(manifest, manifest.lint, self.used)
            yield from find_unused_waivers(manifest, used_waivers, of_lint=True)
