"""Steps of a plan that the registry would refuse, because their subjects are protected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.check.subject_protection import REGISTRATION, SubjectProtection
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.operations.referrers import find_referrers
from contractlog.clients.cli.plan_and_apply.association_steps import BindSubject, UnbindSubject
from contractlog.clients.cli.plan_and_apply.contract_steps import PutContract
from contractlog.clients.cli.plan_and_apply.steps import (
    DeleteSubject,
    Register,
    RegisterWaived,
    SetLevel,
    SetMode,
    Step,
)
from contractlog.clients.registry import Registry
from contractlog.compatibility.identifiers import Subject, topic_subject
from contractlog.compatibility.level import Level

__all__ = ["ProtectedStep", "find_protected_steps"]

_DELETION, _SETTINGS, _ASSOCIATION, _CONTRACT = "deletion", "settings", "association", "contract"


@dataclass(frozen=True, slots=True)
class ProtectedStep:
    """A step that needs approvals, or that waits for such a step."""

    step: Step
    kind: str
    protection: SubjectProtection | None  #: None: it only waits for a protected step
    reason: str  #: phrase
    is_permitted: bool = False  #: by a waiver

    def describe(self) -> str:
        """Return one line for people."""
        label = self.step.label.removeprefix(f"{self.kind} of ")
        return f"protected: {self.kind} of {label}: {self.reason}"

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        protection = self.protection
        return {
            "action": self.step.action,
            "subject": self.step.subject,
            "kind": self.kind,
            "permitted": self.is_permitted,
            "approvals": None if protection is None else protection.approvals,
            "owners": [] if protection is None else list(protection.owners),
            "change_requests": [] if protection is None else list(protection.requests.get(self.kind, ())),
            "waiver_expires_at": None if protection is None else protection.waived.get(self.kind),
        }


def find_protected_steps(access: WriteAccess, registry: Registry, steps: Iterable[Step]) -> Iterator[ProtectedStep]:
    """Yield the steps of protected subjects, and those that cannot be made without them."""
    blocked: dict[str, str] = {}  # subject of a step that is not made -> kind
    for step in steps:
        kind, breaking = _find_kind(step)
        protection = access.find_protection(step.subject)
        if protection is not None and protection.needs_approvals(kind, breaking=breaking):
            blocked[step.subject] = kind
            change, options = _find_proposal(step)
            yield ProtectedStep(step, kind, protection, protection.describe(kind, *change, **options))
        elif protection is not None and (breaking or protection.protects_all):
            yield ProtectedStep(step, kind, protection, protection.describe_waiver(kind), is_permitted=True)
        elif blocked and (subject := next(_list_awaited(registry, step, blocked), None)):
            blocked[step.subject] = kind
            yield ProtectedStep(step, kind, None, f"waits for the {blocked[subject]} of `{subject}`")


def _find_kind(step: Step) -> tuple[str, bool]:
    """Return the kind of a step, and whether it is breaking: not checked as compatible."""
    if isinstance(step, DeleteSubject):
        return _DELETION, True
    if isinstance(step, (BindSubject, UnbindSubject)):
        return _ASSOCIATION, True
    if isinstance(step, PutContract):
        return _CONTRACT, step.breaking
    if isinstance(step, Register):
        check = step.planned.check
        unchecked = check is not None and check.level is Level.NONE and step.after_version > 0
        return REGISTRATION, unchecked or isinstance(step, RegisterWaived)
    return _SETTINGS, True


def _find_proposal(step: Step) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the arguments and options of ``change open`` that propose a step; none if none can."""
    if isinstance(step, Register):
        return (str(step.planned.file.path),), {}
    if isinstance(step, DeleteSubject):
        return (), {"delete": "all"}
    if isinstance(step, (SetLevel, SetMode)) and step.change.after is not None:
        return (), {"level" if isinstance(step, SetLevel) else "mode": str(step.change.after)}
    return (), {}


def _list_awaited(registry: Registry, step: Step, blocked: dict[str, str]) -> Iterator[str]:
    """Yield the blocked subjects without whose steps this one fails."""
    if step.subject in blocked:
        yield step.subject
    if isinstance(step, Register):
        context = Subject.parse(step.subject).context
        names = (str(resolve_subject(each.subject, context)) for each in step.planned.file.planned)
        yield from (name for name in names if name in blocked)
    if isinstance(step, PutContract):  # it describes the newest versions
        names = (topic_subject(step.topic, part) for part in ("value", "key"))
        yield from (name for name in names if name in blocked)
    if isinstance(step, DeleteSubject):
        for each in find_referrers(registry, step.subject, list(step.versions), deleted=False):
            if each.subject is not None and str(each.subject) in blocked:
                yield str(each.subject)
