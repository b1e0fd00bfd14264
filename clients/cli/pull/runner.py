"""Implementation of ``contractlog pull``."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import (
    Tone,
    count_noun,
    is_quiet,
    print_error,
    print_message,
    print_result,
    with_tone,
)
from contractlog.clients.cli.pull.lock_writer import remove_context, write_lock
from contractlog.clients.cli.pull.manifest_import import import_associations, import_subject_rules
from contractlog.clients.cli.pull.pulled_files import MissingSubject, PulledFile, PullFolder, SharedFileError
from contractlog.clients.cli.pull.pulled_text import format_file_text
from contractlog.clients.cli.registry_lookups import absent_subject_error
from contractlog.clients.cli.report_formats.pull_report import pull_report
from contractlog.clients.cli.report_formats.report_output import output_json, output_report, reported_failures
from contractlog.clients.cli.schema_folder.environment import select_environment
from contractlog.clients.cli.schema_folder.file_names import file_name, has_subject_in_name
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Environment, find_manifest
from contractlog.clients.cli.schema_folder.manifest_file_entries import FileRule
from contractlog.clients.cli.schema_folder.manifest_writer import (
    format_manifest,
    registry_of_manifest,
    write_manifest,
)
from contractlog.clients.lock_file import lock_path, locked_context
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    Forbidden,
    InvalidSchema,
    NotFound,
    PayloadTooLarge,
    SchemaTooLarge,
    SubjectNotFound,
    UsageError,
)
from contractlog.compatibility.identifiers import Subject, qualify_subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.compatibility.text.terminal_text import escape_line, shell_command

__all__ = ["run"]

FORMAT: Final = "contractlog.pull/1"


class OtherContextError(UsageError):
    """The registry responded with a version of a subject of another context."""


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Write versions of subjects to files, and return the exit code."""
    options.files, options.context = [str(options.out)], ""
    with reported_failures(options, "contractlog pull", argv):
        return _run(options)


def _run(options: Namespace) -> int:
    if options.environment is not None or find_manifest(options.manifest, options.files) is not None:
        select_environment(options)
    _require_context(options.out, options.context)
    with connect(options) as registry:
        subjects = _list_subjects(registry, options.context) if options.all else _name_subjects(options)
        pulled, missing = [], []
        for written in _pull_subjects(registry, subjects, options):
            if isinstance(written, MissingSubject):
                missing.append(written)
                print_error(f"`{written.subject}` is left out: {written.message}")
                continue
            pulled.append(written)
            if options.format == "text":
                _print_file(written)
        write_lock(registry, pulled, options.out, options.context)
        if options.manifest is None:
            _write_manifest(registry, pulled, options)
    left_out = [asdict(each) for each in missing]
    output_json(options, {"format": FORMAT, "files": [written.body() for written in pulled], "left_out": left_out})
    output_report(options, partial(pull_report, pulled, missing, lock_path(options.out)))
    if options.format != "json":
        _print_summary(pulled, options)
    edited = any(written.outcome == "edited" for written in pulled)
    return exit_codes.FINDINGS if edited or missing else exit_codes.CLEAN


def _require_context(out: Path, context: str) -> None:
    """Reject a folder whose lock has subjects of another context.

    Raises:
        UsageError: it has, or its lock is invalid.
    """
    path = lock_path(out)
    locked = locked_context(out)
    if path.exists() and locked != context:
        names = (f"the context `{each}`" if each else "all contexts" for each in (locked, context))
        raise UsageError("`{}` was written by a pull of {}, not of {}: pull into another folder".format(path, *names))


def _list_subjects(registry: Registry, context: str) -> list[str]:
    try:
        subjects = registry.subjects()
    except Forbidden:
        print_error("--all needs permission to read every subject: name the subjects that you may read instead")
        raise
    return [subject for subject in subjects if not context or Subject.parse(subject).context == context]


def _name_subjects(options: Namespace) -> list[str]:
    return [qualify_subject(subject, options.context) for subject in dict.fromkeys(options.subjects)]


def _pull_subjects(
    registry: Registry, subjects: Iterable[str], options: Namespace
) -> Iterator[PulledFile | MissingSubject]:
    """Write the versions of subjects to files, and yield them one by one.

    Raises:
        SubjectNotFound: a named subject has no versions; with ``--all``, it is yielded as missing.
        OtherContextError: only another context has it; with ``--all``, it is yielded as missing.
    """
    manifest = options.manifest or find_manifest(None, [str(options.out)])
    folder = PullFolder(options.out, manifest, options.force)
    for subject in subjects:
        try:
            for schema in _fetch_versions(registry, subject, history=options.history):
                yield _write_version(registry, folder, subject, schema, options)
        except (SubjectNotFound, OtherContextError) as error:
            if isinstance(error, SubjectNotFound) and not options.all:
                raise absent_subject_error(registry, subject, error) from None
            if not options.all:
                raise
            yield MissingSubject(subject, str(error))
        except SharedFileError as error:
            yield MissingSubject(subject, str(error))


def _write_version(
    registry: Registry, folder: PullFolder, subject: str, schema: RegisteredSchema, options: Namespace
) -> PulledFile:
    path, outcome, reason = folder.write(
        remove_context(subject, options.context),
        schema,
        format_file_text(registry, schema, subject),
        history=options.history,
        find_version=lambda text: _find_version(registry, subject, replace(schema.draft, text=text)),
    )
    return PulledFile(path, subject, schema, outcome, reason)


def _find_version(registry: Registry, subject: str, draft: SchemaDraft) -> int | None:
    """Return the number of the version with a text, or None.

    The references are those of the draft, or of any version of the subject.
    """
    tried = set()
    context = Subject.parse(subject).context
    for number in (None, *reversed(registry.versions(subject))):
        references = draft.references if number is None else registry.version(subject, number).references
        if references in tried:
            continue
        tried.add(references)
        with suppress(NotFound, InvalidSchema, PayloadTooLarge, SchemaTooLarge):
            existing = registry.lookup(subject, replace(draft, references=references))
            if existing.subject is None or existing.subject.context == context:
                return existing.version
    return None


def _fetch_versions(registry: Registry, subject: str, *, history: bool) -> Iterator[RegisteredSchema]:
    """Yield the versions to write."""
    if not history:
        latest = registry.version(subject, "latest")
        _require_same_context(subject, latest)
        yield latest
        return
    for number in registry.versions(subject):
        yield registry.version(subject, number)


def _require_same_context(subject: str, schema: RegisteredSchema) -> None:
    """Reject a version of another context, which registries return for a subject that they lack.

    Raises:
        OtherContextError: the version is of another context.
    """
    actual = schema.subject
    if actual is not None and actual.context != Subject.parse(subject).context:
        raise OtherContextError(f"`{subject}` does not exist, but `{actual}` does: name it so, or pass --environment")


def _write_manifest(registry: Registry, pulled: Sequence[PulledFile], options: Namespace) -> None:
    """Write a manifest with subjects, settings and associations into a folder without one.

    Raises:
        UsageError: it cannot be written.
    """
    path = options.out / MANIFEST
    if any(map(os.path.lexists, (path, MANIFEST))):  # commands prefer that of the working directory
        return
    url = registry_of_manifest(options.registry)
    environments = {} if url is None else {"default": Environment(url)}
    subjects = dict.fromkeys(written.subject for written in pulled)
    rules = dict.fromkeys(_rule_of(written, options.out) for written in pulled)
    settings, associations = import_subject_rules(registry, subjects), import_associations(registry, subjects)
    text = format_manifest(environments, filter(None, rules), settings, associations)
    write_manifest(path, text)


def _rule_of(written: PulledFile, out: Path) -> FileRule | None:
    """Return a rule with the subject of a file, or None if the file has a subject without one."""
    named_by_pull = written.path.name == file_name(written.subject, written.schema.type)
    if has_subject_in_name(written.subject) or not named_by_pull:
        return None
    top = "" if written.path.parent == out else "**/"  # the versions of a subject share a rule
    return FileRule(top + written.path.name, (written.subject,))


def _print_file(written: PulledFile) -> None:
    if written.outcome == "edited":
        print_result(with_tone(Tone.BAD, f"{written.path}: kept: {written.reason}"))
        return
    tone = Tone.PLAIN if written.outcome == "unchanged" else Tone.GOOD
    version = f"version {written.schema.version} of `{written.subject}`, id {written.schema.schema_id}"
    print_result(with_tone(tone, escape_line(f"{written.path}: {written.outcome}, {version}")))
    if is_quiet():
        return
    for reference in written.schema.references:
        alias = "" if reference.name == reference.subject else f" as `{reference.name}`"
        print_result(f"    refers to version {reference.version} of `{reference.subject}`{alias}")


def _print_summary(pulled: list[PulledFile], options: Namespace) -> None:
    out: Path = options.out
    outcomes = Counter(written.outcome for written in pulled)
    message = f"{count_noun(len(pulled), 'file')} in {out}: {outcomes['new']:,} new, {outcomes['changed']:,} changed"
    if outcomes["edited"]:
        print_message(
            f"{message}; {count_noun(outcomes['edited'], 'edited file')} kept: register the edits, "
            "or pass --force to overwrite them"
        )
        return
    print_message(f"{message}; check them: {shell_command('check', out, environment=options.environment)}")
