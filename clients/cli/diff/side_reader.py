"""Reader of the two sides of ``contractlog diff``, from files, a registry or a git revision."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from contractlog.clients.calls import VersionLike
from contractlog.clients.cli.diff.file_side import find_schema_folder, own_folder, read_file_side
from contractlog.clients.cli.diff.sides import FileSide, FolderSide
from contractlog.clients.cli.git_repository import git_top
from contractlog.clients.cli.git_revision import GIT, checked_out, is_git_revision
from contractlog.clients.cli.options import connect, parse_version_name, select_context
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, collect_files
from contractlog.clients.cli.schema_folder.dependencies import order_files
from contractlog.clients.cli.schema_folder.file_names import format_of
from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, load_manifest
from contractlog.clients.cli.schema_folder.resolver import parse_draft
from contractlog.clients.cli.schema_folder.schema_files import read_file, read_stream
from contractlog.clients.file_errors import rename_in_error
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import UsageError, VersionNotFound
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.identifiers import qualify_subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaType
from contractlog.compatibility.schema_diff import DiffSide

__all__ = ["read_sides"]

_FILE: Final = "file:"
_SUBJECT: Final = "subject:"


@dataclass(frozen=True, slots=True)
class _PathSide:
    """A file or folder."""

    name: str  #: as the user wrote it
    path: Path  #: where it is; for a git revision, in a temporary folder
    folder: Path | None = None  #: the nearest folder above with a manifest or a lock, if there is one
    folder_prefix: str = ""  #: of names of files in that folder for users; only for a git revision

    def name_of(self, path: Path) -> str:
        """Return the name for users of a file below the path."""
        inner = "" if path == self.path else path.relative_to(self.path).as_posix()
        return f"{self.name.rstrip('/')}/{inner}" if inner and not self.name.endswith(":") else self.name + inner

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Name files in messages of errors as the user did, not by their temporary copies."""
        try:
            yield
        except UsageError as error:
            if not is_git_revision(self.name):
                raise
            error = rename_in_error(error, str(self.path), self.name.rstrip("/"))
            if self.folder is not None:
                error = rename_in_error(error, f"{self.folder}/", self.folder_prefix)
            raise error from None


@dataclass(frozen=True, slots=True)
class _VersionSide:
    """A registered version."""

    name: str
    subject: str
    version: VersionLike
    qualified: str = ""  #: the subject in the context of the environment


def read_sides(options: Namespace) -> tuple[FileSide, FileSide] | tuple[FolderSide, FolderSide]:
    """Read both sides: two schemas, or the schemas of two folders.

    The prefixes ``git:``, ``file:`` and ``subject:`` decide what a side is; without one it is a file or folder if such
    a path exists, else SUBJECT:VERSION.

    Raises:
        UsageError: a side cannot be read, or only one is a folder.
    """
    texts = (options.earlier, options.later)
    if texts == ("-", "-"):
        raise UsageError("only one of the two can be `-`, standard input")
    with ExitStack() as stack:
        sides = [_locate_side(text, stack) for text in texts]
        folders = [side for side in sides if isinstance(side, _PathSide) and side.path.is_dir()]
        context = cache(lambda: select_context(options))

        @cache
        def open_registry() -> Registry:
            context()  # the registry of the environment
            return stack.enter_context(connect(options))

        sides = [_qualify(side, context()) if isinstance(side, _VersionSide) else side for side in sides]
        match folders:
            case [first, second]:
                return _read_folder(first, open_registry), _read_folder(second, open_registry)
            case [folder]:
                raise UsageError(f"`{folder.name}` is a folder: name two folders, or two schemas")
        earlier, later = _read_schemas(options, sides, open_registry)
        return earlier, later


def _qualify(side: _VersionSide, context: str) -> _VersionSide:
    return replace(side, qualified=qualify_subject(side.subject, context))


def _locate_side(text: str, stack: ExitStack) -> _PathSide | _VersionSide:
    if is_git_revision(text):
        return stack.enter_context(_git_path(text))
    if text.startswith(_FILE):
        path = Path(text.removeprefix(_FILE))
        return _PathSide(text.removeprefix(_FILE), path, find_schema_folder(path))
    if text.startswith(_SUBJECT):
        version = parse_version_name(text.removeprefix(_SUBJECT))
        if version is None:
            raise UsageError(f"`{text}` has no version: write subject:SUBJECT:VERSION, with a number or `latest`")
        return _VersionSide(text.removeprefix(_SUBJECT), *version)
    exists = Path(text).exists()
    version = None if exists else parse_version_name(text)
    if version is None:
        if not (exists or format_of(Path(text)) or text == "-" or {"/", ":"} & set(text)):
            raise UsageError(
                f"`{text}` is neither a file nor SUBJECT:VERSION; for the registered schema write `{text}:latest`"
            )
        return _PathSide(text, Path(text), find_schema_folder(Path(text)))
    return _VersionSide(text, *version)


@contextmanager
def _git_path(name: str) -> Iterator[_PathSide]:
    """Write the files of ``git:REVISION:PATH`` to a temporary folder, and yield the side of the path.

    As for git, the path begins at the root of the repository, or at the working directory if it begins with ``.``.
    """
    revision, colon, inner = name.removeprefix(GIT).partition(":")
    if not (revision and colon):
        raise UsageError(f"`{name}` names no file or folder: write git:REVISION:PATH, such as git:main:schemas")
    working = Path()
    relative = inner in {".", ".."} or inner.startswith(("./", "../"))
    path = Path(inner) if relative else git_top(working) / inner
    folder = find_schema_folder(path)
    with checked_out(GIT + revision, [path, *_list_folders(path, folder)], working) as copies:
        if not copies[path].exists():
            raise UsageError(f"revision `{revision}` has no file or folder of schemas `{inner}`")
        if folder is None:
            yield _PathSide(name, copies[path])
        else:
            inner_folder = folder.resolve().relative_to(git_top(working).resolve()).as_posix()
            prefix = f"{GIT}{revision}:" + ("" if inner_folder == "." else f"{inner_folder}/")
            yield _PathSide(name, copies[path], copies[folder], prefix)


def _list_folders(path: Path, folder: Path | None) -> list[Path]:
    """Return the folder whose files may define the types of a file."""
    if folder is not None or path.is_dir() or format_of(path) is None:
        return [] if folder is None else [folder]
    own = own_folder(path)
    return [] if (own / ".git").exists() else [own]


def _read_folder(side: _PathSide, open_registry: Callable[[], Registry]) -> FolderSide:
    problems = UnreadableFiles(deferred=False)
    unnamed: set[str] = set()

    def name_subject(path: Path) -> str:
        relative = path.relative_to(side.path).as_posix()
        unnamed.add(relative)
        return relative

    with side.named_errors():
        homes = (folder for folder in (side.path, side.folder) if folder is not None and (folder / MANIFEST).is_file())
        home = next(homes, None)
        manifest = None if home is None else load_manifest(home / MANIFEST)
        groups = collect_files([str(side.path)], manifest=manifest, unreadable=problems, name_subject=name_subject)
        files = [(file, side.name_of(file.path)) for file in order_files(groups, problems.collect)]
        baseline = FileRegistry.of_files(side.name, Level.NONE, files, normalize=False, open_registry=open_registry)
    latest = {subject: versions[-1] for subject, versions in sorted(baseline.subjects.items())}
    return FolderSide(
        side.name,
        {subject: DiffSide(each.name, each.schema.text, each.parsed) for subject, each in latest.items()},
        {file.subject: file.path.relative_to(side.path).as_posix() for file, _ in files},
        frozenset(unnamed),
        manifest,
    )


def _read_schemas(
    options: Namespace, sides: Sequence[_PathSide | _VersionSide], open_registry: Callable[[], Registry]
) -> list[FileSide]:
    """Read two schemas; a pipe, or a file without a known suffix, has the format of the other side."""
    referenced = dict(_parse_reference(text) for text in options.references)
    registered: dict[str, DiffSide] = {
        side.name: _fetch_side(open_registry(), side) for side in sides if isinstance(side, _VersionSide)
    }
    kinds = [
        registered[side.name].parsed.type if isinstance(side, _VersionSide) else format_of(side.path) for side in sides
    ]
    other = next(filter(None, kinds), None)
    return [
        FileSide(registered[side.name], side.subject)
        if isinstance(side, _VersionSide)
        else _read_schema(side, kind, other, referenced, open_registry, strict=number == 1)
        for number, (side, kind) in enumerate(zip(sides, kinds, strict=True))
    ]


def _read_schema(
    side: _PathSide,
    kind: SchemaType | None,
    other: SchemaType | None,
    referenced: dict[str, str],
    open_registry: Callable[[], Registry],
    *,
    strict: bool,
) -> FileSide:
    if ":" in side.name and not side.path.exists():
        raise UsageError(
            f"`{side.name}` is neither a file nor SUBJECT:VERSION, with a number or `latest` as the version"
        )
    with side.named_errors():
        if kind or other is None:
            return read_file_side(side.path, side.name, side.folder, referenced, open_registry, strict=strict)
        file = replace(read_stream(side.path, other), path=Path(side.name))
        return FileSide(DiffSide(side.name, file.draft.text, parse_draft(file, referenced, strict=strict)))


def _fetch_side(registry: Registry, side: _VersionSide) -> DiffSide:
    try:
        existing = registry.version(side.qualified, side.version, deleted=True)
    except VersionNotFound as error:
        raise UsageError(f"`{side.name}` is not registered: {error}") from None
    referenced = registry.referenced(existing.draft, subject=side.qualified)
    return DiffSide(side.name, existing.text, parse_schema(existing.draft, referenced, strict=False))


def _parse_reference(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise UsageError(f"`{text}` does not have the form NAME=FILE")
    return name, read_file(Path(path), "").draft.text
