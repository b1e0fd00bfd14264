"""Implementation of ``contractlog plan`` and ``apply``."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from contractlog.clients.cli import exit_codes
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
from contractlog.clients.cli.plan.planner import Plan, make_plan
from contractlog.clients.cli.plan.registration import (
    FileRegistration,
    Registration,
    all_unpermitted,
    print_step,
    report_interruption,
)
from contractlog.clients.cli.plan.saved_plan import PLAN_FORMAT, is_rest_of, read_plan, write_plan
from contractlog.clients.cli.plan.steps import SetLevel
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.command_files import read_files
from contractlog.compatibility.terminal_text import escape_line

__all__ = ["run_apply", "run_plan"]

APPLY_FORMAT: Final = "contractlog.apply/1"


def run_plan(options: Namespace) -> int:
    """Print what would change, and return the exit code."""
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    with connect(options) as registry:
        _, plan = make_plan(options, registry, files, unreadable)
    unreadable.raise_errors()
    if options.out is not None:
        write_plan(options, plan)
    _print_plan(options, plan)
    if plan.refused:
        return _refusal_code(plan.refused)
    differs = not plan.is_empty or any(plan.drift())
    return exit_codes.FINDINGS if options.exit_code and differs else exit_codes.CLEAN


def run_apply(options: Namespace) -> int:
    """Make the changes of a plan, and return the exit code."""
    saved = None if options.plan is None else read_plan(options)
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    with connect(options) as registry:
        registration, plan = make_plan(options, registry, files, unreadable)
        unreadable.raise_errors("nothing was applied")
        if plan.refused:
            _print_plan(options, plan)
            print_message("nothing was applied")
            return _refusal_code(plan.refused)
        if saved is not None and not is_rest_of(saved, plan):
            print_message("nothing was applied: the registry or the files have changed since the plan; plan again")
            return exit_codes.FINDINGS
        return _apply(options, registration, plan)


def _apply(options: Namespace, registration: Registration, plan: Plan) -> int:
    done: list[FileRegistration] = [each for each in plan.registrations if each.outcome == "unchanged"]
    try:
        for step in plan.steps():
            outcome = step.apply(registration)
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
            levels = [{"subject": step.subject, "level": step.change.after} for step in _level_changes(plan)]
            others = [step.body() for step in plan.settings if not isinstance(step, SetLevel)]
            files = [each.body() for each in done]
            print_json({"format": APPLY_FORMAT, "levels": levels, "settings": others, "files": files})
    refused = [each for each in done if each.outcome == "refused"]
    new = sum(each.outcome == "registered" for each in done)
    print_message(f"{count_noun(new, 'version')} registered, {_count_settings(plan)} set")
    return _refusal_code(refused) if refused else exit_codes.CLEAN


def _print_plan(options: Namespace, plan: Plan) -> None:
    if options.format == "json":
        drift = [{"subject": subject, "file": file, "latest": latest} for subject, file, latest in plan.drift()]
        refused = [each.check.body() for each in plan.refused if each.check is not None]
        steps = [step.body() for step in plan.steps()]
        print_json({"format": PLAN_FORMAT, "steps": steps, "refused": refused, "drift": drift})
        return
    for step in plan.settings:
        print_result(step.describe())
    for each in plan.registrations:
        if each.outcome != "unchanged":
            print_step(each)
    for subject, version, latest in plan.drift():
        text = f"`{subject}`: version {latest} of the registry is not in the files, which have version {version}"
        print_result(with_tone(Tone.PLAIN, escape_line(f"drift: {text}")))
    if plan.refused:
        print_message(f"{count_noun(len(plan.refused), 'file')} cannot be registered: fix the findings above")
    elif plan.is_empty:
        print_message("nothing to change" + ("; the registry has drifted from the files" if any(plan.drift()) else ""))
    else:
        new = sum(each.outcome == "would register" for each in plan.registrations)
        print_message(f"{count_noun(new, 'version')} would be registered, {_count_settings(plan)} would be set")


def _count_settings(plan: Plan) -> str:
    levels = len(_level_changes(plan))
    others = len(plan.settings) - levels
    return count_noun(levels, "level") + (f" and {count_noun(others, 'other setting')}" if others else "")


def _level_changes(plan: Plan) -> list[SetLevel]:
    return [step for step in plan.settings if isinstance(step, SetLevel)]


def _refusal_code(refused: list[FileRegistration]) -> int:
    return exit_codes.REFUSED if all_unpermitted(refused) else exit_codes.FINDINGS
