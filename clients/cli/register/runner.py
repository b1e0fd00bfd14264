"""Implementation of ``contractlog register``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.check.file_check import FAILED, FileCheck
from contractlog.clients.cli.check.finding_text import ReferencedFindings
from contractlog.clients.cli.check.known_versions import KnownVersions
from contractlog.clients.cli.check.optional_checks import ReportedChanges
from contractlog.clients.cli.check.recorded_usage import RecordedUsage
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.error_messages import interruption_message
from contractlog.clients.cli.file_counts import count_files
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import (
    continue_without_reader,
    print_message,
    print_result,
)
from contractlog.clients.cli.plan.file_registration import (
    FileRegistration,
    RegistrationOutcome,
    all_unpermitted,
    print_step,
    report_interruption,
)
from contractlog.clients.cli.report_formats.registration_report import interrupted_report, registration_report
from contractlog.clients.cli.report_formats.report_output import output_json, output_report, reported_failures
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.command_files import read_files
from contractlog.clients.cli.schema_folder.file_names import subject_from_name
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.resolver import FileResolver, ResolvedFile
from contractlog.clients.cli.schema_folder.schema_files import FileKey, SchemaFile
from contractlog.clients.cli.subject_settings import PlannedSettings
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    IncompatibleSchema,
    InvalidSchema,
    PayloadTooLarge,
    SchemaTooLarge,
    UsageError,
)

__all__ = ["Registration", "run"]

FORMAT: Final = "contractlog.register/1"
_WAITING: Final = "a new version of `{}` waits for {}, which cannot be registered"
_WITHHELD: Final = "not registered as a version of `{}`, because it needs {}, which is not registered"


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Register the files, print the outcomes, and return the exit code."""
    with reported_failures(options, "contractlog register", argv):
        return _run(options, argv)


def _run(options: Namespace, argv: Sequence[str]) -> int:
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    steps: list[FileRegistration] = []
    referenced = ReferencedFindings()
    failure: dict[str, Any] = {}
    resolved: dict[FileKey, ResolvedFile] = {}
    try:
        with connect(options) as registry:
            resolver = FileResolver(registry, options.normalize, beside=options.files_beside)
            resolved = {each.file.key: each for each in resolver.resolve_all(files, unreadable.collect)}
            if not options.keep_going and unreadable.problems:
                output_report(
                    options, partial(registration_report, steps, unreadable.problems, "nothing was registered")
                )
                unreadable.raise_errors("nothing was registered")
            settings = {file.subject: PlannedSettings(options.level) for file in files} if options.level else {}
            registration = Registration(registry, resolver, resolved, settings, access=WriteAccess(registry))
            for step in _register_readable(registration, files, options, unreadable):
                steps.append(step)
                if options.format == "text":
                    with continue_without_reader():
                        print_step(step, referenced)
            for line in referenced.lines():
                print_result(line)
    except BaseException as error:
        if any(step.outcome == "registered" for step in steps):
            done = {step.file.key for step in steps}
            remaining = [file for file in files if file.key not in done]
            message = interruption_message(error, argv)
            build = partial(interrupted_report, unreadable=unreadable.problems, message=message)
            output_report(options, partial(build, steps, remaining))
            failure = {
                "error": {"message": message, "file": str(remaining[0].path) if remaining else None},
                "not_reached": [{"file": str(each.path), "subject": each.subject} for each in remaining[1:]],
            }
        unchanged = {key for key, each in resolved.items() if each.registered is not None}
        report_interruption(steps, [file for file in files if file.key not in unchanged])
        raise
    finally:
        outcomes = {"files": [step.body() for step in steps], "unreadable": unreadable.bodies()}
        output_json(options, {"format": FORMAT, "dry_run": options.dry_run, **outcomes, **failure})
    refused = [step for step in steps if step.outcome == "refused"]
    summary = _summarize(steps, refused)
    output_report(options, partial(registration_report, steps, unreadable.problems, summary))
    if options.format == "text" and steps:
        print_message(summary)
    unreadable.raise_errors()
    if not refused:
        return exit_codes.CLEAN
    return exit_codes.REFUSED if all_unpermitted(refused) else exit_codes.FINDINGS


def _register_readable(
    registration: Registration, files: list[SchemaFile], options: Namespace, unreadable: UnreadableFiles
) -> Iterator[FileRegistration]:
    """Register the subjects whose files are all readable; skip the files of the others."""
    unreadable_paths = {path for path, _ in unreadable.problems}
    unreadable_subjects = {options.subject or subject_from_name(path) for path in unreadable_paths}
    unreadable_subjects |= {file.subject for file in files if file.path in unreadable_paths}
    readable = []
    for file in files:
        if file.path not in unreadable_paths and file.subject in unreadable_subjects:
            yield registration.skip(
                file, f"not registered, because another file of `{file.subject}` cannot be read as a schema"
            )
        elif file.path not in unreadable_paths:
            readable.append(file)
    if options.dry_run:
        yield from registration.plan_all(readable)
    else:
        yield from registration.register_all(readable, keep_going=options.keep_going)


@dataclass
class Registration:
    """Registration of files, each after the files that it depends on."""

    registry: Registry
    resolver: FileResolver
    resolved: Mapping[FileKey, ResolvedFile]
    settings: Mapping[str, PlannedSettings] = field(default_factory=dict)  #: to be set first, by subject
    manifest: Manifest | None = None  #: with checks and waivers, if they are used
    usages: Mapping[str, RecordedUsage] = field(default_factory=dict)  #: by subject, as far as it is known
    known_versions: KnownVersions | None = None  #: as of ``SubjectChecker``
    access: WriteAccess | None = None  #: shared with the other steps of a plan
    _checkers: dict[str, SubjectChecker] = field(default_factory=dict)
    _reported: ReportedChanges = field(default_factory=ReportedChanges)
    _stopped: dict[str, Path] = field(default_factory=dict)  #: subjects with a refused file
    _missing: set[Path] = field(default_factory=set)  #: files that are not registered

    def plan_all(self, files: Iterable[SchemaFile]) -> list[FileRegistration]:
        """Check files without registering any."""
        return [self._take(file, self._plan, _WAITING) for file in files]

    def register_all(self, files: list[SchemaFile], *, keep_going: bool = False) -> Iterator[FileRegistration]:
        """Register files, or none if one is refused; with ``keep_going`` all that can be."""
        if not keep_going:
            planned = self.plan_all(files)
            if any(step.outcome == "refused" for step in planned):
                for step in planned:
                    withheld = step.outcome == "would register"
                    yield (
                        replace(step, outcome="skipped", reason="not registered, because other files cannot be")
                        if withheld
                        else step
                    )
                return
        subjects = {file.subject for file in files}
        for subject, settings in self.settings.items():
            if subject in subjects and settings.level is not None:
                self.registry.set_level(settings.level, subject)
        for file in files:
            yield self.register(file)

    def register(self, file: SchemaFile) -> FileRegistration:
        """Register a file that was planned before, and whose level is set."""
        return self._take(file, self._register, _WITHHELD)

    def skip(self, file: SchemaFile, reason: str) -> FileRegistration:
        """Return the outcome for a file that is not registered, nor those that depend on it."""
        self._missing.add(file.path)
        return FileRegistration(file, "skipped", reason=reason)

    def _take(self, file: SchemaFile, act: Callable[[SchemaFile], FileRegistration], reason: str) -> FileRegistration:
        """Plan or register a file, unless one that has to come before it was refused; ``reason`` then says so."""
        stopped = self._stopped.get(file.subject)
        if stopped is not None:
            return self.skip(file, reason.format(file.subject, f"the earlier version in `{stopped}`"))
        missing = next((target for _, target in file.dependencies if target in self._missing), None)
        if missing is not None:
            return self.skip(file, reason.format(file.subject, f"`{missing}`"))
        step = act(file)
        if step.outcome == "refused":
            self._stopped[file.subject] = file.path
            self._missing.add(file.path)
        return step

    def _plan(self, file: SchemaFile) -> FileRegistration:
        """Check a file without registering it."""
        subject = file.subject
        if subject not in self._checkers:
            settings = self.settings.get(subject, PlannedSettings())
            self._checkers[subject] = SubjectChecker(
                self.registry,
                subject,
                self.resolver.normalizes(subject),
                settings,
                self.manifest,
                self.usages.get(subject),
                self._reported,
                self.known_versions,
                self.access,
            )
        resolved = self.resolved[file.key]
        check = self._checkers[subject].check(resolved)
        file = resolved.file
        if check.registered is not None:
            return FileRegistration(file, "unchanged", check.registered, check)
        refused = check.outcome in {*FAILED, "refused"}
        outcome: RegistrationOutcome = "refused" if refused else "would register"
        return FileRegistration(file, outcome, check=check, same_text=resolved.same_text)

    def _register(self, file: SchemaFile) -> FileRegistration:
        resolved = self.resolved[file.key]
        if resolved.file.planned:  # the versions exist now
            resolved = self.resolver.resolve(resolved.source)
        file = resolved.file
        if resolved.registered is not None:
            return FileRegistration(file, "unchanged", resolved.registered)
        normalize = self.resolver.normalizes(file.subject)
        try:
            schema = self.registry.register(file.subject, file.draft, normalize=normalize)
        except (InvalidSchema, PayloadTooLarge, SchemaTooLarge) as error:
            raise UsageError(f"{file.path}: rejected by the registry: {error}") from None
        except IncompatibleSchema as error:
            checker = SubjectChecker(self.registry, file.subject, normalize)
            return FileRegistration(file, "refused", check=_with_reason(checker.check(resolved), error))
        self.resolver.record(file, schema)
        return FileRegistration(file, "registered", schema)


def _with_reason(check: FileCheck, error: IncompatibleSchema) -> FileCheck:
    if check.outcome == "incompatible":
        return check
    return FileCheck(check.file, "incompatible", check.level, messages=(str(error),), compared=check.compared)


def _summarize(steps: list[FileRegistration], refused: list[FileRegistration]) -> str:
    files: dict[str, list[SchemaFile]] = {}
    for step in steps:
        files.setdefault(step.outcome, []).append(step.file)
    new, planned, unchanged = (files.get(outcome, []) for outcome in ("registered", "would register", "unchanged"))
    others = (("unchanged", "registered already"), ("skipped", "skipped"), ("refused", "refused"))
    parts = [
        f"{count_files(new)} registered" if new else "",
        f"{count_files(planned)} would be registered" if planned else "",
        *(f"{len({file.path for file in files[outcome]}):,} {word}" for outcome, word in others if outcome in files),
    ]
    if refused and not (new or planned):
        parts.append("nothing was registered" if not unchanged else "nothing new was registered")
    after = ""
    if refused:
        after = (
            "; ask an operator of the registry"
            if all_unpermitted(refused)
            else "; fix the findings above and register again"
        )
    return (", ".join(filter(None, parts)) or "nothing was registered") + after
