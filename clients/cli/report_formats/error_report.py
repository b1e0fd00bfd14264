"""Reports of errors that end a command: in schema files, in files that control it, of the registry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    relative_path,
)
from contractlog.clients.file_errors import ControlFile, FileError, list_file_errors
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.name_lists import list_first

__all__ = [
    "ERROR_RULES",
    "STEP_FAILED",
    "EndingError",
    "error_report",
    "failed_step",
    "report_unreadable",
    "report_unreadable_files",
]

FAILURE_FORMAT: Final = "contractlog.failure/1"
_MAX_NAMES: Final = 25  #: most steps that a finding lists
_POSITION: Final = re.compile(
    r"(\d+):(\d+): (.*)", re.DOTALL
)  # of a message about a file, after the path that it starts with

UNREADABLE_FILE: Final = ReportedRule(
    "UNREADABLE_FILE",
    "The file cannot be read as a schema",
    "The file cannot be read, is not a valid schema, or has no subject.",
)
REGISTRY_FAILED: Final = ReportedRule(
    "REGISTRY_FAILED",
    "The registry cannot be reached, or rejected a request",
    "The command ended before it had compared all files with the registry.",
)
COMMAND_FAILED: Final = ReportedRule(
    "COMMAND_FAILED",
    "The command cannot run as it was called",
    "An argument, a variable of the environment, or something that these name cannot be used, such as a git revision "
    "that does not exist. The message says what to change.",
)
STEP_FAILED: Final = ReportedRule(
    "STEP_FAILED",
    "A step failed after others were made",
    "What was made before the error stays, and what follows was not reached. Run the command again: it completes the "
    "rest.",
)
_CONTROL_FILES: Final = {
    ControlFile.MANIFEST: ReportedRule(
        ControlFile.MANIFEST,
        "The manifest is not valid",
        "The manifest cannot be read, is not TOML, or has an entry that contradicts its JSON Schema, another entry, or "
        "the arguments of the command.",
    ),
    ControlFile.LOCK: ReportedRule(
        ControlFile.LOCK,
        "The lock is missing or not valid",
        "`contractlog pull` writes contractlog.lock. Restore it, or pull again.",
    ),
    ControlFile.IGNORE_FILE: ReportedRule(
        ControlFile.IGNORE_FILE,
        "The list of ignored files cannot be read",
        ".contractlogignore is a text file in UTF-8 with a pattern in each line.",
    ),
    ControlFile.PLAN: ReportedRule(
        ControlFile.PLAN,
        "The saved plan cannot be applied",
        "The file was not written by `contractlog plan --out`, is for another registry, or was moved; plan again.",
    ),
}
ERROR_RULES: Final = {
    rule.id: rule for rule in (UNREADABLE_FILE, REGISTRY_FAILED, COMMAND_FAILED, *_CONTROL_FILES.values())
}
_SUMMARIES: Final = {
    REGISTRY_FAILED.id: "the registry cannot be reached, or rejected a request",
    COMMAND_FAILED.id: "the command cannot run as it was called",
}


@dataclass(frozen=True, slots=True)
class EndingError:
    """An error that ended a command before it had results."""

    command: str
    path: str  #: the file or folder that an error without a position is reported for
    error: Exception
    message: str  #: for people

    def report_files(self, root: Path) -> list[ReportedFile]:
        """Return the files that the error is about, at least one."""
        facts = self.error.facts if isinstance(self.error, UsageError) else {}
        if facts.get("unreadable_files"):
            return report_unreadable_files(facts["unreadable_files"], root)
        errors = list_file_errors(self.error)
        if errors:
            return _report_control_files(errors, root)
        rule = COMMAND_FAILED if isinstance(self.error, UsageError) else REGISTRY_FAILED
        name = relative_path(Path(self.path), root)
        finding = ReportedFinding(name, None, None, rule.id, "error", self.message, tuple(facts.get("details", ())))
        return [ReportedFile(name, "unreadable", self.message, (finding,))]

    def body(self) -> dict[str, Any]:
        """Return the JSON document in the place of that of the command."""
        findings = (finding for file in self.report_files(Path.cwd()) for finding in file.findings)
        return {"format": FAILURE_FORMAT, "command": self.command, "errors": list(map(error_body, findings))}


def error_report(ending: EndingError, root: Path, tool_version: str) -> Report:
    """Build the report of an error that ended a command before it had results."""
    files = ending.report_files(root)
    first = files[0].findings[0].rule
    summary = _SUMMARIES.get(first) or f"{ERROR_RULES[first].title[0].lower()}{ERROR_RULES[first].title[1:]}"
    rules = {finding.rule: ERROR_RULES[finding.rule] for file in files for finding in file.findings}
    return Report(ending.command, f"ended early: {summary}", tuple(files), rules, tool_version, completed=False)


def error_body(finding: ReportedFinding) -> dict[str, Any]:
    """Return the JSON object of an error that ended a command."""
    return {
        "rule": finding.rule,
        "file": finding.path,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
    }


def failed_step(
    path: str, message: str, identity: str, done: Sequence[str], not_reached: Sequence[str]
) -> ReportedFinding:
    """Return the error that ended a command midway, with what was done and what was not."""
    parts = (("done before it", done), ("not reached", not_reached))
    details = tuple(f"{title}: {list_first(names, _MAX_NAMES)}" for title, names in parts if names)
    return ReportedFinding(path, None, None, STEP_FAILED.id, "error", message, details, identity=identity)


def report_unreadable_files(problems: Iterable[tuple[Path, Exception]], root: Path) -> list[ReportedFile]:
    """Return the files that cannot be read; errors in the manifest and the like are reported there, once."""
    control: dict[FileError, None] = {}
    files = []
    for path, error in problems:
        errors = list_file_errors(error)
        control |= dict.fromkeys(errors)
        files += [] if errors else [report_unreadable(path, str(error), root)]
    return files + _report_control_files(control, root)


def report_unreadable(path: Path, message: str, root: Path) -> ReportedFile:
    """Return a schema file that cannot be read, with the position from its message."""
    name = relative_path(path, root)
    line = column = None
    if message.startswith(f"{path}:"):
        message = message.removeprefix(f"{path}:").lstrip()
        if match := _POSITION.fullmatch(message):
            line, column, message = int(match[1]), int(match[2]), match[3]
    finding = ReportedFinding(name, line, column, UNREADABLE_FILE.id, "error", message)
    return ReportedFile(name, "unreadable", "cannot be read as a schema", (finding,))


def _report_control_files(errors: Iterable[FileError], root: Path) -> list[ReportedFile]:
    """Return each file that controls the command and has errors."""
    by_path: dict[str, list[ReportedFinding]] = {}
    for each in errors:
        name = relative_path(each.path, root)
        finding = ReportedFinding(name, each.line, each.column, each.rule, "error", each.message, identity=each.message)
        by_path.setdefault(name, []).append(finding)
    return [
        ReportedFile(name, "unreadable", ERROR_RULES[findings[0].rule].title, tuple(findings))
        for name, findings in by_path.items()
    ]
