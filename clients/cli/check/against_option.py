"""The option ``--against``: files of a folder, a git revision or the lock, in the place of a registry."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from contractlog.clients.cli.git_revision import GIT, checked_out, is_git_revision
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.schema_folder.argument_files import collect_argument_files
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.dependencies import order_files
from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.cli.schema_folder.locked_files import find_lock_folder, read_locked_files
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Manifest
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.file_errors import rename_in_error
from contractlog.clients.lock_file import LOCK, lock_path
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.level import Level

__all__ = ["open_file_registry"]

AGAINST_LOCK: Final = "lock"


@contextmanager
def open_file_registry(options: Namespace) -> Iterator[FileRegistry]:
    """Read the files that ``--against`` names: of a folder, a git revision or the lock.

    Raises:
        UsageError: they cannot be read.
    """
    if options.against == AGAINST_LOCK:
        folder = find_lock_folder([Path(text) for text in options.files])
        groups = read_locked_files(folder, lambda: connect(options), options.context)
        files = order_files(groups, UnreadableFiles(deferred=False).collect)
        baseline = FileRegistry.of_lock(str(lock_path(folder)), options.level or Level.BACKWARD, files)
        tops = [Path(text).resolve() for text in options.files]
        named = {file.subject for file in files if any(map(_path_in_folder(file, folder).is_relative_to, tops))}
        baseline.unnamed = baseline.subjects.keys() - named
        yield baseline
    elif is_git_revision(options.against):
        paths = [*map(Path, options.files), *dict.fromkeys(file.path for file in options.files_beside)]
        with checked_out(options.against, paths) as copies, ExitStack() as stack:
            baseline = _read_baseline(options, {path: copy for path, copy in copies.items() if copy.exists()}, stack)
            baseline.unnamed = {file.subject for file in options.files_beside}
            yield baseline
    else:
        folder = Path(options.against)
        if not folder.exists():
            name = options.against.partition(":")[2] or options.against
            hint = "" if name.startswith((".", "/")) else f"; a git revision is written {GIT}{name}"
            raise UsageError(f"there is no folder `{options.against}`{hint}")
        with ExitStack() as stack:
            yield _read_baseline(options, {folder: folder}, stack)


def _path_in_folder(file: SchemaFile, folder: Path) -> Path:
    """Return the path of a locked file; for a text that is in the lock itself, the root."""
    in_lock = str(file.path).startswith(f"{folder / LOCK}:")
    return Path("/") if in_lock else file.path.resolve()


def _read_baseline(options: Namespace, copies: Mapping[Path, Path], stack: ExitStack) -> FileRegistry:
    """Read a baseline from copies of the paths that the user knows; ``stack`` closes the registry."""
    manifest = options.manifest
    if manifest is not None and copies:
        source, copy = next(iter(copies.items()))
        checked = source if is_git_revision(options.against) else Path(options.files[0])
        manifest = _place_manifest(manifest, checked, copy)
    problems = UnreadableFiles(deferred=False)
    with _named_errors(options.against, copies):
        files = order_files(
            collect_argument_files(options, map(str, copies.values()), manifest, problems), problems.collect
        )
        named = [(file, _name_in_baseline(options.against, file.path, copies)) for file in files]
        return FileRegistry.of_files(
            options.against,
            options.level or Level.BACKWARD,
            named,
            normalize=options.normalize,
            open_registry=cache(lambda: stack.enter_context(connect(options))),
        )


def _place_manifest(manifest: Manifest, checked: Path, copy: Path) -> Manifest:
    """Return a manifest whose rules match the files of a copy as they match those of the checked path.

    A copy beside the other folders of a manifest, such as `released/schemas`, corresponds to the folder `schemas`.
    """
    top, folder = manifest.path.parent.resolve(), copy.resolve()
    try:
        inner = checked.resolve().relative_to(top)
    except ValueError:  # not in the manifest's folder
        return replace(manifest, path=copy / MANIFEST)
    if inner.parts and folder.parts[-len(inner.parts) :] == inner.parts:
        return replace(manifest, path=folder.parents[len(inner.parts) - 1] / MANIFEST)
    if not inner.parts:
        endings = (Path(*folder.parts[start:]) for start in range(1, len(folder.parts)))
        folders = (each for each in endings if (top / each).is_dir() and (top / each).resolve() != folder)
        inner = next((each for each in folders if not (copy / each).exists()), inner)
    elif not checked.is_dir():
        inner = inner.parent
    return replace(manifest, path=copy / MANIFEST, inner=str(inner))


@contextmanager
def _named_errors(against: str, copies: Mapping[Path, Path]) -> Iterator[None]:
    """Name files in messages of errors as the user does, not by their temporary copies."""
    try:
        yield
    except UsageError as error:
        for copy in copies.values():
            error = rename_in_error(error, str(copy), _name_in_baseline(against, copy, copies))
        raise error from None


def _name_in_baseline(against: str, path: Path, copies: Mapping[Path, Path]) -> str:
    """Return the name of a file for users: its path, after a git revision as git writes it."""
    source = next(source / path.relative_to(copy) for source, copy in copies.items() if path.is_relative_to(copy))
    return f"{against}:{source}" if is_git_revision(against) else str(source)
