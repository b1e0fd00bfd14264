"""Check of schema files: locally for findings and fixes, by the registry for the decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice

from contractlog.clients.cli.baseline import Baseline
from contractlog.clients.cli.contract_differences import describe_same_text
from contractlog.clients.cli.file_check import MAX_FINDINGS, FileCheck
from contractlog.clients.cli.file_findings import locate_findings
from contractlog.clients.cli.finding_waivers import apply_waivers
from contractlog.clients.cli.impact import Impact, ImpactCheck, NewSchema
from contractlog.clients.cli.optional_checks import (
    OptionalFinding,
    Previous,
    ReportedChanges,
    find_optional_findings,
    list_nonconformities,
)
from contractlog.clients.cli.recorded_usage import RecordedUsage
from contractlog.clients.cli.registry_check import check_by_registry
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.resolver import ResolvedFile
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_history import SubjectHistory
from contractlog.clients.cli.subject_settings import PlannedSettings
from contractlog.clients.registry import Registry
from contractlog.compatibility.check_spec import DATA_UNREADABLE
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import (
    Forbidden,
    InvalidSchema,
    NotFound,
    PayloadTooLarge,
    RegistryError,
    SchemaTooLarge,
    UsageError,
)
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.formats import FORMATS
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["SubjectChecker"]


@dataclass
class SubjectChecker:
    """Checks the files of one subject in order, each against the registry and the files before it."""

    registry: Registry | Baseline
    subject: str
    normalize: bool = False
    planned: PlannedSettings = field(default_factory=PlannedSettings)
    manifest: Manifest | None = None  #: with checks that are turned on or off, and waivers
    usage: RecordedUsage | None = None  #: None: unknown
    reported: ReportedChanges = field(default_factory=ReportedChanges)  #: shared by the subjects of a command
    _versions: SubjectHistory | None = None
    _level: Level | None = None
    _policy: Policy | None = None
    _notes: list[str] = field(default_factory=list)
    _refusal: tuple[str, ...] | None = None
    _impact: ImpactCheck | None = None

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
            refusal = self._find_refusal()
            result = self._check_file(file, parsed, severities)
        except (InvalidSchema, PayloadTooLarge, SchemaTooLarge) as error:
            raise UsageError(f"{file.path}: rejected by the registry: {error}") from None
        if resolved.same_text is not None:
            result = replace(result, notes=(*result.notes, describe_same_text(file.draft, resolved.same_text)))
        if self.usage is not None:
            result = replace(result, impact=self._check_impact(result, parsed, self.usage, severities))
        optional = self.reported.omit_known(self.subject, result.optional_findings, resolved.subjects)
        result = self._apply_waivers(replace(result, optional_findings=tuple(optional)), resolved.subjects)
        if result.outcome in {"compatible", "waived"}:
            if refusal:
                return replace(result, outcome="refused", messages=refusal)
            self._history.add(file, parsed)
        return result

    @property
    def level(self) -> Level:
        """Compatibility level at which files are checked."""
        if self._level is None:
            self._level = self.planned.level or self.registry.level(self.subject)
        return self._level

    @property
    def _history(self) -> SubjectHistory:
        """Versions that files are compared with."""
        if self._versions is None:
            self._versions = SubjectHistory(self.registry, self.subject, self.level, self.planned)
        return self._versions

    def _describe_registered(self, resolved: ResolvedFile, severities: Mapping[str, Severity | None]) -> FileCheck:
        """Return the check of a version that exists: its findings prevent nothing, so none is an error."""
        findings = list_nonconformities(resolved.file, resolved.parsed, severities)
        check = FileCheck(
            resolved.file,
            "unchanged" if isinstance(self.registry, Baseline) else "registered",
            None,
            resolved.registered,
            optional_findings=tuple(
                replace(each, severity=Severity.WARNING) if each.severity is Severity.ERROR else each
                for each in findings
            ),
        )
        if not check.optional_findings or self.manifest is None:
            return check
        waived = apply_waivers(check, self.manifest.waivers, resolved.subjects)
        return replace(waived, outcome=check.outcome)

    def _find_severities(self, file: SchemaFile) -> Mapping[str, Severity | None]:
        """Return the severities that the manifest gives checks of a file."""
        if self.manifest is None or not self.manifest.checks:
            return {}
        return self.manifest.select_severities(
            self.manifest.checks, file.path, [self.subject], datetime.now(UTC).date()
        )

    def _apply_waivers(self, check: FileCheck, dependencies: Mapping[str, str]) -> FileCheck:
        check = apply_waivers(check, () if self.manifest is None else self.manifest.waivers, dependencies)
        if check.needs_level_change and self.manifest is not None and not isinstance(self.registry, Baseline):
            waiver = next(filter(None, map(check.find_waiver, check.findings)))
            self.manifest.require_level(self.subject, waiver)
        return check

    def _find_refusal(self) -> tuple[str, ...]:
        """Return why the caller may not register under the subject: its mode, or missing permission."""
        if self._refusal is None:
            self._refusal = tuple(self._list_refusals())
        return self._refusal

    def _list_refusals(self) -> Iterator[str]:
        try:
            mode = self.planned.mode or self.registry.mode(self.subject)
        except (NotFound, Forbidden):  # the server has no modes, or the caller may not read them
            mode = Mode.READWRITE
        if mode is not Mode.READWRITE:
            yield f"`{self.subject}` is in mode {mode.value}, and only READWRITE takes new versions from here"
        try:
            permissions = self.registry.permissions(self.subject)
        except RegistryError:  # an extension of contractlog
            self._notes.append("this registry does not show permissions: whether you may register here is not known")
            return
        if permissions.get("write") is False:
            yield f"user `{permissions.get('user')}` has no permission to write `{self.subject}`"

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
            optional_findings=tuple(self._find_optional(file, parsed, verdict, severities)),
            notes=(*self._notes, *self._history.notes, *_omission_note(verdict)),
        )
        # The registry does not have the preceding files: at a level that compares with the last version only, it would
        # compare with the wrong one. Nor has it the schemas that planned references are to.
        if self.planned.decide_compatibility or file.planned or (pending and not self.level.transitive):
            return result
        if isinstance(self.registry, Baseline):
            return result
        after_files = self._check_compatibility(parsed, pending)
        return self._confirm_with_registry(
            self.registry, result, self._check_compatibility(parsed, registered) if pending else verdict, after_files
        )

    def _find_optional(
        self, file: SchemaFile, parsed: ParsedSchema, verdict: Verdict, severities: Mapping[str, Severity | None]
    ) -> Iterator[OptionalFinding]:
        """Yield the findings of the schema alone, and of the change from the version before it."""
        yield from list_nonconformities(file, parsed, severities)
        history = self._history.list_all()
        if history:
            name, text = self._history.describe()[history[-1].version]
            policy = self._policy or Policy.STRICT
            yield from find_optional_findings(
                file, parsed, Previous(history[-1], name, text), verdict, policy=policy, severities=severities
            )

    def _confirm_with_registry(
        self, registry: Registry, result: FileCheck, local: Verdict, after_files: Verdict
    ) -> FileCheck:
        response = check_by_registry(registry, self.subject, result.file.draft, normalize=self.normalize)
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
