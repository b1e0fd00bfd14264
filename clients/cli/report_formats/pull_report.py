"""Report of ``contractlog pull`` in the formats of CI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.pull.pulled_files import MissingSubject, PulledFile
from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    relative_path,
)

__all__ = ["pull_report"]

FILE_EDITED: Final = ReportedRule(
    "FILE_EDITED",
    "The file was edited and is kept",
    "The content of the file is not a registered version, or not the one that was pulled last. Register the edit with "
    "`contractlog apply`, or overwrite it with `contractlog pull --force`.",
)
SUBJECT_LEFT_OUT: Final = ReportedRule(
    "SUBJECT_LEFT_OUT",
    "A subject of the registry was not pulled",
    "It was deleted meanwhile, its alias leads to a subject without versions or to another context, or its file is "
    "that of another subject with another schema.",
)


def pull_report(
    pulled: Sequence[PulledFile], missing: Sequence[MissingSubject], lock: Path, root: Path, tool_version: str
) -> Report:
    """Build the report of a pull.

    Args:
        pulled: the versions with their files.
        missing: subjects without a file, which are reported for the lock.
        lock: the lock of the folder.
        root: the folder that paths are relative to, if they are below it.
        tool_version: the version of contractlog.
    """
    files = [_report_file(written, relative_path(written.path, root)) for written in pulled]
    files += [_report_missing(each, relative_path(lock, root)) for each in missing]
    rules = {rule.id: rule for rule in (FILE_EDITED, SUBJECT_LEFT_OUT)}
    used = {finding.rule for file in files for finding in file.findings}
    summary = _summarize(pulled, missing)
    return Report("contractlog pull", summary, tuple(files), {name: rules[name] for name in sorted(used)}, tool_version)


def _report_file(written: PulledFile, path: str) -> ReportedFile:
    version = f"version {written.schema.version} of `{written.subject}`"
    if written.outcome != "edited":
        return ReportedFile(path, "passed", f"{written.outcome}, {version}", subject=written.subject)
    message = f"{version} was not written: {written.reason}"
    finding = ReportedFinding(path, None, None, FILE_EDITED.id, "error", message, identity=written.subject)
    return ReportedFile(path, "failed", "kept, because it was edited", (finding,), subject=written.subject)


def _report_missing(missing: MissingSubject, path: str) -> ReportedFile:
    message = f"`{missing.subject}` is left out: {missing.message}"
    finding = ReportedFinding(path, None, None, SUBJECT_LEFT_OUT.id, "error", message, identity=missing.subject)
    return ReportedFile(path, "failed", f"without `{missing.subject}`", (finding,), subject=missing.subject)


def _summarize(pulled: Sequence[PulledFile], missing: Sequence[MissingSubject]) -> str:
    """Return one sentence, without the names of files and subjects."""
    outcomes = Counter(written.outcome for written in pulled)
    parts = [f"{count_noun(len(pulled), 'file')}: {outcomes['new']:,} new, {outcomes['changed']:,} changed"]
    parts += [f"{count_noun(outcomes['edited'], 'edited file')} kept"] if outcomes["edited"] else []
    parts += [f"{count_noun(len(missing), 'subject')} left out"] if missing else []
    return ", ".join(parts)
