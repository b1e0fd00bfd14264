"""Dependencies between schema files, found by the names that their texts define and use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

from contractlog.clients.cli.schema_folder.file_names import subject_from_name
from contractlog.clients.cli.schema_folder.schema_files import (
    FileDependency,
    FileKey,
    SchemaFile,
    UnresolvedName,
    index_by_path,
    raise_all,
)
from contractlog.clients.cli.schema_folder.unresolved_references import (
    describe_undefined_type,
    describe_unresolved_reference,
)
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.formats import list_names
from contractlog.compatibility.json_positions import locate_pointer
from contractlog.compatibility.reference_names import ExternalName, SchemaNames
from contractlog.compatibility.schema import SchemaType

__all__ = ["MissingSubjectError", "link_files", "order_files"]

_order = attrgetter("version_order")
CollectErrors = Callable[[Path], AbstractContextManager[None]]


class MissingSubjectError(UsageError):
    """A schema file has no subject by its name, the manifest or convention."""


def link_files(
    files: Sequence[SchemaFile], collect: CollectErrors, name_subject: Callable[[Path], str] | None = None
) -> Iterator[SchemaFile]:
    """Yield every file with its dependencies and its subject.

    Args:
        files: the files, with an empty subject where none is known.
        collect: called with a file's path; the context that it returns takes a ``UsageError`` about the file.
        name_subject: returns a name in place of the subject of a file that has none; None: that is an error.

    Raises:
        UsageError: a file has no subject, or a name that it uses is defined in several files.
    """
    linker = _Linker(files)
    linked = []
    for file in files:
        with collect(file.path), suppress(_ReportedError):
            linked.append(linker.link(file))
    linked = linker.unify_versions(linked)
    used = {dependency.target for file in linked for dependency in file.dependencies} | linker.probably_used
    for file in linked:
        with collect(file.path):
            yield file if file.subject else replace(file, subject=_find_subject(linker, file, used, name_subject))


def _find_subject(
    linker: _Linker, file: SchemaFile, used: set[Path], name_subject: Callable[[Path], str] | None
) -> str:
    try:
        return linker.subject_by_convention(file, used)
    except MissingSubjectError:
        if name_subject is None:
            raise
        return name_subject(file.path)


class _ReportedError(UsageError):
    """A name that a file uses is defined in several files, as the error of another file says."""


@dataclass
class _Linker:
    """Finds the files that define the names of other files."""

    all_files: Sequence[SchemaFile]
    files: Mapping[Path, SchemaFile] = field(init=False)
    names: dict[Path, SchemaNames] = field(init=False)
    definitions: dict[tuple[SchemaType, str], list[SchemaFile]] = field(init=False)

    def __post_init__(self) -> None:
        self.files = index_by_path(self.all_files)
        self.names = {path: list_names(file.draft.type, file.draft.text) for path, file in self.files.items()}
        self.definitions = {}
        for path, file in self.files.items():
            for name in self.names[path].defined:
                self.definitions.setdefault((file.draft.type, name), []).append(file)
        self._paths = {path.resolve(): file for path, file in self.files.items()}
        self.probably_used: set[Path] = set()
        self._ambiguous: set[str] = set()  # names that an error is about
        self._last_files: dict[str, SchemaFile] = {}
        for file in self.all_files:
            subject = self._subject(file)
            self._last_files[subject] = max(self._last_files.get(subject, file), file, key=_order)

    def link(self, file: SchemaFile) -> SchemaFile:
        """Add the dependencies of a file to those that it has.

        A file that defines the type of a removed one takes the place of the version that the lock names for it.
        """
        replaceable = {each.name for each in file.locked_references if each.removed_file is not None}
        replaceable = {name for name in replaceable if self.definitions.get((file.draft.type, name))}
        if replaceable:
            kept = tuple(reference for reference in file.draft.references if reference.name not in replaceable)
            from_lock = tuple(each for each in file.locked_references if each.name not in replaceable)
            file = replace(file, draft=replace(file.draft, references=kept), locked_references=from_lock)
        resolved_names = {reference.name for reference in file.draft.references}
        resolved_names |= {dependency.name for dependency in file.dependencies}
        resolved_subjects = {reference.subject for reference in file.draft.references}
        dependencies = {dependency.target: dependency for dependency in self._list_pulled(file)}
        unresolved: list[UnresolvedName] = []
        ambiguous: dict[str, str] = {}  # name -> message
        names = self.names[file.path]
        for external, at in zip(names.external, names.external_at, strict=True):
            for name in filter(None, (external.name, external.simple_name)):
                if name in resolved_names:
                    break
                try:
                    target = self._find_target(file, external._replace(name=name), at)
                except UsageError as error:
                    ambiguous[name] = str(error)
                    break
                if target is None:
                    continue
                if self._subject(target) not in resolved_subjects:
                    target_names = self.names[target.path]
                    reference = (target_names.root if name in target_names.defined else "") or name
                    dependencies.setdefault(target.path, FileDependency(reference, target.path))
                break
            else:
                unresolved.append(self._describe_unresolved(file, external, at))
        reported, self._ambiguous = self._ambiguous, self._ambiguous | ambiguous.keys()
        raise_all([message for name, message in ambiguous.items() if name not in reported])
        if ambiguous:
            raise _ReportedError("an error of another file says so")
        return replace(file, dependencies=tuple(dependencies.values()), unresolved=tuple(unresolved))

    def unify_versions(self, linked: Sequence[SchemaFile]) -> list[SchemaFile]:
        """Return linked files, none of which depends on two versions of a type.

        One that would, an earlier version of its subject, gets the last versions of all types.
        """
        by_path = {file.path: file for file in linked}
        conflicts = [path for path in by_path if self._mixes_versions(path, by_path)]
        while conflicts:
            for path in conflicts:
                file = by_path[path]
                dependencies = tuple(self._to_last(file, each) for each in file.dependencies)
                by_path[path] = replace(file, dependencies=dependencies)
            remaining = set(by_path) - set(conflicts)
            conflicts = [path for path in remaining if self._mixes_versions(path, by_path)]
        return [replace(file, dependencies=by_path[file.path].dependencies) for file in linked]

    def _mixes_versions(self, path: Path, by_path: Mapping[Path, SchemaFile]) -> bool:
        """Return whether the dependencies of a file have one name for two versions of a subject."""
        targets: dict[tuple[str, str], Path] = {}
        pending, visited = [path], {path}
        while pending:
            for each in by_path[pending.pop()].dependencies:
                if each.target in by_path:
                    key = each.name, self._subject(self.files[each.target])
                    if targets.setdefault(key, each.target) != each.target:
                        return True
                    if each.target not in visited:
                        visited.add(each.target)
                        pending.append(each.target)
        return False

    def _to_last(self, file: SchemaFile, dependency: FileDependency) -> FileDependency:
        """Return a dependency on the last version, unless it is pinned or names the path of a file."""
        target = self.files.get(dependency.target)
        by_path = self._find_by_path(file, ExternalName(dependency.name, dependency.name))
        if target is None or target in by_path or dependency.name in file.pinned:
            return dependency
        return FileDependency(dependency.name, self._last_files[self._subject(target)].path)

    def _describe_unresolved(self, file: SchemaFile, external: ExternalName, at: str) -> UnresolvedName:
        """Return a name that leads to no file, with a message.

        The file that was probably meant counts as used, so that the message is not about its missing subject.
        """
        paths = [path for path, other in self.files.items() if other.draft.type == file.draft.type]
        names = {os.path.relpath(path, file.path.parent): path for path in paths if path != file.path}
        if not external.path:
            names = {name: path for path in paths for name in self.names[path].defined}
            names.pop(self.names[file.path].type_name, None)  # a schema seldom means itself
        is_reference = external.path or ":" in external.name  # else the name of a type
        describe = describe_unresolved_reference if is_reference else describe_undefined_type
        message, nearest = describe(file.path, external, names)
        if nearest in names:
            self.probably_used.add(names[nearest])
        return UnresolvedName(external.path or external.name, at, message)

    def _list_pulled(self, file: SchemaFile) -> Iterator[FileDependency]:
        """Yield the dependencies of a pulled file.

        Those of the last version of a subject are on the last version of the other subject, too. Pinned ones, and names
        that are the path of the file, stay as they are.
        """
        is_last = self._is_last(file)
        for dependency in file.dependencies:
            yield self._to_last(file, dependency) if is_last else dependency

    def _is_last(self, file: SchemaFile) -> bool:
        """Return whether a file is the last version of its subject."""
        return self._last_files[self._subject(file)].path == file.path

    def subject_by_convention(self, file: SchemaFile, used: set[Path]) -> str:
        """Return the subject of a file that is not named after a topic.

        Raises:
            MissingSubjectError: the convention does not apply.
        """
        type_name = self.names[file.path].type_name
        if file.path in used or (
            type_name and subject_from_name(file.path) in {type_name, type_name.rpartition(".")[2]}
        ):
            return self._subject(file)
        ending = file.path.name.removeprefix(subject_from_name(file.path))
        raise MissingSubjectError(
            f"schema file `{file.path}` has no subject: rename it to <topic>-value{ending} or <topic>-key{ending}, "
            "pass --subject, or name its subject in contractlog.toml"
        )

    def _subject(self, file: SchemaFile) -> str:
        """Return the subject of a file, by convention if none is known."""
        return file.subject or self.names[file.path].type_name or subject_from_name(file.path)

    def _find_target(self, file: SchemaFile, external: ExternalName, at: str) -> SchemaFile | None:
        """Return the file that defines a name, or None.

        Subjects with files in its folder go first, then those in version folders beside it. Of the versions of a
        subject, the last version of another one uses the last, and an earlier version the last one whose number is not
        larger.

        Raises:
            UsageError: files of several subjects define it.
        """
        defining = [
            other
            for other in self.definitions.get((file.draft.type, external.name), ())
            if self._subject(other) != self._subject(file)
        ]
        candidates = (
            [other for other in defining if self.names[other.path].root == external.name]
            or defining
            or self._find_by_path(file, external)
        )
        for folder in (_own_folder, _folder):
            beside = {self._subject(other) for other in candidates if folder(other) == folder(file)}
            candidates = [other for other in candidates if self._subject(other) in beside] or candidates
        if len({self._subject(other) for other in candidates}) > 1:
            paths = " and ".join(f"`{other.path}`" for other in candidates)
            raise UsageError(
                f"{file.path}:{locate_pointer(file.draft.text, at)}: `{external.name}` is defined in {paths}: "
                "remove one definition, or pass --reference"
            )
        candidates.sort(key=_order)
        if self._is_last(file) or not candidates:
            return candidates[-1] if candidates else None
        earlier = [other for other in candidates if other.version_order <= file.version_order]
        return earlier[-1] if earlier else candidates[0]

    def _find_by_path(self, file: SchemaFile, external: ExternalName) -> list[SchemaFile]:
        if not external.path:
            return []
        target = self._paths.get((file.path.parent / external.path).resolve())
        return [] if target is None or target.path == file.path else [target]


def _own_folder(file: SchemaFile) -> Path:
    return file.path.parent


def _folder(file: SchemaFile) -> Path:
    """Return the folder of a file, above version folders 1/, 2/."""
    return file.path.parent if file.version is None else file.path.parent.parent


def order_files(groups: Mapping[str, Sequence[SchemaFile]], collect: CollectErrors) -> list[SchemaFile]:
    """Return all files, each after its dependencies and the earlier versions of its subject.

    Args:
        groups: the files of each subject in the order of their versions.
        collect: as for ``link_files``; takes the error about a cycle, whose files are left out.

    Raises:
        UsageError: files depend on each other in a cycle.
    """
    files = [file for versions in groups.values() for file in versions]
    by_key = {file.key: file for file in files}
    by_path = index_by_path(files)
    before: dict[FileKey, list[FileKey]] = {
        file.key: [by_path[target].key for _, target in file.dependencies if target in by_path] for file in files
    }
    for versions in groups.values():
        for earlier, later in pairwise(versions):
            before[later.key].insert(0, earlier.key)
    done: dict[FileKey, bool] = {}  # False: in a cycle
    for file in files:
        with collect(file.path):
            _visit_depth_first(file.key, by_key, before, done)
    return [by_key[key] for key, valid in done.items() if valid]


def _visit_depth_first(
    start: FileKey,
    files: Mapping[FileKey, SchemaFile],
    before: Mapping[FileKey, Iterable[FileKey]],
    done: dict[FileKey, bool],
) -> None:
    """Add a file to those that are done, after all that come before it.

    Raises:
        UsageError: a file comes before itself; all files on the way are done as invalid.
    """
    open_files = {start: iter(before[start])} if start not in done else {}
    while open_files:
        key, remaining = next(reversed(open_files.items()))
        inner = next((each for each in remaining if each not in done), None)
        if inner is None:
            done[key] = True
            del open_files[key]
        elif inner in open_files:
            done.update(dict.fromkeys(open_files, False))
            raise UsageError(
                _describe_cycle([files[each] for each in [*open_files, inner][list(open_files).index(inner) :]])
            )
        else:
            open_files[inner] = iter(before[inner])


def _describe_cycle(files: Sequence[SchemaFile]) -> str:
    """Return the message about files each of which depends on the next; the last is the first."""
    edges = "; ".join(_describe_edge(file, target) for file, target in pairwise(files))
    paths = " -> ".join(str(file.path) for file in files)
    return f"these files depend on each other: {paths}; put types that need each other into one file: {edges}"


def _describe_edge(file: SchemaFile, target: SchemaFile) -> str:
    """Return the position in a file that refers to another one, and the name that it uses."""
    names, defined = (
        list_names(file.draft.type, file.draft.text),
        list_names(target.draft.type, target.draft.text).defined,
    )
    for external, at in zip(names.external, names.external_at, strict=True):
        name = next((each for each in (external.name, external.simple_name) if each in defined), "")
        if name or (external.path and Path(file.path.parent, external.path).resolve() == target.path.resolve()):
            return f"{file.path}:{locate_pointer(file.draft.text, at)} uses `{name or external.path}`"
    return f"{file.path} is a later version than {target.path}"
