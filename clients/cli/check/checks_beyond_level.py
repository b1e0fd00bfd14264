"""Checks beyond those of the level: of dangerous changes, and those that the manifest turns on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from contractlog.clients.cli.check.file_findings import list_file_findings, locate_findings
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, detailed_step_budget, find_differences
from contractlog.compatibility.finding import Comparison, Verdict
from contractlog.compatibility.formats import ALLOWED_CHECKS, CATALOGUE, FORMATS
from contractlog.compatibility.json_positions import split_pointer
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.located_finding import LocatedFinding
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.step_budget import StepBudget

__all__ = ["FindingBeyondLevel", "Previous", "ReportedChanges", "find_beyond_level", "list_nonconformities"]

_MAX_FINDINGS: Final = 100  #: of a file that are located


@dataclass(frozen=True, slots=True)
class FindingBeyondLevel:
    """A finding of a check that no level requires: the registry accepts the schema all the same."""

    finding: LocatedFinding
    severity: Severity


@dataclass(frozen=True, slots=True)
class Previous:
    """The version before a new one."""

    schema: ParsedVersion
    name: str
    text: str


@dataclass
class ReportedChanges:
    """Findings of the files so far: a change of a shared type is reported in its file only."""

    _changes: set[tuple[str, str, str]] = field(default_factory=set)  #: subject, check, pointer

    def omit_known(
        self, subject: str, findings: Iterable[FindingBeyondLevel], dependencies: Mapping[str, str]
    ) -> Iterator[FindingBeyondLevel]:
        """Yield the findings of a file, without those that files with its types have.

        Args:
            subject: subject of the file.
            findings: its findings.
            dependencies: name -> subject of the schemas that it refers to.
        """
        for each in findings:
            name, pointer = split_pointer(each.finding.pointer)
            if not name:
                self._changes.add((subject, each.finding.finding.check, pointer))
            elif (dependencies.get(name), each.finding.finding.check, pointer) in self._changes:
                continue
            yield each


def list_nonconformities(
    file: SchemaFile, parsed: ParsedSchema, severities: Mapping[str, Severity | None]
) -> Iterator[FindingBeyondLevel]:
    """Yield the findings about a schema alone, unless they are turned off."""
    for located in list_file_findings(file, parsed):
        severity = severities.get(located.finding.check, Severity.WARNING)
        if severity is not None:
            yield FindingBeyondLevel(located, severity)


def find_beyond_level(
    file: SchemaFile,
    parsed: ParsedSchema,
    previous: Previous,
    verdict: Verdict,
    *,
    policy: Policy,
    severities: Mapping[str, Severity | None],
) -> Iterator[FindingBeyondLevel]:
    """Compare a schema with the version before it, and yield findings that its level admits.

    Args:
        file: the file of the schema.
        parsed: the schema.
        previous: the version before it.
        verdict: the findings that the level rejects; checks that have some are not reported twice.
        policy: the policy of the subject.
        severities: severities of checks that differ from the default ones; None: the check is off.
    """
    dangerous = FORMATS[parsed.type].dangerous_checks
    chosen = {**dict.fromkeys(dangerous, Severity.WARNING), **severities}
    rejected = {finding.check for finding in verdict.findings}
    active = {check: severity for check, severity in chosen.items() if severity is not None and check not in rejected}
    selected = frozenset(active) & ALLOWED_CHECKS[policy]
    if not selected or verdict.level is Level.NONE or parsed.type is not previous.schema.parsed.type:
        return
    steps = StepBudget(detailed_step_budget(len(Direction)))
    comparisons = tuple(
        Comparison(
            direction,
            tuple(
                finding
                for finding in find_differences(
                    parsed, previous.schema.parsed, direction, policy, selected, steps=steps
                )
                if finding.check in selected and _applies(finding.check, dangerous, direction, verdict.level)
            ),
            previous.schema.version,
        )
        for direction in (Direction.BACKWARD, *(set(verdict.level.directions) - {Direction.BACKWARD}))
    )
    located = locate_findings(
        file,
        parsed,
        Verdict(verdict.level, comparisons),
        [previous.schema],
        {previous.schema.version: (previous.name, previous.text)},
        policy=policy,
        additional_checks=selected,
    )
    for finding in islice(located, _MAX_FINDINGS):
        yield FindingBeyondLevel(finding, active[finding.finding.check])


def _applies(check: str, dangerous: frozenset[str], direction: Direction, level: Level) -> bool:
    """Return whether a check is made in a direction.

    Checks of a change compare backward, others in the directions of the level.
    """
    if check in dangerous or CATALOGUE[check].of_candidate:
        return direction is Direction.BACKWARD
    return direction in level.directions
