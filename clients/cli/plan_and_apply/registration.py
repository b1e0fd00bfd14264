"""Registration of files in the order of their dependencies, for ``register`` and ``apply``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.check.checks_beyond_level import ReportedChanges
from contractlog.clients.cli.check.file_check import FAILED, FileCheck
from contractlog.clients.cli.check.known_versions import KnownVersions
from contractlog.clients.cli.check.recorded_usage import RecordedUsage
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.plan_and_apply.file_registration import (
    FileRegistration,
    RegistrationOutcome,
)
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

__all__ = ["Registration"]

_WAITING: Final = "a new version of `{}` waits for {}, which cannot be registered"
_WITHHELD: Final = "not registered as a version of `{}`, because it needs {}, which is not registered"


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
