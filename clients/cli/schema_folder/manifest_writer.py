"""Text of a new manifest, which ``load_manifest`` reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.cli.schema_folder.association_entries import AssociationEntry
from contractlog.clients.cli.schema_folder.manifest import (
    MAX_DOTS,
    MAX_MANIFEST_BYTES,
    Environment,
    SubjectRule,
)
from contractlog.clients.cli.schema_folder.manifest_file_entries import PLACEHOLDER, FileRule
from contractlog.clients.settings import RegistryAddress, registry_url
from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.errors import InvalidSubject, UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.text.encodable_text import is_encodable

__all__ = ["format_manifest", "registry_of_manifest", "write_manifest"]

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
_SETTINGS: Final = """
# Settings of subjects, which `contractlog plan` shows and `contractlog apply` sets; the first matching rule applies.
"""
_ASSOCIATIONS: Final = """
# Subjects of the keys and values of topics, which `contractlog apply` binds.
"""
_URL: Final = re.compile(r"https?://[^@]+")


def registry_of_manifest(option: str | None) -> str | None:
    """Return the URL of the registry without credentials, or None if a manifest cannot have it."""
    url = ",".join(address.url for address in RegistryAddress.parse(registry_url(option)))
    return url if _URL.fullmatch(url) else None


def format_manifest(
    environments: Mapping[str, Environment],
    files: Iterable[FileRule],
    subjects: Iterable[SubjectRule],
    associations: Iterable[AssociationEntry] = (),
) -> str:
    """Return the text of a manifest, with a comment before each kind of table.

    Rules that a manifest cannot have are left out: subjects with control characters, or with a placeholder's braces.
    So are rules that would make it too large to be read.
    """
    sections = (
        (_ENVIRONMENTS, [_format_environment(name, each) for name, each in environments.items()]),
        (_SETTINGS, [_format_table("[[subjects]]", "subjects", _subject_table(rule)) for rule in subjects]),
        (
            _ASSOCIATIONS,
            [_format_table("[[associations]]", "associations", _association_table(each)) for each in associations],
        ),
        (_FILES, list(_format_rules(files))),
    )
    text = _HEAD
    for comment, all_tables in sections:
        tables = list(filter(is_encodable, all_tables))
        section = comment + "\n".join(tables)
        if tables and len((text + section).encode()) <= MAX_MANIFEST_BYTES:
            text += section
    return text


def _format_environment(name: str, environment: Environment) -> str:
    members = {
        "registry": environment.registry,
        "context": environment.context or None,
        "level": environment.level,
        "namespace": environment.namespace or None,
    }
    path = f"environments.{_format_key(name)}"
    return _format_table(f"[{path}]", path, members)


def _subject_table(rule: SubjectRule) -> dict[str, Any]:
    """Return the members of a rule, without rule sets that a manifest cannot have."""
    members = {"name": rule.name, **rule.settings}
    for key in ("default_rule_set", "override_rule_set"):
        rules = chain.from_iterable((members.get(key) or {}).values())
        if not all(each.get("name") and each.get("type") for each in rules):
            del members[key]
    return members


def _association_table(entry: AssociationEntry) -> dict[str, Any]:
    return {
        "topic": entry.topic,
        "part": None if entry.part == "value" else entry.part,
        "subject": entry.subject,
        "lifecycle": None if entry.lifecycle is Lifecycle.WEAK else entry.lifecycle,
        "namespace": entry.namespace or None,
        "topic_id": entry.topic_id or None,
    }


def _format_table(header: str, path: str, members: Mapping[str, Any]) -> str:
    """Return a table of TOML: its values, then the tables in it; members that are None are left out."""
    lines, tables = [header], []
    for name, value in members.items():
        key = _format_key(name)
        inner = f"{path}.{key}"
        if isinstance(value, Mapping):
            tables.append(_format_table(f"[{inner}]", inner, value))
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            tables += [_format_table(f"[[{inner}]]", inner, each) for each in value]
        elif value is not None:
            lines.append(f"{key} = {_format_value(value)}")
    return "\n".join(lines) + "\n" + "".join(tables)


def _format_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quote(name)


def _format_value(value: Any) -> str:
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, list):
        return "".join(("[\n", *(f"    {_format_value(each)},\n" for each in value), "]"))
    return json.dumps(value)


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
    """Return a basic string of TOML; ``load_manifest`` rejects lines with many dots, which are escaped."""
    quoted = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return quoted if text.count(".") < MAX_DOTS else quoted.replace(".", "\\u002e")


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
