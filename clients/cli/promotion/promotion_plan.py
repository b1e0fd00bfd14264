"""Plan of a promotion: the versions of a source environment that the target environment lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from contractlog.clients.cli.check.file_check import FileCheck
from contractlog.clients.cli.check.registry_check import check_by_registry
from contractlog.clients.cli.promotion.compatibility import SubjectPreview, check_version
from contractlog.clients.cli.promotion.connected_environment import ConnectedEnvironment
from contractlog.clients.cli.promotion.environment_versions import EnvironmentVersions, TargetSubject, has_own_mode
from contractlog.clients.cli.promotion.promoted_version import PromotedVersion
from contractlog.clients.cli.promotion.references import ReferenceMap
from contractlog.clients.cli.promotion.refusals import Refusal, RefusalKind, RefusedError
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.compatibility.errors import InvalidSchema, NotFound
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import READ_ONLY_MODES, Mode
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.compatibility.text.terminal_text import shell_command

__all__ = ["WAIVER_ADVICE", "Note", "PromotionPlanner"]

WAIVER_ADVICE: Final = "accept its findings in [[waivers]] of the manifest, and pass --use-waivers"


@dataclass
class PromotionPlanner:
    """Planner of a promotion: finds the versions that the target lacks, and the subjects that it refuses."""

    source: ConnectedEnvironment
    target: ConnectedEnvironment
    manifest: Manifest | None = None  #: the manifest, which has the waivers and the levels of the target
    use_waivers: bool = False
    wanted_modes: Mapping[str, Mode] = field(default_factory=dict)  #: modes that the manifest sets, by shared name
    #: subject in mode IMPORT, left there by an earlier promotion -> the mode that the manifest sets
    left_in_import: dict[str, Mode] = field(default_factory=dict)
    missing: list[PromotedVersion] = field(default_factory=list)  #: each version after those that it depends on
    refusals: dict[str, Refusal] = field(default_factory=dict)  #: by subject
    notes: list[Note] = field(default_factory=list)
    versions: int = 0  #: number of versions of all subjects in the source
    references: ReferenceMap = field(init=False)
    target_subjects: dict[str, TargetSubject] = field(default_factory=dict)
    _histories: dict[str, list[RegisteredSchema]] = field(default_factory=dict)
    _target_histories: EnvironmentVersions = field(init=False)
    _previews: dict[str, SubjectPreview] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.references = ReferenceMap(self.source, self.target, self.refusals)
        self._target_histories = EnvironmentVersions(self.target, ())

    def plan(self, subjects: Sequence[str]) -> None:
        """Find the missing versions of subjects, and the subjects whose histories differ."""
        source, target = self.source, self.target
        source_histories, target_histories = (
            EnvironmentVersions(source, subjects),
            EnvironmentVersions(target, subjects),
        )
        self._target_histories = target_histories
        source_histories.list_live_versions()
        target_histories.list_every_version()
        for subject in subjects:
            self._histories[subject] = history = source_histories.read_live(subject)
            self.target_subjects[subject] = state = target_histories.read_target_subject(subject)
            self.versions += len(history)
            if state.mode is Mode.IMPORT and has_own_mode(target, subject):
                self._plan_end_of_import(subject)
            if len(state.live) > len(history):
                number = state.live[len(history)]
                self.refuse(
                    subject,
                    f"{target.name} has version {number}, which {source.name} lacks: register its schema in "
                    f"{source.name} first, or delete it in {target.name}",
                )
            elif not history:
                self._note(subject, f"`{subject}` has no version in {source.name}: register its file there first")
        for subject, index in self._order():
            if subject not in self.refusals:
                try:
                    self._compare_version(subject, index)
                except RefusedError as refused:
                    self.refuse(subject, str(refused), refused.kind)
        self.missing = [version for version in self.missing if version.subject not in self.refusals]

    def refuse(self, subject: str, reason: str, kind: RefusalKind = "history") -> None:
        """Record that a subject cannot be promoted, and why."""
        self.refusals[subject] = Refusal(subject, reason, kind)

    def find_waived_level(self, subject: str, schema: RegisteredSchema, draft: SchemaDraft) -> Level | None:
        """Return the level to lower while a version is registered; None if waivers do not cover its findings.

        Raises:
            RefusedError: waivers cover the findings, but ``use_waivers`` is not set.
            UsageError: the manifest has no level to restore.
        """
        if self.manifest is None or not self.manifest.waivers:
            return None
        check = check_version(self.references, subject, schema, draft, self.manifest)
        return self._require_waivers(schema, check)

    def describe_incompatible(self, schema: RegisteredSchema, level: Level) -> str:
        """Return the reason why the target rejects a version."""
        return f"version {schema.version} is incompatible with the versions in {self.target.name} at its level {level}"

    def _require_waivers(self, schema: RegisteredSchema, check: FileCheck) -> Level | None:
        """Return the level to lower while a version is registered; None if that is unnecessary or not waived.

        Raises:
            RefusedError: waivers cover the findings, but ``use_waivers`` is not set.
        """
        if check.outcome != "waived" or not check.needs_level_change or check.level is None:
            return None
        if not self.use_waivers:
            raise RefusedError(
                f"{self.describe_incompatible(schema, check.level)}, and waived by the manifest: --use-waivers sets "
                f"level NONE, registers it, and restores level {check.level}"
            )
        return check.level

    def _plan_end_of_import(self, subject: str) -> None:
        """Plan to set the manifest's mode on a subject in mode IMPORT, or note how to leave that mode."""
        if subject in self.wanted_modes:
            self.left_in_import[subject] = self.wanted_modes[subject]
            return
        command = shell_command("mode unset", self.target.qualify(subject), registry=self.target.registry.url)
        self._note(
            subject,
            f"`{subject}` is in mode IMPORT in {self.target.name}; when all is imported: {command}; "
            "or set `mode` in [[subjects]] of the manifest, which `--apply` then sets",
        )

    def _order(self) -> Iterator[tuple[str, int]]:
        """Yield each version (its subject and its index in the history) after those that it depends on."""
        indexes = {
            (subject, int(schema.version or 0)): index
            for subject, history in self._histories.items()
            for index, schema in enumerate(history)
        }
        entered: set[tuple[str, int]] = set()
        for start in indexes:
            pending = [(start, False)]
            while pending:
                version, is_ready = pending.pop()
                subject, index = version[0], indexes[version]
                if is_ready:
                    yield subject, index
                elif version not in entered:
                    entered.add(version)
                    pending.append((version, True))
                    history = self._histories[subject]
                    previous = [(subject, int(history[index - 1].version or 0))] if index else []
                    referenced = [key for key, _ in self.references.list_references(subject, history[index])]
                    pending += [
                        (each, False) for each in [*previous, *referenced] if each in indexes and each not in entered
                    ]

    def _compare_version(self, subject: str, index: int) -> None:
        """Compare a version with the target's at the same position, or plan its registration.

        Raises:
            RefusedError: the histories differ, or the target rejects the version.
        """
        schema, state, target = self._histories[subject][index], self.target_subjects[subject], self.target
        source_version = int(schema.version or 0)
        draft = self.references.map_draft(subject, schema)
        if index < len(state.live):
            number = state.live[index]
            if not self._has_content(subject, number, draft):
                raise RefusedError(
                    f"version {number} in {target.name} differs from version {source_version} in "
                    f"{self.source.name}: the histories differ from there on; delete version {number} in {target.name} "
                    f"and promote again, or give both the same versions"
                )
        else:
            first = len(state.live)
            if index == first:
                self._prepare_subject(subject, state)
            if not state.keeps_ids and (state.live or index > first):
                self._check_missing(subject, schema, draft)
            elif not state.keeps_ids:
                self._add_to_preview(subject, schema, draft)
            number = source_version if state.keeps_ids else state.highest + 1 + index - first
            previous = self._histories[subject][index - 1] if index else None
            self.missing.append(PromotedVersion(subject, schema, number, state.keeps_ids, previous))
        self.references.numbers[subject, source_version] = number

    def _prepare_subject(self, subject: str, state: TargetSubject) -> None:
        """Determine whether the missing versions of a subject keep their ids.

        Raises:
            RefusedError: the mode permits no new versions.
        """
        target = self.target
        if state.mode in READ_ONLY_MODES:
            raise RefusedError(
                f"it is in mode {state.mode} in {target.name}: `contractlog mode` shows and changes it", "permission"
            )
        if state.mode is not Mode.READWRITE:
            state.keeps_ids = True
        elif not state.highest:
            taken = [schema.schema_id for schema in self._histories[subject] if self._is_taken(subject, schema)]
            state.keeps_ids = not taken
            if taken:
                self._note(subject, f"`{subject}` gets new ids: {target.name} has another schema with id {taken[0]}")

    def _check_missing(self, subject: str, schema: RegisteredSchema, draft: SchemaDraft) -> None:
        """Check a version that the target will compare with earlier versions, existing or missing.

        The registry of the target checks the first missing version of a subject, unless that refers to missing
        versions; all others are checked here.

        Raises:
            RefusedError: the version is incompatible, or not permitted.
        """
        preview, refers_to_missing = self._add_to_preview(subject, schema, draft)
        if preview is None:
            return
        is_first = all(version.subject != subject for version in self.missing)
        if is_first and not refers_to_missing:
            result = check_by_registry(self.target.registry, self.target.qualify(subject), draft)
            if result.compatible is None:
                self._note(subject, f"`{subject}`: {self.target.name} decides when it is registered: {result.failure}")
            if result.compatible is not False:
                return
        check = preview.check()
        level = self._require_waivers(schema, check)
        if check.outcome == "refused":
            raise RefusedError("; ".join(check.messages), "permission")
        if check.outcome == "incompatible" and check.level is not None:
            raise RefusedError(f"{self.describe_incompatible(schema, check.level)}: {WAIVER_ADVICE}")
        if level is not None:
            reason = self.describe_incompatible(schema, level)
            self._note(subject, f"`{subject}`: {reason}, which a waiver sets to NONE meanwhile")

    def _add_to_preview(
        self, subject: str, schema: RegisteredSchema, draft: SchemaDraft
    ) -> tuple[SubjectPreview | None, bool]:
        """Add a missing version to the preview of its subject.

        Returns:
            the preview, or None if the version cannot be checked before it is registered; and whether the version
            refers to missing versions.
        """
        missing = {(version.subject, version.source_version) for version in self.missing}
        refers_to_missing = any(key in missing for key, _ in self.references.list_references(subject, schema))
        if subject not in self._previews:
            self._previews[subject] = SubjectPreview(self.references, subject, self.manifest)
        try:
            self._previews[subject].add(schema, draft, missing)
        except InvalidSchema as error:
            self._note(
                subject, f"`{subject}`: {self.target.name} decides when version {schema.version} is registered: {error}"
            )
            return None, refers_to_missing
        return self._previews[subject], refers_to_missing

    def _is_taken(self, subject: str, schema: RegisteredSchema) -> bool:
        """Return whether the target has another schema with the id of a version."""
        text = self._target_histories.find_text(subject, schema.schema_id)
        return text is not None and text != schema.text

    def _has_content(self, subject: str, number: int, draft: SchemaDraft) -> bool:
        """Return whether a version of the target has this content, as it is or normalized by the registry."""
        if self._target_histories.read_version(subject, number).draft == draft:
            return True
        try:
            return self.target.registry.lookup(self.target.qualify(subject), draft).version == number
        except (NotFound, InvalidSchema):
            return False

    def _note(self, subject: str, text: str) -> None:
        self.notes.append(Note(subject, text))


class Note(NamedTuple):
    """A sentence for the user about one subject, or about the promotion as a whole (``subject`` is None)."""

    subject: str | None
    text: str
