"""Outcome of the registration of a file, and its text output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from contractlog.clients.cli.check.check_output import print_check
from contractlog.clients.cli.check.check_text import ReferencedFindings, impact_lines, lines_beyond_level
from contractlog.clients.cli.check.file_check import FileCheck
from contractlog.clients.cli.file_counts import count_part
from contractlog.clients.cli.output import Tone, count_noun, is_quiet, print_message, print_result, with_tone
from contractlog.clients.cli.schema_folder.contract_differences import (
    describe_same_text,
)
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = [
    "FileRegistration",
    "RegistrationOutcome",
    "all_unpermitted",
    "describe_outcome",
    "describe_step",
    "describe_version",
    "print_step",
    "report_interruption",
    "step_lines",
]

RegistrationOutcome = Literal["registered", "unchanged", "refused", "skipped", "would register"]


@dataclass(frozen=True, slots=True)
class FileRegistration:
    """Outcome of the registration of a file."""

    file: SchemaFile
    outcome: RegistrationOutcome
    schema: RegisteredSchema | None = None
    check: FileCheck | None = None  #: the check, with the reason if it was refused
    reason: str = ""  #: if it was skipped: a phrase with the outcome and the reason
    same_text: RegisteredSchema | None = None  #: a version with the text of the file, and other metadata or rules

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        schema = self.schema
        return {
            "file": str(self.file.path),
            "subject": self.file.subject,
            "references": self.file.reference_bodies(),
            "outcome": self.outcome,
            "version": None if schema is None else schema.version,
            "schema_id": None if schema is None else schema.schema_id,
            "refusal": None if self.check is None or self.outcome != "refused" else self.check.body(),
        }

    def finding_bodies(self) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects of the findings of a planned version, which the level admits."""
        if self.check is not None and self.outcome == "would register":
            for finding in self.check.finding_bodies(incompatibilities=False):
                yield {"file": str(self.file.path), "subject": self.file.subject, **finding}


def report_interruption(steps: Sequence[FileRegistration], files: Iterable[SchemaFile], *, settings: int = 0) -> None:
    """Print what was registered and set before an error."""
    new = [step.file for step in steps if step.outcome == "registered"]
    if new or settings:
        done = f"{count_part(new, files)} were registered"
        done += f" and {count_noun(settings, 'setting')} set" if settings else ""
        print_message(f"{done} before the error; run the command again")


def print_step(step: FileRegistration, referenced: ReferencedFindings | None = None) -> None:
    """Print the outcome for a file; add findings in types of other files to ``referenced``, if given."""
    if step.check is not None and step.outcome == "refused":
        print_check(step.check, referenced)
        return
    print_result(describe_step(step))
    for line in step_lines(step, referenced):
        print_result(line)


def step_lines(step: FileRegistration, referenced: ReferencedFindings | None = None) -> Iterator[str]:
    """Yield the lines below a planned version: findings that the level admits, impact, and waivers."""
    if step.outcome == "would register" and step.check is not None:
        yield from lines_beyond_level(step.check, referenced)
        yield from () if is_quiet() else impact_lines(step.check, with_findings=True)
        if step.check.outcome == "waived":
            yield from (f"    {escape_line(note)}" for note in step.check.notes)


def describe_step(step: FileRegistration) -> str:
    """Return one line with the file and its outcome."""
    tone = Tone.GOOD if step.outcome in {"registered", "would register"} else Tone.PLAIN
    return with_tone(tone, escape_line(f"{step.file.path}: {describe_outcome(step)}"))


def describe_version(step: FileRegistration) -> str:
    """Return the registered version of a file as a phrase."""
    version = None if step.schema is None else step.schema.version
    return f"`{step.file.subject}`" if version is None else f"version {version} of `{step.file.subject}`"


def describe_outcome(step: FileRegistration) -> str:
    """Return the outcome for a file as a phrase."""
    subject = f"`{step.file.subject}`"
    if step.outcome == "would register":
        reason = "" if step.same_text is None else f": {describe_same_text(step.file.draft, step.same_text)}"
        return f"would be a new version of {subject}{reason}"
    if step.outcome == "skipped" or step.schema is None:
        return step.reason
    version = "a new version" if step.schema.version is None else f"version {step.schema.version}"
    state = "registered as" if step.outcome == "registered" else "registered already as"
    return f"{state} {version} of {subject}, id {step.schema.schema_id}"


def all_unpermitted(refused: list[FileRegistration]) -> bool:
    """Return whether all refusals are due to permissions or modes."""
    return all(step.check is not None and step.check.outcome == "refused" for step in refused)
