"""Report of ``contractlog promote`` for CI, independent of the format."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.promotion.promoted_version import PromotedVersion
from contractlog.clients.cli.promotion.promotion_plan import PromotionPlanner
from contractlog.clients.cli.report_formats.error_report import STEP_FAILED, failed_step
from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    relative_path,
)

__all__ = ["promotion_report"]

PROMOTION_REFUSED: Final = ReportedRule(
    "PROMOTION_REFUSED",
    "The versions of a subject cannot be promoted",
    "The history of the subject in the target differs from that in the source, its next version is incompatible, its "
    "mode or missing permission prevents registration, or the target lacks a version that it refers to.",
)


def promotion_report(
    promotion: PromotionPlanner,
    versions: Sequence[PromotedVersion],
    root: Path,
    tool_version: str,
    *,
    paths: Mapping[str, Path],
    manifest: Path,
    failure: str = "",
) -> Report:
    """Build the report of a promotion.

    Args:
        promotion: the planner, after planning.
        versions: the versions that were registered or, without ``--apply``, would be.
        root: the folder that paths are relative to, if they are below it.
        tool_version: the version of contractlog.
        paths: a file of each subject.
        manifest: the path of the manifest, where notes that concern no subject in particular are shown.
        failure: the message of the error that ended the promotion after these versions; empty without an error.
    """
    names = {subject: relative_path(path, root) for subject, path in paths.items()}
    files = [_report_subject(promotion, versions, subject, name) for subject, name in names.items()]
    if failure:
        remaining = promotion.missing[len(versions) :]
        failed = remaining[0].subject if remaining else versions[-1].subject
        lists = [[f"version {each.version} of `{each.subject}`" for each in part] for part in (versions, remaining[1:])]
        finding = failed_step(names[failed], failure, failed, *lists)
        files = [_mark_unfinished(each, failed, finding, {version.subject for version in remaining}) for each in files]
    general = tuple(note.text for note in promotion.notes if note.subject is None)
    if general:
        name = relative_path(manifest, root)
        files.append(ReportedFile(name, "passed", "settings of the target", notes=general, listed=True))
    rules = {PROMOTION_REFUSED.id: PROMOTION_REFUSED} if promotion.refusals else {}
    rules |= {STEP_FAILED.id: STEP_FAILED} if failure else {}
    summary = _summarize(promotion, versions)
    if failure:
        rest = max(len(promotion.missing) - len(versions) - 1, 0)
        summary = f"ended early: {summary}; 1 step failed, {rest:,} not reached"
    return Report("contractlog promote", summary, tuple(files), rules, tool_version, completed=not failure)


def _mark_unfinished(
    file: ReportedFile, failed: str, finding: ReportedFinding, remaining: Collection[str]
) -> ReportedFile:
    """Mark a subject that has versions left as failed, with the error if the promotion ended at it."""
    if file.subject == failed:
        return replace(file, outcome="failed", findings=(*file.findings, finding))
    if file.subject in remaining:
        verdict = f"{file.verdict}; not completed, because an earlier step failed".removeprefix("; ")
        return replace(file, outcome="failed", verdict=verdict)
    return file


def _report_subject(
    promotion: PromotionPlanner, versions: Sequence[PromotedVersion], subject: str, path: str
) -> ReportedFile:
    source, target = promotion.source.name, promotion.target.name
    refusal = promotion.refusals.get(subject)
    own = [version for version in versions if version.subject == subject]
    notes = tuple(note.text for note in promotion.notes if note.subject == subject)
    findings: tuple[ReportedFinding, ...] = ()
    if refusal is not None:
        message = f"`{subject}`: {refusal.reason}"
        findings = (ReportedFinding(path, None, None, PROMOTION_REFUSED.id, "error", message, identity=subject),)
    header = (f"version in {source}", f"version in {target}", f"id in {source}", f"id in {target}")
    rows = tuple(_format_row(version) for version in own)
    return ReportedFile(
        path,
        "passed" if refusal is None else "failed",
        ", ".join(_describe_subject(promotion, own, subject)),
        findings,
        notes,
        subject,
        tables=(("Versions", header, rows),) if rows else (),
        listed=bool(rows or notes),
    )


def _describe_subject(promotion: PromotionPlanner, own: Sequence[PromotedVersion], subject: str) -> Iterator[str]:
    """Yield what happened to the versions of a subject, as phrases."""
    target = promotion.target.name
    missing = sum(version.subject == subject for version in promotion.missing)
    registered = sum(version.schema_id is not None for version in own)
    if registered:
        yield f"{count_noun(registered, 'version')} of `{subject}` registered in {target}"
    elif own and not promotion.refusals:
        yield f"{count_noun(len(own), 'version')} of `{subject}` would be registered in {target}"
    if subject in promotion.refusals:
        yield f"`{subject}` cannot be promoted to {target}"
    elif promotion.refusals and missing > registered:
        yield f"{count_noun(missing - registered, 'version')} of `{subject}` not registered, because another cannot be"
    elif not missing:
        yield f"{target} has all versions of `{subject}`"


def _format_row(version: PromotedVersion) -> tuple[str, ...]:
    """Return the cells of a version; an id that the target assigns later is a dash."""
    planned = str(version.schema.schema_id) if version.keeps_id else "-"
    new_id = planned if version.schema_id is None else str(version.schema_id)
    return str(version.source_version), str(version.version), str(version.schema.schema_id), new_id


def _summarize(promotion: PromotionPlanner, versions: Sequence[PromotedVersion]) -> str:
    """Return one sentence, without the names of environments and subjects."""
    registered = sum(version.schema_id is not None for version in versions)
    missing = count_noun(len(promotion.missing), "version")
    if promotion.refusals:
        done = f"{registered:,} of {missing} registered" if registered else "nothing was registered"
        return f"{count_noun(len(promotion.refusals), 'subject')} cannot be promoted: {done}"
    if registered:
        return f"{count_noun(registered, 'version')} registered"
    return f"{missing} would be registered" if promotion.missing else "nothing to promote"
