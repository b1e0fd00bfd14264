"""Kinds of changes that a plan has: each class describes its changes, and applies them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar

from contractlog.clients.cli.output import Tone, count_noun, with_tone
from contractlog.clients.cli.plan_and_apply.file_registration import FileRegistration, describe_step, step_lines
from contractlog.clients.cli.plan_and_apply.registration import Registration
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import (
    SettingChange,
    SettingIgnored,
    apply_setting,
    lowered_level,
    wanted_settings,
)
from contractlog.compatibility.errors import SubjectNotFound, SubjectSoftDeleted
from contractlog.compatibility.level import Level
from contractlog.compatibility.text.terminal_text import escape_line

if TYPE_CHECKING:
    from contractlog.clients.cli.plan_and_apply.planner import Plan

__all__ = [
    "DeleteSubject",
    "Register",
    "RegisterWaived",
    "SetConfig",
    "SetLevel",
    "SetMode",
    "Step",
    "compute_digest",
    "setting_step",
    "step_key",
]


@dataclass(frozen=True, slots=True)
class Step(ABC):
    """A change of one subject; saved steps are its JSON objects."""

    subject: str

    action: ClassVar[str]  #: name of the kind in JSON
    members: ClassVar[Mapping[str, type]]  #: members that its JSON object needs, with their types

    @property
    def key(self) -> tuple[str, ...]:
        """Identity of the step: two plans for the same files have it if they make the same change."""
        return step_key(self.body())

    @property
    def label(self) -> str:
        """The changed thing, for people."""
        return f"`{self.subject}`"

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """Return the JSON object; equal if neither the registry nor the files have changed."""

    def output_bodies(self) -> list[dict[str, Any]]:
        """Return the JSON objects that ``plan`` prints: one for each change of the registry."""
        return [self.body()]

    @abstractmethod
    def describe(self) -> str:
        """Return one line for people."""

    @abstractmethod
    def apply(self, registration: Registration) -> FileRegistration | None:
        """Make the change; return the outcome for its file, if it has one."""

    def continues(self, saved: Mapping[str, Any], done: Counter[str]) -> bool:  # noqa: ARG002 - overridden
        """Return whether this is the saved step; ``done`` counts the versions registered since, by subject."""
        return self.body() == saved

    @classmethod
    @abstractmethod
    def was_done(cls, saved: Mapping[str, Any], plan: Plan) -> bool:
        """Return whether a saved step that is not in a new plan was made already."""


@dataclass(frozen=True, slots=True)
class SetConfig(Step):
    """A setting of the subject's config that the manifest sets."""

    change: SettingChange

    action = "set config"
    members: ClassVar[Mapping[str, type]] = {"setting": str, "from": object, "to": object}

    @property
    def label(self) -> str:
        """The setting, for people."""
        return f"{self.change.setting} of `{self.subject}`"

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        setting = {"setting": self.change.setting} if "setting" in self.members else {}
        change = {"from": self.change.before, "to": self.change.after}
        return {"action": self.action, "subject": self.subject, **setting, **change}

    def describe(self) -> str:
        """Return one line for people."""
        before, after = self.format_values()
        return with_tone(Tone.GOOD, escape_line(f"{self.label}: {before} -> {after}"))

    def format_values(self) -> tuple[str, str]:
        """Return the value before and the one after as texts for people."""
        return _format_value(self.change.before), _format_value(self.change.after)

    def apply(self, registration: Registration) -> None:
        """Set it.

        Raises:
            SettingIgnored: the registry does not have the setting.
        """
        apply_setting(registration.registry, self.change)

    @classmethod
    def was_done(cls, saved: Mapping[str, Any], plan: Plan) -> bool:
        """Return whether the manifest still sets the value, which then is set."""
        rule = {} if plan.manifest is None else plan.manifest.find_settings(saved["subject"])
        setting = saved.get("setting", cls.action.removeprefix("set "))
        override = saved["to"] if setting == "override_metadata" else None
        return bool(wanted_settings(rule, override).get(setting) == saved["to"])


@dataclass(frozen=True, slots=True)
class SetLevel(SetConfig):
    """A compatibility level that the manifest sets."""

    action = "set level"
    members: ClassVar[Mapping[str, type]] = {"from": str, "to": str}


@dataclass(frozen=True, slots=True)
class SetMode(SetConfig):
    """A mode that the manifest sets."""

    action = "set mode"
    members: ClassVar[Mapping[str, type]] = {"from": str, "to": str}


def setting_step(change: SettingChange) -> SetConfig:
    """Return the step for a change of a setting."""
    kind = {"level": SetLevel, "mode": SetMode}.get(change.setting, SetConfig)
    return kind(change.subject, change)


@dataclass(frozen=True, slots=True)
class Register(Step):
    """A file that becomes a new version."""

    planned: FileRegistration
    after_version: int  #: number of the subject's latest version; 0 if there is none

    action = "register"
    members: ClassVar[Mapping[str, type]] = {"after_version": int, "file": str, "sha256": str}

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        file, same_text = self.planned.file, self.planned.same_text
        draft = file.draft
        optional = {
            "metadata": None if draft.metadata is None else draft.metadata.body(),
            "rule_set": None if draft.rule_set is None else draft.rule_set.body(),
            "same_text_as": None if same_text is None else same_text.version,
        }
        return {
            "action": self.action,
            "subject": self.subject,
            "after_version": self.after_version,
            "file": str(file.path),
            "sha256": compute_digest(file),
            "references": file.reference_bodies(),
        } | {name: value for name, value in optional.items() if value is not None}

    def describe(self) -> str:
        """Return one line for people."""
        return describe_step(self.planned)

    def apply(self, registration: Registration) -> FileRegistration:
        """Register the file.

        Raises:
            SettingIgnored: the registry returned the version with the text, and its other metadata or rules.
        """
        registered, same_text = registration.register(self.planned.file), self.planned.same_text
        existing = registered.schema
        if same_text is not None and existing is not None and existing.schema_id == same_text.schema_id:
            raise SettingIgnored(
                f"{self.planned.file.path} is not registered with its metadata or rules, because this registry ignores "
                f"them and takes it for version {same_text.version}",
                setting="metadata or rules",
            )
        return registered

    def continues(self, saved: Mapping[str, Any], done: Counter[str]) -> bool:
        """Return whether only steps of the saved plan have been made since."""
        after_version: int = saved["after_version"]
        body = self.body()
        is_same = all(body.get(name) == saved.get(name) for name in ("metadata", "rule_set"))
        return is_same and self.after_version == after_version + done[self.subject]

    @classmethod
    def was_done(cls, saved: Mapping[str, Any], plan: Plan) -> bool:
        """Return whether the file is registered."""
        return (saved["subject"], saved["sha256"]) in plan.registered_texts


@dataclass(frozen=True, slots=True)
class RegisterWaived(Register):
    """A file that the level of its subject refuses, and that a waiver of the manifest permits."""

    level: Level  #: of the subject, before and after

    action = "register by waiver"
    members: ClassVar[Mapping[str, type]] = {**Register.members, "level": str}

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return Register.body(self) | {"level": self.level.value}

    @property
    def level_changes(self) -> tuple[SetLevel, SetLevel]:
        """Changes of the level before and after the registration."""
        lowered = SettingChange(self.subject, "level", self.level.value, Level.NONE.value)
        restored = SettingChange(self.subject, "level", Level.NONE.value, self.level.value)
        return SetLevel(self.subject, lowered), SetLevel(self.subject, restored)

    def output_bodies(self) -> list[dict[str, Any]]:
        """Return the JSON objects that ``plan`` prints: one for each change of the registry."""
        before, after = (each.body() | {"by_waiver": True} for each in self.level_changes)
        return [before, self.body(), after]

    def describe(self) -> str:
        """Return three lines for people, and who accepts what."""
        before, after = (
            with_tone(
                Tone.WARNING,
                escape_line(f"level of `{self.subject}`: {each.change.before} -> {each.change.after}, by a waiver"),
            )
            for each in self.level_changes
        )
        return "\n".join([before, Register.describe(self), *step_lines(self.planned), after])

    def apply(self, registration: Registration) -> FileRegistration:
        """Register the file at level NONE."""
        with lowered_level(registration.registry, self.subject, self.level):
            return Register.apply(self, registration)


@dataclass(frozen=True, slots=True)
class DeleteSubject(Step):
    """A subject of the manifest without a file, which is soft-deleted."""

    versions: tuple[int, ...]  #: the live ones

    action = "delete"
    members: ClassVar[Mapping[str, type]] = {"versions": list}

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"action": self.action, "subject": self.subject, "versions": list(self.versions)}

    def describe(self) -> str:
        """Return one line for people."""
        versions = count_noun(len(self.versions), "version")
        return with_tone(Tone.GOOD, escape_line(f"soft-delete `{self.subject}` ({versions}): no file has it"))

    def apply(self, registration: Registration) -> None:
        """Soft-delete it, unless it was deleted meanwhile."""
        with suppress(SubjectNotFound, SubjectSoftDeleted):
            registration.registry.delete_subject(self.subject)

    @classmethod
    def was_done(cls, saved: Mapping[str, Any], plan: Plan) -> bool:
        """Return whether the subject is gone, and still has no file."""
        return saved["subject"] not in plan.live_subjects and saved["subject"] not in plan.latest


def step_key(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the identity of a step from its JSON object."""
    names = ("setting", "file", "sha256", "namespace", "topic", "part")
    return body["action"], body["subject"], *(str(body.get(name, "")) for name in names)


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else "not set" if value is None else json.dumps(value, sort_keys=True)


def compute_digest(file: SchemaFile) -> str:
    """Return the SHA-256 of a file's text."""
    return sha256(file.draft.text.encode("utf-8", "surrogatepass")).hexdigest()
