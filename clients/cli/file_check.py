"""Check of a schema file: locally for findings and fixes, by the registry for the decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, Literal

from contractlog.clients.cli.baseline import Baseline
from contractlog.clients.cli.file_findings import list_file_findings, locate_findings
from contractlog.clients.cli.impact import Impact, ImpactCheck, NewSchema, UnreadableRecords
from contractlog.clients.cli.recorded_usage import RecordedUsage
from contractlog.clients.cli.registry_check import check_by_registry
from contractlog.clients.cli.schema_folder.resolver import ResolvedFile
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.schema_folder.waivers import Waiver
from contractlog.clients.registry import Registry
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import (
    Forbidden,
    InvalidSchema,
    NotFound,
    PayloadTooLarge,
    RegistryError,
    SchemaTooLarge,
    SubjectNotFound,
    UsageError,
)
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.formats import FORMATS, parse_schema
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.located_finding import LocatedFinding
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema

__all__ = ["MAX_FINDINGS", "FileCheck", "PlannedSettings", "SubjectChecker"]

FileCheckOutcome = Literal[
    "registered", "unchanged", "compatible", "waived", "incompatible", "data_unreadable", "refused"
]

MAX_FINDINGS: Final = 100  #: most findings listed per file


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Outcome of the check of a file."""

    file: SchemaFile
    outcome: FileCheckOutcome
    level: Level | None  #: None for a version that is registered already: it is not checked
    registered: RegisteredSchema | None = None  #: the existing version with this content
    compared: tuple[str, ...] = ()  #: descriptions of the versions and files it was compared with
    findings: tuple[LocatedFinding, ...] = ()
    messages: tuple[str, ...] = ()  #: reasons given by the registry
    notes: tuple[str, ...] = ()
    impact: Impact | None = None  #: None: unknown
    needs_level_change: bool = False  #: whether its level rejects it, though waivers cover all incompatibilities

    @property
    def data_findings(self) -> tuple[UnreadableRecords, ...]:
        """Findings about records of topics, errors and warnings."""
        return () if self.impact is None else self.impact.findings

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        registered = self.registered if self.registered and self.registered.schema_id else None  # 0: only in files
        return {
            "file": str(self.file.path),
            "subject": self.file.subject,
            "references": self.file.reference_bodies(),
            "outcome": self.outcome,
            "level": None if self.level is None else self.level.value,
            "version": None if registered is None else registered.version,
            "schema_id": None if registered is None else registered.schema_id,
            "compared_with": list(self.compared),
            "findings": [
                finding.body() for finding in (*self.findings, *(each.finding for each in self.data_findings))
            ],
            "messages": list(self.messages),
            "notes": list(self.notes),
            "impact": None if self.impact is None else self.impact.body(),
        }


@dataclass(frozen=True, slots=True)
class PlannedSettings:
    """Settings of a subject that are about to be changed; None: unchanged."""

    level: Level | None = None
    mode: Mode | None = None
    policy: Policy | None = None
    group: str | None = None  #: a metadata property; only versions with the same value of it are compared
    group_value: str | None = None  #: the value that new versions get; None: that of the latest version

    @property
    def decide_compatibility(self) -> bool:
        """True if the registry's own check, by the settings in force, has no meaning."""
        return (self.level, self.policy, self.group) != (None, None, None)


@dataclass
class SubjectChecker:
    """Checks the files of one subject in order, each against the registry and the files before it."""

    registry: Registry | Baseline
    subject: str
    normalize: bool = False
    planned: PlannedSettings = PlannedSettings()
    waivers: Sequence[Waiver] = ()  #: for the subject, expired ones included
    usage: RecordedUsage | None = None  #: None: unknown
    _pending: list[tuple[SchemaFile, ParsedSchema]] = field(default_factory=list)
    _history: list[ParsedVersion] | None = None
    _texts: dict[int, str] = field(default_factory=dict)  #: texts of the registered versions
    _level: Level | None = None
    _policy: Policy | None = None
    _notes: list[str] = field(default_factory=list)
    _refusal: tuple[str, ...] | None = None
    _impact: ImpactCheck | None = None

    def check(self, resolved: ResolvedFile) -> FileCheck:
        """Check a file; if it is compatible, it is part of the history of the files after it.

        Raises:
            UsageError: the registry rejects it as invalid or too large.
        """
        file, parsed = resolved.file, resolved.parsed
        if resolved.registered is not None:
            findings = list_file_findings(file, parsed)
            outcome: FileCheckOutcome = "unchanged" if isinstance(self.registry, Baseline) else "registered"
            return FileCheck(file, outcome, None, resolved.registered, findings=findings)
        try:
            refusal = self._find_refusal()
            result = self._check_file(file, parsed)
        except (InvalidSchema, PayloadTooLarge, SchemaTooLarge) as error:
            raise UsageError(f"{file.path}: rejected by the registry: {error}") from None
        if self.usage is not None:
            result = self._add_impact(result, parsed, self.usage)
        if result.outcome in {"incompatible", "data_unreadable"}:
            result = _apply_waivers(result, self.waivers)
        if result.outcome in {"compatible", "waived"}:
            if refusal:
                return replace(result, outcome="refused", messages=refusal)
            self._pending.append((file, parsed))
        return result

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

    @property
    def level(self) -> Level:
        """Compatibility level at which files are checked."""
        if self._level is None:
            self._level = self.planned.level or self.registry.level(self.subject)
        return self._level

    def _find_policy(self, parsed: ParsedSchema) -> Policy:
        """Return the policy by which a schema is compared; fetch it if that matters."""
        if self._policy is None and FORMATS[parsed.type].has_policies:
            self._policy = self.planned.policy or self.registry.policy(self.subject)
        return self._policy or Policy.STRICT

    def _check_compatibility(self, parsed: ParsedSchema, history: Sequence[ParsedVersion]) -> Verdict:
        """Check compatibility as the registry does."""
        policy = Policy.STRICT if self.level is Level.NONE else self._find_policy(parsed)
        return check_compatibility(parsed, history, self.level, policy=policy)

    def _add_impact(self, check: FileCheck, parsed: ParsedSchema, usage: RecordedUsage) -> FileCheck:
        if self._impact is None:
            self._impact = ImpactCheck(self.registry, self.subject, usage)
        history = [*self._load_history(), *(earlier for earlier, _ in self._number_pending(self._load_history()))]
        previous = history[-1].parsed if history else None
        reported = {each.earlier for each in check.findings if each.direction is Direction.BACKWARD}
        policy = self._find_policy(parsed)
        impact = self._impact.check(NewSchema(check.file, parsed, previous, self.level, policy, reported))
        fails = check.outcome == "compatible" and any(each.is_error for each in impact.findings)
        return replace(check, impact=impact, outcome="data_unreadable" if fails else check.outcome)

    def _check_file(self, file: SchemaFile, parsed: ParsedSchema) -> FileCheck:
        registered = self._load_history()
        pending = self._number_pending(registered)
        descriptions = {
            earlier.version: (self._describe_version(earlier.version), self._texts[earlier.version])
            for earlier in registered
        }
        descriptions |= {earlier.version: (str(path.path), path.draft.text) for earlier, path in pending}
        history = registered + [earlier for earlier, _ in pending]
        compared = history if self.level.transitive else history[-1:]
        verdict = self._check_compatibility(parsed, history)
        result = FileCheck(
            file,
            "compatible" if verdict.compatible else "incompatible",
            self.level,
            compared=()
            if self.level is Level.NONE
            else tuple(descriptions[earlier.version][0] for earlier in compared),
            findings=(
                *list_file_findings(file, parsed),
                *islice(
                    locate_findings(
                        file, parsed, verdict, compared, descriptions, policy=self._policy or Policy.STRICT
                    ),
                    MAX_FINDINGS,
                ),
            ),
            notes=(*self._notes, *_omission_note(verdict)),
        )
        # The registry does not have the preceding files: at a level that compares with the last version only, it would
        # compare with the wrong one. Nor has it the schemas that planned references are to.
        if self.planned.decide_compatibility or file.planned or (pending and not self.level.transitive):
            return result
        if isinstance(self.registry, Baseline):
            return result
        after_files = self._check_compatibility(parsed, [earlier for earlier, _ in pending])
        return self._confirm_with_registry(
            self.registry, result, self._check_compatibility(parsed, registered) if pending else verdict, after_files
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

    def _number_pending(self, registered: list[ParsedVersion]) -> list[tuple[ParsedVersion, SchemaFile]]:
        first = registered[-1].version + 1 if registered else 1
        return [(ParsedVersion(first + n, parsed), file) for n, (file, parsed) in enumerate(self._pending)]

    def _describe_version(self, number: int) -> str:
        if isinstance(self.registry, Baseline):
            return self.registry.describe_version(self.subject, number)
        return f"version {number}"

    def _load_history(self) -> list[ParsedVersion]:
        if self._history is None:
            self._history = [] if self.level is Level.NONE else list(self._fetch_history())
        return self._history

    def _fetch_history(self) -> Iterator[ParsedVersion]:
        try:
            versions = self.registry.versions(self.subject)
        except SubjectNotFound:
            return
        group, value = self.planned.group, self.planned.group_value
        latest = self.registry.version(self.subject, versions[-1]) if group is not None else None
        if group is not None and value is None and latest is not None and latest.metadata is not None:
            value = latest.metadata.properties.get(group)  # a new version has the metadata of the latest one
        compared = []
        for number in versions if self.level.transitive else reversed(versions):
            stored = self.registry.version(self.subject, number)
            if group is None or (stored.metadata or Metadata()).properties.get(group) == value:
                compared.append((number, stored))
                if not self.level.transitive:
                    break
        for number, stored in compared:
            try:
                referenced = self.registry.referenced(stored.draft, subject=self.subject)
                earlier = ParsedVersion(number, parse_schema(stored.draft, referenced, strict=False))
            except (InvalidSchema, NotFound) as error:
                self._notes.append(f"version {number} cannot be read here, so the registry alone judges it: {error}")
                continue
            self._texts[number] = stored.draft.text
            yield earlier


def _apply_waivers(check: FileCheck, waivers: Sequence[Waiver]) -> FileCheck:
    """Return the check as ``waived`` if current waivers cover all incompatibilities and data findings.

    A finding from data is covered by a waiver for it, or by waivers for all its causes. Waivers are named in the notes,
    with those that have expired.
    """
    today = datetime.now(UTC).date()
    breaking = [finding for finding in check.findings if finding.earlier] if check.outcome == "incompatible" else []
    unreadable = [each for each in check.data_findings if each.is_error]
    findings = [*breaking, *(finding for each in unreadable for finding in (each.finding, *each.causes))]
    used = [waiver for waiver in waivers if any(map(waiver.covers, findings))]
    current = [waiver for waiver in used if waiver.until >= today]
    notes = [waiver.describe() for waiver in current]
    notes += [
        f"the waiver of {waiver.check} by {waiver.by} ended on {waiver.until}: fix the schema, or agree on another day"
        for waiver in used
        if waiver.until < today
    ]

    def is_covered(finding: LocatedFinding) -> bool:
        return any(waiver.covers(finding) for waiver in current)

    outcome: FileCheckOutcome = "waived"
    if check.outcome == "incompatible" and not (0 < len(breaking) < MAX_FINDINGS and all(map(is_covered, breaking))):
        outcome = "incompatible"
    elif not all(is_covered(each.finding) or _are_causes_covered(each, is_covered) for each in unreadable):
        outcome = "data_unreadable"
    if current and outcome != "waived":
        notes.append(f"not every {'incompatibility' if outcome == 'incompatible' else 'finding from data'} is waived")
    needs_level_change = outcome == "waived" and check.outcome == "incompatible"
    notes = list(dict.fromkeys(notes))
    return replace(check, outcome=outcome, notes=(*check.notes, *notes), needs_level_change=needs_level_change)


def _are_causes_covered(unreadable: UnreadableRecords, is_covered: Callable[[LocatedFinding], bool]) -> bool:
    return unreadable.has_all_causes and all(map(is_covered, unreadable.causes))


def _omission_note(verdict: Verdict) -> Iterator[str]:
    if len(verdict.findings) > MAX_FINDINGS:
        yield f"{len(verdict.findings) - MAX_FINDINGS:,} more findings are not listed"
