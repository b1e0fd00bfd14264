"""State of the subjects of a plan in the registry, which a saved plan compares before it is applied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from contractlog.clients.cli.plan_and_apply.planner import Plan
from contractlog.clients.cli.plan_and_apply.steps import (
    Register,
    RegisterWaived,
    SetConfig,
    SetLevel,
    SetMode,
    compute_digest,
)
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import Forbidden, NotFound
from contractlog.compatibility.level import Level

__all__ = ["SavedSubject", "describe_moved_subject", "parse_states", "read_states"]


_TYPES: Final = {"own_level": str, "level": str, "mode": str, "latest_version": int, "latest_id": int}


@dataclass(frozen=True, slots=True)
class SavedSubject:
    """State of a subject that decides about new versions; None: not set, or not known."""

    own_level: str | None = None  #: None: inherited
    level: str | None = None  #: in force
    mode: str | None = None  #: in force
    latest_version: int | None = None  #: None: no live version
    latest_id: int | None = None


def read_states(registry: Registry, subjects: Sequence[str]) -> dict[str, SavedSubject]:
    """Request the states of subjects, as far as the caller may read them and the server has them."""
    return {subject: _read_state(registry, subject) for subject in subjects}


def _read_state(registry: Registry, subject: str) -> SavedSubject:
    values: dict[str, Any] = {}
    with suppress(NotFound, Forbidden):
        values["own_level"] = _name(registry.config(subject, inherited=False).level)
    with suppress(NotFound, Forbidden):
        values["level"] = values.get("own_level") or _name(registry.level(subject))
    with suppress(NotFound, Forbidden):
        values["mode"] = registry.mode(subject).value
    with suppress(NotFound, Forbidden):
        latest = registry.version(subject, "latest")
        values |= {"latest_version": latest.version, "latest_id": latest.schema_id}
    return SavedSubject(**values)


def _name(level: Level | None) -> str | None:
    return None if level is None else level.value


def parse_states(body: Any) -> dict[str, SavedSubject] | None:
    """Parse the states of a saved plan; None if they are not valid."""
    if not isinstance(body, dict):
        return None
    states = {}
    for subject, each in body.items():
        if not isinstance(each, dict) or each.keys() != _TYPES.keys():
            return None
        if not all(value is None or type(value) is _TYPES[name] for name, value in each.items()):
            return None
        states[subject] = SavedSubject(**each)
    return states


def describe_moved_subject(
    saved: Mapping[str, SavedSubject],
    current: Mapping[str, SavedSubject],
    steps: Sequence[Mapping[str, Any]],
    plan: Plan,
) -> str | None:
    """Return which subject has changed since a plan was saved, and how; None: by its own steps only."""
    moved = (
        text for subject, before in saved.items() for text in _moves(subject, before, current[subject], steps, plan)
    )
    return next(moved, None)


def _moves(
    subject: str, before: SavedSubject, now: SavedSubject, steps: Sequence[Mapping[str, Any]], plan: Plan
) -> Iterator[str]:
    own = [step for step in steps if step["subject"] == subject]
    levels = {step["to"] for step in own if step["action"] == SetLevel.action}
    if any(step["action"] == RegisterWaived.action for step in own):  # an interrupted one leaves level NONE
        levels |= {Level.NONE.value, *(step["level"] for step in own if "level" in step)}
    if now.level not in {before.level, *levels}:
        yield f"the level of `{subject}` was {before.level} and is {now.level}"
    # a registry may store the level in force with another member of the config
    stored = {before.level} if any(step["action"] == SetConfig.action for step in own) else set()
    if now.own_level not in {before.own_level, *levels, *stored}:
        values = [level or "inherited" for level in (before.own_level, now.own_level)]
        yield f"the level of `{subject}` was {values[0]} and is {values[1]}, with the same level in force"
    if now.mode not in {before.mode, *(step["to"] for step in own if step["action"] == SetMode.action)}:
        yield f"the mode of `{subject}` was {before.mode} and is {now.mode}"
    if (now.latest_version, now.latest_id) == (before.latest_version, before.latest_id):
        return
    if now.latest_version == before.latest_version:
        version = f"the latest version of `{subject}`, {now.latest_version},"
        yield f"{version} had id {before.latest_id} and has id {now.latest_id}"
    elif not _was_registered_by_plan(subject, now, own, plan):
        if before.latest_version is None:
            yield f"`{subject}` had no version and has version {now.latest_version}"
        elif now.latest_version is None:
            yield f"`{subject}` had version {before.latest_version} and has none"
        else:
            yield f"the latest version of `{subject}` was {before.latest_version} and is {now.latest_version}"


def _was_registered_by_plan(subject: str, now: SavedSubject, steps: Sequence[Mapping[str, Any]], plan: Plan) -> bool:
    """Return whether the latest version is a file that the saved plan registers."""
    digests = {step["sha256"] for step in steps if step["action"] in {Register.action, RegisterWaived.action}}
    return any(
        each.schema is not None and each.schema.version == now.latest_version and compute_digest(each.file) in digests
        for each in plan.registrations
        if each.file.subject == subject
    )
