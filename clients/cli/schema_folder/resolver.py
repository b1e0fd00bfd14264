"""Schema files with references to each other: parsed, and looked up in the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.json_formatter import format_json
from contractlog.clients.cli.schema_folder.contract_differences import declares_contract, list_differences
from contractlog.clients.cli.schema_folder.earlier_versions import EarlierVersionMatcher, list_earlier_versions
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.schema_files import (
    FileKey,
    PlannedReference,
    SchemaFile,
    describe_syntax_error,
    raise_all,
)
from contractlog.clients.cli.schema_folder.unresolved_references import list_unresolved
from contractlog.clients.cli.schema_folder.version_lookup import VersionLookup
from contractlog.clients.cli.subject_settings import find_planned_contract
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import InvalidSchema, NotFound, UsageError
from contractlog.compatibility.formats import allows_comments, list_names, parse_schema
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.json_positions import locate_pointer
from contractlog.compatibility.lint.duplicate_json_keys import check_duplicate_keys
from contractlog.compatibility.metadata_inheritance import merge_metadata, merge_rule_sets
from contractlog.compatibility.schema import ParsedSchema, Reference, RegisteredSchema

if TYPE_CHECKING:
    from contractlog.clients.cli.schema_folder.file_registry import FileRegistry

__all__ = ["FileResolver", "ResolvedFile", "invalid_file_message", "parse_draft"]


@dataclass(frozen=True, slots=True)
class ResolvedFile:
    """A file with references to registered or planned versions in place of its dependencies."""

    source: SchemaFile  #: the file as it was read
    file: SchemaFile
    parsed: ParsedSchema
    texts: Mapping[str, str]  #: name -> text of its direct and indirect dependencies
    registered: RegisteredSchema | None = None  #: the version with this content
    same_text: RegisteredSchema | None = None  #: a version with this text, and other metadata or rules
    #: name -> subject of its dependencies, of the indirect ones as far as files have them
    subjects: Mapping[str, str] = field(default_factory=dict)


@dataclass
class FileResolver:
    """Resolves files; those that others depend on come first."""

    registry: Registry | FileRegistry
    normalize: bool = False  #: of all subjects
    manifest: Manifest | None = None  #: with ``normalize`` of subjects, which the registry may not have yet
    beside: Sequence[SchemaFile] = ()  #: files that are only referred to: they must be registered as they are
    _resolved: dict[FileKey, ResolvedFile] = field(default_factory=dict)
    _first_keys: dict[Path, FileKey] = field(default_factory=dict)  #: a file is referred to by its first subject
    _lookup: VersionLookup = field(init=False)

    def __post_init__(self) -> None:
        self._lookup = VersionLookup(self.registry, self.normalize, self.manifest)

    def normalizes(self, subject: str) -> bool:
        """Return whether normalized texts of a subject are compared and stored."""
        return self._lookup.normalizes(subject)

    def resolve_all(
        self, files: Sequence[SchemaFile], collect: Callable[[Path], AbstractContextManager[None]]
    ) -> list[ResolvedFile]:
        """Resolve files in few requests.

        An earlier version of a subject is the registered version with its text, whatever its types are now.

        Args:
            files: the files, each after its dependencies.
            collect: called with a file's path; the context that it returns takes the error about the file.

        Returns:
            the files without an error, in their order.
        """
        earlier = list_earlier_versions(files)
        if earlier:
            trial = FileResolver(self.registry, self.normalize, self.manifest, self.beside)
            trial._resolve_in_order([*self.beside, *files], lambda _: suppress(UsageError))
            self._lookup = trial._lookup
            registered = [(each.source, each.registered) for each in trial._resolved.values()]
            matcher = EarlierVersionMatcher.of(self.registry, self._lookup.find_all, files, registered)
            pinned = matcher.pin(earlier)
            files = [pinned.get(file.key, file) for file in files]
            if not pinned and len(trial._resolved) == len(files) + len(self.beside):
                self._resolved, self._first_keys = trial._resolved, trial._first_keys
                return [self._resolved[file.key] for file in files]
        self._resolve_in_order([*self.beside, *files], collect)
        return [self._resolved[file.key] for file in files if file.key in self._resolved]

    def _resolve_in_order(
        self, files: Sequence[SchemaFile], collect: Callable[[Path], AbstractContextManager[None]]
    ) -> None:
        pending = list(files)
        while pending:
            unresolved = {file.path for file in pending}
            ready = [file for file in pending if unresolved.isdisjoint(target for _, target in file.dependencies)]
            self._resolve_independent(ready, collect)
            done = {file.key for file in ready}
            pending = [file for file in pending if file.key not in done]

    def resolve(self, file: SchemaFile) -> ResolvedFile:
        """Resolve one file, again if a dependency was registered meanwhile.

        Raises:
            UsageError: it is not a valid schema, a reference is not registered, or a dependency cannot be read.
        """
        parsed = self._parse(file)
        registered = None if parsed.file.planned else self._lookup.find(parsed.file)
        return self._store(replace(parsed, registered=registered))

    def record(self, file: SchemaFile, registered: RegisteredSchema) -> None:
        """Take note of the version that a resolved file was registered as."""
        if registered.version is None:  # servers before release 7 tell only the id
            registered = self._lookup.find(file) or registered
        self._store(replace(self._resolved[file.key], registered=registered))

    def _store(self, resolved: ResolvedFile) -> ResolvedFile:
        if resolved.registered is None:
            resolved = self._complete_contract(resolved)
        key = resolved.file.key
        self._first_keys.setdefault(resolved.file.path, key)
        self._resolved[key] = resolved
        return resolved

    def _complete_contract(self, resolved: ResolvedFile) -> ResolvedFile:
        """Return a file that is not registered, with metadata and rules if its subject has no version yet.

        Else the registry copies those of the latest version, unless the file has some of its own.
        """
        file = resolved.file
        if file.edited is not None and file.subject in self._lookup.new_subjects:
            metadata = file.edited.metadata if file.draft.metadata is None else file.draft.metadata
            rule_set = file.edited.rule_set if file.draft.rule_set is None else file.draft.rule_set
            draft = replace(file.draft, metadata=metadata, rule_set=rule_set)
            return replace(resolved, file=replace(file, draft=draft))
        if declares_contract(file.draft) and not file.planned and file.subject not in self._lookup.new_subjects:
            plain = replace(file, draft=replace(file.draft, metadata=None, rule_set=None))
            same_text = self._lookup.find(plain)
            if same_text is not None and self._becomes_same(file, same_text):
                return replace(resolved, registered=same_text)
            return replace(resolved, same_text=same_text)
        return resolved

    def _becomes_same(self, file: SchemaFile, version: RegisteredSchema) -> bool:
        """Return whether a version has the metadata and rules of a file once the manifest's settings are made.

        The registry adds those of the subject's config to what a file declares; a promoted version has them already.
        """
        if self.manifest is None or not isinstance(self.registry, Registry):
            return False
        config = find_planned_contract(self.registry, self.manifest, file.subject)
        if config is None:
            return False
        metadata, rule_set = file.draft.metadata, file.draft.rule_set
        if metadata is not None:
            metadata = merge_metadata(config.default_metadata, metadata, config.override_metadata)
        if rule_set is not None:
            rule_set = merge_rule_sets(config.default_rule_set, rule_set, config.override_rule_set)
        return not list_differences(replace(file.draft, metadata=metadata, rule_set=rule_set), version)

    def _resolve_independent(
        self, files: Iterable[SchemaFile], collect: Callable[[Path], AbstractContextManager[None]]
    ) -> None:
        parsed_files = []
        for file in files:
            with collect(file.path):
                parsed_files.append(self._parse(file))
        versions = dict(self._lookup.find_many([parsed.file for parsed in parsed_files if not parsed.file.planned]))
        for parsed in parsed_files:
            key = parsed.file.key
            with collect(parsed.file.path):
                registered = versions.get(key)
                if key not in versions and not parsed.file.planned:
                    registered = self._lookup.find(parsed.file)
                self._store(replace(parsed, registered=registered))

    def _parse(self, file: SchemaFile) -> ResolvedFile:
        texts = dict(self._read_referenced(file))
        references = list(file.draft.references)
        planned: list[PlannedReference] = []
        context = Subject.parse(file.subject).context
        subjects = {each.name: str(resolve_subject(each.subject, context)) for each in references}
        for name, path in file.dependencies:
            if path not in self._first_keys:
                raise UsageError(f"{file.path}: it depends on `{path}`, which cannot be read as a schema")
            target = self._resolved[self._first_keys[path]]
            for inner, text in (*target.texts.items(), (name, target.file.draft.text)):
                if not _differ_in_formatting_only(texts.setdefault(inner, text), text):
                    raise UsageError(
                        f"{file.path}: the name `{inner}` means two schemas in what it depends on; rename one of them"
                    )
            subjects |= {**target.subjects, name: target.file.subject}
            if target.registered is None and any(each.path == path for each in self.beside):
                raise UsageError(
                    f"{file.path}: it uses `{path}`, which is not registered as it is, and not one of this command: "
                    "name it, too, or the folder"
                )
            if target.registered is None or target.registered.version is None:
                planned.append(PlannedReference(name, target.file.subject))
            else:
                references.append(Reference(name, target.file.subject, target.registered.version))
        complete = replace(file, draft=replace(file.draft, references=tuple(references)), planned=tuple(planned))
        try:
            parsed = parse_draft(complete, texts, strict=True)
            return ResolvedFile(file, complete, parsed, texts, subjects=subjects)
        except UsageError as error:
            if "redefined" in error.facts:
                raise UsageError(f"{error}; {self._describe_definition(file, error.facts['redefined'])}") from None
            raise

    def _describe_definition(self, file: SchemaFile, name: str) -> str:
        """Return the file that a file depends on and that defines a type, and the way out."""
        pending = [target for _, target in file.dependencies]
        defining: dict[Path, bool] = {}
        while pending:
            path = pending.pop(0)
            if path not in defining:
                target = self._resolved[self._first_keys[path]].file
                defining[path] = name in list_names(target.draft.type, target.draft.text).defined
                pending += [inner for _, inner in target.dependencies]
        where = next(
            (f"`{path}`" for path, is_defined in defining.items() if is_defined), "a schema that it references"
        )
        return f"{where} defines it, too: write the name in place of the definition here"

    def _read_referenced(self, file: SchemaFile) -> Mapping[str, str]:
        """Return the texts of all registered dependencies of a file by name."""
        if not file.draft.references:
            return {}
        try:
            return self.registry.referenced(file.draft, subject=file.subject)
        except InvalidSchema as error:
            raise UsageError(invalid_file_message(file, error)) from None
        except NotFound as error:
            message = f"{file.path}: a schema that it refers to is not registered: {error}"
            raise UsageError(f"{message} {_describe_origin(file)}") from None


def _describe_origin(file: SchemaFile) -> str:
    """Return the way out if a reference is not registered: it is from the lock, or named by the user."""
    names = {each.name for each in file.locked_references}
    if not names:
        return "Correct --reference, or `references` in contractlog.toml"
    listed = ", ".join(f"`{each.name}`" for each in file.draft.references if each.name in names)
    lock = file.locked_references[0].lock
    removed = [str(each.removed_file) for each in file.locked_references if each.removed_file is not None]
    restore = f"restore {', '.join(f'`{each}`' for each in dict.fromkeys(removed))}" if removed else "pull its file"
    also = (
        "; or correct --reference, or `references` in contractlog.toml"
        if len(file.draft.references) > len(names)
        else ""
    )
    return f"{listed} is from `{lock}`, as no file defines it: {restore}{also}"


def _differ_in_formatting_only(text: str, other: str) -> bool:
    """Return whether two schema texts differ in formatting at most: a pulled file is formatted."""
    return text == other or format_json(text) == format_json(other)


def parse_draft(file: SchemaFile, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    """Parse a file with the texts of its dependencies.

    Args:
        file: the file.
        referenced: texts of all dependencies by name.
        strict: as for new schemas; existing ones may predate a rule.

    Raises:
        UsageError: it is not a valid schema. The message begins with the file, followed by line and column if known.
    """
    try:
        parsed = parse_schema(file.draft, referenced, strict=strict)
    except InvalidSchema as error:
        raise_all(list_unresolved(file, error.facts.get("at"), referenced))
        redefined = {key: error.facts[key] for key in ("redefined",) if key in error.facts}
        raise UsageError(invalid_file_message(file, error), **redefined) from None
    for repeated in check_duplicate_keys(None, file.draft.text) if strict else ():
        position = locate_pointer(file.draft.text, repeated.at)
        raise UsageError(f"{file.path}:{position}: {repeated.message}; remove the others")
    return parsed


def invalid_file_message(file: SchemaFile, error: InvalidSchema) -> str:
    """Return the message for an invalid schema file, with the position and the reason."""
    text, pointer = file.draft.text, error.facts.get("at")
    if not pointer:
        syntax_error = describe_syntax_error(file, comments=allows_comments(file.draft.type))
        if syntax_error is not None:
            return syntax_error
    if pointer is None or (pointer and not pointer.startswith("/")):
        return f"{file.path}: {error}" + (f" (in a referenced schema, at `{pointer}`)" if pointer else "")
    return f"{file.path}:{locate_pointer(text, pointer)}: {error} (at `{pointer or '/'}`)"
