"""Implementation of ``contractlog register``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.check_runner import parse_all, print_check
from contractlog.clients.cli.file_check import FileCheck, SubjectChecker, find_registered
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import Tone, count_noun, print_json, print_message, print_result, with_tone
from contractlog.clients.cli.schema_files import SchemaFile, UnreadableFiles, collect_files, subject_from_name
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    IncompatibleSchema,
    InvalidSchema,
    PayloadTooLarge,
    SchemaTooLarge,
    UsageError,
)
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema
from contractlog.compatibility.terminal_text import escape_line

__all__ = ["run"]

FORMAT: Final = "contractlog.register/1"

RegistrationOutcome = Literal["registered", "unchanged", "refused", "skipped", "would register"]


@dataclass(frozen=True, slots=True)
class FileRegistration:
    """Outcome of the registration of a file."""

    file: SchemaFile
    outcome: RegistrationOutcome
    schema: RegisteredSchema | None = None
    check: FileCheck | None = None  #: the check, with the reason if it was refused
    reason: str = ""  #: reason if it was skipped

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        schema = self.schema
        return {
            "file": str(self.file.path),
            "subject": self.file.subject,
            "outcome": self.outcome,
            "version": None if schema is None else schema.version,
            "schema_id": None if schema is None else schema.schema_id,
            "refusal": None if self.check is None or self.outcome != "refused" else self.check.body(),
        }


def run(options: Namespace) -> int:
    """Register the files, print the outcomes, and return the exit code."""
    unreadable = UnreadableFiles()
    groups = collect_files(options.files, subject=options.subject, references=options.references, unreadable=unreadable)
    steps: list[FileRegistration] = []
    try:
        with connect(options) as registry:
            parsed_files = parse_all(groups, registry, unreadable)
            if not options.keep_going:
                unreadable.raise_errors("nothing was registered")
            for step in _register_subjects(registry, parsed_files, options, unreadable):
                steps.append(step)
                if options.format == "text":
                    _print_step(step)
    finally:
        if options.format == "json":
            print_json({"format": FORMAT, "dry_run": options.dry_run, "files": [step.body() for step in steps]})
    refused = [step for step in steps if step.outcome == "refused"]
    if options.format == "text" and steps:
        _print_summary(steps, refused)
    unreadable.raise_errors()
    if not refused:
        return exit_codes.CLEAN
    return exit_codes.REFUSED if _all_unpermitted(refused) else exit_codes.FINDINGS


def _register_subjects(
    registry: Registry,
    parsed_files: dict[str, list[tuple[SchemaFile, ParsedSchema]]],
    options: Namespace,
    unreadable: UnreadableFiles,
) -> Iterator[FileRegistration]:
    """Register the subjects whose files are all readable; skip the files of the others."""
    unreadable_subjects = {options.subject or subject_from_name(path) for path, _ in unreadable.problems}
    readable = {subject: files for subject, files in parsed_files.items() if subject not in unreadable_subjects}
    for subject in filter(unreadable_subjects.__contains__, parsed_files):
        for file, _ in parsed_files[subject]:
            yield FileRegistration(
                file, "skipped", reason=f"because another file of `{subject}` cannot be read as a schema"
            )
    yield from _register_files(registry, readable, options)


def _register_files(
    registry: Registry, parsed_files: dict[str, list[tuple[SchemaFile, ParsedSchema]]], options: Namespace
) -> Iterator[FileRegistration]:
    if options.dry_run or not options.keep_going:
        planned = list(_plan_files(registry, parsed_files, options))
        refused = any(step.outcome == "refused" for step in planned)
        if options.dry_run or refused:
            for step in planned:
                withheld = step.outcome == "would register" and not options.dry_run
                yield replace(step, outcome="skipped", reason="because other files cannot be") if withheld else step
            return
    for subject, files in parsed_files.items():
        if options.level:
            registry.set_level(options.level, subject)
        stopped = False
        for file, parsed in files:
            step = _skip_file(file) if stopped else _register_file(registry, file, parsed, options)
            stopped = stopped or step.outcome == "refused"
            yield step


def _plan_files(
    registry: Registry, parsed_files: dict[str, list[tuple[SchemaFile, ParsedSchema]]], options: Namespace
) -> Iterator[FileRegistration]:
    """Check every file without registering any."""
    for subject, files in parsed_files.items():
        checker = SubjectChecker(registry, subject, options.normalize, options.level)
        stopped = False
        for file, parsed in files:
            if stopped:
                yield _skip_file(file)
                continue
            check = checker.check(file, parsed)
            stopped = check.outcome in {"incompatible", "refused"}
            if check.registered is not None:
                yield FileRegistration(file, "unchanged", check.registered)
            else:
                yield FileRegistration(file, "refused" if stopped else "would register", check=check)


def _skip_file(file: SchemaFile) -> FileRegistration:
    return FileRegistration(file, "skipped", reason=f"because an earlier version of `{file.subject}` was refused")


def _register_file(registry: Registry, file: SchemaFile, parsed: ParsedSchema, options: Namespace) -> FileRegistration:
    try:
        existing = find_registered(registry, file, normalize=options.normalize)
        if existing is not None:
            return FileRegistration(file, "unchanged", existing)
        return FileRegistration(
            file, "registered", registry.register(file.subject, file.draft, normalize=options.normalize)
        )
    except (InvalidSchema, PayloadTooLarge, SchemaTooLarge) as error:
        raise UsageError(f"{file.path}: rejected by the registry: {error}") from None
    except IncompatibleSchema as error:
        checker = SubjectChecker(registry, file.subject, options.normalize)
        return FileRegistration(file, "refused", check=_with_reason(checker.check(file, parsed), error))


def _with_reason(check: FileCheck, error: IncompatibleSchema) -> FileCheck:
    if check.outcome == "incompatible":
        return check
    return FileCheck(check.file, "incompatible", check.level, messages=(str(error),), compared=check.compared)


def _print_step(step: FileRegistration) -> None:
    if step.check is not None and step.outcome == "refused":
        print_check(step.check)
        return
    tone = Tone.GOOD if step.outcome in {"registered", "would register"} else Tone.PLAIN
    print_result(with_tone(tone, escape_line(f"{step.file.path}: {_describe_step(step)}")))


def _describe_step(step: FileRegistration) -> str:
    subject = f"`{step.file.subject}`"
    if step.outcome == "would register":
        return f"would be a new version of {subject}"
    if step.outcome == "skipped" or step.schema is None:
        return f"not registered, {step.reason}"
    version = "a new version" if step.schema.version is None else f"version {step.schema.version}"
    state = "registered as" if step.outcome == "registered" else "registered already as"
    return f"{state} {version} of {subject}, id {step.schema.schema_id}"


def _print_summary(steps: list[FileRegistration], refused: list[FileRegistration]) -> None:
    new = sum(step.outcome == "registered" for step in steps)
    unchanged = sum(step.outcome == "unchanged" for step in steps)
    planned = sum(step.outcome == "would register" for step in steps)
    parts = [
        f"{count_noun(new, 'file')} registered" if new else "",
        f"{count_noun(planned, 'file')} would be registered" if planned else "",
        f"{unchanged:,} registered already" if unchanged else "",
        f"{len(refused):,} refused" if refused else "",
    ]
    if refused and not (new or planned):
        parts.append("nothing was registered" if not unchanged else "nothing new was registered")
    after = ""
    if refused:
        after = (
            "; ask an operator of the registry"
            if _all_unpermitted(refused)
            else "; fix the findings above and register again"
        )
    print_message((", ".join(filter(None, parts)) or "nothing was registered") + after)


def _all_unpermitted(refused: list[FileRegistration]) -> bool:
    """Return whether all refusals are due to permissions or modes."""
    return all(step.check is not None and step.check.outcome == "refused" for step in refused)
