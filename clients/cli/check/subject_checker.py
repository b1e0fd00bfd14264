"""Check of schema files: locally for findings and fixes, by the registry for the decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice

from contractlog.clients.calls.config_and_mode import Config
from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.check.checks_beyond_level import (
    FindingBeyondLevel,
    Previous,
    ReportedChanges,
    find_beyond_level,
    list_nonconformities,
)
from contractlog.clients.cli.check.file_check import MAX_FINDINGS, FileCheck
from contractlog.clients.cli.check.file_findings import locate_findings
from contractlog.clients.cli.check.finding_waivers import apply_waivers
from contractlog.clients.cli.check.impact import Impact, ImpactCheck, NewSchema
from contractlog.clients.cli.check.known_versions import KnownVersions
from contractlog.clients.cli.check.recorded_usage import RecordedUsage
from contractlog.clients.cli.check.registry_check import check_by_registry
from contractlog.clients.cli.check.subject_history import SubjectHistory
from contractlog.clients.cli.check.subject_protection import REGISTRATION
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.schema_folder.contract_differences import describe_same_text
from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.resolver import ResolvedFile
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import PlannedSettings
from contractlog.clients.registry import Registry
from contractlog.compatibility.common_check_catalogue import DATA_UNREADABLE, LATEST_VERSION_UNKNOWN
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import (
    InvalidSchema,
    NotFound,
    PayloadTooLarge,
    SchemaTooLarge,
    UsageError,
)
from contractlog.compatibility.field_validation import find_reserved_conflicts, reject_invalid_field_names
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.formats import FORMATS, find_nonconformity
from contractlog.compatibility.identifiers import Subject, apply_alias
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.metadata_inheritance import merge_metadata
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["SubjectChecker"]


@dataclass
class SubjectChecker:
    """Checks the files of one subject in order, each against the registry and the files before it."""

    registry: Registry | FileRegistry
    subject: str
    normalize: bool = False
    planned: PlannedSettings = field(default_factory=PlannedSettings)
    manifest: Manifest | None = None  #: with checks that are turned on or off, and waivers
    usage: RecordedUsage | None = None  #: None: unknown
    reported: ReportedChanges = field(default_factory=ReportedChanges)  #: shared by the subjects of a command
    known_versions: KnownVersions | None = None  #: None: versions that were registered elsewhere are not looked for
    access: WriteAccess | None = None  #: shared by the subjects of a command
    _versions: SubjectHistory | None = None
    _level: Level | None = None
    _current_config: Config | None = None
    _policy: Policy | None = None
    _notes: list[str] = field(default_factory=list)
    _refusal: tuple[str, ...] | None = None
    _impact: ImpactCheck | None = None
    _in_files: set[int] = field(default_factory=set)  #: versions that files are

    def check(self, resolved: ResolvedFile) -> FileCheck:
        """Check a file; if it is compatible, it is part of the history of the files after it.

        Raises:
            UsageError: the registry rejects it as invalid or too large, or a waiver for it needs a level.
        """
        file, parsed = resolved.file, resolved.parsed
        severities = self._find_severities(file)
        if resolved.registered is not None:
            return self._describe_registered(resolved, severities)
        try:
            refusal = (*self._find_refusal(), *self._list_owned_references(file))
            result = self._check_file(file, parsed, severities)
        except (InvalidSchema, PayloadTooLarge, SchemaTooLarge) as error:
            raise UsageError(f"{file.path}: rejected by the registry: {error}") from None
        if resolved.same_text is not None:
            result = replace(result, notes=(*result.notes, describe_same_text(file.draft, resolved.same_text)))
        if self.usage is not None:
            result = replace(result, impact=self._check_impact(result, parsed, self.usage, severities))
        unknown = self._find_unknown_version(resolved, severities)
        optional = self.reported.omit_known(self.subject, (*unknown, *result.findings_beyond_level), resolved.subjects)
        result = self._apply_waivers(replace(result, findings_beyond_level=tuple(optional)), resolved.subjects)
        conflicts = self._find_conflicts(parsed) if result.outcome in {"compatible", "waived"} else ()
        result = self._note_protection(result)
        if conflicts:
            result = replace(result, outcome="incompatible", messages=conflicts, findings=(), needs_level_change=False)
        if result.outcome in {"compatible", "waived"}:
            if refusal:
                return replace(result, outcome="refused", messages=refusal)
            self._history.add(file, parsed)
        return result

    @property
    def level(self) -> Level:
        """Compatibility level at which files are checked."""
        if self._level is None:
            self._level = self.planned.level or self._config.level or self.registry.level(self.subject)
        return self._level

    @property
    def _config(self) -> Config:
        """The config in force, before the manifest changes it."""
        if self._current_config is None:
            registry = self.registry
            self._current_config = Config() if isinstance(registry, FileRegistry) else registry.config(self.subject)
        return self._current_config

    @property
    def _validates_fields(self) -> bool:
        planned = self.planned.validate_fields
        return bool(self._config.validate_fields if planned is None else planned)

    @property
    def _history(self) -> SubjectHistory:
        """Versions that files are compared with."""
        if self._versions is None:
            self._versions = SubjectHistory(self.registry, self.subject, self.level, self.planned)
        return self._versions

    def _describe_registered(self, resolved: ResolvedFile, severities: Mapping[str, Severity | None]) -> FileCheck:
        """Return the check of a version that exists: its findings prevent nothing, so none is an error."""
        if resolved.registered is not None:
            self._in_files.add(int(resolved.registered.version or 0))
        findings = list_nonconformities(resolved.file, resolved.parsed, severities)
        check = FileCheck(
            resolved.file,
            "unchanged" if isinstance(self.registry, FileRegistry) else "registered",
            None,
            resolved.registered,
            findings_beyond_level=tuple(
                replace(each, severity=Severity.WARNING) if each.severity is Severity.ERROR else each
                for each in findings
            ),
        )
        if not check.findings_beyond_level or self.manifest is None:
            return check
        waived = apply_waivers(check, self.manifest.waivers, resolved.subjects)
        return replace(waived, outcome=check.outcome)

    def _find_unknown_version(
        self, resolved: ResolvedFile, severities: Mapping[str, Severity | None]
    ) -> Iterator[FindingBeyondLevel]:
        """Yield a finding, once, if the file would replace a version that was registered elsewhere."""
        severity = severities.get(LATEST_VERSION_UNKNOWN.id, Severity.WARNING)
        if self.known_versions is None or isinstance(self.registry, FileRegistry) or severity is None:
            return
        known_versions, self.known_versions = self.known_versions, None
        policy = self._find_policy(resolved.parsed)
        finding = known_versions.find_unknown(self.registry, resolved, self._in_files, policy)
        if finding is not None:
            yield FindingBeyondLevel(finding, severity)

    def _find_severities(self, file: SchemaFile) -> Mapping[str, Severity | None]:
        """Return the severities that the manifest gives checks of a file."""
        if self.manifest is None or not self.manifest.checks:
            return {}
        return self.manifest.select_severities(
            self.manifest.checks, file.path, [self.subject], datetime.now(UTC).date()
        )

    def _apply_waivers(self, check: FileCheck, dependencies: Mapping[str, str]) -> FileCheck:
        check = apply_waivers(check, () if self.manifest is None else self.manifest.waivers, dependencies)
        if check.needs_level_change and self.manifest is not None and not isinstance(self.registry, FileRegistry):
            waiver = next(filter(None, map(check.find_waiver, check.findings)))
            self.manifest.require_level(self.subject, waiver)
        return check

    def _find_conflicts(self, parsed: ParsedSchema) -> tuple[str, ...]:
        """Return why the config, as the manifest changes it, rejects a schema, at every level."""
        if isinstance(self.registry, FileRegistry):
            return ()
        if self._validates_fields:
            try:
                reject_invalid_field_names(parsed)
            except InvalidSchema as error:
                return (str(error),)
        problem = find_nonconformity(parsed) if self._config.strict_json_schemas else None
        if problem is not None:
            return (f"{problem.message}; the config member strictJsonSchemas rejects such schemas",)
        return find_reserved_conflicts(parsed, *self._inherit_metadata()) if self._validates_fields else ()

    def _inherit_metadata(self) -> tuple[Metadata | None, Metadata | None]:
        """Return the metadata that a file's version gets, and those of the version before it."""
        try:
            previous = self.registry.version(self.subject, "latest").metadata
        except NotFound:
            previous = None
        config, planned = self._config, self.planned
        default = planned.default_metadata or config.default_metadata
        return merge_metadata(default, previous, planned.override_metadata or config.override_metadata), previous

    def _find_refusal(self) -> tuple[str, ...]:
        """Return why the caller may not register under the subject: its mode, or missing permission."""
        if self._refusal is None:
            self._refusal = tuple(self._list_refusals())
        return self._refusal

    def _note_protection(self, check: FileCheck) -> FileCheck:
        """Add who approves a new version of a protected subject, and how to request it."""
        protection = self._write_access.find_protection(self.subject)
        unchecked = self.level is Level.NONE and bool(self._history.list_all())  # nothing is broken by a first version
        breaking = unchecked or check.outcome == "incompatible" or check.needs_level_change
        if protection is None or not (breaking or protection.protects_all):
            return check
        if not protection.needs_approvals(REGISTRATION, breaking=breaking):
            return replace(check, notes=(*check.notes, f"protected: {protection.describe_waiver(REGISTRATION)}"))
        file = str(check.file.path)
        return replace(
            check,
            notes=(*check.notes, f"protected: a new version {protection.describe(REGISTRATION, file)}"),
            change_command=protection.suggest(REGISTRATION, file),
        )

    @property
    def _write_access(self) -> WriteAccess:
        if self.access is None:
            self.access = WriteAccess(self.registry)
        return self.access

    def _list_owned_references(self, file: SchemaFile) -> Iterator[str]:
        """Yield why a file may not refer to subjects that belong to topics."""
        context = Subject.parse(self.subject).context
        referenced = [each.subject for each in file.draft.references] + [each.subject for each in file.planned]
        for subject in dict.fromkeys(str(resolve_subject(each, context)) for each in referenced):
            topic = self._write_access.owned_subjects.get(subject)
            if topic is not None:
                yield f"topic `{topic}` owns `{subject}` (lifecycle STRONG), to which no schema may refer"

    def _list_refusals(self) -> Iterator[str]:
        access = self._write_access
        target = str(apply_alias(self._config.alias, Subject.parse(self.subject)))  # whose mode decides
        planned = self.planned.mode if target == self.subject else None
        mode = planned or access.read_mode(target)
        if mode is not Mode.READWRITE:
            yield f"`{target}` is in mode {mode.value}, and new versions can be registered only in mode READWRITE"
        denial = access.explain_denial(self.subject)
        if self.subject in access.unknown_subjects:
            self._notes.append("this registry does not show permissions: whether you may register here is not known")
        if denial is not None:
            yield denial

    def _find_policy(self, parsed: ParsedSchema) -> Policy:
        """Return the policy by which a schema is compared; fetch it if that matters."""
        if self._policy is None and FORMATS[parsed.type].has_policies:
            self._policy = self.planned.policy or self.registry.policy(self.subject)
        return self._policy or Policy.STRICT

    def _check_compatibility(self, parsed: ParsedSchema, history: Sequence[ParsedVersion]) -> Verdict:
        """Check compatibility as the registry does."""
        policy = Policy.STRICT if self.level is Level.NONE else self._find_policy(parsed)
        return check_compatibility(parsed, history, self.level, policy=policy)

    def _check_impact(
        self,
        check: FileCheck,
        parsed: ParsedSchema,
        usage: RecordedUsage,
        severities: Mapping[str, Severity | None],
    ) -> Impact:
        """Return the impact of a new version, with the severity that the manifest gives unreadable records."""
        if self._impact is None:
            self._impact = ImpactCheck(self.registry, self.subject, usage)
        history = self._history.list_all()
        previous = history[-1].parsed if history else None
        reported = {each.earlier for each in check.findings if each.direction is Direction.BACKWARD}
        policy = self._find_policy(parsed)
        impact = self._impact.check(NewSchema(check.file, parsed, previous, self.level, policy, reported))
        if DATA_UNREADABLE.id not in severities:
            return impact
        severity = severities[DATA_UNREADABLE.id]
        findings = () if severity is None else (replace(each, severity=severity) for each in impact.findings)
        return replace(impact, findings=tuple(findings))

    def _check_file(
        self, file: SchemaFile, parsed: ParsedSchema, severities: Mapping[str, Severity | None]
    ) -> FileCheck:
        registered, pending = self._history.registered, self._history.pending
        descriptions = self._history.describe()
        compared = self._history.list_compared()
        verdict = self._check_compatibility(parsed, [*registered, *pending])
        located = locate_findings(file, parsed, verdict, compared, descriptions, policy=self._policy or Policy.STRICT)
        result = FileCheck(
            file,
            "compatible" if verdict.compatible else "incompatible",
            self.level,
            compared=()
            if self.level is Level.NONE
            else tuple(descriptions[earlier.version][0] for earlier in compared),
            findings=tuple(islice(located, MAX_FINDINGS)),
            findings_beyond_level=tuple(self._find_beyond_level(file, parsed, verdict, severities)),
            notes=(*self._notes, *self._history.notes, *_omission_note(verdict)),
        )
        # The registry does not have the preceding files: at a level that compares with the last version only, it would
        # compare with the wrong one. Nor has it the schemas that planned references are to.
        if self.planned.decide_compatibility or file.planned or (pending and not self.level.transitive):
            return result
        if isinstance(self.registry, FileRegistry):
            return result
        after_files = self._check_compatibility(parsed, pending)
        return self._confirm_with_registry(
            self.registry, result, self._check_compatibility(parsed, registered) if pending else verdict, after_files
        )

    def _find_beyond_level(
        self, file: SchemaFile, parsed: ParsedSchema, verdict: Verdict, severities: Mapping[str, Severity | None]
    ) -> Iterator[FindingBeyondLevel]:
        """Yield the findings of the schema alone, and of the change from the version before it."""
        yield from list_nonconformities(file, parsed, severities)
        history = self._history.list_all()
        if history:
            name, text = self._history.describe()[history[-1].version]
            policy = self._policy or Policy.STRICT
            yield from find_beyond_level(
                file, parsed, Previous(history[-1], name, text), verdict, policy=policy, severities=severities
            )

    def _confirm_with_registry(
        self, registry: Registry, result: FileCheck, local: Verdict, after_files: Verdict
    ) -> FileCheck:
        draft = result.file.draft
        if draft.metadata is None and (self._validates_fields or self._config.group):
            draft = replace(draft, metadata=self._inherit_metadata()[0])  # a registration adds them, a check does not
        response = check_by_registry(registry, self.subject, draft, normalize=self.normalize)
        if response.compatible is None:
            return replace(result, notes=(*result.notes, response.note))
        decided = replace(
            result,
            outcome="compatible" if response.compatible and after_files.compatible else "incompatible",
            messages=response.messages,
        )
        if response.compatible == local.compatible:
            return decided
        accepts = "accepts this schema, though this command finds reasons against it"
        rejects = "rejects this schema, though this command finds no reason"
        note = f"the registry {accepts if response.compatible else rejects}; the registry decides"
        return replace(decided, notes=(*decided.notes, note))


def _omission_note(verdict: Verdict) -> Iterator[str]:
    if len(verdict.findings) > MAX_FINDINGS:
        yield f"{len(verdict.findings) - MAX_FINDINGS:,} more findings are not listed"
