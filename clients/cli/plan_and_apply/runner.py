"""Implementation of ``contractlog plan`` and ``apply``."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.check.write_access import UNKNOWN_PERMISSIONS
from contractlog.clients.cli.error_messages import interruption_message
from contractlog.clients.cli.file_counts import count_files
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import (
    Tone,
    continue_without_reader,
    count_noun,
    print_error,
    print_message,
    print_result,
    with_tone,
)
from contractlog.clients.cli.plan_and_apply.association_steps import BindSubject, UnbindSubject
from contractlog.clients.cli.plan_and_apply.contract_steps import PutContract
from contractlog.clients.cli.plan_and_apply.file_registration import (
    FileRegistration,
    all_unpermitted,
    print_step,
    report_interruption,
)
from contractlog.clients.cli.plan_and_apply.lock_update import update_locks
from contractlog.clients.cli.plan_and_apply.lowered_levels import count_restored, describe_lowered_level
from contractlog.clients.cli.plan_and_apply.plan_output import (
    count_changes,
    print_drift,
    print_plan,
    print_protected_steps,
    print_unreadable,
    refusal_code,
    summarize,
)
from contractlog.clients.cli.plan_and_apply.planner import Plan, make_plan, require_prunable
from contractlog.clients.cli.plan_and_apply.protected_steps import ProtectedStep
from contractlog.clients.cli.plan_and_apply.registration import Registration
from contractlog.clients.cli.plan_and_apply.saved_plan import SavedPlan, find_deviation, read_plan, write_plan
from contractlog.clients.cli.plan_and_apply.steps import DeleteSubject, SetConfig, SetLevel, Step
from contractlog.clients.cli.report_formats.plan_report import Applied, apply_report, outdated_plan_report, plan_report
from contractlog.clients.cli.report_formats.report_output import output_json, output_report, reported_failures
from contractlog.clients.cli.schema_folder.argument_files import read_files
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.subject_settings import SettingIgnored, find_uncertain_settings
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import RegistryError, UsageError
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["run_apply", "run_plan"]

APPLY_FORMAT: Final = "contractlog.apply/1"


def run_plan(options: Namespace, argv: Sequence[str]) -> int:
    """Print what would change, and return the exit code."""
    with reported_failures(options, "contractlog plan", argv):
        return _run_plan(options)


def _run_plan(options: Namespace) -> int:
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    require_prunable(options)
    with connect(options) as registry:
        _, plan = make_plan(options, registry, files, unreadable)
        uncertain = find_uncertain_settings(registry, (step.change for step in plan.settings))
        _warn_of_missing_context(options, registry, plan)
        if options.out is not None and not unreadable.problems:
            write_plan(options, registry, plan)
    for warning in plan.manifest_warnings:
        print_error(f"warning: {warning.describe()}")
    for step in plan.lowered_levels:
        print_error(describe_lowered_level(step))
    output_report(options, partial(plan_report, plan, unreadable.problems, summarize(plan)))
    print_unreadable(options, plan, unreadable)
    unreadable.raise_errors()
    print_plan(options, plan)
    if uncertain:
        print_message(
            f"note: whether this registry has the {'setting' if len(uncertain) == 1 else 'settings'} "
            f"{', '.join(uncertain)} is not known: `contractlog apply` says so if it ignores them"
        )
    if plan.associations.changes and not plan.associations.is_supported:
        print_message("note: whether this registry has associations is not known: `contractlog apply` says so if not")
    if not plan.shows_permissions:
        print_message(f"note: {UNKNOWN_PERMISSIONS}")
    if plan.is_blocked:
        return refusal_code(plan)
    if plan.unapproved:
        return exit_codes.REFUSED
    differs = options.exit_code and (not plan.is_empty or plan.has_drift)
    return exit_codes.FINDINGS if differs else exit_codes.CLEAN


def run_apply(options: Namespace, argv: Sequence[str]) -> int:
    """Make the changes of a plan, and return the exit code."""
    with reported_failures(options, "contractlog apply", argv):
        return _run_apply(options, argv)


def _run_apply(options: Namespace, argv: Sequence[str]) -> int:
    saved = None if options.plan is None else read_plan(options)
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    require_prunable(options)
    with connect(options) as registry:
        registration, plan = make_plan(options, registry, files, unreadable)
        deviation = None
        if saved is not None and not unreadable.problems:
            deviation = find_deviation(saved, registry, plan)
        lacking = _find_lacking_permission(options, plan)
        restored: list[SetLevel] = []
        if unreadable.problems or plan.is_blocked or deviation or lacking or _is_unapproved(options, plan):
            restored = _restore_levels(options, registration, plan, saved)
        outcome = count_restored(restored)
        if deviation is not None:
            print_message(f"{outcome}: the registry or the files have changed since the plan; plan again")
            print_message(deviation)
            output_report(options, partial(outdated_plan_report, options.plan, deviation))
            return exit_codes.FINDINGS
        print_unreadable(options, plan, unreadable)
        if unreadable.problems or plan.is_blocked:
            output_report(
                options, partial(plan_report, plan, unreadable.problems, summarize(plan), command="contractlog apply")
            )
        unreadable.raise_errors(outcome)
        _warn_of_missing_context(options, registry, plan)
        if plan.is_blocked:
            print_plan(options, plan)
            print_message(outcome)
            return refusal_code(plan)
        if _is_unapproved(options, plan):
            output_report(
                options, partial(plan_report, plan, unreadable.problems, summarize(plan), command="contractlog apply")
            )
            print_plan(options, plan)
            print_message(f"{outcome}: get the approvals, or pass --skip-protected to make the other changes")
            return exit_codes.REFUSED
        if lacking:
            raise UsageError(f"{outcome}: {lacking}")
        return _apply(options, argv, registration, plan)


def _restore_levels(
    options: Namespace, registration: Registration, plan: Plan, saved: SavedPlan | None
) -> list[SetLevel]:
    """Restore the levels that a waiver lowered, before a command that makes no other change ends.

    With a saved plan, these are only those that it lowers.
    """
    refused = {each.subject for each in plan.refused_changes}
    restored = []
    for step in plan.lowered_levels:
        if step.subject not in refused and (saved is None or saved.restores(step)):
            step.apply(registration)
            restored.append(step)
            _print_made(options, step, None)
    return restored


def _warn_of_missing_context(options: Namespace, registry: Registry, plan: Plan) -> None:
    """Say if the registry takes the context of the environment for a part of the names."""
    if not options.context or not any(plan.latest.values()):
        return
    try:
        contexts = {name.strip(":") for name in registry.contexts()}
    except RegistryError:
        contexts = set()
    if options.context not in contexts:
        print_message(
            f"note: this registry has subjects in the context `{options.context}`, but does not list it: it may take "
            "it for a part of their names, and references to them for references to others without it"
        )


def _is_unapproved(options: Namespace, plan: Plan) -> bool:
    """Return whether protected steps prevent all others."""
    return bool(plan.unapproved) and not (options.skip_protected or options.break_glass)


def _find_lacking_permission(options: Namespace, plan: Plan) -> str:
    """Return which deletions or waivers the options do not permit, as a phrase; empty if they permit all."""
    if plan.deletions and not options.allow_delete:
        return f"{count_noun(len(plan.deletions), 'subject')} would be soft-deleted, which needs --allow-delete"
    if plan.unbindings and not options.allow_delete:
        return f"{count_noun(len(plan.unbindings), 'association')} would be removed, which needs --allow-delete"
    if plan.waived and not options.use_waivers:
        number = count_files(step.planned.file for step in plan.waived)
        return f"{number} would be registered by a waiver, although the level rejects it, which needs --use-waivers"
    return ""


def _apply(options: Namespace, argv: Sequence[str], registration: Registration, plan: Plan) -> int:
    applied = Applied(plan, done=[each for each in plan.registrations if each.outcome == "unchanged"])
    skipped = [] if options.break_glass else plan.unapproved
    omitted = {each.step.key for each in skipped}
    try:
        for step in (each for each in plan.steps() if each.key not in omitted):
            try:
                outcome = step.apply(registration)
            except SettingIgnored as error:
                applied.ignored.append((step, error))
                _print_ignored(options, step, error)
                continue
            applied.steps_made.append(step)
            if outcome is not None:
                applied.done.append(outcome)
            _print_made(options, step, outcome)
    except BaseException as error:
        applied.failure = interruption_message(error, argv)
        output_report(options, partial(apply_report, applied, _summarize_failure(applied)))
        settings = sum(isinstance(each, SetConfig) for each in applied.steps_made)
        planned = [each.file for each in plan.registrations if each.outcome == "would register"]
        report_interruption(applied.done, planned, settings=settings)
        raise
    finally:
        output_json(options, _apply_body(applied))
    refused = [each for each in applied.done if each.outcome == "refused"]
    new = sum(each.outcome == "registered" for each in applied.done)
    if plan.is_empty and options.format == "text":
        print_drift(plan)
    summary = summarize(plan) if plan.is_empty else count_changes(new, applied.steps_made, "")
    output_report(options, partial(apply_report, applied, summary))
    print_message(summary)
    if applied.ignored:
        kinds = Counter(_name_ignored(step) for step, _ in applied.ignored)
        number = " and ".join(count_noun(number, kind) for kind, number in kinds.items())
        print_message(f"{number} could not be set: remove from the manifest what this registry does not have")
    _print_skipped(options, skipped)
    update_locks(options, registration.registry, applied.done)
    if applied.ignored or (refused and not all_unpermitted(refused)):
        return exit_codes.FINDINGS
    return exit_codes.REFUSED if refused or skipped else exit_codes.CLEAN


def _print_skipped(options: Namespace, skipped: Sequence[ProtectedStep]) -> None:
    if skipped:
        if options.format == "text":
            print_protected_steps(skipped)
        print_message(f"{count_noun(len(skipped), 'change')} skipped: approvals of the owners are missing")


def _name_ignored(step: Step) -> str:
    kinds: dict[type[Step], str] = {BindSubject: "association", PutContract: "contract"}
    return kinds.get(type(step), "setting")


def _summarize_failure(applied: Applied) -> str:
    new = sum(each.outcome == "registered" for each in applied.done)
    rest = max(len(applied.remaining) - 1, 0)
    return f"ended early: {count_changes(new, applied.steps_made, '')}; 1 step failed, {rest:,} not reached"


def _print_made(options: Namespace, step: Step, outcome: FileRegistration | None) -> None:
    if options.format != "text":
        return
    with continue_without_reader():
        if outcome is None:
            print_result(step.describe())
        elif outcome.outcome != "unchanged":
            print_step(outcome)


def _print_ignored(options: Namespace, step: Step, error: SettingIgnored) -> None:
    if options.format == "text":
        with continue_without_reader():
            print_result(with_tone(Tone.BAD, escape_line(f"{step.label}: {error}")))


def _apply_body(applied: Applied) -> dict[str, Any]:
    steps_made = applied.steps_made
    levels = [
        {"subject": step.subject, "level": step.change.after} for step in steps_made if isinstance(step, SetLevel)
    ]
    others = [each.body() for each in steps_made if isinstance(each, SetConfig) and not isinstance(each, SetLevel)]
    body: dict[str, Any] = {
        "format": APPLY_FORMAT,
        "levels": levels,
        "settings": others,
        "ignored": [step.body() for step, _ in applied.ignored],
        "files": [each.body() for each in applied.registrations],
        "associations": [each.body() for each in steps_made if isinstance(each, BindSubject | UnbindSubject)],
        "deleted": [each.subject for each in steps_made if isinstance(each, DeleteSubject)],
    }
    if contracts := [each.body() for each in steps_made if isinstance(each, PutContract)]:
        body["contracts"] = contracts
    if applied.failure:
        steps = [step.body() for step in applied.remaining]
        body["error"] = {"message": applied.failure, "step": steps[0] if steps else None}
        body["not_reached"] = steps[1:]
    return body
