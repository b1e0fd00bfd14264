"""Kinds of changes that a plan has: each class describes its changes, and applies them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Final

from contractlog.clients.cli.output import Tone, with_tone
from contractlog.clients.cli.plan.registration import FileRegistration, Registration, describe_step
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.level import Level
from contractlog.compatibility.terminal_text import escape_line

if TYPE_CHECKING:
    from contractlog.clients.cli.plan.planner import Plan

__all__ = ["Register", "SetLevel", "Step", "digest", "kind_of"]


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

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """Return the JSON object; equal if neither the registry nor the files have changed."""

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
class SetLevel(Step):
    """A compatibility level that the manifest sets."""

    before: Level
    after: Level

    action = "set level"
    members: ClassVar[Mapping[str, type]] = {"from": str, "to": str}

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"action": self.action, "subject": self.subject, "from": self.before, "to": self.after}

    def describe(self) -> str:
        """Return one line for people."""
        line = f"level of `{self.subject}`: {self.before} -> {self.after}"
        return with_tone(Tone.GOOD, escape_line(line))

    def apply(self, registration: Registration) -> None:
        """Set the level."""
        registration.registry.set_level(self.after, self.subject)

    @classmethod
    def was_done(cls, saved: Mapping[str, Any], plan: Plan) -> bool:
        """Return whether the manifest still sets the level, which then is set."""
        return plan.manifest is not None and plan.manifest.find_level(saved["subject"]) == saved["to"]


@dataclass(frozen=True, slots=True)
class Register(Step):
    """A file that becomes a new version."""

    planned: FileRegistration
    after_version: int  #: number of the subject's latest version; 0 if there is none

    action = "register"
    members: ClassVar[Mapping[str, type]] = {"after_version": int, "file": str, "sha256": str}

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        file = self.planned.file
        return {
            "action": self.action,
            "subject": self.subject,
            "after_version": self.after_version,
            "file": str(file.path),
            "sha256": digest(file),
            "references": file.reference_bodies(),
        }

    def describe(self) -> str:
        """Return one line for people."""
        return describe_step(self.planned)

    def apply(self, registration: Registration) -> FileRegistration:
        """Register the file."""
        return registration.register(self.planned.file)

    def continues(self, saved: Mapping[str, Any], done: Counter[str]) -> bool:
        """Return whether only steps of the saved plan have been made since."""
        after_version: int = saved["after_version"]
        return self.after_version == after_version + done[self.subject]

    @classmethod
    def was_done(cls, saved: Mapping[str, Any], plan: Plan) -> bool:
        """Return whether the file is registered."""
        return any(
            (each.file.subject, digest(each.file)) == (saved["subject"], saved["sha256"])
            for each in plan.registrations
            if each.outcome == "unchanged"
        )


_KINDS: Final[Mapping[str, type[Step]]] = {kind.action: kind for kind in (SetLevel, Register)}


def kind_of(saved: Any) -> type[Step] | None:
    """Return the class of a step's JSON object, or None if it is none."""
    if not isinstance(saved, dict) or not isinstance(saved.get("subject"), str):
        return None
    kind = _KINDS.get(str(saved.get("action")))
    if kind is None or not all(isinstance(saved.get(name), each) for name, each in kind.members.items()):
        return None
    return kind


def step_key(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the identity of a step from its JSON object."""
    return body["action"], body["subject"], str(body.get("file", "")), str(body.get("sha256", ""))


def digest(file: SchemaFile) -> str:
    """Return the SHA-256 of a file's text."""
    return sha256(file.draft.text.encode("utf-8", "surrogatepass")).hexdigest()
