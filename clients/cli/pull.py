"""``contractlog pull``: registered schemas as files that ``check`` and ``register`` read."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.calls.schemas import MAX_REFERENCED, resolve_subject
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.json_formatter import format_json
from contractlog.clients.cli.manifest_import import import_associations, import_subject_rules
from contractlog.clients.cli.options import add_environment, add_format, add_output, add_registry, connect
from contractlog.clients.cli.output import (
    Tone,
    apply_output_options,
    count_noun,
    is_quiet,
    print_error,
    print_json,
    print_message,
    print_result,
    shell_command,
    with_tone,
)
from contractlog.clients.cli.pulled_text import format_file_text
from contractlog.clients.cli.schema_folder.environment import select_environment
from contractlog.clients.cli.schema_folder.file_rules import FileRule
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Environment
from contractlog.clients.cli.schema_folder.manifest_writer import (
    format_manifest,
    registry_of_manifest,
    write_manifest,
)
from contractlog.clients.cli.schema_folder.schema_files import file_name, has_subject_in_name
from contractlog.clients.pull_index import (
    LOCK,
    PulledSchema,
    file_digests,
    index_path,
    locked_context,
    write_index,
)
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import Forbidden, SubjectNotFound, UnreadableAnswer, UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.compatibility.terminal_text import escape_line

__all__ = ["pull"]

FORMAT: Final = "contractlog.pull/1"
_MAX_LISTED: Final = 5  #: most subjects that are listed with the command that needs `--subject`

PullOutcome = Literal["new", "changed", "unchanged", "edited"]


@dataclass(frozen=True, slots=True)
class PulledFile:
    """A pulled version, its file, and the outcome."""

    path: Path
    subject: str
    schema: RegisteredSchema
    outcome: PullOutcome

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "file": str(self.path),
            "subject": self.subject,
            "version": self.schema.version,
            "schema_id": self.schema.schema_id,
            "outcome": self.outcome,
            "references": [reference.body() for reference in self.schema.references],
        }


class OtherContextError(UsageError):
    """The registry answered with a version of a subject of another context."""


@dataclass(frozen=True, slots=True)
class MissingSubject:
    """A listed subject that was not pulled, as it was deleted or has an alias."""

    subject: str
    message: str  #: the registry's


def pull(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write versions of subjects to files; exit code 1 if one was edited or a subject is missing."""
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="the subjects to pull")
    parser.add_argument("--all", action="store_true", help="all subjects of the registry")
    parser.add_argument("--history", action="store_true", help="every version, in folders 1/, 2/ …")
    parser.add_argument("--force", action="store_true", help="overwrite files that were edited since the last pull")
    parser.add_argument("--out", type=_parse_folder, required=True, metavar="DIR", help="the folder to write")
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    if bool(options.subjects) == options.all:
        raise UsageError("name subjects, or pass --all")
    with apply_output_options(options):
        return _run(options)


def _run(options: Namespace) -> int:
    options.files, options.context = [str(options.out)], ""
    if options.manifest is not None or options.environment is not None:
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
        _write_pull_index(registry, pulled, options.out, options.context)
        if options.manifest is None:
            _write_manifest(registry, pulled, options)
    if options.format == "json":
        left_out = [asdict(each) for each in missing]
        print_json({"format": FORMAT, "files": [written.body() for written in pulled], "left_out": left_out})
    else:
        _print_summary(pulled, options)
    edited = any(written.outcome == "edited" for written in pulled)
    return exit_codes.FINDINGS if edited or missing else exit_codes.CLEAN


def _require_context(out: Path, context: str) -> None:
    """Reject a folder whose lock has subjects of another context.

    Raises:
        UsageError: it has, or its lock is invalid.
    """
    path = index_path(out)
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
    return [_add_context(subject, options.context) for subject in dict.fromkeys(options.subjects)]


def _add_context(subject: str, context: str) -> str:
    """Return a subject in a context, unless it names its own."""
    return f":{context}:{subject}" if context and not subject.startswith(":.") else subject


def _remove_context(subject: str, context: str) -> str:
    """Return a subject as files name it: without the context that was pulled."""
    parsed = Subject.parse(subject)
    plain = parsed.context == context and not parsed.name.startswith(":.")
    return parsed.name if plain else subject


def _parse_folder(text: str) -> Path:
    if text == "-":
        raise ArgumentTypeError("`-` is not a folder; `pull` writes several files")
    return Path(text)


def _pull_subjects(
    registry: Registry, subjects: Iterable[str], options: Namespace
) -> Iterator[PulledFile | MissingSubject]:
    """Write the versions of subjects to files, and yield them one by one.

    Raises:
        SubjectNotFound: a named subject has no versions; with ``--all``, it is yielded as missing.
        OtherContextError: only another context has it; with ``--all``, it is yielded as missing.
    """
    out: Path = options.out
    digests = None if options.force else file_digests(out)
    for subject in subjects:
        try:
            for folder, schema in _fetch_versions(registry, subject, out, history=options.history):
                path = folder / file_name(_remove_context(subject, options.context), schema.type)
                text = format_file_text(registry, schema, subject)
                yield PulledFile(path, subject, schema, _write_file(path, text, digests, out))
        except (SubjectNotFound, OtherContextError) as error:
            if not options.all:
                raise
            yield MissingSubject(subject, str(error))


def _fetch_versions(
    registry: Registry, subject: str, out: Path, *, history: bool
) -> Iterator[tuple[Path, RegisteredSchema]]:
    """Yield the versions to write, each with its folder."""
    if not history:
        latest = registry.version(subject, "latest")
        _require_same_context(subject, latest)
        yield out, latest
        return
    for number in registry.versions(subject):
        yield out / str(number), registry.version(subject, number)


def _require_same_context(subject: str, schema: RegisteredSchema) -> None:
    """Reject a version of another context, which registries return for a subject that they lack.

    Raises:
        OtherContextError: the version is of another context.
    """
    actual = schema.subject
    if actual is not None and actual.context != Subject.parse(subject).context:
        raise OtherContextError(f"`{subject}` does not exist, but `{actual}` does: name it so, or pass --environment")


def _write_pull_index(registry: Registry, pulled: list[PulledFile], out: Path, context: str = "") -> None:
    """Write the lock: ids, guids and references of the files, and dependencies without a file.

    Raises:
        UnreadableAnswer: a version has too many dependencies.
        UsageError: the lock cannot be written.
    """
    files = [file for file in pulled if file.outcome != "edited"]
    listed = [PulledSchema(file.schema, file.path.relative_to(out).as_posix()) for file in files]
    written = {(file.subject, int(file.schema.version or 0)) for file in pulled}
    for file in pulled:
        listed += [PulledSchema(schema, None) for schema in _fetch_dependencies(registry, file, written)]
    try:
        write_index(out, (replace(each, schema=_relative_schema(each.schema, context)) for each in listed), context)
    except OSError as error:
        raise UsageError(f"`{out / LOCK}` cannot be written: {error.strerror or error}") from None


def _relative_schema(schema: RegisteredSchema, context: str) -> RegisteredSchema:
    """Return a schema with subjects relative to the context that was pulled."""
    if not context or schema.subject is None:
        return schema
    home = schema.subject.context
    references = tuple(
        replace(each, subject=_remove_context(str(resolve_subject(each.subject, home)), context))
        for each in schema.references
    )
    return replace(schema, subject=Subject.parse(_remove_context(str(schema.subject), context)), references=references)


def _fetch_dependencies(
    registry: Registry, root: PulledFile, written: set[tuple[str, int]]
) -> Iterator[RegisteredSchema]:
    """Yield the direct and indirect dependencies that are not in ``written``, and add them to it.

    Raises:
        UnreadableAnswer: there are more than ``MAX_REFERENCED``; a faulty registry could send them without end.
    """
    pending = [(root.subject, root.schema)]
    number = 0
    while pending:
        subject, schema = pending.pop()
        for reference in schema.references:
            home = resolve_subject(reference.subject, Subject.parse(subject).context)
            if (str(home), reference.version) in written:
                continue
            number += 1
            if number > MAX_REFERENCED:
                raise UnreadableAnswer(
                    f"version {root.schema.version} of `{root.subject}` depends on more than {MAX_REFERENCED:,} other "
                    f"versions, the last of them version {reference.version} of `{home}`; the answers of this registry "
                    "may not end: pull the other subjects by name"
                )
            dependency = replace(registry.version(home, reference.version, deleted=True), subject=home)
            written.add((str(home), reference.version))
            pending.append((str(home), dependency))
            yield dependency


def _write_file(path: Path, text: str, digests: dict[str, str] | None, out: Path) -> PullOutcome:
    """Write the text of a version to its file, unless the file was changed since the last pull.

    Args:
        path: the file.
        text: the text.
        digests: SHA-256 of the files as they were pulled, by path relative to ``out``; None overwrites every file.
        out: the folder of the lock.
    """
    try:
        before = path.read_bytes() if path.exists() else None
        content = text.encode()
        if before not in {None, content} and digests is not None:
            if format_json((before or b"").decode("utf-8", "replace")) == text:
                return "unchanged"
            if digests.get(path.relative_to(out).as_posix()) != sha256(before or b"").hexdigest():
                return "edited"
        if before != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_atomically(path) as file:
                file.write(content)
    except (OSError, UnicodeEncodeError) as error:
        raise UsageError(f"`{path}` cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return _compare_content(before, content)


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
    """Return a rule with the subject of a file, or None if the name of the file gives the subject."""
    if has_subject_in_name(written.subject):
        return None
    top = "" if written.path.parent == out else "**/"  # the versions of a subject share a rule
    return FileRule(top + written.path.name, (written.subject,))


def _compare_content(before: bytes | None, content: bytes) -> PullOutcome:
    if before is None:
        return "new"
    return "unchanged" if before == content else "changed"


def _print_file(written: PulledFile) -> None:
    if written.outcome == "edited":
        print_result(with_tone(Tone.BAD, f"{written.path}: kept, because it was edited since the last pull"))
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
