"""Levels that were lowered for a registration by waiver, and are restored by the next plan.

Such a registration sets the level to NONE for a moment; if it is interrupted then, the level stays NONE until the next
plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.plan_and_apply.file_registration import FileRegistration
from contractlog.clients.cli.plan_and_apply.steps import SetConfig, SetLevel
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.subject_settings import find_setting_changes
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.identifiers import qualify_subject
from contractlog.compatibility.level import Level

__all__ = ["count_restored", "describe_lowered_level", "find_lowered_levels"]


def find_lowered_levels(
    registry: Registry,
    manifest: Manifest | None,
    settings: Iterable[SetConfig],
    registrations: Sequence[FileRegistration],
    unread_context: str | None,
) -> Iterator[SetLevel]:
    """Yield the steps that restore levels of subjects that a waiver is for, ended ones included.

    Args:
        registry: the registry.
        manifest: the manifest with the waivers.
        settings: the changes of settings of the files that can be read.
        registrations: these files.
        unread_context: if there are files that cannot be read, the context of their subjects; else None.
    """
    waivers = [] if manifest is None else [waiver for waiver in manifest.waivers if not waiver.is_for_lint]
    if not waivers:
        return
    types: dict[str, set[str]] = {}  # a waiver of a type is for its users, too
    for each in registrations:
        draft, planned = each.file.draft, each.file.planned
        referenced = {reference.subject for reference in draft.references} | {target.subject for target in planned}
        types.setdefault(each.file.subject, {each.file.subject}).update(referenced)
    changes = [step.change for step in settings if isinstance(step, SetLevel)]
    if unread_context is not None:
        names = {waiver.subject for waiver in waivers if not set("*?[") & set(waiver.subject)}
        unread = [
            name for name in (qualify_subject(each, unread_context) for each in sorted(names)) if name not in types
        ]
        types |= {name: {name} for name in unread}
        changes += [
            change
            for name in unread
            for change in find_setting_changes(registry, manifest, name)
            if change.setting == "level"
        ]
    for change in changes:
        candidates = types.get(change.subject, {change.subject})
        is_waived = any(waiver.is_for_subject(name) for waiver in waivers for name in candidates)
        if is_waived and change.before == Level.NONE.value and _has_own_level(registry, change.subject):
            yield SetLevel(change.subject, change)


def _has_own_level(registry: Registry, subject: str) -> bool:
    try:
        return registry.config(subject, inherited=False).level is Level.NONE
    except RegistryError:  # none of its own, or it is not permitted to read it
        return False


def describe_lowered_level(step: SetLevel) -> str:
    """Return the warning about a level that ``apply`` restores."""
    return (
        f"warning: `{step.subject}` accepts any schema: it has level NONE, perhaps because `apply --use-waivers` was "
        f"interrupted; `apply` sets level {step.change.after}, also if it makes no other change"
    )


def count_restored(restored: Sequence[SetLevel]) -> str:
    """Return the message of an ``apply`` that made no other changes."""
    if not restored:
        return "nothing was applied"
    return f"{count_noun(len(restored), 'level')} restored, nothing else was applied"
