"""Steps of a plan that bind subjects to the keys and values of topics, and remove such bindings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from contractlog.clients.calls.associations import Association
from contractlog.clients.cli.associations.association_keys import association_body, association_key, describe_part
from contractlog.clients.cli.associations.planned_association import PlannedAssociation, associate_subject, find_draft
from contractlog.clients.cli.output import Tone, with_tone
from contractlog.clients.cli.plan_and_apply.registration import Registration
from contractlog.clients.cli.plan_and_apply.steps import Step
from contractlog.clients.cli.subject_settings import SettingIgnored
from contractlog.compatibility.errors import AssociationNotFound, MethodNotAllowed, NotFound
from contractlog.compatibility.text.terminal_text import escape_line

if TYPE_CHECKING:
    from contractlog.clients.cli.plan_and_apply.planner import Plan

__all__ = ["BindSubject", "UnbindSubject"]


@dataclass(frozen=True, slots=True)
class BindSubject(Step):
    """A subject that the manifest binds to a part of a topic."""

    change: PlannedAssociation

    action = "bind"
    members: ClassVar[Mapping[str, type]] = {
        "namespace": str,
        "topic": str,
        "part": str,
        "topic_id": str,
        "lifecycle": str,
        "from": object,
    }

    @property
    def label(self) -> str:
        """The association, for people."""
        return f"association of {describe_part(self.change.resource.name, self.change.part)} with `{self.subject}`"

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        change = self.change
        return {
            "action": self.action,
            "subject": self.subject,
            "namespace": change.resource.namespace,
            "topic": change.resource.name,
            "part": change.part,
            "topic_id": change.resource.id,
            "lifecycle": change.lifecycle.value,
            "from": change.before,
        }

    def describe(self) -> str:
        """Return one line for people."""
        change = self.change
        part, before = describe_part(change.resource.name, change.part), change.before
        now = "" if before is None else f", not to `{before}`"
        return with_tone(Tone.GOOD, escape_line(f"bind {part} to `{self.subject}` ({change.lifecycle}){now}"))

    def apply(self, registration: Registration) -> None:
        """Bind it; if another subject is bound now, remove that association first.

        If the process is killed in between, the next plan binds the subject, because the manifest has it.

        Raises:
            SettingIgnored: the registry has no associations.
        """
        registry, change = registration.registry, self.change
        try:
            if change.before is not None:
                registry.unbind(change.resource.id, association_types=[change.part])
            associate_subject(registry, change, find_draft(registry, change), dry_run=False)
        except (NotFound, MethodNotAllowed) as error:
            if type(error) not in {NotFound, MethodNotAllowed}:  # the endpoint exists
                raise
            raise SettingIgnored("not set, because this registry has no associations") from None

    def continues(self, saved: Mapping[str, Any], done: Counter[str]) -> bool:  # noqa: ARG002 - as in the base class
        """Return whether this is the saved step, of which the first half may have been made."""
        body = self.body()
        return body in ({**saved}, {**saved, "from": None})

    @classmethod
    def was_done(cls, saved: Mapping[str, Any], plan: Plan) -> bool:
        """Return whether the subject is bound."""
        existing = plan.associations.existing.get((saved["namespace"], saved["topic"], saved["part"]))
        return existing is not None and (existing.subject, existing.lifecycle) == (
            saved["subject"],
            saved["lifecycle"],
        )


@dataclass(frozen=True, slots=True)
class UnbindSubject(Step):
    """An association of a subject that the manifest owns, without an entry in the manifest."""

    association: Association

    action = "unbind"
    members: ClassVar[Mapping[str, type]] = {"namespace": str, "topic": str, "part": str, "topic_id": str}

    @property
    def label(self) -> str:
        """The association, for people."""
        _, topic, part = association_key(self.association)
        return f"association of {describe_part(topic, part)} with `{self.subject}`"

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"action": self.action, **association_body(self.association)}

    def describe(self) -> str:
        """Return one line for people."""
        _, topic, part = association_key(self.association)
        text = f"unbind {describe_part(topic, part)} from `{self.subject}`: the manifest has no such association"
        return with_tone(Tone.GOOD, escape_line(text))

    def apply(self, registration: Registration) -> None:
        """Remove it, unless it was removed meanwhile."""
        topic_id, part = self.association.resource_id or "", self.association.association_type or ""
        try:
            registration.registry.unbind(topic_id, association_types=[part])
        except AssociationNotFound:
            return

    @classmethod
    def was_done(cls, saved: Mapping[str, Any], plan: Plan) -> bool:
        """Return whether the association is gone, or binds another subject."""
        existing = plan.associations.existing.get((saved["namespace"], saved["topic"], saved["part"]))
        return existing is None or existing.subject != saved["subject"]
