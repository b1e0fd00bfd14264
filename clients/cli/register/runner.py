"""Implementation of ``contractlog register``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.check.check_text import ReferencedFindings
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.error_messages import interruption_message
from contractlog.clients.cli.file_counts import count_files
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import (
    continue_without_reader,
    print_message,
    print_result,
)
from contractlog.clients.cli.plan_and_apply.file_registration import (
    FileRegistration,
    all_unpermitted,
    print_step,
    report_interruption,
)
from contractlog.clients.cli.plan_and_apply.registration import Registration
from contractlog.clients.cli.report_formats.registration_report import interrupted_report, registration_report
from contractlog.clients.cli.report_formats.report_output import output_json, output_report, reported_failures
from contractlog.clients.cli.schema_folder.argument_files import read_files
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.file_names import subject_from_name
from contractlog.clients.cli.schema_folder.resolver import FileResolver, ResolvedFile
from contractlog.clients.cli.schema_folder.schema_files import FileKey, SchemaFile
from contractlog.clients.cli.subject_settings import PlannedSettings

__all__ = ["run"]

FORMAT: Final = "contractlog.register/1"


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Register the files, print the outcomes, and return the exit code."""
    with reported_failures(options, "contractlog register", argv):
        return _run(options, argv)


def _run(options: Namespace, argv: Sequence[str]) -> int:
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    steps: list[FileRegistration] = []
    referenced = ReferencedFindings()
    failure: dict[str, Any] = {}
    resolved: dict[FileKey, ResolvedFile] = {}
    try:
        with connect(options) as registry:
            resolver = FileResolver(registry, options.normalize, beside=options.files_beside)
            resolved = {each.file.key: each for each in resolver.resolve_all(files, unreadable.collect)}
            if not options.keep_going and unreadable.problems:
                output_report(
                    options, partial(registration_report, steps, unreadable.problems, "nothing was registered")
                )
                unreadable.raise_errors("nothing was registered")
            settings = {file.subject: PlannedSettings(options.level) for file in files} if options.level else {}
            registration = Registration(registry, resolver, resolved, settings, access=WriteAccess(registry))
            for step in _register_readable(registration, files, options, unreadable):
                steps.append(step)
                if options.format == "text":
                    with continue_without_reader():
                        print_step(step, referenced)
            for line in referenced.lines():
                print_result(line)
    except BaseException as error:
        if any(step.outcome == "registered" for step in steps):
            done = {step.file.key for step in steps}
            remaining = [file for file in files if file.key not in done]
            message = interruption_message(error, argv)
            build = partial(interrupted_report, unreadable=unreadable.problems, message=message)
            output_report(options, partial(build, steps, remaining))
            failure = {
                "error": {"message": message, "file": str(remaining[0].path) if remaining else None},
                "not_reached": [{"file": str(each.path), "subject": each.subject} for each in remaining[1:]],
            }
        unchanged = {key for key, each in resolved.items() if each.registered is not None}
        report_interruption(steps, [file for file in files if file.key not in unchanged])
        raise
    finally:
        outcomes = {"files": [step.body() for step in steps], "unreadable": unreadable.bodies()}
        output_json(options, {"format": FORMAT, "dry_run": options.dry_run, **outcomes, **failure})
    refused = [step for step in steps if step.outcome == "refused"]
    summary = _summarize(steps, refused)
    output_report(options, partial(registration_report, steps, unreadable.problems, summary))
    if options.format == "text" and steps:
        print_message(summary)
    unreadable.raise_errors()
    if not refused:
        return exit_codes.CLEAN
    return exit_codes.REFUSED if all_unpermitted(refused) else exit_codes.FINDINGS


def _register_readable(
    registration: Registration, files: list[SchemaFile], options: Namespace, unreadable: UnreadableFiles
) -> Iterator[FileRegistration]:
    """Register the subjects whose files are all readable; skip the files of the others."""
    unreadable_paths = {path for path, _ in unreadable.problems}
    unreadable_subjects = {options.subject or subject_from_name(path) for path in unreadable_paths}
    unreadable_subjects |= {file.subject for file in files if file.path in unreadable_paths}
    readable = []
    for file in files:
        if file.path not in unreadable_paths and file.subject in unreadable_subjects:
            yield registration.skip(
                file, f"not registered, because another file of `{file.subject}` cannot be read as a schema"
            )
        elif file.path not in unreadable_paths:
            readable.append(file)
    if options.dry_run:
        yield from registration.plan_all(readable)
    else:
        yield from registration.register_all(readable, keep_going=options.keep_going)


def _summarize(steps: list[FileRegistration], refused: list[FileRegistration]) -> str:
    files: dict[str, list[SchemaFile]] = {}
    for step in steps:
        files.setdefault(step.outcome, []).append(step.file)
    new, planned, unchanged = (files.get(outcome, []) for outcome in ("registered", "would register", "unchanged"))
    others = (("unchanged", "registered already"), ("skipped", "skipped"), ("refused", "refused"))
    parts = [
        f"{count_files(new)} registered" if new else "",
        f"{count_files(planned)} would be registered" if planned else "",
        *(f"{len({file.path for file in files[outcome]}):,} {word}" for outcome, word in others if outcome in files),
    ]
    if refused and not (new or planned):
        parts.append("nothing was registered" if not unchanged else "nothing new was registered")
    after = ""
    if refused:
        after = (
            "; ask an operator of the registry"
            if all_unpermitted(refused)
            else "; fix the findings above and register again"
        )
    return (", ".join(filter(None, parts)) or "nothing was registered") + after
