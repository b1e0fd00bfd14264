"""Lock file of ``contractlog pull``: versions, ids, guids and references of the pulled schemas.

With it a folder can replace a registry. The texts stay in the files; each is listed with its SHA-256, so that an edited
text is not mistaken for the schema with its id. Dependencies without a file are listed with their text. In folders
without a lock, ``pulled.json`` is read, to which earlier releases wrote the same entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.file_errors import ControlFile, FileError, control_file_error
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import Reference, RegisteredSchema
from contractlog.compatibility.text.terminal_text import shell_command

__all__ = [
    "LOCK",
    "LOCK_FORMATS",
    "MAX_SCHEMA_FILE_BYTES",
    "LockedFile",
    "LockedSchema",
    "PulledSchema",
    "file_digests",
    "list_locked_files",
    "load_locked_schemas",
    "lock_path",
    "locked_context",
    "read_lock_entries",
    "update_lock",
]

LOCK: Final = "contractlog.lock"
MAX_SCHEMA_FILE_BYTES: Final = 16 * 1024 * 1024  #: of a pulled file
_MAX_LOCK_BYTES: Final = 256 * 1024 * 1024
_EARLIER_LOCK: Final = "pulled.json"
LOCK_FORMATS: Final = {LOCK: "contractlog.lock/1", _EARLIER_LOCK: "contractlog.pulled/1"}  #: name -> format


@dataclass(frozen=True, slots=True)
class PulledSchema:
    """A pulled version of a subject."""

    schema: RegisteredSchema
    file: str | None  #: path of its text, relative to the folder; None: the text is in the index


@dataclass(frozen=True, slots=True)
class LockedFile:
    """A file as it was pulled for a subject.

    Metadata and rules are empty, not None, if an earlier version in the lock has some: registries copy them to a
    version that is registered without.
    """

    subject: str
    version: int
    references: tuple[Reference, ...] = ()
    digest: str = ""  #: SHA-256 of the file
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None

    @property
    def has_contract(self) -> bool:
        """True if the version has metadata or rules, or an earlier one had."""
        return self.metadata is not None or self.rule_set is not None


@dataclass(frozen=True, slots=True)
class LockedSchema:
    """A version that a lock names; its file may have been edited or removed since."""

    schema: RegisteredSchema  #: with an empty text, if the lock has only the hash
    file: str | None  #: as for ``PulledSchema``
    digest: str  #: SHA-256 of the file; empty if the lock has the text


def lock_path(folder: Path) -> Path:
    """Return the path of the lock, or of the earlier index if the folder has that one only."""
    earlier = folder / _EARLIER_LOCK
    return earlier if earlier.exists() and not (folder / LOCK).exists() else folder / LOCK


def read_lock_entries(folder: Path) -> list[LockedSchema]:
    """Read the versions that the lock names, whatever became of their files.

    Raises:
        UsageError: the lock is missing or invalid.
    """
    locked = []
    for entry in _read_entries(folder, required=True):
        file, digest = entry.get("file"), entry.get("sha256", "")
        if not isinstance(digest, str) or (file is not None and not digest):
            raise _entry_error(folder, entry)
        body = dict(entry) if file is None else entry | {"schema": ""}
        locked.append(LockedSchema(_parse_entry(folder, entry, body), file, digest))
    return locked


def locked_context(folder: Path) -> str:
    """Return the context that the subjects of the lock are relative to; empty: the default context."""
    context = _read_body(folder, required=False).get("context", "")
    return context if isinstance(context, str) else ""


def load_locked_schemas(folder: Path) -> list[PulledSchema]:
    """Read the schemas of a pulled folder.

    Raises:
        UsageError: the index is missing or invalid, or a file is missing or was edited since.
    """
    return [_load_schema(folder, entry) for entry in _read_entries(folder, required=True)]


def file_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file as it was pulled, by relative path; empty without an index."""
    entries = _read_entries(folder, required=False)
    return {entry["file"]: entry["sha256"] for entry in entries if {"file", "sha256"} <= entry.keys()}


def list_locked_files(folder: Path) -> dict[str, list[LockedFile]]:
    """Return the entries of each file, one for each subject, by relative path; empty without an index.

    Raises:
        UsageError: the lock is invalid.
    """
    try:
        entries = _read_entries(folder, required=False)
    except UsageError:
        if lock_path(folder).name == LOCK:
            raise
        return {}  # another program's file of this name
    files: dict[str, list[LockedFile]] = {}
    earlier: dict[str, LockedFile] = {}  # by subject
    for entry in sorted(entries, key=lambda entry: int(entry["version"])):
        locked = _parse_locked_file(folder, entry, earlier.get(entry["subject"]))
        earlier[locked.subject] = locked
        if "file" in entry:
            files.setdefault(entry["file"], []).append(locked)
    return files


def _parse_locked_file(folder: Path, entry: Mapping[str, Any], earlier: LockedFile | None) -> LockedFile:
    metadata, rule_set = entry.get("metadata"), entry.get("ruleSet")
    if metadata is None and earlier is not None and earlier.metadata is not None:
        metadata = {}
    if rule_set is None and earlier is not None and earlier.rule_set is not None:
        rule_set = {}
    try:
        return LockedFile(
            entry["subject"],
            entry["version"],
            tuple(map(Reference.from_body, entry.get("references") or ())),
            str(entry.get("sha256", "")),
            None if metadata is None else Metadata.from_body(metadata),
            None if rule_set is None else RuleSet.from_body(rule_set),
        )
    except (TypeError, ValueError, AttributeError):
        raise _entry_error(folder, entry) from None


def update_lock(folder: Path, pulled: Iterable[PulledSchema], context: str = "") -> None:
    """Add schemas to the lock of a folder; entries for the same files or versions are replaced.

    The entries of an earlier index move to the lock.

    Args:
        folder: the folder of the lock.
        pulled: the schemas, with subjects relative to ``context``.
        context: the context that was pulled; empty: subjects are as the registry names them.

    Raises:
        UsageError: the existing lock is invalid.
    """
    read_path = lock_path(folder)
    entries = [_build_entry(folder, each) for each in pulled]
    replaced_keys = {_entry_key(entry) for entry in entries} | {_version_key(entry) for entry in entries}
    unchanged = [
        entry
        for entry in _read_entries(folder, required=False)
        if not {_entry_key(entry), _version_key(entry)} & replaced_keys and _file_exists(folder, entry)
    ]
    ordered = sorted(unchanged + entries, key=lambda entry: (entry["subject"], entry["version"]))
    body = {"format": LOCK_FORMATS[LOCK]} | ({"context": context} if context else {}) | {"schemas": ordered}
    text = json.dumps(body, ensure_ascii=False, indent=2) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    with open_atomically(folder / LOCK) as file:
        file.write(text.encode())
    if read_path.name != LOCK:
        read_path.unlink(missing_ok=True)


def _read_body(folder: Path, *, required: bool) -> dict[str, Any]:
    """Return the JSON object of the lock or of the earlier index; an empty one if there is neither."""
    path = lock_path(folder)
    if not path.exists() and not required:
        return {}
    way_out = f"restore it, or remove it and run `{shell_command('pull', out=str(folder))}`"
    try:
        body = json.loads(read_bounded_file(path, _MAX_LOCK_BYTES))
        json.dumps(body, ensure_ascii=False).encode()  # a surrogate alone could not be written again
    except FileNotFoundError:
        raise _lock_error(path, f"`{path}` does not exist: `contractlog pull` writes it") from None
    except (OSError, ValueError, RecursionError) as error:
        message = f"`{path}` cannot be read ({error}), which `contractlog pull` writes: {way_out}"
        raise _lock_error(path, message) from None
    format_name = LOCK_FORMATS[path.name]
    entries = body.get("schemas") if isinstance(body, dict) and body.get("format") == format_name else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        message = f"`{path}` is not of the format {format_name}, which `contractlog pull` writes: {way_out}"
        raise _lock_error(path, message)
    return dict(body)


def _read_entries(folder: Path, *, required: bool) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = _read_body(folder, required=required).get("schemas", [])
    for entry in entries:
        file = entry.get("file", "")
        named = isinstance(entry.get("subject"), str) and type(entry.get("version")) is int
        valid_file = isinstance(file, str) and "\0" not in file and _is_inside(file)
        if not named or not valid_file or not _are_references(entry.get("references")):
            raise _entry_error(folder, entry)
    return entries


def _are_references(value: Any) -> bool:
    """Return True for a list of references with all members, or None."""
    members = {"name": str, "subject": str, "version": int}
    return value is None or (
        isinstance(value, list)
        and all(isinstance(each, dict) for each in value)
        and all(type(each.get(name)) is kind for each in value for name, kind in members.items())
    )


def _is_inside(file: str) -> bool:
    """Return True if a relative path leads to no file outside of its folder."""
    path = PurePosixPath(file)
    return not path.is_absolute() and ".." not in path.parts


def _entry_error(folder: Path, entry: Mapping[str, Any]) -> UsageError:
    path = lock_path(folder)
    return _lock_error(path, f"an entry of `{path}` is none that `contractlog pull` writes, of id {entry.get('id')}")


def _lock_error(path: Path, message: str) -> UsageError:
    return control_file_error([FileError(ControlFile.LOCK, path, message)])


def _load_schema(folder: Path, entry: Mapping[str, Any]) -> PulledSchema:
    file = entry.get("file")
    body = dict(entry)
    if file is not None:
        try:
            content = read_bounded_file(folder / file, MAX_SCHEMA_FILE_BYTES)
        except OSError as error:
            raise UsageError(f"`{folder / file}` cannot be read: {error.strerror or error}") from None
        if sha256(content).hexdigest() != entry.get("sha256"):
            message = f"`{folder / file}` is not what was pulled as id {entry.get('id')}: pull it again"
            raise UsageError(message)
        body["schema"] = content.decode()
    return PulledSchema(_parse_entry(folder, entry, body), file)


def _parse_entry(folder: Path, entry: Mapping[str, Any], body: Mapping[str, Any]) -> RegisteredSchema:
    try:
        return RegisteredSchema.from_body({**body, "schema": body["schema"]})
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
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


def _version_key(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return "version", entry.get("subject"), entry.get("version")


def _file_exists(folder: Path, entry: Mapping[str, Any]) -> bool:
    try:
        return "file" not in entry or (folder / entry["file"]).exists()
    except OSError:  # a name that no file can have
        return False
