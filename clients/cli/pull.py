"""``contractlog pull``: registered schemas as files that ``check`` and ``register`` read."""

from __future__ import annotations

import os
import tempfile
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

from contractlog.clients.calls.references import MAX_REFERENCED, in_context
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.files import file_name, tells_its_subject
from contractlog.clients.cli.layout import laid_out
from contractlog.clients.cli.options import add_format, add_registry, connect
from contractlog.clients.cli.output import Tone, command, count, harmless, quoted, result, result_json, say, toned
from contractlog.clients.client import Registry
from contractlog.clients.pulled import INDEX, PulledSchema, file_digests, write_index
from contractlog.compatibility.errors import Forbidden, UnreadableAnswer, UsageError
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaType

__all__ = ["pull"]

FORMAT: Final = "contractlog.pull/1"
_NAMED: Final = 5  #: most subjects that are listed with the command that needs `--subject`

Outcome = Literal["new", "changed", "unchanged", "edited"]


@dataclass(frozen=True, slots=True)
class Pulled:
    """A pulled version, its file, and the outcome."""

    path: Path
    subject: str
    schema: RegisteredSchema
    outcome: Outcome

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
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="which subjects")
    parser.add_argument("--all", action="store_true", help="all subjects of the registry")
    parser.add_argument("--history", action="store_true", help="every version, in folders 1/, 2/ …")
    parser.add_argument("--force", action="store_true", help="overwrite files that were edited since the last pull")
    parser.add_argument("--out", type=_folder, required=True, metavar="DIR", help="where the files are written")
    add_registry(parser)
    add_format(parser)
    options = parser.parse_intermixed_args(argv)
    if bool(options.subjects) == options.all:
        raise UsageError("name subjects, or give --all")
    with connect(options) as registry:
        subjects = _all_subjects(registry) if options.all else list(dict.fromkeys(options.subjects))
        pulled = []
        for written in _pulled(registry, subjects, options.out, history=options.history, force=options.force):
            pulled.append(written)
            if options.format == "text":
                _print(written)
        _index(registry, pulled, options.out)
    if options.format == "json":
        result_json({"format": FORMAT, "files": [written.body() for written in pulled]})
    else:
        _conclude(pulled, options.out)
    return exit_codes.FINDINGS if any(written.outcome == "edited" for written in pulled) else exit_codes.CLEAN


def _all_subjects(registry: Registry) -> list[str]:
    try:
        return registry.subjects()
    except Forbidden:
        say("--all needs permission to read every subject: name the subjects that you may read instead")
        raise


def _folder(text: str) -> Path:
    if text == "-":
        raise ArgumentTypeError("`-` is not a folder; `pull` writes several files")
    return Path(text)


def _pulled(
    registry: Registry, subjects: Iterable[str], out: Path, *, history: bool, force: bool = False
) -> Iterator[Pulled]:
    """Write the versions of subjects to files, and yield them one by one."""
    digests = None if force else file_digests(out)
    for subject in subjects:
        for folder, schema in _versions(registry, subject, out, history=history):
            yield _written(folder, subject, schema, digests, out)


def _versions(registry: Registry, subject: str, out: Path, *, history: bool) -> Iterator[tuple[Path, RegisteredSchema]]:
    """Yield the versions to write, each with its folder."""
    if not history:
        yield out, registry.version(subject, "latest")
        return
    for number in registry.versions(subject):
        yield out / str(number), registry.version(subject, number)


def _index(registry: Registry, pulled: list[Pulled], out: Path) -> None:
    """Write the index: ids, guids and references of the files, and dependencies without a file.

    Raises:
        UnreadableAnswer: a version has too many dependencies.
        UsageError: the index cannot be written.
    """
    files = [each for each in pulled if each.outcome != "edited"]
    listed = [PulledSchema(each.schema, each.path.relative_to(out).as_posix()) for each in files]
    known = {(each.subject, int(each.schema.version or 0)) for each in pulled}
    for each in pulled:
        listed += [PulledSchema(schema, None) for schema in _dependencies(registry, each, known)]
    try:
        write_index(out, listed)
    except OSError as error:
        raise UsageError(f"`{out / INDEX}` cannot be written: {error.strerror or error}") from None


def _dependencies(registry: Registry, root: Pulled, known: set[tuple[str, int]]) -> Iterator[RegisteredSchema]:
    """Yield the direct and indirect dependencies that are not in ``known``, and add them to it.

    Raises:
        UnreadableAnswer: there are more than ``MAX_REFERENCED``; a faulty registry could send them without end.
    """
    waiting = [(root.subject, root.schema)]
    number = 0
    while waiting:
        subject, schema = waiting.pop()
        for reference in schema.references:
            home = in_context(reference.subject, Subject.parse(subject).context)
            if (str(home), reference.version) in known:
                continue
            number += 1
            if number > MAX_REFERENCED:
                raise UnreadableAnswer(
                    f"version {root.schema.version} of `{root.subject}` depends on more than {MAX_REFERENCED:,} other "
                    f"versions, the last of them version {reference.version} of `{home}`; the answers of this registry "
                    "may not end: pull the other subjects by name"
                )
            dependency = replace(registry.version(home, reference.version, deleted=True), subject=home)
            known.add((str(home), reference.version))
            waiting.append((str(home), dependency))
            yield dependency


def _written(folder: Path, subject: str, schema: RegisteredSchema, digests: dict[str, str] | None, out: Path) -> Pulled:
    """Write a version to its file, unless the file was edited since the last pull.

    Args:
        folder: folder of the file.
        subject: subject of the version.
        schema: the version to write.
        digests: SHA-256 of the files as they were pulled, by path relative to ``out``; None overwrites every file.
        out: the folder of the index.
    """
    path = folder / file_name(subject, schema.type)
    text = schema.text if schema.type is SchemaType.PROTOBUF else laid_out(schema.text)
    try:
        before = path.read_bytes() if path.exists() else None
        content = text.encode()
        if before not in {None, content} and digests is not None:
            pulled = digests.get(path.relative_to(out).as_posix())
            if pulled != sha256(before or b"").hexdigest():
                return Pulled(path, subject, schema, "edited")
        if before != content:
            _replace(path, content)
    except (OSError, UnicodeEncodeError) as error:
        raise UsageError(f"`{path}` cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return Pulled(path, subject, schema, _outcome(before, content))


def _outcome(before: bytes | None, content: bytes) -> Outcome:
    if before is None:
        return "new"
    return "unchanged" if before == content else "changed"


def _replace(path: Path, content: bytes) -> None:
    """Replace a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".pull-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _print(written: Pulled) -> None:
    if written.outcome == "edited":
        result(toned(Tone.BAD, f"{written.path}: kept, because it was edited since the last pull"))
        return
    tone = Tone.PLAIN if written.outcome == "unchanged" else Tone.GOOD
    version = f"version {written.schema.version} of `{written.subject}`, id {written.schema.schema_id}"
    result(toned(tone, harmless(f"{written.path}: {written.outcome}, {version}")))
    for reference in written.schema.references:
        named = f"{reference.name}={reference.subject}:{reference.version}"
        result(f"    depends on --reference {quoted(named)}")


def _conclude(pulled: list[Pulled], out: Path) -> None:
    outcomes = Counter(written.outcome for written in pulled)
    told = f"{count(len(pulled), 'file')} in {out}: {outcomes['new']:,} new, {outcomes['changed']:,} changed"
    if outcomes["edited"]:
        say(
            f"{told}; {count(outcomes['edited'], 'edited file')} kept: register the edits, "
            "or give --force to overwrite them"
        )
        return
    nameless = {written.subject: written.path for written in pulled if not tells_its_subject(written.subject)}
    if not nameless:
        say(f"{told}; check them: {command('check', out)}")
        return
    say(told)
    say(f"the subject of {count(len(nameless), 'file')} does not follow from the name; pass it with --subject:")
    for subject, path in sorted(nameless.items())[:_NAMED]:
        say(f"    {command('check', path, subject=subject)}")
    if len(nameless) > _NAMED:
        say(f"    … and {len(nameless) - _NAMED:,} more")
