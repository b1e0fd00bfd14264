"""Output of ``contractlog check``: lines on stdout and stderr, and the JSON document."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from contractlog.clients.cli.associations.refused_associations import RefusedAssociation, locate_refused_association
from contractlog.clients.cli.check.check_text import ReferencedFindings, detail_lines, verdict_line
from contractlog.clients.cli.check.file_check import FileCheck
from contractlog.clients.cli.check.refused_changes import (
    RefusedChange,
    print_refused_changes,
    summarize_refused,
)
from contractlog.clients.cli.check.write_access import UNKNOWN_PERMISSIONS, WriteAccess
from contractlog.clients.cli.file_counts import count_files, count_part
from contractlog.clients.cli.output import Tone, count_noun, print_message, print_result, with_tone
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.manifest_warnings import (
    ManifestWarning,
)
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.settings import RegistryAddress
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.text.terminal_text import escape_line, quote_word

__all__ = [
    "check_body",
    "print_check",
    "print_rejected_changes",
    "print_removed_subjects",
    "print_summary",
    "print_unknown_permissions",
]

FORMAT: Final = "contractlog.check/1"
_NOT_REPEATED: Final = ("--registry", "--report", "--fail-on", "--lineage")  #: in suggested commands
_DASHES: Final = 2


def print_rejected_changes(
    manifest: Manifest | None, problems: Sequence[RefusedAssociation], refused_changes: Sequence[RefusedChange]
) -> None:
    """Print the changes of the manifest, besides versions, that the registry would refuse."""
    for problem in problems:
        print_result(with_tone(Tone.BAD, escape_line(locate_refused_association(manifest, problem))))
    if problems:
        print_message(f"{count_noun(len(problems), 'association')} cannot be set: change [[associations]]")
    print_refused_changes(manifest, refused_changes)
    if refused_changes:
        print_message(summarize_refused(refused_changes))


def print_unknown_permissions(access: WriteAccess, checks: Sequence[FileCheck]) -> None:
    """Print a note if permissions are unknown that no note of a new version is about."""
    if access.unknown_subjects - {check.file.subject for check in checks if check.registered is None}:
        print_message(f"note: {UNKNOWN_PERMISSIONS}")


def print_removed_subjects(baseline: FileRegistry, files: Iterable[SchemaFile]) -> None:
    """Print the subjects of the baseline that no file has any more."""
    removed = sorted(baseline.subjects.keys() - baseline.unnamed - {file.subject for file in files})
    if removed:
        print_message(
            f"note: subjects with files in {baseline.name}, but no longer in the folder: {', '.join(removed)}"
        )


def print_check(check: FileCheck, referenced: ReferencedFindings | None = None) -> None:
    """Print the verdict on a file, and its findings, as ``detail_lines`` returns them."""
    print_result(verdict_line(check))
    for line in detail_lines(check, referenced):
        print_result(line)


def print_summary(
    checks: list[FileCheck],
    incompatible: list[FileCheck],
    refused: list[FileCheck],
    options: Namespace,
    argv: Sequence[str],
    *,
    fails_by_option: bool,
) -> None:
    """Print the number of warnings, the number of files by verdict, and what to do next.

    ``fails_by_option`` is whether ``--fail-on`` ends the command with exit code 1.
    """
    _print_warnings(checks)
    files = [examined.file for examined in checks]
    rejected = [examined.file for examined in incompatible]
    new = [examined.file for examined in checks if examined.outcome in {"compatible", "waived"}]
    if options.against:
        changed = count_files([*new, *rejected]).replace(" file", " changed file", 1)
        against = "the lock" if options.against == "lock" else options.against
        number = len({file.path for file in rejected})
        count = f"{changed}, {number:,} incompatible with {against}"
        print_message(count if new or rejected else f"no file differs from {against}")
    elif incompatible:
        or_waive = " or waive" if any(examined.outcome != "incompatible" for examined in incompatible) else ""
        print_message(
            f"{count_part(rejected, files)} cannot be registered: fix{or_waive} the findings above and check again"
        )
        _print_change_commands(incompatible, "or ask the owners to approve the change")
    elif refused:
        part = count_part((examined.file for examined in refused), files)
        print_message(f"{part} cannot be registered now: ask an operator of the registry for permission")
    elif any(examined.change_command for examined in checks):
        protected = [examined for examined in checks if examined.change_command]
        part = count_part((examined.file for examined in protected), files)
        need = "needs" if len({examined.file.path for examined in protected}) == 1 else "need"
        print_message(f"{part} {need} approvals by the owners of protected subjects")
        _print_change_commands(protected, "ask for them")
    elif new:
        manifest = options.manifest
        sets_more = manifest is not None and (manifest.subjects or manifest.associations or manifest.default_level)
        command = "apply" if sets_more else "register"
        permission = ["--use-waivers"] if any(examined.needs_level_change for examined in checks) else []
        words = ["contractlog", command, *_repeat_arguments(argv, *permission)]
        suggestion = "" if fails_by_option else f": {' '.join(map(quote_word, words))}"
        print_message(f"{count_files(new)} can be registered{suggestion}")
    else:
        print_message("nothing to register: every file is registered already")
    if fails_by_option and not incompatible:
        kinds = "warnings" if options.fail_on == Severity.WARNING else "warnings and notes"
        print_message(f"this check fails because of --fail-on {options.fail_on}: fix or waive the {kinds} above")


def _print_change_commands(checks: Sequence[FileCheck], label: str) -> None:
    for command in dict.fromkeys(examined.change_command for examined in checks if examined.change_command):
        print_message(f"{label}: {command}")


def _print_warnings(checks: list[FileCheck]) -> None:
    """Print the number of warnings."""
    files = [check for check in checks if check.count_findings(Severity.WARNING)]
    number = sum(check.count_findings(Severity.WARNING) for check in files)
    if number:
        print_message(f"{count_noun(number, 'warning')} in {count_noun(len(files), 'file')}")


def _repeat_arguments(argv: Sequence[str], *more: str) -> Iterator[str]:
    """Yield the arguments for ``register`` or ``apply``, which lack some options of ``check``.

    Reports are left out, and credentials in the URL, which would appear in logs.
    """
    arguments = list(argv)
    separator = arguments.index("--") if "--" in arguments else len(arguments)
    words = iter(arguments[:separator])
    for word in words:
        prefix, equals, value = word.partition("=")
        # argparse accepted the argument, so that the beginning of an option's name is that option
        name = next((name for name in _NOT_REPEATED if len(prefix) > _DASHES and name.startswith(prefix)), None)
        if name is None:
            yield word
            continue
        value = value if equals else next(words)
        if name == "--registry":
            yield f"{name}={','.join(address.url for address in RegistryAddress.parse(value))}"
    yield from (*more, *arguments[separator:])


def check_body(
    checks: list[FileCheck],
    incompatible: list[FileCheck],
    unreadable: UnreadableFiles,
    warnings: list[ManifestWarning],
    *,
    is_permitted: bool,
) -> dict[str, Any]:
    """Return the JSON document."""
    return {
        "format": FORMAT,
        "compatible": not (unreadable.problems or any(each.outcome == "incompatible" for each in incompatible)),
        "reads_data": all(examined.outcome != "data_unreadable" for examined in incompatible),
        "passes_checks": all(examined.outcome != "check_failed" for examined in incompatible),
        "permitted": is_permitted,
        "files": [examined.body() for examined in checks],
        "unreadable": unreadable.bodies(),
        "manifest_warnings": [warning.body() for warning in warnings],
        "folder_warnings": [warning.body() for warning in unreadable.warnings],
    }
