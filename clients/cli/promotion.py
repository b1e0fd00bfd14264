"""Promotion of versions: those that a source has and a target lacks, registered in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.operations.lookups import list_live
from contractlog.clients.cli.output import (
    shell_command,
)
from contractlog.clients.cli.registry_check import check_by_registry
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    Forbidden,
    IncompatibleSchema,
    InvalidSchema,
    MethodNotAllowed,
    NotFound,
    OperationNotPermitted,
    SchemaIdMismatch,
    SubjectNotFound,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft

__all__ = ["PromotedVersion", "Promotion", "Refusal", "Side"]

_READ_ONLY: Final = frozenset({Mode.READONLY, Mode.READONLY_OVERRIDE})
_RefusalKind = Literal["history", "permission"]
_REFUSALS: Final = (IncompatibleSchema, InvalidSchema, OperationNotPermitted, Forbidden)


@dataclass(frozen=True, slots=True)
class Side:
    """An environment of the manifest, with a client of its registry."""

    name: str
    context: str
    registry: Registry

    def qualify(self, subject: str) -> str:
        """Return the subject of this environment for a name that both environments share."""
        return subject if subject.startswith(":.") else str(Subject(self.context, subject))

    def shared_name(self, subject: Subject) -> str:
        """Return the name that both environments share; of a subject in another context, the qualified one."""
        return subject.name if subject.context == self.context else f":{subject.context}:{subject.name}"


@dataclass(frozen=True, slots=True)
class PromotedVersion:
    """A version that only the source has, and its place in the target."""

    subject: str  #: the name that both environments share
    schema: RegisteredSchema  #: in the source
    version: int  #: in the target
    keeps_id: bool
    schema_id: int | None = None  #: in the target; None: not registered yet

    @property
    def source_version(self) -> int:
        """The number of the version in the source."""
        return int(self.schema.version or 0)

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "subject": self.subject,
            "outcome": "would register" if self.schema_id is None else "registered",
            "version": self.source_version,
            "schema_id": self.schema.schema_id,
            "target_version": self.version,
            "target_schema_id": self.schema_id,
            "keeps_id": self.keeps_id,
        }


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason why the versions of a subject cannot be promoted."""

    subject: str
    reason: str
    kind: _RefusalKind = "history"


class _RefusedError(Exception):
    """The versions of a subject cannot be promoted."""

    kind: _RefusalKind = "history"


class _ModeError(_RefusedError):
    """The mode of a subject permits no new versions."""

    kind = "permission"


@dataclass(slots=True)
class _TargetSubject:
    """A subject of the target as it is before the promotion."""

    live: list[int]
    highest: int  #: number of the last version, deleted ones included; 0 if there never was one
    mode: Mode  #: the mode in force
    has_mode: bool = False  #: whether that is a setting of the subject itself
    keeps_ids: bool = False


@dataclass
class Promotion:
    """The versions that a target lacks of what a source has, and their registration in the same order."""

    source: Side
    target: Side
    wanted_modes: Mapping[str, Mode] = field(default_factory=dict)  #: modes that the manifest sets, by shared name
    left_in_import: dict[str, Mode] = field(default_factory=dict)  #: subjects in mode IMPORT -> the mode to be set
    missing: list[PromotedVersion] = field(default_factory=list)  #: each after those that it depends on
    refusals: dict[str, Refusal] = field(default_factory=dict)  #: by subject
    notes: list[str] = field(default_factory=list)
    versions: int = 0  #: of all subjects, in the source
    _histories: dict[str, list[RegisteredSchema]] = field(default_factory=dict)
    _subjects: dict[str, _TargetSubject] = field(default_factory=dict)
    _numbers: dict[tuple[str, int], int] = field(default_factory=dict)  #: version in the source -> in the target

    def compare(self, subjects: Iterable[str]) -> None:
        """Find the missing versions of subjects, and the subjects whose histories differ."""
        source, target = self.source, self.target
        for subject in subjects:
            qualified = source.qualify(subject)
            history = [source.registry.version(qualified, number) for number in list_live(source.registry, qualified)]
            self._histories[subject] = history
            self._subjects[subject] = state = _read_subject(target, subject)
            self.versions += len(history)
            if state.mode is Mode.IMPORT and self._has_mode(target.qualify(subject)):
                self._plan_end_of_import(subject)
            if len(state.live) > len(history):
                number = state.live[len(history)]
                self._refuse(
                    subject,
                    f"{target.name} has version {number}, which {source.name} lacks: register its schema in "
                    f"{source.name} first, or delete it in {target.name}",
                )
            elif not history:
                self.notes.append(f"`{subject}` has no version in {source.name}: register its file there first")
        for subject, index in self._order():
            if subject not in self.refusals:
                try:
                    self._compare_version(subject, index)
                except _RefusedError as refused:
                    self._refuse(subject, str(refused), refused.kind)
        self.missing = [version for version in self.missing if version.subject not in self.refusals]

    def register(self) -> Iterator[PromotedVersion]:
        """Register the missing versions, and yield each; stop at the first that the target rejects."""
        registry = self.target.registry
        with ExitStack() as modes:
            importing: set[str] = set()
            for planned in self.missing:
                subject, state = planned.subject, self._subjects[planned.subject]
                qualified = self.target.qualify(subject)
                if planned.keeps_id and state.mode is Mode.READWRITE and subject not in importing:
                    state.keeps_ids = self._enter_import(qualified, state, modes)
                    importing |= {subject} if state.keeps_ids else set()
                try:
                    draft = self._map_draft(subject, planned.schema)
                    registered = self._register(qualified, draft, planned, state)
                except (*_REFUSALS, _RefusedError) as error:
                    self._refuse(subject, str(error), "permission" if isinstance(error, Forbidden) else "history")
                    return
                number = registered.version or registry.lookup(qualified, draft).version or planned.version
                self._numbers[subject, planned.source_version] = number
                same = registered.schema_id == planned.schema.schema_id
                yield replace(planned, version=number, schema_id=registered.schema_id, keeps_id=same)

    def end_imports(self) -> Iterator[tuple[str, Mode]]:
        """Set the manifest's mode on subjects left in mode IMPORT, and yield them."""
        for subject, mode in self.left_in_import.items():
            self.target.registry.set_mode(mode, self.target.qualify(subject))
            yield subject, mode

    def _plan_end_of_import(self, subject: str) -> None:
        """Plan to set the manifest's mode of a subject in mode IMPORT, or note how to end that."""
        if subject in self.wanted_modes:
            self.left_in_import[subject] = self.wanted_modes[subject]
            return
        command = shell_command("mode unset", self.target.qualify(subject), registry=self.target.registry.url)
        self.notes.append(
            f"`{subject}` is in mode IMPORT in {self.target.name}; when all is imported: {command}; "
            "or set `mode` in [[subjects]] of the manifest, which `--apply` then sets"
        )

    def _register(
        self, qualified: str, draft: SchemaDraft, planned: PromotedVersion, state: _TargetSubject
    ) -> RegisteredSchema:
        """Register a version, under its id if the target allows it."""
        registry = self.target.registry
        if state.keeps_ids:
            try:
                return registry.register(
                    qualified, draft, schema_id=planned.schema.schema_id, version=planned.source_version
                )
            except (OperationNotPermitted, SchemaIdMismatch, Forbidden):
                if state.mode is not Mode.READWRITE:  # new ids are not permitted in the mode that it had before
                    raise
                _leave_import(registry, qualified, state)
                state.keeps_ids = False
        return registry.register(qualified, draft)

    def _enter_import(self, qualified: str, state: _TargetSubject, modes: ExitStack) -> bool:
        """Set mode IMPORT on a subject until ``modes`` is closed, and return whether the target permits it."""
        try:
            self.target.registry.set_mode(Mode.IMPORT, qualified)
        except (Forbidden, OperationNotPermitted, NotFound, MethodNotAllowed):
            return False
        modes.callback(_leave_import, self.target.registry, qualified, state)
        return True

    def _refuse(self, subject: str, reason: str, kind: _RefusalKind = "history") -> None:
        self.refusals[subject] = Refusal(subject, reason, kind)

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
                key, is_ready = pending.pop()
                subject, index = key[0], indexes[key]
                if is_ready:
                    yield subject, index
                elif key not in entered:
                    entered.add(key)
                    pending.append((key, True))
                    history = self._histories[subject]
                    before = [(subject, int(history[index - 1].version or 0))] if index else []
                    needed = [*before, *(key for key, _ in self._references(subject, history[index]))]
                    pending += [(each, False) for each in needed if each in indexes and each not in entered]

    def _references(self, subject: str, schema: RegisteredSchema) -> Iterator[tuple[tuple[str, int], Reference]]:
        """Yield the references of a version, each with the shared name and the source's number of its target."""
        home = Subject.parse(self.source.qualify(subject)).context
        for reference in schema.references:
            name = self.source.shared_name(resolve_subject(reference.subject, home))
            yield (name, int(reference.version)), reference

    def _compare_version(self, subject: str, index: int) -> None:
        """Compare a version with the target's at the same position, or plan its registration.

        Raises:
            _RefusedError: the histories differ, or the target rejects the version.
        """
        schema, state, target = self._histories[subject][index], self._subjects[subject], self.target
        qualified, source_version = target.qualify(subject), int(schema.version or 0)
        draft = self._map_draft(subject, schema)
        if index < len(state.live):
            number = state.live[index]
            if not self._has_content(qualified, number, draft):
                raise _RefusedError(
                    f"version {number} in {target.name} is another schema than version {source_version} in "
                    f"{self.source.name}: the histories differ from there on; delete version {number} in {target.name} "
                    f"and promote again, or give both the same versions"
                )
        else:
            first = len(state.live)
            if index == first:
                self._prepare_subject(subject, state)
                if state.live and not state.keeps_ids:
                    self._check_next(subject, schema, draft)
            number = source_version if state.keeps_ids else state.highest + 1 + index - first
            self.missing.append(PromotedVersion(subject, schema, number, state.keeps_ids))
        self._numbers[subject, source_version] = number

    def _prepare_subject(self, subject: str, state: _TargetSubject) -> None:
        """Determine whether the missing versions of a subject keep their ids.

        Raises:
            _ModeError: the mode permits no new versions.
        """
        target, qualified = self.target, self.target.qualify(subject)
        if state.mode in _READ_ONLY:
            raise _ModeError(f"it is in mode {state.mode} in {target.name}: `contractlog mode` shows and changes it")
        if state.mode is not Mode.READWRITE:
            state.keeps_ids = True
        elif not state.highest:
            state.has_mode = self._has_mode(qualified)
            taken = [schema.schema_id for schema in self._histories[subject] if self._is_taken(qualified, schema)]
            state.keeps_ids = not taken
            if taken:
                self.notes.append(f"`{subject}` gets new ids: {target.name} has another schema with id {taken[0]}")

    def _has_mode(self, qualified: str) -> bool:
        """Return whether a subject of the target has a mode of its own."""
        try:
            self.target.registry.mode(qualified, inherited=False)
        except NotFound:
            return False
        return True

    def _is_taken(self, qualified: str, schema: RegisteredSchema) -> bool:
        """Return whether the target has another schema with the id of a version."""
        scope = f":{Subject.parse(qualified).context}:"
        try:
            return self.target.registry.text_of_id(schema.schema_id, subject=scope) != schema.text
        except NotFound:
            return False

    def _check_next(self, subject: str, schema: RegisteredSchema, draft: SchemaDraft) -> None:
        """Check the first missing version of a subject, unless it refers to missing versions.

        Raises:
            _RefusedError: it is incompatible.
        """
        missing = {(version.subject, version.source_version) for version in self.missing}
        if any(key in missing for key, _ in self._references(subject, schema)):
            return
        answer = check_by_registry(self.target.registry, self.target.qualify(subject), draft)
        if answer.compatible is None:
            self.notes.append(f"`{subject}`: {self.target.name} decides when it is registered: {answer.failure}")
        elif not answer.compatible:
            level = self.target.registry.level(self.target.qualify(subject))
            raise _RefusedError(
                f"version {schema.version} is incompatible with the versions in {self.target.name} at its level {level}"
            )

    def _map_draft(self, subject: str, schema: RegisteredSchema) -> SchemaDraft:
        """Return the draft that registers a version in the target, with references to the target's versions.

        Raises:
            _RefusedError: the target lacks a version that it refers to.
        """
        references = tuple(
            replace(
                reference,
                subject=self.target.qualify(name) if reference.subject.startswith(":.") else reference.subject,
                version=self._find_number(name, number, schema),
            )
            for (name, number), reference in self._references(subject, schema)
        )
        return replace(schema.draft, references=references)

    def _find_number(self, subject: str, number: int, referrer: RegisteredSchema) -> int:
        """Return the number in the target of a version that another one refers to.

        Raises:
            _RefusedError: the target does not have it, and it is not promoted with the others.
        """
        if (subject, number) not in self._numbers:
            uses = f"version {referrer.version} refers to version {number} of `{subject}`"
            if subject in self.refusals:
                raise _RefusedError(f"{uses}, which cannot be promoted")
            schema = self.source.registry.version(self.source.qualify(subject), number, deleted=True)
            draft = self._map_draft(subject, schema)
            try:
                existing = self.target.registry.lookup(self.target.qualify(subject), draft, deleted=True)
            except (NotFound, InvalidSchema):
                raise _RefusedError(
                    f"{uses}, which {self.target.name} lacks: add its file to the folder, or register it there first"
                ) from None
            self._numbers[subject, number] = int(existing.version or number)
        return self._numbers[subject, number]

    def _has_content(self, qualified: str, number: int, draft: SchemaDraft) -> bool:
        """Return whether a version of the target has this content, perhaps normalized."""
        if self.target.registry.version(qualified, number).draft == draft:
            return True
        try:
            return self.target.registry.lookup(qualified, draft).version == number
        except (NotFound, InvalidSchema):
            return False


def _read_subject(target: Side, subject: str) -> _TargetSubject:
    qualified = target.qualify(subject)
    try:
        every = target.registry.versions(qualified, deleted=True)
    except SubjectNotFound:
        every = []
    live = list_live(target.registry, qualified) if every else []
    return _TargetSubject(live, max(every, default=0), target.registry.mode(qualified))


def _leave_import(registry: Registry, qualified: str, state: _TargetSubject) -> None:
    """End mode IMPORT of a subject that was in READWRITE."""
    if state.has_mode:
        registry.set_mode(Mode.READWRITE, qualified)
        return
    try:
        registry.delete_mode(qualified)
    except SubjectNotFound:  # ended already
        return
    except (NotFound, MethodNotAllowed):  # old releases cannot delete a mode
        registry.set_mode(Mode.READWRITE, qualified)
