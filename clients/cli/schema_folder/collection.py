"""Schema files of a command: read, with their subjects and the files that they depend on.

The manifest tells subjects, references, metadata and rules. A file that it does not name has the subject in its name;
one that is not named after a topic has its subject from ``contractlog.lock`` or by convention: for an
Avro type its full name, if the file is named after the type or another file uses it; for a JSON schema the name of the
file, if another file refers to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path
from unicodedata import normalize

from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.schema_folder.dependencies import link_files
from contractlog.clients.cli.schema_folder.discovery import discover_files
from contractlog.clients.cli.schema_folder.file_names import FOLDER_SUFFIXES
from contractlog.clients.cli.schema_folder.folder_warnings import FolderRule, FolderWarning
from contractlog.clients.cli.schema_folder.ignore_files import IgnoreFiles
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.schema_files import (
    FileDependency,
    LockedReference,
    SchemaFile,
    describe_syntax_error,
    read_file,
)
from contractlog.clients.file_errors import FileError, list_file_errors
from contractlog.clients.lock_file import LockedFile, list_locked_files, lock_path
from contractlog.compatibility.errors import InvalidSubject, UsageError
from contractlog.compatibility.formats import allows_comments, list_names
from contractlog.compatibility.identifiers import INVALID_SUBJECT_REASONS, Subject, qualify_subject
from contractlog.compatibility.schema import Reference

__all__ = ["UnreadableFiles", "collect_files", "find_removed_types", "list_files"]


class UnreadableFiles:
    """Collector of the errors of unreadable files, so that the other files can be processed first."""

    def __init__(self, *, deferred: bool = True) -> None:
        self._deferred = deferred
        self.problems: list[tuple[Path, UsageError]] = []
        self.warnings: list[FolderWarning] = []  #: about files that were left out
        self.notes: list[str] = []  #: about files that were named, although they are ignored

    @contextmanager
    def collect(self, path: Path, *, otherwise: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Collect a ``UsageError`` about a file and call ``otherwise``; unless ``deferred``, do not catch it."""
        try:
            yield
        except UsageError as error:
            if not self._deferred:
                raise
            self.problems.append((path, error))
            self.problems += ((path, UsageError(message)) for message in error.facts.get("others", ()))
            otherwise()

    def bodies(self) -> list[dict[str, str]]:
        """Return the JSON objects of the unreadable files."""
        return [{"file": str(path), "reason": str(error)} for path, error in self.problems]

    def raise_errors(self, consequence: str = "") -> None:
        """Raise all collected errors as one, with their consequence and the fact ``unreadable_files``.

        Raises:
            UsageError: there are errors.
        """
        suffix = f"; {consequence}" if consequence else ""
        control = dict.fromkeys(each for _, error in self.problems for each in list_file_errors(error))
        unreadable = [str(error) for _, error in self.problems if not list_file_errors(error)]
        messages = [*unreadable, *(each.describe() for each in control)]
        problems = tuple(self.problems)
        if len(messages) == 1:
            raise UsageError(f"{messages[0]}{suffix}", unreadable_files=problems)
        if messages:
            count = len({path for path, error in self.problems if not list_file_errors(error)})
            files = count_noun(count, "file cannot be read as a schema", "files cannot be read as schemas")
            parts = [files] if unreadable else []
            parts += [f"{count_noun(len(control), 'error')} in {_list_names(control)}"] if control else []
            raise UsageError(f"{', and '.join(parts)}{suffix}:", details=messages, unreadable_files=problems)


def _list_names(errors: Iterable[FileError]) -> str:
    return ", ".join(f"`{path}`" for path in dict.fromkeys(error.path for error in errors))


def collect_files(
    paths: Iterable[str],
    *,
    subject: str | None = None,
    references: Sequence[Reference] = (),
    manifest: Manifest | None = None,
    context: str = "",
    unreadable: UnreadableFiles | None = None,
    name_subject: Callable[[Path], str] | None = None,
    skip_ignored: bool = False,
) -> dict[str, list[SchemaFile]]:
    """Read files and folders; return the files of each subject in the order of their versions.

    Args:
        paths: files, and folders that are searched for schema files.
        subject: the subject of all files, instead of the one in their names; files then do not depend on each other.
        references: references of all files, besides those in `contractlog.lock`.
        manifest: tells subjects, references, metadata and rules of files.
        context: of all subjects that have none in their names; empty: the default context.
        unreadable: collects errors, so that the other files are returned; None: the first error is raised.
        name_subject: returns a name in place of the subject of a file that has none; None: that is an error.
        skip_ignored: as for `list_files`.

    Raises:
        UsageError: a path cannot be read, a file has no subject, or two files are the same version.
    """
    problems = UnreadableFiles(deferred=False) if unreadable is None else unreadable
    file_paths: list[Path] = []
    for text in paths:
        with problems.collect(Path(text)):
            file_paths += list_files(Path(text), problems, manifest, skip_ignored=skip_ignored)
    reader = _FileReader(tuple(dict.fromkeys(file_paths)), subject, tuple(references), manifest)
    files: list[SchemaFile] = []
    for path in reader.paths:
        with problems.collect(path):
            files += reader.read(path)
    if subject is None:
        files = list(link_files(files, problems.collect, name_subject))
    groups: dict[str, list[SchemaFile]] = {}
    for file in files:
        name = qualify_subject(file.subject, context)
        with problems.collect(file.path):
            _validate_subject(name, file.path)
            groups.setdefault(name, []).append(replace(file, subject=name))
    problems.warnings += [*_find_similar(groups), *_find_removed_types(groups)]
    for group, versions in list(groups.items()):
        versions.sort(key=lambda file: file.version_order)
        if manifest is not None:
            versions[-1] = _add_declared_contract(versions[-1], manifest)
        with problems.collect(versions[0].path, otherwise=partial(groups.pop, group)):
            _reject_duplicates(versions, manifest, ordered_by_hand=subject is not None)
    return groups


class _FileReader:
    """Reads the files of a command, with the locks beside them."""

    def __init__(
        self,
        paths: tuple[Path, ...],
        subject: str | None,
        references: tuple[Reference, ...],
        manifest: Manifest | None,
    ) -> None:
        self.paths = paths
        self._manifest = manifest
        self._subject = subject
        self._references = references
        self._locks: dict[Path, Mapping[str, list[LockedFile]]] = {}
        self._latest: dict[Path, dict[str, int]] = {}
        self._known_paths = frozenset(paths)

    def read(self, path: Path) -> list[SchemaFile]:
        """Read a file, once for each subject that the manifest names.

        Raises:
            UsageError: it cannot be read, or the manifest's subjects do not fit.
        """
        rule = self._manifest.find_rule(path) if self._manifest else None
        given = self._references + (rule.references if rule else ())
        folder, locked = self._find_lock_entries(path)
        file = read_file(path, self._subject, given)
        if locked:
            file = self._apply_lock_entry(file, folder, locked[-1])
        if not file.subject or (rule is not None and rule.names_subjects):
            _reject_syntax_error(file)  # its subject may follow from its text
        if rule is None or self._subject is not None or not rule.names_subjects:
            return [_add_locked_contract(file, locked)]
        names = list_names(file.draft.type, file.draft.text)
        return [
            _add_locked_contract(replace(file, subject=subject), locked) for subject in rule.list_subjects(path, names)
        ]

    def _find_lock_entries(self, path: Path) -> tuple[Path, Sequence[LockedFile]]:
        """Return the nearest folder above a file with a lock, and its entries there."""
        for folder in path.parents:
            if self._locked_files(folder):
                return folder, self._locked_files(folder).get(path.relative_to(folder).as_posix(), ())
        return path.parent, ()

    def _locked_files(self, folder: Path) -> Mapping[str, list[LockedFile]]:
        if folder not in self._locks:
            self._locks[folder] = list_locked_files(folder)
        return self._locks[folder]

    def _pulled_latest(self, folder: Path) -> Mapping[str, int]:
        """Return the latest pulled version of each subject in a lock."""
        if folder not in self._latest:
            entries = chain.from_iterable(self._locked_files(folder).values())
            ascending = sorted(entries, key=lambda entry: entry.version)
            self._latest[folder] = {entry.subject: entry.version for entry in ascending}
        return self._latest[folder]

    def _apply_lock_entry(self, file: SchemaFile, folder: Path, entry: LockedFile) -> SchemaFile:
        """Add the subject and the references of the pulled file.

        A reference to the version in another file of this command becomes a dependency: the file may be new content.
        It is pinned if there was a later version at the time of the pull.
        """
        references = list(file.draft.references)
        from_lock: list[LockedReference] = []
        names = {reference.name for reference in references}
        dependencies = []
        pinned = set()
        for reference in entry.references:
            if reference.name in names:
                continue
            home = str(resolve_subject(reference.subject, Subject.parse(entry.subject).context))
            target = self._find_file(folder, home, reference.version)
            if target is None:
                references.append(reference)
                removed = self._find_removed_file(folder, home, reference.version)
                from_lock.append(LockedReference(reference.name, lock_path(folder), removed))
                continue
            dependencies.append(FileDependency(reference.name, target))
            if reference.version < self._pulled_latest(folder)[home]:
                pinned.add(reference.name)
        return replace(
            file,
            subject=file.subject or entry.subject,
            draft=replace(file.draft, references=tuple(references)),
            dependencies=tuple(dependencies),
            pinned=frozenset(pinned),
            locked_references=tuple(from_lock),
        )

    def _find_file(self, folder: Path, subject: str, version: int) -> Path | None:
        """Return the file of this command that is a pulled version of a subject."""
        paths = self._list_paths(folder, subject, version)
        return next((path for path in paths if path in self._known_paths), None)

    def _find_removed_file(self, folder: Path, subject: str, version: int) -> Path | None:
        """Return the file that was a pulled version of a subject and does not exist any more."""
        return next((path for path in self._list_paths(folder, subject, version) if not path.exists()), None)

    def _list_paths(self, folder: Path, subject: str, version: int) -> Iterator[Path]:
        for name, entries in self._locked_files(folder).items():
            if any((entry.subject, entry.version) == (subject, version) for entry in entries):
                yield folder / name


def _add_declared_contract(file: SchemaFile, manifest: Manifest) -> SchemaFile:
    """Add the metadata and rules that the manifest declares for the last version of a subject."""
    rule, draft = manifest.find_rule(file.path), file.draft
    if rule is None or (rule.metadata, rule.rule_set) == (None, None):
        return file
    metadata = draft.metadata if rule.metadata is None else rule.metadata
    rule_set = draft.rule_set if rule.rule_set is None else rule.rule_set
    return replace(file, draft=replace(draft, metadata=metadata, rule_set=rule_set))


def _add_locked_contract(file: SchemaFile, locked: Sequence[LockedFile]) -> SchemaFile:
    """Add the metadata and rules of the version that a file was pulled as, if it still has that text."""
    entry = next((each for each in locked if each.subject == file.subject and each.has_contract), None)
    if entry is None:
        return file
    if sha256(file.path.read_bytes()).hexdigest() != entry.digest:
        return replace(file, edited=entry)
    return replace(file, draft=replace(file.draft, metadata=entry.metadata, rule_set=entry.rule_set))


def _reject_syntax_error(file: SchemaFile) -> None:
    message = describe_syntax_error(file, comments=allows_comments(file.draft.type))
    if message is not None:
        raise UsageError(message)


def list_files(
    path: Path, problems: UnreadableFiles, manifest: Manifest | None = None, *, skip_ignored: bool = False
) -> Iterable[Path]:
    """Return a file itself, or the schema files of a folder; ``problems`` gets warnings about others.

    With ``skip_ignored``, a file that ``.contractlogignore`` lists is skipped with a note, and such a folder rejected.

    Raises:
        UsageError: it does not exist, cannot be read, or contains no schema files.
    """
    if not path.is_dir():
        with suppress(PermissionError):
            _require_existing(path)
    pattern = IgnoreFiles(_folder_of(path), manifest).find_pattern(path) if skip_ignored else None
    if not path.is_dir():
        problems.notes += [] if pattern is None else [f"{path} is skipped: {pattern.location} lists it"]
        return [path] if pattern is None else []
    if pattern is not None:
        raise UsageError(f"`{path}` is not read, because {pattern.location} lists it: name another folder")
    discovered = discover_files(path, manifest)
    problems.warnings += discovered.find_warnings()
    if not discovered.schemas:
        raise UsageError(f"`{path}` contains no schema files: their names end in {' or '.join(FOLDER_SUFFIXES)}")
    return discovered.schemas


def _folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _require_existing(path: Path) -> None:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"`{path}` does not exist") from None


def _reject_duplicates(files: list[SchemaFile], manifest: Manifest | None, *, ordered_by_hand: bool) -> None:
    for first, second in pairwise(files):
        if first.version == second.version and not (ordered_by_hand and first.version is None):
            version = "" if first.version is None else f"version {first.version} of "
            rules = [] if manifest is None or ordered_by_hand else map(manifest.find_rule, (first.path, second.path))
            named = dict.fromkeys(rule.location for rule in rules if rule is not None and rule.names_subjects)
            source = f", named by {' and '.join(named)}" if named else ""
            advice = "give each file its own subject there, for example with `{name}`, or " if named else ""
            raise UsageError(
                f"`{first.path}` and `{second.path}` are both {version}`{first.subject}`{source}: "
                f"{advice}put versions into folders 1/, 2/ or name one file"
            )


def _validate_subject(subject: str, path: Path) -> None:
    try:
        Subject.parse(subject).validate()
    except InvalidSubject:
        raise UsageError(
            f"{path}: `{subject}` cannot be a subject: {INVALID_SUBJECT_REASONS}; rename the file"
        ) from None


def _find_removed_types(groups: Mapping[str, Sequence[SchemaFile]]) -> Iterator[FolderWarning]:
    """Yield a warning about each type that files take from a lock because its own file was removed."""
    users: dict[tuple[Path, str], list[tuple[str, SchemaFile]]] = {}
    for subject, files in groups.items():
        for name, _, removed in files[-1].locked_references:
            if removed is not None and _uses_name(files[-1], name):
                users.setdefault((removed, name), []).append((subject, files[-1]))
    for (removed, name), each in users.items():
        file = each[0][1]
        lock = next(reference.lock for reference in file.locked_references if reference.name == name)
        reference = next(reference for reference in file.draft.references if reference.name == name)
        subjects = ", ".join(f"`{subject}`" for subject, _ in each)
        message = (
            f"no file defines `{name}` any more: {subjects} still {'refers' if len(each) == 1 else 'refer'} to version "
            f"{reference.version} of `{reference.subject}` in the registry, as `{lock}` names it; restore `{removed}`, "
            f'or write "{name}" = "{reference.subject}:{reference.version}" in [files.references] of contractlog.toml'
        )
        yield FolderWarning(FolderRule.REMOVED_TYPE, file.path, message)


def _uses_name(file: SchemaFile, name: str) -> bool:
    external = list_names(file.draft.type, file.draft.text).external
    return any(name in {each.name, each.simple_name, each.path} for each in external)


def find_removed_types(paths: Sequence[str], manifest: Manifest | None) -> list[FolderWarning]:
    """Return the warnings about types of removed files, for a command that reads each file on its own."""
    tops = [path if path.is_dir() else path.parent for path in map(Path, paths)]
    locks = {folder for top in tops for folder in (top, *top.parents) if lock_path(folder).is_file()}
    if all((folder / name).exists() for folder in locks for name in list_locked_files(folder)):
        return []
    unreadable = UnreadableFiles()
    collect_files(paths, manifest=manifest, unreadable=unreadable)
    return [warning for warning in unreadable.warnings if warning.rule is FolderRule.REMOVED_TYPE]


def _find_similar(groups: Mapping[str, Sequence[SchemaFile]]) -> Iterator[FolderWarning]:
    """Yield a warning about subjects whose names differ only in case or Unicode form."""
    by_folded: dict[str, list[str]] = {}
    for subject in groups:
        by_folded.setdefault(normalize("NFC", subject).casefold(), []).append(subject)
    for similar in by_folded.values():
        if len(similar) > 1:
            names = ", ".join(f"`{subject}` of {groups[subject][-1].path}" for subject in similar)
            composed = len({subject.casefold() for subject in similar}) > 1
            difference = "the Unicode form of their letters (NFC, NFD)" if composed else "case"
            message = (
                f"these subjects differ only in {difference}: {names}; rename one file if both mean the same subject"
            )
            yield FolderWarning(FolderRule.SIMILAR_SUBJECTS, groups[similar[-1]][-1].path, message)
