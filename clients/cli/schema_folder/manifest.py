"""Manifest of a folder of schemas: environments, and the subjects and references of its files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.cli.git_repository import is_repository_top
from contractlog.clients.cli.schema_folder.association_entries import AssociationEntry, parse_association
from contractlog.clients.cli.schema_folder.manifest_errors import find_schema_errors
from contractlog.clients.cli.schema_folder.manifest_file_entries import FileRule, find_file_rule_errors, parse_file_rule
from contractlog.clients.cli.schema_folder.path_patterns import PathPattern
from contractlog.clients.cli.schema_folder.schema_files import MERGE_CONFLICT, find_merge_conflict
from contractlog.clients.cli.schema_folder.severity_overrides import (
    SeverityOverride,
    find_check_errors,
    find_lint_errors,
    parse_severity_override,
)
from contractlog.clients.cli.schema_folder.toml_positions import locate_key
from contractlog.clients.cli.schema_folder.waivers import Waiver, find_waiver_errors, parse_waiver
from contractlog.clients.file_errors import ControlFile, FileError, control_file_error
from contractlog.clients.settings import find_colliding_variable
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import InvalidRuleSet
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.json_positions import position_at_offset
from contractlog.compatibility.level import Level
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.rule_set_validation import validate_rule_set

__all__ = [
    "MANIFEST",
    "MAX_DOTS",
    "MAX_MANIFEST_BYTES",
    "Environment",
    "Manifest",
    "SubjectRule",
    "find_manifest",
    "load_manifest",
]

MANIFEST: Final = "contractlog.toml"
MAX_MANIFEST_BYTES: Final = 1024 * 1024
MAX_DOTS: Final = 200  #: of a line
MAX_ERRORS: Final = 100  #: most errors that are reported
_SYNTAX_POSITION: Final = re.compile(r"(.*) \(at line (\d+), column (\d+)\)")

_METADATA_KEYS: Final = ("default_metadata", "override_metadata")
_RULE_SET_KEYS: Final = ("default_rule_set", "override_rule_set")


@dataclass(frozen=True, slots=True)
class Environment:
    """A registry that the files of the folder are for."""

    registry: str  #: URL
    context: str = ""  #: of all subjects; empty: the default context
    level: Level | None = None  #: of the folder's subjects to which no rule gives a level; None: the registry's
    namespace: str = ""  #: of the topics of associations that name none; empty: the name of the context

    @property
    def default_namespace(self) -> str:
        """The namespace of the topics of associations that name none; empty if there is none."""
        return self.namespace or self.context.removeprefix(".")


@dataclass(frozen=True, slots=True)
class SubjectRule:
    """Settings of the subjects that match a pattern."""

    name: str
    settings: Mapping[str, Any]  #: by key of the manifest, as the API writes the values
    line: int = field(default=0, compare=False)  #: of the manifest


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a folder."""

    path: Path
    environments: Mapping[str, Environment]
    files: tuple[FileRule, ...]
    subjects: tuple[SubjectRule, ...] = ()
    lint: tuple[SeverityOverride, ...] = ()
    checks: tuple[SeverityOverride, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    associations: tuple[AssociationEntry, ...] = ()
    default_level: Level | None = None  #: of the selected environment
    default_namespace: str = ""  #: of the topics of associations, in the selected environment
    inner: str = ""  #: the folder in the paths of rules that its own folder stands for

    def find_settings(self, subject: str) -> Mapping[str, Any]:
        """Return the settings of a subject: those of the first rule that matches, and the environment's level."""
        rule = self.find_subject_rule(subject)
        settings = {} if rule is None else rule.settings
        return settings if self.default_level is None else {"level": self.default_level.value, **settings}

    def find_subject_rule(self, subject: str) -> SubjectRule | None:
        """Return the first rule that matches a subject, or None."""
        name = Subject.parse(subject).name
        return next((rule for rule in self.subjects if fnmatchcase(name, rule.name)), None)

    def find_level(self, subject: str) -> Level | None:
        """Return the level that the manifest sets for a subject, or None."""
        level = self.find_settings(subject).get("level")
        return None if level is None else Level(level)

    def select_severities(
        self, entries: Iterable[SeverityOverride], path: Path, subjects: Iterable[str], today: date
    ) -> dict[str, Severity | None]:
        """Return the severities by id that current entries give a file; None: off."""
        severities: dict[str, Severity | None] = {}
        for entry in self.find_overrides(entries, path, subjects):
            if not entry.is_expired(today):
                severities.setdefault(entry.name, entry.severity)
        return severities

    def find_overrides(
        self, entries: Iterable[SeverityOverride], path: Path, subjects: Iterable[str]
    ) -> list[SeverityOverride]:
        """Return the entries that are for a file with these subjects, ended ones included."""
        names = [Subject.parse(subject).name for subject in subjects]
        return [entry for entry in entries if entry.matches_subject(names) and self.matches(path, entry.path)]

    def require_level(self, subject: str, waiver: Waiver) -> None:
        """Require a level for a subject with a version by waiver, so that ``apply`` can restore it.

        Raises:
            UsageError: there is none.
        """
        if self.find_level(subject) is None:
            message = (
                f"the waiver for `{subject}` needs a level to return to: set `level` for the subject in [[subjects]], "
                "or for the environment"
            )
            raise control_file_error([FileError(ControlFile.MANIFEST, self.path, message, waiver.line)])

    def find_rule(self, path: Path) -> FileRule | None:
        """Return the first rule that a file matches, or None."""
        relative = self._relative_path(path)
        return next((rule for rule in self.files if relative and _compile_path(rule.path).matches(relative)), None)

    def names_json_file(self, path: Path) -> bool:
        """Return whether a rule for `.json` files has a pattern that the file matches."""
        return any(rule.names_json_files and self.matches(path, rule.path) for rule in self.files)

    def matches(self, path: Path, pattern: str) -> bool:
        """Return whether a file is in the manifest's folder, and its path there matches a pattern."""
        relative = self._relative_path(path)
        return bool(relative) and _compile_path(pattern).matches(relative)

    def _relative_path(self, path: Path) -> str:
        """Return the path of a file in the manifest's folder; empty if it is outside."""
        try:
            return Path(self.inner, path.resolve().relative_to(self.path.parent.resolve())).as_posix()
        except ValueError:
            return ""

    def environment(self, name: str) -> Environment:
        """Return an environment.

        Raises:
            UsageError: there is none of this name.
        """
        if name not in self.environments:
            names = ", ".join(self.environments) or "none"
            message = f"`{self.path}` has no environment `{name}`; it has {names}"
            raise control_file_error([FileError(ControlFile.MANIFEST, self.path, message)])
        return self.environments[name]


def find_manifest(given: Path | None, files: Sequence[str]) -> Manifest | None:
    """Return the given manifest, else that of the working directory or of the only given folder."""
    if given is not None:
        return load_manifest(given)
    folders = [Path()] + ([Path(files[0])] if len(files) == 1 else [])
    paths = (folder / MANIFEST for folder in folders)
    return next((load_manifest(path) for path in paths if path.is_file() or path.is_symlink()), None)


@cache  # a pulled folder has a rule for each of many files
def _compile_path(path: str) -> PathPattern:
    return PathPattern(f"/{path}")


def load_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        UsageError: it cannot be read or is not valid; ``list_file_errors`` has each error with its position.
    """
    text, value = _read_toml(path)
    violations = list(find_schema_errors(value)) or list(
        chain(
            find_file_rule_errors(value),
            find_lint_errors(value),
            find_check_errors(value),
            find_waiver_errors(value),
            _find_rule_set_errors(value),
            _find_environment_errors(value),
        )
    )
    if violations:
        errors = [_error_at(path, locate_key(text, keys), message) for keys, message in violations[:MAX_ERRORS]]
        raise control_file_error(sorted(errors, key=lambda error: (error.line or 0, error.column or 0)))
    environments = {name: _parse_environment(each) for name, each in value.get("environments", {}).items()}
    files = tuple(
        parse_file_rule(each, path, locate_key(text, ["files", index])[0])
        for index, each in enumerate(value.get("files", ()))
    )
    subjects = tuple(
        _parse_subject_rule(each, locate_key(text, ["subjects", index])[0])
        for index, each in enumerate(value.get("subjects", ()))
    )
    lint, checks = (
        tuple(
            parse_severity_override(each, name, locate_key(text, [key, index])[0])
            for index, each in enumerate(value.get(key, ()))
        )
        for key, name in (("lint", "rule"), ("checks", "check"))
    )
    waivers = tuple(
        parse_waiver(each, locate_key(text, ["waivers", index])[0])
        for index, each in enumerate(value.get("waivers", ()))
    )
    associations = tuple(
        parse_association(each, locate_key(text, ["associations", index])[0])
        for index, each in enumerate(value.get("associations", ()))
    )
    return Manifest(path, environments, files, subjects, lint, checks, waivers, associations)


def _find_rule_set_errors(value: Mapping[str, Any]) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield what a registry rejects of rule sets that the manifest's schema accepts."""
    for index, rule in enumerate(value.get("subjects", ())):
        for key in _RULE_SET_KEYS:
            try:
                validate_rule_set(RuleSet.from_body(rule[key]) if key in rule else None)
            except InvalidRuleSet as error:
                yield ["subjects", index, key], f"the registry would reject `{key}`: {error}"


def _find_environment_errors(value: Mapping[str, Any]) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield the environments whose variables would be others: ``password``, because of ``…_KEY_PASSWORD``."""
    for name in value.get("environments", {}):
        variable = find_colliding_variable(name)
        if variable is not None:
            message = f"an environment cannot have the name `{name}`: {variable} is a variable with another meaning"
            yield ["environments", name], f"{message}. Rename it"


def _parse_environment(entry: Mapping[str, Any]) -> Environment:
    level = Level(entry["level"]) if "level" in entry else None
    return Environment(entry["registry"], entry.get("context", ""), level, entry.get("namespace", ""))


def _read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a manifest and its value, in which dates are strings.

    Raises:
        UsageError: it cannot be read, is not TOML, or is a link out of the tree.
    """
    _reject_link_outside(path)
    try:
        text = read_bounded_file(path, MAX_MANIFEST_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
        conflict = find_merge_conflict(text)
        if conflict is not None:
            raise control_file_error([_error_at(path, (conflict.line, conflict.column), MERGE_CONFLICT)])
        for number, line in enumerate(text.split("\n"), 1):
            if line.count(".") > MAX_DOTS:  # keys of thousands of parts take `tomllib` quadratic time
                message = f"the line has more than {MAX_DOTS} dots: break it up"
                raise control_file_error([_error_at(path, (number, 1), message)])
        return text, json.loads(json.dumps(tomllib.loads(text), default=str))
    except OSError as error:
        reason = f"`{path}` cannot be read: {error.strerror or error}"
    except UnicodeDecodeError:
        reason = f"`{path}` is not UTF-8: save it as UTF-8"
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: a number may have too many digits
        end = position_at_offset(text, len(text))
        syntax = _SYNTAX_POSITION.fullmatch(
            str(error).replace("(at end of document)", f"(at line {end.line}, column {end.column})")
        )
        if syntax is not None:
            message = f"the text is not TOML: {syntax[1]}"
            raise control_file_error([_error_at(path, (int(syntax[2]), int(syntax[3])), message)]) from None
        reason = f"{path}: the text is not TOML: {error}"
    raise control_file_error([FileError(ControlFile.MANIFEST, path, reason)])


def _reject_link_outside(path: Path) -> None:
    """Reject a symbolic link that leads out of the git repository; without one, out of its folder.

    Raises:
        UsageError: it does.
    """
    folder = path.parent.resolve()
    tree = next((above for above in (folder, *folder.parents) if is_repository_top(above)), folder)
    if path.is_symlink() and not path.resolve().is_relative_to(tree):
        message = (
            f"`{path}` is a symbolic link to a file outside `{tree}`: copy the file into the folder, or pass its own "
            "path with --manifest"
        )
        raise control_file_error([FileError(ControlFile.MANIFEST, path, message)])


def _error_at(path: Path, position: tuple[int, int], message: str) -> FileError:
    return FileError(ControlFile.MANIFEST, path, message, *position)


def _parse_subject_rule(rule: Mapping[str, Any], line: int) -> SubjectRule:
    parsed: dict[str, Any] = dict(rule)
    for kind, keys in ((Metadata, _METADATA_KEYS), (RuleSet, _RULE_SET_KEYS)):
        parsed |= {key: kind.from_body(rule[key]).body() for key in keys if key in rule}
    return SubjectRule(parsed.pop("name"), parsed, line)
