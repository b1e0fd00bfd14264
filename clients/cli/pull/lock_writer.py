"""Entries of ``contractlog.lock``: the versions of files, and their dependencies without a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from contractlog.clients.calls.schemas import MAX_REFERENCED, resolve_subject
from contractlog.clients.cli.pull.pulled_files import PulledFile
from contractlog.clients.lock_file import LOCK, PulledSchema, list_locked_files, update_lock
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import UnreadableResponse, UsageError
from contractlog.compatibility.identifiers import Subject, qualify_subject
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["remove_context", "write_lock"]


def write_lock(registry: Registry, pulled: Iterable[PulledFile], out: Path, context: str = "") -> None:
    """Write the lock: ids, guids and references of the files, and dependencies without a file.

    Raises:
        UnreadableResponse: a version has too many dependencies.
        UsageError: the lock cannot be written.
    """
    pulled = list(pulled)
    files = [file for file in pulled if file.outcome != "edited"]
    listed = [PulledSchema(file.schema, file.path.relative_to(out).as_posix()) for file in files]
    written = {(file.subject, int(file.schema.version or 0)) for file in pulled} | _list_locked(out, context)
    for file in pulled:
        listed += [PulledSchema(schema, None) for schema in _fetch_dependencies(registry, file, written)]
    try:
        update_lock(out, (replace(each, schema=_relative_schema(each.schema, context)) for each in listed), context)
    except OSError as error:
        raise UsageError(f"`{out / LOCK}` cannot be written: {error.strerror or error}") from None


def _list_locked(out: Path, context: str) -> set[tuple[str, int]]:
    """Return the versions that the lock has with a file."""
    return {
        (qualify_subject(entry.subject, context), entry.version)
        for file, entries in list_locked_files(out).items()
        if (out / file).exists()
        for entry in entries
    }


def remove_context(subject: str, context: str) -> str:
    """Return a subject as files name it: without the context that was pulled."""
    parsed = Subject.parse(subject)
    plain = parsed.context == context and not parsed.name.startswith(":.")
    return parsed.name if plain else subject


def _relative_schema(schema: RegisteredSchema, context: str) -> RegisteredSchema:
    """Return a schema with subjects relative to the context that was pulled."""
    if not context or schema.subject is None:
        return schema
    home = schema.subject.context
    references = tuple(
        replace(each, subject=remove_context(str(resolve_subject(each.subject, home)), context))
        for each in schema.references
    )
    return replace(schema, subject=Subject.parse(remove_context(str(schema.subject), context)), references=references)


def _fetch_dependencies(
    registry: Registry, root: PulledFile, written: set[tuple[str, int]]
) -> Iterator[RegisteredSchema]:
    """Yield the direct and indirect dependencies that are not in ``written``, and add them to it.

    Raises:
        UnreadableResponse: there are more than ``MAX_REFERENCED``; a faulty registry could send them without end.
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
                raise UnreadableResponse(
                    f"version {root.schema.version} of `{root.subject}` depends on more than {MAX_REFERENCED:,} other "
                    f"versions, the last of them version {reference.version} of `{home}`; the responses of this "
                    "registry may not end: pull the other subjects by name"
                )
            dependency = replace(registry.version(home, reference.version, deleted=True), subject=home)
            written.add((str(home), reference.version))
            pending.append((str(home), dependency))
            yield dependency
