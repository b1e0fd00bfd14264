"""Implementation of ``contractlog plan`` and ``apply``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import (
    Tone,
    continue_without_reader,
    count_noun,
    print_json,
    print_message,
    print_result,
    shell_command,
    with_tone,
)
from contractlog.clients.cli.plan.planner import Plan, make_plan, require_prunable
from contractlog.clients.cli.plan.registration import (
    FileRegistration,
    Registration,
    all_unpermitted,
    print_step,
    report_interruption,
)
from contractlog.clients.cli.plan.registration_report import plan_report
from contractlog.clients.cli.plan.saved_plan import PLAN_FORMAT, is_rest_of, read_plan, write_plan
from contractlog.clients.cli.plan.steps import DeleteSubject, SetConfig, SetLevel, Step
from contractlog.clients.cli.report_formats.renderer import output_report, reported_failures
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.command_files import read_files
from contractlog.compatibility.errors import UsageError
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
    output_report(options, partial(plan_report, plan, unreadable.problems, _summarize(plan)))
    unreadable.raise_errors()
    if options.out is not None:
        write_plan(options, plan)
    _print_plan(options, plan)
    if plan.refused or plan.referenced:
        return _refusal_code(plan.refused)
    differs = not plan.is_empty or any(plan.drift())
    return exit_codes.FINDINGS if options.exit_code and differs else exit_codes.CLEAN


def run_apply(options: Namespace) -> int:
    """Make the changes of a plan, and return the exit code."""
    saved = None if options.plan is None else read_plan(options)
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    require_prunable(options)
    with connect(options) as registry:
        registration, plan = make_plan(options, registry, files, unreadable)
        unreadable.raise_errors("nothing was applied")
        if plan.refused or plan.referenced:
            _print_plan(options, plan)
            print_message("nothing was applied")
            return _refusal_code(plan.refused)
        if saved is not None and not is_rest_of(saved, plan):
            print_message("nothing was applied: the registry or the files have changed since the plan; plan again")
            return exit_codes.FINDINGS
        _require_permission(options, plan)
        return _apply(options, registration, plan)


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
    try:
        for step in plan.steps():
            outcome = step.apply(registration)
            made.append(step)
            if outcome is not None:
                done.append(outcome)
            if options.format == "text":
                with continue_without_reader():
                    if outcome is None:
                        print_result(step.describe())
                    elif outcome.outcome != "unchanged":
                        print_step(outcome)
    except BaseException:
        report_interruption(done, len(plan.registrations))
        raise
    finally:
        if options.format == "json":
            order = {each.file.key: number for number, each in enumerate(plan.registrations)}
            done.sort(key=lambda each: order[each.file.key])
            levels = [
                {"subject": step.subject, "level": step.change.after} for step in made if isinstance(step, SetLevel)
            ]
            others = [each.body() for each in made if isinstance(each, SetConfig) and not isinstance(each, SetLevel)]
            files = [each.body() for each in done]
            body = {"format": APPLY_FORMAT, "levels": levels, "settings": others, "files": files}
            print_json(body | {"deleted": [each.subject for each in made if isinstance(each, DeleteSubject)]})
    refused = [each for each in done if each.outcome == "refused"]
    new = sum(each.outcome == "registered" for each in done)
    if plan.is_empty and options.format == "text":
        _print_drift(plan)
    print_message(_summarize(plan) if plan.is_empty else _count_changes(plan, new, ""))
    return _refusal_code(refused) if refused else exit_codes.CLEAN


def _print_plan(options: Namespace, plan: Plan) -> None:
    if options.format == "json":
        print_json(_plan_body(options, plan))
    elif options.format == "text":
        _print_steps(plan)
        print_message(_summarize(plan))


def _print_steps(plan: Plan) -> None:
    for step in plan.settings:
        print_result(step.describe())
    waived = {step.planned.file.key: step for step in plan.waived}
    for each in plan.registrations:
        if each.file.key in waived:
            for line in waived[each.file.key].describe().split("\n"):
                print_result(line)
        elif each.outcome != "unchanged":
            print_step(each)
    for deletion in plan.deletions:
        print_result(deletion.describe())
    for subject, user in plan.referenced:
        text = f"`{subject}` has no file, and cannot be deleted: it is referenced by {user}"
        print_result(with_tone(Tone.BAD, escape_line(text)))
    _print_drift(plan)


def _print_drift(plan: Plan) -> None:
    for subject, version, latest in plan.drift():
        text = f"version {latest} of the registry is not in the files, which have version {version}"
        advice = f"add it to the files, or delete it: {shell_command('delete', f'{subject}:{latest}')}"
        print_result(with_tone(Tone.PLAIN, escape_line(f"drift: `{subject}`: {text}; {advice}")))


def _plan_body(options: Namespace, plan: Plan) -> dict[str, Any]:
    drift = [{"subject": subject, "file": file, "latest": latest} for subject, file, latest in plan.drift()]
    refused = [each.check.body() for each in plan.refused if each.check is not None]
    steps = [step.body() for step in plan.steps()]
    body = {"format": PLAN_FORMAT, "steps": steps, "refused": refused, "drift": drift}
    if options.prune:
        body["referenced"] = [{"subject": subject, "by": user} for subject, user in plan.referenced]
    return body


def _summarize(plan: Plan) -> str:
    if plan.refused:
        skipped = sum(each.outcome == "skipped" for each in plan.registrations)
        others = f", and {skipped:,} would be skipped" if skipped else ""
        return f"{count_noun(len(plan.refused), 'file')} cannot be registered{others}: fix the findings above"
    if plan.referenced:
        return "a subject without a file is still referenced: restore its file, or delete what references it"
    if plan.is_empty:
        return "nothing to change" + ("; the registry has drifted from the files" if any(plan.drift()) else "")
    new = sum(each.outcome == "would register" for each in plan.registrations)
    return _count_changes(plan, new, "would be ")


def _count_changes(plan: Plan, new: int, tense: str) -> str:
    """Return the numbers of new versions, settings and deletions as a phrase."""
    levels = len(_level_changes(plan))
    others = len(plan.settings) - levels
    kind = "other setting" if levels else "setting"
    settings = [count_noun(levels, "level")] if levels else []
    settings += [count_noun(others, kind)] if others else []
    parts = [f"{count_noun(new, 'version')} {tense}registered"] if new else []
    parts += [f"{' and '.join(settings)} {tense}set"] if settings else []
    parts += [f"{count_noun(len(plan.deletions), 'subject')} {tense}soft-deleted"] if plan.deletions else []
    return ", ".join(parts) or "nothing was changed"


def _level_changes(plan: Plan) -> list[SetLevel]:
    return [step for step in plan.settings if isinstance(step, SetLevel)]


def _refusal_code(refused: list[FileRegistration]) -> int:
    return exit_codes.REFUSED if refused and all_unpermitted(refused) else exit_codes.FINDINGS
