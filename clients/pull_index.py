"""Index file of ``contractlog pull``: ids, guids and references of the pulled schemas.

With it a folder can replace a registry. The texts stay in the files; each is listed with its SHA-256, so that an edited
text is not mistaken for the schema with its id. Dependencies without a file are listed with their text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import Reference, RegisteredSchema

__all__ = ["INDEX", "IndexEntry", "PulledSchema", "file_digests", "pulled_files", "read_index", "write_index"]

INDEX: Final = "pulled.json"
_FORMAT: Final = "contractlog.pulled/1"


@dataclass(frozen=True, slots=True)
class PulledSchema:
    """A pulled version of a subject."""

    schema: RegisteredSchema
    file: str | None  #: path of its text, relative to the folder; None: the text is in the index


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A file as it was pulled."""

    subject: str
    version: int
    references: tuple[Reference, ...] = ()


def read_index(folder: Path) -> list[PulledSchema]:
    """Read the schemas of a pulled folder.

    Raises:
        UsageError: the index is missing or invalid, or a file is missing or was edited since.
    """
    return [_load_schema(folder, entry) for entry in _read_entries(folder, required=True)]


def file_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file as it was pulled, by relative path; empty without an index."""
    entries = _read_entries(folder, required=False)
    return {entry["file"]: entry["sha256"] for entry in entries if {"file", "sha256"} <= entry.keys()}


def pulled_files(folder: Path) -> dict[str, IndexEntry]:
    """Return what the index says about each file, by relative path; empty without an index."""
    try:
        entries = _read_entries(folder, required=False)
    except UsageError:  # another program's file of this name
        return {}
    return {
        entry["file"]: IndexEntry(entry["subject"], entry["version"], _parse_references(entry))
        for entry in entries
        if "file" in entry
    }


def write_index(folder: Path, pulled: Iterable[PulledSchema]) -> None:
    """Add schemas to the index of a folder; entries for the same files or versions are replaced."""
    entries = [_build_entry(folder, each) for each in pulled]
    replaced_keys = {_entry_key(entry) for entry in entries} | {_version_key(entry) for entry in entries}
    unchanged = [
        entry
        for entry in _read_entries(folder, required=False)
        if not {_entry_key(entry), _version_key(entry)} & replaced_keys and _file_exists(folder, entry)
    ]
    ordered = sorted(unchanged + entries, key=lambda entry: (entry["subject"], entry["version"]))
    text = json.dumps({"format": _FORMAT, "schemas": ordered}, ensure_ascii=False, indent=2) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    with open_atomically(folder / INDEX) as file:
        file.write(text.encode())


def _read_entries(folder: Path, *, required: bool) -> list[dict[str, Any]]:
    path = folder / INDEX
    if not path.exists() and not required:
        return []
    try:
        body = json.loads(path.read_bytes())
        json.dumps(body, ensure_ascii=False).encode()  # a surrogate alone could not be written again
    except (OSError, ValueError, RecursionError) as error:
        message = f"`{path}` cannot be read ({error}): `contractlog pull` writes it"
        raise UsageError(message) from None
    entries = body.get("schemas") if isinstance(body, dict) and body.get("format") == _FORMAT else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"`{path}` is not of the format {_FORMAT}, which `contractlog pull` writes")
    for entry in entries:
        file = entry.get("file", "")
        named = isinstance(entry.get("subject"), str) and type(entry.get("version")) is int
        if not named or not isinstance(file, str) or "\0" in file:
            raise _entry_error(folder, entry)
    return entries


def _entry_error(folder: Path, entry: Mapping[str, Any]) -> UsageError:
    return UsageError(f"an entry of `{folder / INDEX}` is none that `contractlog pull` writes, of id {entry.get('id')}")


def _load_schema(folder: Path, entry: Mapping[str, Any]) -> PulledSchema:
    file = entry.get("file")
    body = dict(entry)
    if file is not None:
        try:
            content = (folder / file).read_bytes()
        except OSError as error:
            raise UsageError(f"`{folder / file}` cannot be read: {error.strerror or error}") from None
        if sha256(content).hexdigest() != entry.get("sha256"):
            message = f"`{folder / file}` is not what was pulled as id {entry.get('id')}: pull it again"
            raise UsageError(message)
        body["schema"] = content.decode()
    try:
        return PulledSchema(RegisteredSchema.from_body(body | {"schema": body["schema"]}), file)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _entry_error(folder, entry) from None


def _build_entry(folder: Path, pulled: PulledSchema) -> dict[str, Any]:
    schema = pulled.schema
    body = replace(schema.draft, rule_set=schema.rule_set).body()
    if pulled.file is not None:
        del body["schema"]
        body |= {"file": pulled.file, "sha256": sha256((folder / pulled.file).read_bytes()).hexdigest()}
    members = {"subject": str(schema.subject), "version": schema.version, "id": schema.schema_id, "guid": schema.guid}
    return {name: value for name, value in members.items() if value is not None} | body


def _entry_key(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return ("file", entry["file"]) if "file" in entry else _version_key(entry)


def _parse_references(entry: Mapping[str, Any]) -> tuple[Reference, ...]:
    try:
        return tuple(Reference.from_body(body) for body in entry.get("references") or ())
    except (AttributeError, TypeError, ValueError):
        return ()


def _version_key(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return "version", entry.get("subject"), entry.get("version")


def _file_exists(folder: Path, entry: Mapping[str, Any]) -> bool:
    try:
        return "file" not in entry or (folder / entry["file"]).exists()
    except OSError:  # a name that no file can have
        return False
