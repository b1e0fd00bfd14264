"""Outcome of the check of a schema file, with its findings and waivers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from contractlog.clients.cli.check.checks_beyond_level import FindingBeyondLevel
from contractlog.clients.cli.check.finding_reach import FindingReach
from contractlog.clients.cli.check.impact import Impact, UnreadableRecords
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.schema_folder.waivers import Waiver
from contractlog.compatibility.level import Level
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.located_finding import LocatedFinding
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["FAILED", "MAX_FINDINGS", "FileCheck", "FileCheckOutcome"]

FileCheckOutcome = Literal[
    "registered", "unchanged", "compatible", "waived", "incompatible", "data_unreadable", "check_failed", "refused"
]

MAX_FINDINGS: Final = 100  #: most findings listed per file
#: outcomes of files whose findings prevent registration
FAILED: Final[frozenset[FileCheckOutcome]] = frozenset({"incompatible", "data_unreadable", "check_failed"})


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Outcome of the check of a file."""

    file: SchemaFile
    outcome: FileCheckOutcome
    level: Level | None  #: None for a version that is registered already: it is not checked
    registered: RegisteredSchema | None = None  #: the existing version with this content
    compared: tuple[str, ...] = ()  #: descriptions of the versions and files it was compared with
    findings: tuple[LocatedFinding, ...] = ()  #: incompatibilities
    findings_beyond_level: tuple[FindingBeyondLevel, ...] = ()
    messages: tuple[str, ...] = ()  #: reasons given by the registry
    notes: tuple[str, ...] = ()
    impact: Impact | None = None  #: None: unknown
    needs_level_change: bool = False  #: whether its level rejects it, though waivers cover all incompatibilities
    waivers: tuple[Waiver, ...] = ()  #: those that are for a finding, expired ones included
    waived: tuple[tuple[LocatedFinding, Waiver], ...] = ()  #: findings that a current waiver covers
    change_command: str = ""  #: opens a change request, if the new version needs approvals; empty: it does not
    reaches: Mapping[LocatedFinding, FindingReach] | None = None  #: of the incompatibilities; None without lineage

    @property
    def data_findings(self) -> tuple[UnreadableRecords, ...]:
        """Findings about records of topics, errors and warnings."""
        return () if self.impact is None else self.impact.findings

    @property
    def nondecisive_findings(self) -> tuple[FindingBeyondLevel, ...]:
        """Findings that the level does not decide, errors first: checks beyond it, and unreadable records."""
        data = (FindingBeyondLevel(each.finding, each.severity) for each in self.data_findings)
        order = list(Severity)
        return tuple(sorted((*data, *self.findings_beyond_level), key=lambda each: order.index(each.severity)))

    @property
    def active_findings(self) -> tuple[FindingBeyondLevel, ...]:
        """Those of ``nondecisive_findings`` that are shown: no waiver silences them."""
        return tuple(each for each in self.nondecisive_findings if not self.is_silenced(each))

    @property
    def silenced_findings(self) -> tuple[FindingBeyondLevel, ...]:
        """Those of ``nondecisive_findings`` that a waiver silences."""
        return tuple(each for each in self.nondecisive_findings if self.is_silenced(each))

    def is_silenced(self, finding: FindingBeyondLevel) -> bool:
        """Return whether a waiver silences a finding; errors from data are shown with their waivers."""
        decisive = any(each.is_error and each.finding == finding.finding for each in self.data_findings)
        return not decisive and self.find_waiver(finding.finding) is not None

    def find_waiver(self, finding: LocatedFinding) -> Waiver | None:
        """Return the current waiver that covers a finding, or None."""
        return next((waiver for waived, waiver in self.waived if waived == finding), None)

    def count_findings(self, severity: Severity) -> int:
        """Return the number of findings beyond the level and data findings of a severity that are not waived."""
        return sum(each.severity is severity for each in self.active_findings)

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        registered = self.registered if self.registered and self.registered.schema_id else None  # 0: only in files
        return {
            "file": str(self.file.path),
            "subject": self.file.subject,
            "references": self.file.reference_bodies(),
            "outcome": self.outcome,
            "level": None if self.level is None else self.level.value,
            "version": None if registered is None else registered.version,
            "schema_id": None if registered is None else registered.schema_id,
            "compared_with": list(self.compared),
            "findings": list(self.finding_bodies()),
            "messages": list(self.messages),
            "notes": list(self.notes),
            "impact": None if self.impact is None else self.impact.body(),
        }

    def finding_bodies(self, *, incompatibilities: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects of the findings, with their severities and waivers."""
        for finding in self.findings if incompatibilities else ():
            is_error = self.outcome == "incompatible" or self.find_waiver(finding) is not None
            yield self._finding_body(finding, Severity.ERROR if is_error else Severity.NOTE)  # the registry admits it
        for each in self.nondecisive_findings:
            yield self._finding_body(each.finding, each.severity)

    def _finding_body(self, finding: LocatedFinding, severity: Severity) -> dict[str, Any]:
        waiver = self.find_waiver(finding)
        body = {
            **finding.body(),
            "severity": severity.value,
            "waiver": None if waiver is None else waiver.body(),
        }
        if self.reaches is not None and finding in self.findings:
            body["reached"] = self.reaches[finding].body() if finding in self.reaches else []
        return body
