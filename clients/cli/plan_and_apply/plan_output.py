"""Output of plans: steps and drift as text, the JSON document, and the summary."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.associations.association_keys import association_body
from contractlog.clients.cli.associations.refused_associations import locate_refused_association
from contractlog.clients.cli.check.check_text import ReferencedFindings
from contractlog.clients.cli.check.refused_changes import print_refused_changes, summarize_refused
from contractlog.clients.cli.file_counts import count_files
from contractlog.clients.cli.output import Tone, count_noun, print_message, print_result, with_tone
from contractlog.clients.cli.plan_and_apply.association_steps import BindSubject, UnbindSubject
from contractlog.clients.cli.plan_and_apply.contract_steps import PutContract
from contractlog.clients.cli.plan_and_apply.file_registration import all_unpermitted, print_step
from contractlog.clients.cli.plan_and_apply.planner import Plan
from contractlog.clients.cli.plan_and_apply.protected_steps import ProtectedStep
from contractlog.clients.cli.plan_and_apply.steps import DeleteSubject, SetConfig, SetLevel, Step
from contractlog.clients.cli.report_formats.report_output import output_json
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = [
    "count_changes",
    "print_drift",
    "print_plan",
    "print_protected_steps",
    "print_unreadable",
    "refusal_code",
    "summarize",
]

PLAN_FORMAT: Final = "contractlog.plan/1"


def print_plan(options: Namespace, plan: Plan) -> None:
    """Print a plan with its summary, as text or JSON."""
    output_json(options, _plan_body(options, plan))
    if options.format == "text":
        _print_steps(plan)
        print_message(summarize(plan))


def print_unreadable(options: Namespace, plan: Plan, unreadable: UnreadableFiles) -> None:
    """Print the plan for the other files as JSON, if there are unreadable files."""
    if unreadable.problems:
        output_json(options, _plan_body(options, plan) | {"unreadable": unreadable.bodies()})


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
    for change in (*plan.bindings, *plan.unbindings, *plan.contracts.changes, *plan.deletions):
        print_result(change.describe())
    print_protected_steps(plan.protected_steps)
    for problem in plan.associations.problems:
        print_result(with_tone(Tone.BAD, escape_line(locate_refused_association(plan.manifest, problem))))
    print_refused_changes(plan.manifest, plan.refused_changes)
    for subject, user in plan.referenced:
        text = f"`{subject}` has no file, and cannot be deleted: it is referenced by {user}"
        print_result(with_tone(Tone.BAD, escape_line(text)))
    print_drift(plan)


def print_protected_steps(steps: Iterable[ProtectedStep]) -> None:
    """Print the steps of protected subjects, with who approves them and what permits them."""
    for each in steps:
        print_result(with_tone(Tone.PLAIN if each.is_permitted else Tone.WARNING, escape_line(each.describe())))


def _describe_unapproved(plan: Plan) -> str:
    """Return how many steps need approvals, as the end of a sentence."""
    number = len(plan.unapproved)
    if not number:
        return ""
    verb = "needs" if number == 1 else "need"
    advice = "until then `apply` makes the others with --skip-protected"
    return f"; {count_noun(number, 'change')} {verb} approvals: {advice}"


def print_drift(plan: Plan) -> None:
    """Print the drifted subjects."""
    for _, sentence in plan.describe_drift():
        print_result(with_tone(Tone.PLAIN, escape_line(f"drift: {sentence}")))


def _plan_body(options: Namespace, plan: Plan) -> dict[str, Any]:
    drift = [
        {"subject": subject, "file": file, "latest": latest}
        | ({"differs_in": list(plan.differences[subject])} if subject in plan.differences else {})
        for subject, file, latest in plan.drift()
    ]
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
        "folder_warnings": [warning.body() for warning in options.folder_warnings],
    }
    if plan.protected_steps:
        body["protected"] = [each.body() for each in plan.protected_steps]
    if plan.manifest is not None:
        body["refused_changes"] = [each.body() for each in plan.refused_changes]
    if plan.manifest is not None and plan.manifest.waivers:
        body["lowered_levels"] = [{"subject": each.subject, "level": each.change.after} for each in plan.lowered_levels]
    if plan.manifest is not None and plan.manifest.associations:
        body["rejected_associations"] = [each.body() for each in plan.associations.problems]
        body["unlisted_associations"] = [association_body(each) for each in plan.associations.unlisted]
    if plan.without_file is not None:
        body["without_file"] = [{"subject": subject, "rule": rule} for subject, rule in plan.without_file.items()]
    if options.prune:
        body["referenced"] = [{"subject": subject, "by": user} for subject, user in plan.referenced]
    return body


def summarize(plan: Plan) -> str:
    """Return one sentence about a plan."""
    rest = "only restores levels" if plan.lowered_levels else "changes nothing"
    if plan.refused:
        refused = {each.file.path for each in plan.refused}
        waiting = {each.file.path for each in plan.registrations if each.outcome == "skipped"} - refused
        number = count_files(each.file for each in plan.refused) + " cannot be registered"
        if waiting:
            them = "it" if len(refused) == 1 else "them"
            number += f", and {count_noun(len(waiting), 'other')} would wait for {them}"
        advice = "ask an operator of the registry" if all_unpermitted(plan.refused) else "fix the findings above"
        return f"{number}: {advice}; until then `apply` {rest}"
    if plan.refused_changes:
        return f"{summarize_refused(plan.refused_changes)}; until then `apply` {rest}"
    if plan.associations.problems:
        number = count_noun(len(plan.associations.problems), "association")
        return f"{number} cannot be set: change [[associations]]; until then `apply` {rest}"
    if plan.referenced:
        return "a subject without a file is still referenced: restore its file, or delete what references it"
    if plan.is_empty:
        return "nothing to change" + ("; the registry has drifted from the files" if plan.has_drift else "")
    new = sum(each.outcome == "would register" for each in plan.registrations)
    others = [*plan.settings, *plan.bindings, *plan.unbindings, *plan.contracts.changes, *plan.deletions]
    return count_changes(new, others, "would be ") + _describe_unapproved(plan)


def count_changes(new: int, steps: Sequence[Step], tense: str) -> str:
    """Return the numbers of new versions, settings and deletions as a phrase."""
    levels = sum(isinstance(step, SetLevel) for step in steps)
    others = sum(isinstance(step, SetConfig) for step in steps) - levels
    bound, unbound = (sum(isinstance(step, kind) for step in steps) for kind in (BindSubject, UnbindSubject))
    contracts, deletions = (sum(isinstance(step, kind) for step in steps) for kind in (PutContract, DeleteSubject))
    settings = [count_noun(levels, "level")] if levels else []
    settings += [count_noun(others, "other setting" if levels else "setting")] if others else []
    parts = [f"{count_noun(new, 'version')} {tense}registered"] if new else []
    parts += [f"{' and '.join(settings)} {tense}set"] if settings else []
    parts += [f"{count_noun(bound, 'association')} {tense}set"] if bound else []
    parts += [f"{count_noun(unbound, 'association')} {tense}removed"] if unbound else []
    parts += [f"{count_noun(contracts, 'contract')} {tense}stored"] if contracts else []
    parts += [f"{count_noun(deletions, 'subject')} {tense}soft-deleted"] if deletions else []
    return ", ".join(parts) or "nothing was changed"


def refusal_code(plan: Plan) -> int:
    """Return the exit code of a plan that cannot be applied: 4 if only permissions or modes prevent it."""
    permitted = plan.referenced or not all(each.is_permission for each in plan.associations.problems)
    return exit_codes.FINDINGS if permitted or not all_unpermitted(plan.refused) else exit_codes.REFUSED
