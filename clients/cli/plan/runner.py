"""Implementation of ``contractlog plan`` and ``apply``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.findings import ReferencedFindings
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import (
    Tone,
    continue_without_reader,
    count_noun,
    print_json,
    print_message,
    print_result,
    with_tone,
)
from contractlog.clients.cli.plan.file_registration import (
    FileRegistration,
    all_unpermitted,
    print_step,
    report_interruption,
)
from contractlog.clients.cli.plan.plan_report import plan_report
from contractlog.clients.cli.plan.planner import Plan, make_plan, require_prunable
from contractlog.clients.cli.plan.registration import Registration
from contractlog.clients.cli.plan.saved_plan import PLAN_FORMAT, find_deviation, read_plan, write_plan
from contractlog.clients.cli.plan.steps import DeleteSubject, SetConfig, SetLevel, Step
from contractlog.clients.cli.report_formats.renderer import output_report, reported_failures
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.command_files import read_files
from contractlog.clients.cli.subject_settings import SettingIgnored, find_uncertain_settings
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import RegistryError, UsageError
from contractlog.compatibility.terminal_text import escape_line

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
        changes = (step.change for step in plan.settings if isinstance(step, SetConfig))
        uncertain = find_uncertain_settings(registry, changes)
        _warn_of_missing_context(options, registry, plan)
    for warning in plan.manifest_warnings:
        print_message(f"warning: {warning.describe()}")
    output_report(options, partial(plan_report, plan, unreadable.problems, _summarize(plan)))
    _print_unreadable(options, plan, unreadable)
    unreadable.raise_errors()
    if options.out is not None:
        write_plan(options, plan)
    _print_plan(options, plan)
    if uncertain:
        print_message(
            f"note: whether this registry has the {'setting' if len(uncertain) == 1 else 'settings'} "
            f"{', '.join(uncertain)} is not known: `contractlog apply` says so if it ignores them"
        )
    if plan.refused or plan.referenced:
        return _refusal_code(plan.refused)
    differs = options.exit_code and (not plan.is_empty or plan.has_drift)
    return exit_codes.FINDINGS if differs else exit_codes.CLEAN


def run_apply(options: Namespace) -> int:
    """Make the changes of a plan, and return the exit code."""
    saved = None if options.plan is None else read_plan(options)
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    require_prunable(options)
    with connect(options) as registry:
        registration, plan = make_plan(options, registry, files, unreadable)
        _print_unreadable(options, plan, unreadable)
        unreadable.raise_errors("nothing was applied")
        _warn_of_missing_context(options, registry, plan)
        if plan.refused or plan.referenced:
            _print_plan(options, plan)
            print_message("nothing was applied")
            return _refusal_code(plan.refused)
        deviation = None if saved is None else find_deviation(saved, plan)
        if deviation is not None:
            print_message("nothing was applied: the registry or the files have changed since the plan; plan again")
            print_message(deviation)
            return exit_codes.FINDINGS
        _require_permission(options, plan)
        return _apply(options, registration, plan)


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


def _require_permission(options: Namespace, plan: Plan) -> None:
    """Refuse deletions and waivers that the options do not permit.

    Raises:
        UsageError: the plan has some.
    """
    if plan.deletions and not options.allow_delete:
        number = count_noun(len(plan.deletions), "subject")
        raise UsageError(f"nothing was applied: {number} would be soft-deleted, which needs --allow-delete")
    if plan.waived and not options.use_waivers:
        number = count_noun(len(plan.waived), "file")
        raise UsageError(
            f"nothing was applied: {number} would be registered by a waiver, although the level rejects it, which "
            "needs --use-waivers"
        )


def _apply(options: Namespace, registration: Registration, plan: Plan) -> int:
    done: list[FileRegistration] = [each for each in plan.registrations if each.outcome == "unchanged"]
    made: list[Step] = []
    ignored: list[Step] = []
    try:
        for step in plan.steps():
            try:
                outcome = step.apply(registration)
            except SettingIgnored as error:
                ignored.append(step)
                _print_ignored(options, step, error)
                continue
            made.append(step)
            if outcome is not None:
                done.append(outcome)
            _print_made(options, step, outcome)
    except BaseException:
        report_interruption(done, len(plan.registrations), settings=sum(isinstance(each, SetConfig) for each in made))
        raise
    finally:
        if options.format == "json":
            print_json(_apply_body(plan, done, made, ignored))
    refused = [each for each in done if each.outcome == "refused"]
    new = sum(each.outcome == "registered" for each in done)
    if plan.is_empty and options.format == "text":
        _print_drift(plan)
    print_message(_summarize(plan) if plan.is_empty else _count_changes(new, made, ""))
    if ignored:
        number = count_noun(len(ignored), "setting")
        print_message(f"{number} could not be set: remove from the manifest what this registry does not have")
    if refused:
        return _refusal_code(refused)
    return exit_codes.FINDINGS if ignored else exit_codes.CLEAN


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
            print_result(with_tone(Tone.BAD, escape_line(f"{error.facts['setting']} of `{step.subject}`: {error}")))


def _apply_body(
    plan: Plan, done: list[FileRegistration], made: Sequence[Step], ignored: Sequence[Step]
) -> dict[str, Any]:
    order = {each.file.key: number for number, each in enumerate(plan.registrations)}
    done = sorted(done, key=lambda each: order[each.file.key])
    levels = [{"subject": step.subject, "level": step.change.after} for step in made if isinstance(step, SetLevel)]
    others = [each.body() for each in made if isinstance(each, SetConfig) and not isinstance(each, SetLevel)]
    return {
        "format": APPLY_FORMAT,
        "levels": levels,
        "settings": others,
        "ignored": [each.body() for each in ignored],
        "files": [each.body() for each in done],
        "deleted": [each.subject for each in made if isinstance(each, DeleteSubject)],
    }


def _print_plan(options: Namespace, plan: Plan) -> None:
    if options.format == "json":
        print_json(_plan_body(options, plan))
    elif options.format == "text":
        _print_steps(plan)
        print_message(_summarize(plan))


def _print_unreadable(options: Namespace, plan: Plan, unreadable: UnreadableFiles) -> None:
    """Print the plan for the other files as JSON, if there are unreadable files."""
    if unreadable.problems and options.format == "json":
        print_json(_plan_body(options, plan) | {"unreadable": unreadable.bodies()})


def _print_steps(plan: Plan) -> None:
    for step in plan.settings:
        print_result(step.describe())
    waived = {step.planned.file.key: step for step in plan.waived}
    referenced = ReferencedFindings()
    for each in plan.registrations:
        if each.file.key in waived:
            for line in waived[each.file.key].describe().split("\n"):
                print_result(line)
        elif each.outcome != "unchanged":
            print_step(each, referenced)
    for line in referenced.lines():
        print_result(line)
    for deletion in plan.deletions:
        print_result(deletion.describe())
    for subject, user in plan.referenced:
        text = f"`{subject}` has no file, and cannot be deleted: it is referenced by {user}"
        print_result(with_tone(Tone.BAD, escape_line(text)))
    _print_drift(plan)


def _print_drift(plan: Plan) -> None:
    for _, sentence in plan.describe_drift():
        print_result(with_tone(Tone.PLAIN, escape_line(f"drift: {sentence}")))


def _plan_body(options: Namespace, plan: Plan) -> dict[str, Any]:
    drift = [{"subject": subject, "file": file, "latest": latest} for subject, file, latest in plan.drift()]
    refused = [each.check.body() for each in plan.refused if each.check is not None]
    steps = [body for step in plan.steps() for body in step.output_bodies()]
    impact = [
        {"file": str(each.file.path), "subject": each.file.subject, **each.check.impact.body()}
        for each in plan.registrations
        if each.outcome == "would register" and each.check is not None and each.check.impact is not None
    ]
    findings = [body for each in plan.registrations for body in each.finding_bodies()]
    body = {
        "format": PLAN_FORMAT,
        "steps": steps,
        "impact": impact,
        "findings": findings,
        "refused": refused,
        "drift": drift,
        "unreadable": [],
        "manifest_warnings": [warning.body() for warning in plan.manifest_warnings],
    }
    if plan.without_file is not None:
        body["without_file"] = [{"subject": subject, "rule": rule} for subject, rule in plan.without_file.items()]
    if options.prune:
        body["referenced"] = [{"subject": subject, "by": user} for subject, user in plan.referenced]
    return body


def _summarize(plan: Plan) -> str:
    if plan.refused:
        waiting = sum(each.outcome == "skipped" for each in plan.registrations)
        number = count_noun(len(plan.refused), "file") + " cannot be registered"
        if waiting:
            them = "it" if len(plan.refused) == 1 else "them"
            number += f", and {count_noun(waiting, 'other')} would wait for {them}"
        advice = "ask an operator of the registry" if all_unpermitted(plan.refused) else "fix the findings above"
        return f"{number}: {advice}; until then `apply` changes nothing"
    if plan.referenced:
        return "a subject without a file is still referenced: restore its file, or delete what references it"
    if plan.is_empty:
        return "nothing to change" + ("; the registry has drifted from the files" if plan.has_drift else "")
    new = sum(each.outcome == "would register" for each in plan.registrations)
    return _count_changes(new, [*plan.settings, *plan.deletions], "would be ")


def _count_changes(new: int, steps: Sequence[Step], tense: str) -> str:
    """Return the numbers of new versions, settings and deletions as a phrase."""
    levels = sum(isinstance(step, SetLevel) for step in steps)
    others = sum(isinstance(step, SetConfig) for step in steps) - levels
    deletions = sum(isinstance(step, DeleteSubject) for step in steps)
    settings = [count_noun(levels, "level")] if levels else []
    settings += [count_noun(others, "other setting" if levels else "setting")] if others else []
    parts = [f"{count_noun(new, 'version')} {tense}registered"] if new else []
    parts += [f"{' and '.join(settings)} {tense}set"] if settings else []
    parts += [f"{count_noun(deletions, 'subject')} {tense}soft-deleted"] if deletions else []
    return ", ".join(parts) or "nothing was changed"


def _refusal_code(refused: list[FileRegistration]) -> int:
    return exit_codes.REFUSED if refused and all_unpermitted(refused) else exit_codes.FINDINGS
