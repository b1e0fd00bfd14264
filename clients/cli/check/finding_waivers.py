"""Waivers of the manifest, applied to the findings of a file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from contractlog.clients.cli.check.file_check import MAX_FINDINGS, FileCheck, FileCheckOutcome
from contractlog.clients.cli.check.impact import UnreadableRecords
from contractlog.clients.cli.schema_folder.waivers import Waiver
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.located_finding import LocatedFinding

__all__ = ["apply_waivers"]


def apply_waivers(check: FileCheck, waivers: Sequence[Waiver], dependencies: Mapping[str, str]) -> FileCheck:
    """Return the check with the waivers of its findings.

    Its outcome is that of the findings that no waiver covers. A finding from data is covered by a waiver for it, or by
    waivers for all its causes. The waivers of errors are named in the notes, with those that have expired.

    Args:
        check: the check; its outcome is `incompatible` or `compatible`.
        waivers: those of the manifest, expired ones included.
        dependencies: name -> subject of the schemas that the file refers to.
    """
    breaking = check.findings if check.outcome == "incompatible" else ()
    decisive = [*breaking, *(each for data in check.data_findings if data.is_error for each in _list_parts(data))]
    findings = [*decisive, *(each.finding for each in check.findings_beyond_level)]
    findings += [each for data in check.data_findings if not data.is_error for each in _list_parts(data)]

    def is_for(waiver: Waiver, finding: LocatedFinding) -> bool:
        return waiver.covers(finding.finding.check, finding.pointer, check.file.subject, dependencies)

    used = tuple(waiver for waiver in waivers if any(is_for(waiver, finding) for finding in findings))
    today = datetime.now(UTC).date()
    current = [waiver for waiver in used if waiver.until >= today]
    pairs = [(finding, waiver) for finding in findings for waiver in current if is_for(waiver, finding)]
    waived = dict(reversed(pairs))  # of several waivers the first
    for data in check.data_findings:
        if data.finding not in waived and data.has_all_causes and waived.keys() >= set(data.causes):
            waived[data.finding] = waived[data.causes[0]]
    outcome = _decide_outcome(check, breaking, waived)
    of_errors = [waiver for waiver in current if any(is_for(waiver, finding) for finding in decisive)]
    notes = [waiver.describe() for waiver in of_errors]
    notes += [waiver.describe_end() for waiver in used if waiver not in current]
    if of_errors and outcome in {"incompatible", "data_unreadable"}:
        notes.append(f"not every {'incompatibility' if outcome == 'incompatible' else 'finding from data'} is waived")
    return replace(
        check,
        outcome=outcome,
        notes=(*check.notes, *dict.fromkeys(notes)),
        needs_level_change=outcome == "waived" and check.outcome == "incompatible",
        waivers=used,
        waived=tuple(waived.items()),
    )


def _list_parts(data: UnreadableRecords) -> Iterator[LocatedFinding]:
    """Yield a finding from data and its causes."""
    yield data.finding
    yield from data.causes


def _decide_outcome(
    check: FileCheck, breaking: Sequence[LocatedFinding], waived: Collection[LocatedFinding]
) -> FileCheckOutcome:
    """Return the outcome that the findings have, without those that are waived."""
    is_incompatible = check.outcome == "incompatible"
    if is_incompatible and not (0 < len(breaking) < MAX_FINDINGS and all(each in waived for each in breaking)):
        return "incompatible"
    unreadable = [each.finding for each in check.data_findings if each.is_error]
    if not all(each in waived for each in unreadable):
        return "data_unreadable"
    if any(each.severity is Severity.ERROR and each.finding not in waived for each in check.findings_beyond_level):
        return "check_failed"
    return "waived" if is_incompatible or unreadable else "compatible"
