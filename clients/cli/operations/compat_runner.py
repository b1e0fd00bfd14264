"""Implementation of ``contractlog compat``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.check.check_output import print_check
from contractlog.clients.cli.check.file_check import MAX_FINDINGS, FileCheck
from contractlog.clients.cli.check.registry_check import check_by_registry
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.operations.compat import FORMAT
from contractlog.clients.cli.options import connect, select_context
from contractlog.clients.cli.report_formats.check_report import check_report
from contractlog.clients.cli.report_formats.report_output import output_json, output_report, reported_failures
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, collect_files
from contractlog.clients.cli.schema_folder.resolver import FileResolver
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import PlannedSettings
from contractlog.clients.registry import Registry
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.formats import FORMATS, parse_schema
from contractlog.compatibility.identifiers import qualify_subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.schema_diff import DiffSide, diff_schemas
from contractlog.compatibility.text.terminal_text import shell_command

__all__ = ["run"]

_COMMAND: Final = "contractlog compat"
_EXIT_CODES = {"incompatible": exit_codes.FINDINGS, "refused": exit_codes.REFUSED}


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Check the file, print the verdict, and return the exit code."""
    with reported_failures(options, _COMMAND, argv, path=options.file):
        return _run(options)


def _run(options: Namespace) -> int:
    if Path(options.file).is_dir():
        command = shell_command("check", options.file)
        raise UsageError(f"`{options.file}` is a folder: name one file, or use `{command}`")
    options.subject = qualify_subject(options.subject, select_context(options))
    unreadable = UnreadableFiles()
    checks: list[FileCheck] = []
    with unreadable.collect(Path(options.file)):
        checks.append(_check(options))
    output_report(options, partial(check_report, checks, unreadable.problems, command=_COMMAND))
    unreadable.raise_errors()
    (check,) = checks
    output_json(options, {"format": FORMAT, "compatible": check.outcome != "incompatible", **check.body()})
    if options.format == "text":
        print_check(check)
    return _EXIT_CODES.get(check.outcome, exit_codes.CLEAN)


def _check(options: Namespace) -> FileCheck:
    """Check the file.

    Raises:
        UsageError: it cannot be read as a schema, or the registry rejects it as invalid.
    """
    ((file,),) = collect_files([options.file], subject=options.subject, references=options.references).values()
    with connect(options) as registry:
        resolved = FileResolver(registry, options.normalize).resolve(file)
        if options.version is not None:
            return _check_version(registry, resolved.file, resolved.parsed, options)
        checker = SubjectChecker(registry, file.subject, options.normalize, PlannedSettings(options.level))
        return checker.check(resolved)


def _check_version(registry: Registry, file: SchemaFile, parsed: ParsedSchema, options: Namespace) -> FileCheck:
    """Compare a file with one version, whichever versions the level would select.

    The registry decides, unless another level than its own is given.
    """
    existing = registry.version(file.subject, options.version, deleted=options.version != "latest")
    level = options.level or registry.level(file.subject)
    policy = registry.policy(file.subject) if FORMATS[parsed.type].has_policies else Policy.STRICT
    name = f"version {existing.version}"
    earlier = parse_schema(existing.draft, registry.referenced(existing.draft, subject=file.subject), strict=False)
    earlier_side = DiffSide(name, existing.text, earlier)
    difference = diff_schemas(
        earlier_side, DiffSide(str(file.path), file.draft.text, parsed), level=level, policy=policy
    )
    compatible = difference.compatible
    messages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    if options.level is None and not existing.deleted:
        result = check_by_registry(
            registry, file.subject, file.draft, version=int(existing.version or 0), normalize=options.normalize
        )
        if result.compatible is None:
            notes = (result.note,)
        else:
            compatible, messages = result.compatible, result.messages
    findings = [finding for finding in difference.findings if finding.direction in level.directions]
    return FileCheck(
        file,
        "compatible" if compatible else "incompatible",
        level,
        compared=() if level is Level.NONE else (name,),
        findings=tuple(findings[:MAX_FINDINGS]),
        messages=messages,
        notes=notes,
    )
