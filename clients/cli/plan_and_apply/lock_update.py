"""Update of ``contractlog.lock`` by ``contractlog apply``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from contractlog.clients.calls import VersionLike
from contractlog.clients.cli.output import count_noun, print_message
from contractlog.clients.cli.plan_and_apply.file_registration import FileRegistration
from contractlog.clients.cli.pull.lock_writer import remove_context, write_lock
from contractlog.clients.cli.pull.pulled_files import PulledFile
from contractlog.clients.cli.schema_folder.locked_files import find_nearest_lock
from contractlog.clients.lock_file import lock_path, locked_context, read_lock_entries
from contractlog.clients.registry import Registry

__all__ = ["update_locks"]


def update_locks(options: Namespace, registry: Registry, registrations: Sequence[FileRegistration]) -> None:
    """Write the versions of files to the locks above them.

    Without ``--update-lock``, a note says which locks lack new versions.

    Raises:
        UsageError: a lock cannot be written.
    """
    if options.update_lock:
        for folder, outdated in _find_outdated(registrations, options.context).items():
            write_lock(registry, [_fetch(registry, each) for each in outdated], folder, options.context)
            print_message(f"{lock_path(folder)}: {count_noun(len(outdated), 'file')} updated")
        return
    registered = [each for each in registrations if each.outcome == "registered"]
    for folder, outdated in _find_outdated(registered, options.context).items():
        print_message(
            f"note: {lock_path(folder)} does not have the new versions of {count_noun(len(outdated), 'file')}: if it "
            "is for this registry, update it with `contractlog pull`, or pass --update-lock"
        )


def _find_outdated(registrations: Iterable[FileRegistration], context: str) -> dict[Path, list[FileRegistration]]:
    """Return the files whose versions differ from those of the nearest lock above them, by its folder."""
    entries: dict[Path, set[tuple[object, ...]]] = {}
    outdated: dict[Path, list[FileRegistration]] = {}
    for each in registrations:
        path, schema = each.file.path, each.schema
        folder = find_nearest_lock(path)
        if schema is None or folder is None or locked_context(folder) != context:
            continue
        if folder not in entries:
            locked = read_lock_entries(folder)
            entries[folder] = {
                (entry.file, str(entry.schema.subject), entry.schema.version, entry.digest) for entry in locked
            }
        subject = remove_context(each.file.subject, context)
        digest = sha256(path.read_bytes()).hexdigest()
        if (path.relative_to(folder).as_posix(), subject, schema.version, digest) not in entries[folder]:
            outdated.setdefault(folder, []).append(each)
    return outdated


def _fetch(registry: Registry, registration: FileRegistration) -> PulledFile:
    """Return the registered version of a file, as a pull has it."""
    file, schema = registration.file, registration.schema
    number: VersionLike = "latest" if schema is None or schema.version is None else int(schema.version)
    return PulledFile(file.path, file.subject, registry.version(file.subject, number), "unchanged")
