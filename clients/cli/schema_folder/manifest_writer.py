"""Text of a new manifest, which ``load_manifest`` reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.cli.schema_folder.file_rules import PLACEHOLDER, FileRule
from contractlog.clients.cli.schema_folder.manifest import (
    MAX_MANIFEST_BYTES,
    Environment,
    SubjectRule,
)
from contractlog.clients.registry import Registry
from contractlog.clients.settings import RegistryAddress, registry_url
from contractlog.compatibility.errors import Forbidden, InvalidSubject, NotFound, UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level

__all__ = ["find_levels", "format_manifest", "registry_of_manifest", "write_manifest"]

_HEAD: Final = """\
# Manifest of this folder of schemas, for contractlog check, plan, apply and pull.
# A file or subject without a rule is read by convention. Keep passwords out of this file: use environment variables.
"""
_ENVIRONMENTS: Final = """
# Registries, chosen with --environment NAME. `context` is put before all subjects.
"""
_FILES: Final = """
# Subjects of files whose names do not give them; the first rule whose path matches applies.
"""
_LEVELS: Final = """
# Compatibility levels, which `contractlog plan` shows and `contractlog apply` sets.
"""
_URL: Final = re.compile(r"https?://[^@]+")


def registry_of_manifest(option: str | None) -> str | None:
    """Return the URL of the registry without credentials, or None if a manifest cannot have it."""
    url = ",".join(address.url for address in RegistryAddress.parse(registry_url(option)))
    return url if _URL.fullmatch(url) else None


def format_manifest(
    environments: Mapping[str, Environment], files: Iterable[FileRule], subjects: Iterable[SubjectRule]
) -> str:
    """Return the text of a manifest, with a comment before each kind of table.

    Rules that a manifest cannot have are left out: subjects with control characters, or with a placeholder's braces.
    So are rules that would make it too large to be read.
    """
    sections = (
        (_ENVIRONMENTS, [_format_environment(name, each) for name, each in environments.items()]),
        (
            _LEVELS,
            [
                f"[[subjects]]\nname = {_quote(rule.name)}\nlevel = {_quote(rule.settings['level'])}\n"
                for rule in subjects
            ],
        ),
        (_FILES, list(_format_rules(files))),
    )
    text = _HEAD
    for comment, tables in sections:
        section = comment + "\n".join(tables)
        if tables and len((text + section).encode()) <= MAX_MANIFEST_BYTES:
            text += section
    return text


def _format_environment(name: str, environment: Environment) -> str:
    context = f"context = {_quote(environment.context)}\n" if environment.context else ""
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quote(name)
    level = f"level = {_quote(environment.level)}\n" if environment.level is not None else ""
    return f"[environments.{key}]\nregistry = {_quote(environment.registry)}\n{context}{level}"


def _format_rules(rules: Iterable[FileRule]) -> Iterator[str]:
    for rule in rules:
        if all(map(_is_writable, rule.subjects)):
            subjects = ", ".join(map(_quote, rule.subjects))
            yield f"[[files]]\npath = {_quote(rule.path)}\nsubjects = [{subjects}]\n"


def _is_writable(subject: str) -> bool:
    """Return whether a subject in a manifest means itself."""
    try:
        Subject.parse(subject).validate().name.encode()
    except (InvalidSubject, UnicodeEncodeError):
        return False
    return not PLACEHOLDER.search(subject)


def _quote(text: str) -> str:
    """Return a basic string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def write_manifest(path: Path, text: str) -> None:
    """Write the text of a manifest.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        with open_atomically(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None


def find_levels(registry: Registry, subjects: Iterable[str]) -> Iterator[SubjectRule]:
    """Yield rules for levels that differ from the registry's; a rule holds for a name in all contexts."""
    levels: dict[str, set[Level]] = {}
    try:
        general = registry.level()
        for subject in subjects:
            levels.setdefault(Subject.parse(subject).name, set()).add(registry.level(subject))
    except (Forbidden, NotFound):  # the caller may not read levels, or the server has none
        return
    for name, named in levels.items():
        if named != {general} and len(named) == 1:
            yield SubjectRule(re.sub(r"([*?[])", r"[\1]", name), {"level": named.pop().value})
