"""``contractlog pull``: write registered schemas to files that ``check`` and ``register`` take back."""

from __future__ import annotations

import os
import shlex
import tempfile
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from contractlog.clients.calls.references import in_context
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.files import file_name, tells_its_subject
from contractlog.clients.cli.layout import laid_out
from contractlog.clients.cli.options import add_format, add_registry, connect
from contractlog.clients.cli.output import Tone, count, harmless, result, result_json, say, toned
from contractlog.clients.client import Registry
from contractlog.clients.pulled import INDEX, PulledSchema, write_index
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaType

__all__ = ["pull"]

FORMAT: Final = "contractlog.pull/1"
_NAMED: Final = 5  #: subjects that need more are told with their command

Outcome = Literal["new", "changed", "unchanged"]


@dataclass(frozen=True, slots=True)
class Pulled:
    """A version of a subject, and the file it is in now."""

    path: Path
    subject: str
    schema: RegisteredSchema
    outcome: Outcome

    def body(self) -> dict[str, Any]:
        """Write it for machines."""
        return {
            "file": str(self.path),
            "subject": self.subject,
            "version": self.schema.version,
            "schema_id": self.schema.schema_id,
            "outcome": self.outcome,
            "references": [reference.body() for reference in self.schema.references],
        }


def pull(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write the newest version of subjects, or all versions, to files."""
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="which subjects")
    parser.add_argument("--all", action="store_true", help="all subjects of the registry")
    parser.add_argument("--history", action="store_true", help="every version, in folders 1/, 2/ …")
    parser.add_argument("--out", type=_folder, required=True, metavar="DIR", help="where the files are written")
    add_registry(parser)
    add_format(parser)
    options = parser.parse_intermixed_args(argv)
    if bool(options.subjects) == options.all:
        raise UsageError("name subjects, or give --all")
    with connect(options) as registry:
        subjects = registry.subjects() if options.all else list(dict.fromkeys(options.subjects))
        pulled = []
        for subject in subjects:
            for written in _subject(registry, subject, options.out, history=options.history):
                pulled.append(written)
                if options.format == "text":
                    _print(written)
        _index(registry, pulled, options.out)
    if options.format == "json":
        result_json({"format": FORMAT, "files": [written.body() for written in pulled]})
    else:
        _conclude(pulled, options.out)
    return exit_codes.CLEAN


def _folder(text: str) -> Path:
    if text == "-":
        raise ArgumentTypeError("several files are written, so it is a folder; `-` is none")
    return Path(text)


def _subject(registry: Registry, subject: str, out: Path, *, history: bool) -> Iterator[Pulled]:
    if not history:
        schema = registry.version(subject, "latest")
        yield _written(out, subject, schema)
        return
    for number in registry.versions(subject):
        yield _written(out / str(number), subject, registry.version(subject, number))


def _index(registry: Registry, pulled: list[Pulled], out: Path) -> None:
    """Write down ids and what else files do not tell, and the versions that others lean on and that have no file."""
    listed = [PulledSchema(each.schema, each.path.relative_to(out).as_posix()) for each in pulled]
    known = {(each.subject, int(each.schema.version or 0)) for each in pulled}
    waiting = [(each.subject, each.schema) for each in pulled]
    while waiting:
        subject, schema = waiting.pop()
        for reference in schema.references:
            home = in_context(reference.subject, Subject.parse(subject).context)
            if (str(home), reference.version) not in known:
                found = registry.version(home, reference.version, deleted=True)
                known.add((str(home), reference.version))
                listed.append(PulledSchema(replace(found, subject=home), None))
                waiting.append((str(home), found))
    try:
        write_index(out, listed)
    except OSError as error:
        raise UsageError(f"`{out / INDEX}` cannot be written: {error.strerror or error}") from None


def _written(folder: Path, subject: str, schema: RegisteredSchema) -> Pulled:
    path = folder / file_name(subject, schema.type)
    text = schema.text if schema.type is SchemaType.PROTOBUF else laid_out(schema.text)
    try:
        before = path.read_bytes() if path.exists() else None
        content = text.encode()
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
    """Put a whole file in place at once, so that nobody meets half of one."""
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
    tone = Tone.PLAIN if written.outcome == "unchanged" else Tone.GOOD
    version = f"version {written.schema.version} of `{written.subject}`, id {written.schema.schema_id}"
    result(toned(tone, harmless(f"{written.path}: {written.outcome}, {version}")))
    for reference in written.schema.references:
        named = f"{reference.name}={reference.subject}:{reference.version}"
        result(f"    leans on --reference {harmless(named)}")


def _conclude(pulled: list[Pulled], out: Path) -> None:
    changed = sum(written.outcome == "changed" for written in pulled)
    new = sum(written.outcome == "new" for written in pulled)
    told = f"{count(len(pulled), 'file')} in {out}: {new:,} new, {changed:,} changed"
    nameless = {written.subject: written.path for written in pulled if not tells_its_subject(written.subject)}
    if not nameless:
        say(f"{told}; check them: {_spelled('check', out)}")
        return
    say(told)
    say(f"the files of {count(len(nameless), 'subject')} do not tell it by name and need --subject to be taken back:")
    for subject, path in sorted(nameless.items())[:_NAMED]:
        say(f"    {_spelled('check', path, '--subject', subject)}")
    if len(nameless) > _NAMED:
        say(f"    … and {len(nameless) - _NAMED:,} more")


def _spelled(*words: str | Path) -> str:
    return harmless(shlex.join(["contractlog", *map(str, words)]))
