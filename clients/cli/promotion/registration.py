"""Registration of the versions that a target lacks, under their ids where the target allows it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Final

from contractlog.clients.cli.promotion.connected_environment import ConnectedEnvironment
from contractlog.clients.cli.promotion.environment_versions import TargetSubject, has_own_mode
from contractlog.clients.cli.promotion.promoted_version import PromotedVersion
from contractlog.clients.cli.promotion.promotion_plan import WAIVER_ADVICE, PromotionPlanner
from contractlog.clients.cli.promotion.refusals import RefusedError
from contractlog.clients.cli.subject_settings import lowered_level
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
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["end_imports", "register_missing"]

_REFUSALS: Final = (IncompatibleSchema, InvalidSchema, OperationNotPermitted, Forbidden)


def register_missing(promotion: PromotionPlanner) -> Iterator[PromotedVersion]:
    """Register the missing versions, and yield each; stop at the first that the target rejects."""
    target, references = promotion.target, promotion.references
    with ExitStack() as modes:
        importing: set[str] = set()
        for planned in promotion.missing:
            subject, state = planned.subject, promotion.target_subjects[planned.subject]
            if planned.keeps_id and state.mode is Mode.READWRITE and subject not in importing:
                state.keeps_ids = _enter_import(target, subject, state, modes)
                importing |= {subject} if state.keeps_ids else set()
            try:
                draft = references.map_draft(subject, planned.schema)
                registered = _register(promotion, draft, planned, state)
            except (*_REFUSALS, RefusedError) as error:
                reason = str(error)
                if isinstance(error, IncompatibleSchema):
                    level = target.registry.level(target.qualify(subject))
                    reason = f"{promotion.describe_incompatible(planned.schema, level)}: {WAIVER_ADVICE}"
                promotion.refuse(subject, reason, "permission" if isinstance(error, Forbidden) else "history")
                return
            number = registered.version or _find_version(target, subject, draft) or planned.version
            references.numbers[subject, planned.source_version] = number
            same = registered.schema_id == planned.schema.schema_id
            yield replace(planned, version=number, schema_id=registered.schema_id, keeps_id=same)


def end_imports(promotion: PromotionPlanner) -> Iterator[tuple[str, Mode]]:
    """Set the manifest's mode on subjects left in mode IMPORT, and yield them."""
    for subject, mode in promotion.left_in_import.items():
        promotion.target.registry.set_mode(mode, promotion.target.qualify(subject))
        yield subject, mode


def _register(
    promotion: PromotionPlanner, draft: SchemaDraft, planned: PromotedVersion, state: TargetSubject
) -> RegisteredSchema:
    """Register a version, under its id if the target allows it, and against the level if waivers cover it."""
    registry, qualified = promotion.target.registry, promotion.target.qualify(planned.subject)
    if state.keeps_ids:
        try:
            return registry.register(
                qualified, draft, schema_id=planned.schema.schema_id, version=planned.source_version
            )
        except (OperationNotPermitted, SchemaIdMismatch, Forbidden):
            left = promotion.left_in_import.get(planned.subject)  # by a promotion that was interrupted
            if Mode.READWRITE not in {state.mode, left}:  # new ids are not permitted in the mode that it had before
                raise
            if left is None:
                _leave_import(registry, qualified, state)
            else:
                registry.set_mode(left, qualified)
            state.keeps_ids = False
    draft = planned.clear_contract(draft)
    try:
        return registry.register(qualified, draft)
    except IncompatibleSchema:
        level = promotion.find_waived_level(planned.subject, planned.schema, draft)
        if level is None:
            raise
        with lowered_level(registry, qualified, level):
            return registry.register(qualified, draft)


def _find_version(target: ConnectedEnvironment, subject: str, draft: SchemaDraft) -> int | None:
    """Return the number of a registered version: servers before release 7 tell only the id."""
    return target.registry.lookup(target.qualify(subject), draft).version


def _enter_import(target: ConnectedEnvironment, subject: str, state: TargetSubject, modes: ExitStack) -> bool:
    """Set mode IMPORT on a subject until ``modes`` is closed, and return whether the target permits it."""
    state.has_mode = has_own_mode(target, subject)
    try:
        target.registry.set_mode(Mode.IMPORT, target.qualify(subject))
    except (Forbidden, OperationNotPermitted, NotFound, MethodNotAllowed):
        return False
    modes.callback(_leave_import, target.registry, target.qualify(subject), state)
    return True


def _leave_import(registry: Registry, qualified: str, state: TargetSubject) -> None:
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
