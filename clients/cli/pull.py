"""``contractlog pull``: registered schemas as files that ``check`` and ``register`` read."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.calls.schemas import MAX_REFERENCED, resolve_subject
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.json_formatter import format_json
from contractlog.clients.cli.options import add_format, add_output, add_registry, connect
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
from contractlog.clients.cli.schema_folder.schema_files import file_name
from contractlog.clients.pull_index import INDEX, PulledSchema, file_digests, write_index
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import Forbidden, UnreadableAnswer, UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.compatibility.terminal_text import escape_line

__all__ = ["format_text", "pull"]

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


def pull(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write the latest or all versions of subjects to files; exit code 1 if an edited file was left."""
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="the subjects to pull")
    parser.add_argument("--all", action="store_true", help="all subjects of the registry")
    parser.add_argument("--history", action="store_true", help="every version, in folders 1/, 2/ …")
    parser.add_argument("--force", action="store_true", help="overwrite files that were edited since the last pull")
    parser.add_argument("--out", type=_parse_folder, required=True, metavar="DIR", help="the folder to write")
    add_registry(parser)
    add_format(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    if bool(options.subjects) == options.all:
        raise UsageError("name subjects, or pass --all")
    with apply_output_options(options):
        return _run(options)


def _run(options: Namespace) -> int:
    with connect(options) as registry:
        subjects = _list_subjects(registry) if options.all else list(dict.fromkeys(options.subjects))
        pulled = []
        for written in _pull_subjects(registry, subjects, options.out, history=options.history, force=options.force):
            pulled.append(written)
            if options.format == "text":
                _print_file(written)
        _write_pull_index(registry, pulled, options.out)
    if options.format == "json":
        print_json({"format": FORMAT, "files": [written.body() for written in pulled]})
    else:
        _print_summary(pulled, options.out)
    return exit_codes.FINDINGS if any(written.outcome == "edited" for written in pulled) else exit_codes.CLEAN


def _list_subjects(registry: Registry) -> list[str]:
    try:
        return registry.subjects()
    except Forbidden:
        print_error("--all needs permission to read every subject: name the subjects that you may read instead")
        raise


def _parse_folder(text: str) -> Path:
    if text == "-":
        raise ArgumentTypeError("`-` is not a folder; `pull` writes several files")
    return Path(text)


def _pull_subjects(
    registry: Registry, subjects: Iterable[str], out: Path, *, history: bool, force: bool = False
) -> Iterator[PulledFile]:
    """Write the versions of subjects to files, and yield them one by one."""
    digests = None if force else file_digests(out)
    for subject in subjects:
        for folder, schema in _fetch_versions(registry, subject, out, history=history):
            yield _write_version(folder, subject, schema, digests, out)


def _fetch_versions(
    registry: Registry, subject: str, out: Path, *, history: bool
) -> Iterator[tuple[Path, RegisteredSchema]]:
    """Yield the versions to write, each with its folder."""
    if not history:
        yield out, registry.version(subject, "latest")
        return
    for number in registry.versions(subject):
        yield out / str(number), registry.version(subject, number)


def _write_pull_index(registry: Registry, pulled: list[PulledFile], out: Path) -> None:
    """Write the index: ids, guids and references of the files, and dependencies without a file.

    Raises:
        UnreadableAnswer: a version has too many dependencies.
        UsageError: the index cannot be written.
    """
    files = [file for file in pulled if file.outcome != "edited"]
    listed = [PulledSchema(file.schema, file.path.relative_to(out).as_posix()) for file in files]
    written = {(file.subject, int(file.schema.version or 0)) for file in pulled}
    for file in pulled:
        listed += [PulledSchema(schema, None) for schema in _fetch_dependencies(registry, file, written)]
    try:
        write_index(out, listed)
    except OSError as error:
        raise UsageError(f"`{out / INDEX}` cannot be written: {error.strerror or error}") from None


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


def _write_version(
    folder: Path, subject: str, schema: RegisteredSchema, digests: dict[str, str] | None, out: Path
) -> PulledFile:
    """Write a version to its file, unless the file was edited since the last pull.

    Args:
        folder: folder of the file.
        subject: subject of the version.
        schema: the version to write.
        digests: SHA-256 of the files as they were pulled, by path relative to ``out``; None overwrites every file.
        out: the folder of the index.
    """
    path = folder / file_name(subject, schema.type)
    text = format_text(schema)
    try:
        before = path.read_bytes() if path.exists() else None
        content = text.encode()
        if before not in {None, content} and digests is not None:
            pulled = digests.get(path.relative_to(out).as_posix())
            if pulled != sha256(before or b"").hexdigest():
                return PulledFile(path, subject, schema, "edited")
        if before != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_atomically(path) as file:
                file.write(content)
    except (OSError, UnicodeEncodeError) as error:
        raise UsageError(f"`{path}` cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return PulledFile(path, subject, schema, _compare_content(before, content))


def format_text(schema: RegisteredSchema) -> str:
    """Return the text of a schema with one member per line, if it is JSON."""
    return schema.text if schema.type is SchemaType.PROTOBUF else format_json(schema.text)


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
        print_result(f"    refers to version {reference.version} of `{reference.subject}` as `{reference.name}`")


def _print_summary(pulled: list[PulledFile], out: Path) -> None:
    outcomes = Counter(written.outcome for written in pulled)
    message = f"{count_noun(len(pulled), 'file')} in {out}: {outcomes['new']:,} new, {outcomes['changed']:,} changed"
    if outcomes["edited"]:
        print_message(
            f"{message}; {count_noun(outcomes['edited'], 'edited file')} kept: register the edits, "
            "or pass --force to overwrite them"
        )
        return
    print_message(f"{message}; check them: {shell_command('check', out)}")
