"""The findings of a command, independent of the format in which they are reported."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from contractlog.compatibility.limits import truncate
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = [
    "MAX_MESSAGE",
    "SEVERITIES",
    "Report",
    "ReportSeverity",
    "ReportedFile",
    "ReportedFinding",
    "ReportedRule",
    "clean_text",
    "finding_lines",
    "fingerprint_findings",
    "message_text",
    "relative_path",
]

ReportSeverity = Literal["error", "warning", "note"]

MAX_MESSAGE: Final = 8_000  #: characters
SEVERITIES: Final[tuple[ReportSeverity, ...]] = ("error", "warning", "note")  #: most severe first


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """A finding in a file."""

    path: str  #: relative to the folder in which the command ran, with ``/``
    line: int | None  #: counted from 1; None if the finding is not at a position of this file
    column: int | None  #: in characters, counted from 1
    rule: str
    severity: ReportSeverity
    message: str
    details: tuple[str, ...] = ()  #: suggested fixes, one sentence each
    pointer: str = ""  #: JSON Pointer to the value in the schema
    diff: tuple[str, ...] = ()  #: lines of the first suggested fix as a unified diff
    group: str = ""  #: heading for this and the following findings of the file
    identity: str = ""  #: distinguishes findings of a rule in a file; independent of positions and of versions compared


@dataclass(frozen=True, slots=True)
class ReportedFile:
    """A file with its verdict; JUnit has a test case for each, whether it passes or not."""

    path: str
    outcome: Literal["passed", "failed", "unreadable"]
    verdict: str  #: a phrase, such as "incompatible with version 1 of `orders-value` at level BACKWARD"
    findings: tuple[ReportedFinding, ...] = ()
    notes: tuple[str, ...] = ()
    subject: str = ""  #: distinguishes the test cases of a file with several subjects
    #: title, header and rows of tables that Markdown shows above the findings
    tables: tuple[tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]], ...] = ()
    listed: bool = False  #: shown by Markdown even if it passes without findings


@dataclass(frozen=True, slots=True)
class ReportedRule:
    """The explanation of a rule."""

    id: str
    title: str
    explanation: str
    examples: tuple[tuple[str, str], ...] = ()  #: (caption, text)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a command."""

    command: str  #: such as ``contractlog check``
    summary: str  #: one sentence without untrusted text
    files: tuple[ReportedFile, ...]
    rules: Mapping[str, ReportedRule] = field(default_factory=dict)
    tool_version: str = ""
    completed: bool = True  #: False if an error ended the command early

    @property
    def findings(self) -> list[ReportedFinding]:
        """All findings, the most severe first, otherwise in the order of the files."""
        return _sort_findings(finding for file in self.files for finding in file.findings)

    @property
    def findings_with_notes(self) -> list[ReportedFinding]:
        """All findings in the same order; the first of a file also has notes, each of them once in the report."""
        findings: list[ReportedFinding] = []
        seen: set[str] = set()
        for file in self.files:
            if file.findings:
                first, *others = file.findings
                notes = [note for note in dict.fromkeys(file.notes) if note not in seen]
                seen.update(notes)
                details = (*first.details, *(f"note: {note}" for note in notes))
                findings += [replace(first, details=details), *others]
        return _sort_findings(findings)


def _sort_findings(findings: Iterable[ReportedFinding]) -> list[ReportedFinding]:
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def relative_path(path: Path, root: Path) -> str:
    """Return a path relative to ``root`` if it is below it, without ``..`` where possible, with ``/``."""
    absolute = Path(os.path.normpath(root / path))
    return (absolute.relative_to(root) if absolute.is_relative_to(root) else absolute).as_posix()


def clean_text(text: str) -> str:
    r"""Escape everything in a text of several lines that a terminal, a log or an XML parser might act on.

    >>> clean_text("a\r\nb\x00c") == "a" + chr(10) + r"b\x00c"
    True
    """
    return "\n".join(escape_line(line.removesuffix("\r")) for line in text.split("\n"))


def message_text(finding: ReportedFinding) -> str:
    """Return message and details, cut at ``MAX_MESSAGE``; a registry may respond with whole schemas."""
    return truncate("\n".join(map(clean_text, (finding.message, *finding.details))), MAX_MESSAGE)


def finding_lines(finding: ReportedFinding) -> Iterator[str]:
    """Yield a finding as lines of plain text: position and rule, message, fixes."""
    position = "".join(f":{number}" for number in (finding.line, finding.column) if number is not None)
    pointer = f" at {finding.pointer}" if finding.pointer else ""
    yield escape_line(f"{finding.path}{position}: {finding.rule}{pointer}")
    yield from (f"    {line}" for line in message_text(finding).split("\n"))


def fingerprint_findings(findings: list[ReportedFinding]) -> list[str]:
    """Return a unique identifier for each finding that does not depend on other parts of the file."""
    counts: Counter[tuple[str, str, str]] = Counter()
    fingerprints = []
    for finding in findings:
        key = (finding.path, finding.rule, finding.identity)
        identity = "\0".join((*key, str(counts[key])))
        fingerprints.append(sha256(identity.encode("utf-8", "surrogatepass")).hexdigest())
        counts[key] += 1
    return fingerprints
