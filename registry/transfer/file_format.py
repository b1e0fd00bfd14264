"""JSON lines of a registry's contents: the file of ``contractlog export``; see ``docs/migration.md``.

The first line describes the export, the last one counts the lines. The lines between contain only the state, in a fixed
order: two registries with the same state have the same lines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TextIO

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import MAX_ID, Subject
from contractlog.compatibility.schema import SchemaType
from contractlog.compatibility.text.terminal_text import shell_command
from contractlog.contracts.change_log.recorded_change import ChangeLogHead
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.transfer import import_parsers, transferred_contracts, transferred_keys
from contractlog.registry.transfer.config_columns import read_config, read_mode, require_valid_config
from contractlog.registry.transfer.import_parsers import InvalidField
from contractlog.registry.transfer.registry_contents import (
    RegistryContents,
    RetiredId,
    TransferredSchema,
    TransferredVersion,
)
from contractlog.registry.transfer.report import OddityKind, TransferReport

__all__ = ["FORMAT", "FileSource", "describe_head", "format_content_lines", "format_lines", "read_lines", "split_lines"]

FORMAT: Final = "contractlog.export/1"
_MAX_LINE: Final = 256 * 1024 * 1024  #: characters; a file without line ends would fill the memory


def format_lines(contents: RegistryContents, header: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of an export: header, state and end."""
    yield _format_line({"format": FORMAT, **header})
    count = 2
    for line in format_content_lines(contents):
        count += 1
        yield line
    yield _format_line({"kind": "end", "lines": count})


def describe_head(head: ChangeLogHead | None) -> dict[str, Any]:
    """Return the members of the header for the newest entry of the change log."""
    return {} if head is None else {"journal": head.sequence, "journal_hash": head.hash}


def format_content_lines(contents: RegistryContents) -> Iterator[str]:
    """Yield the state, from contexts to contracts, in the order of the file."""
    for name, next_id in sorted(contents.contexts.items()):
        yield _format_line({"kind": "context", "name": name, "next_id": next_id})
    for schema in _sorted_values(contents.schemas):
        yield _format_line(_schema_body(schema))
    for version in _sorted_values(contents.versions):
        yield _format_line(_version_body(version))
    for scope, config in sorted(contents.settings.items()):
        yield _format_line({"kind": "settings", "scope": _format_scope(scope), "config": config})
    for scope, mode in sorted(contents.modes.items()):
        yield _format_line({"kind": "mode", "scope": _format_scope(scope), "mode": mode})
    for association in _sorted_values(contents.associations):
        yield _format_line(_association_body(association))
    for (context, schema_id), retired in sorted(contents.retired.items()):
        members = {"at": retired.at, "actor": retired.actor, "hash": retired.hash}
        yield _format_line({"kind": "retired", "context": context, "id": schema_id, **members})
    yield from map(_format_line, map(transferred_keys.kek_body, _sorted_values(contents.keks)))
    yield from map(_format_line, map(transferred_keys.dek_body, _sorted_values(contents.deks)))
    yield from map(_format_line, map(transferred_contracts.contract_body, _sorted_values(contents.contracts)))


def _sorted_values(items: Mapping[Any, Any]) -> list[Any]:
    return [items[key] for key in sorted(items)]


def _format_line(members: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in members.items() if value is not None}, ensure_ascii=True)


def _format_scope(scope: Subject) -> str:
    return f":{scope.context}:{scope.name}" if not scope.name else str(scope)


def _schema_body(schema: TransferredSchema) -> dict[str, Any]:
    return {
        "kind": "schema",
        "context": schema.context,
        "id": schema.id,
        "guid": schema.guid,
        "type": schema.type.value,
        "references": [reference.body() for reference in schema.references] or None,
        "metadata": None if schema.metadata is None else schema.metadata.body(),
        "ruleSet": None if schema.rule_set is None else schema.rule_set.body(),
        "schema": schema.text,
        "submitted": schema.submitted,
        "created": schema.created_at,
        "reused": None if schema.reused else False,
    }


def _version_body(version: TransferredVersion) -> dict[str, Any]:
    return {
        "kind": "version",
        "subject": str(version.subject),
        "version": version.version,
        "id": version.schema_id,
        "created": version.created_at,
        "deleted": version.deleted_at,
    }


def _association_body(association: StoredAssociation) -> dict[str, Any]:
    times = {"created": association.created_at, "updated": association.updated_at}
    return {"kind": "association", **association.body(), **times}


def split_lines(file: TextIO, *, longest: int = _MAX_LINE) -> Iterator[str]:
    """Yield the lines of a file.

    Raises:
        UsageError: a line has more than ``longest`` characters.
    """
    number = 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise UsageError(
                f"line {number} of the file has more than {longest:,} characters; an export has none so long"
            )
        yield line


def read_lines(lines: Iterable[str], report: TransferReport) -> RegistryContents:
    """Parse the lines that ``format_lines`` yields.

    Raises:
        UsageError: a line is invalid, or the file ends early.
    """
    reader = _LineReader(report)
    count, ended = 0, False
    for count, line in enumerate(lines, 1):
        if not line.strip():
            raise UsageError(f"line {count} of the file is empty; an export has none")
        if ended:
            raise UsageError(f"line {count} of the file follows its end")
        try:
            ended = reader.read(count, _decode_line(line))
        except UsageError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UsageError(_describe_error(count, error)) from None
    if not count:
        raise UsageError("the file is empty; an export has at least two lines")
    if not ended:
        raise UsageError(f"the file ends early, after {count:,} lines: an export closes with a line of kind `end`")
    return reader.contents


def _decode_line(line: str) -> Any:
    body = json.loads(line)
    if "\\u" in line or not line.isascii():
        import_parsers.require_unicode(body)
    return body


def _describe_error(number: int, error: Exception) -> str:
    """Describe why a line cannot be parsed; an invalid first line means that the file is no export."""
    if number == 1 and not isinstance(error, InvalidField):
        return f"this is not a file of `contractlog export`: its first line is not JSON with `{FORMAT}`"
    if isinstance(error, json.JSONDecodeError):
        why = f"it is not JSON ({error.msg}, column {error.colno}); the file was changed or damaged"
    elif isinstance(error, KeyError):
        why = f"it has no `{error.args[0]}`"
    elif isinstance(error, InvalidField):
        why = str(error)
    elif isinstance(error, RecursionError):
        why = "it is nested too deep"
    else:
        why = f"a member is of another kind than it should be ({error})"
    return f"line {number} of the file cannot be read: {why}"


class _LineReader:
    """Parser that builds the state line by line."""

    def __init__(self, report: TransferReport) -> None:
        self.contents = RegistryContents()
        self._report = report
        self._kinds: Mapping[str, Callable[[str, Mapping[str, Any]], None]] = {
            "context": self._context,
            "schema": self._schema,
            "version": self._version,
            "settings": self._settings,
            "mode": self._mode,
            "association": self._association,
            "retired": self._retire,
            "kek": self._kek,
            "dek": self._dek,
            "contract": self._contract,
        }

    def read(self, number: int, body: Mapping[str, Any]) -> bool:
        """Parse a line; return whether it was the last one."""
        if number == 1:
            if body.get("format") != FORMAT:
                raise UsageError(
                    f"the first line does not have `{FORMAT}`: this is not a file of `contractlog export`, or one of "
                    "another release"
                )
            self.contents.change_log_head = import_parsers.read_change_log_head(body, "journal", "journal_hash")
            return False
        kind = str(body.get("kind"))
        if kind == "end":
            if body.get("lines") != number:
                raise UsageError(f"the file should have {body.get('lines')} lines, and has {number}")
            self._complete()
            return True
        if kind not in self._kinds:
            raise UsageError(f"line {number} of the file is of an unknown kind: {kind!r}")
        self._kinds[kind](f"line {number}", body)
        return False

    def _context(self, where: str, body: Mapping[str, Any]) -> None:
        name = import_parsers.read_context(body, "name")
        self.contents.contexts[name] = import_parsers.read_number(body, "next_id", minimum=1, maximum=MAX_ID + 1)
        self.contents.positions[name] = where

    def _schema(self, where: str, body: Mapping[str, Any]) -> None:
        schema = replace(
            import_parsers.read_schema(body, import_parsers.read_context(body, "context"), _parse_type(body)),
            guid=None if body.get("guid") is None else import_parsers.parse_guid(body["guid"]),
            submitted=None if body.get("submitted") is None else import_parsers.read_string(body, "submitted"),
            created_at=import_parsers.read_time(body, "created"),
            reused=import_parsers.read_flag(body, "reused", default=True),
        )
        if not schema.storable:
            raise UsageError(f"{where} of the file: {import_parsers.NOT_STORABLE}")
        self.contents.positions.setdefault(schema.key, where)
        before = self.contents.schemas.setdefault(schema.key, schema)
        if before != schema:
            self._report.conflicts.append(
                f"{where}: the id {schema.id} of context {schema.context} has another content in an earlier line"
            )

    def _version(self, where: str, body: Mapping[str, Any]) -> None:
        version = TransferredVersion(
            import_parsers.parse_subject(body["subject"]),
            import_parsers.read_version(body),
            import_parsers.read_id(body),
            import_parsers.read_time(body, "created"),
            import_parsers.read_time(body, "deleted"),
        )
        if version.created_at is None:
            self._report.odd(OddityKind.NO_TIMESTAMP, where, f"{version.subject}/{version.version}")
        self.contents.positions.setdefault(version.key, where)
        if self.contents.versions.setdefault(version.key, version) != version:
            self._report.conflicts.append(
                f"{where}: version {version.version} of {version.subject} has another id in an earlier line"
            )

    def _settings(self, where: str, body: Mapping[str, Any]) -> None:
        require_valid_config(body["config"])
        config = read_config(body["config"], where, self._report)
        if config:
            self.contents.settings[import_parsers.parse_scope(body["scope"], "scope")] = config

    def _mode(self, where: str, body: Mapping[str, Any]) -> None:
        mode = read_mode(body["mode"], where, self._report)
        if mode is None:
            raise InvalidField(f"`mode`: {body['mode']!r} is not a mode that this release supports")
        self.contents.modes[import_parsers.parse_scope(body["scope"], "scope")] = mode

    def _association(self, _: str, body: Mapping[str, Any]) -> None:
        association = replace(
            import_parsers.read_association(body),
            created_at=import_parsers.read_time(body, "created"),
            updated_at=import_parsers.read_time(body, "updated"),
        )
        self.contents.associations[association.guid] = association

    def _retire(self, where: str, body: Mapping[str, Any]) -> None:
        key = import_parsers.read_context(body, "context"), import_parsers.read_id(body)
        actor = import_parsers.read_text(body, "actor", default="unknown")
        self.contents.retired[key] = RetiredId(
            import_parsers.read_time(body, "at"), actor, import_parsers.read_hash(body, "hash")
        )
        self.contents.positions[key] = where

    def _kek(self, where: str, body: Mapping[str, Any]) -> None:
        kek = transferred_keys.parse_kek(body)
        if self.contents.keks.setdefault(kek.name, kek) != kek:
            self._report.conflicts.append(f"{where}: the KEK {kek.name} is another one in an earlier line")

    def _dek(self, where: str, body: Mapping[str, Any]) -> None:
        dek = transferred_keys.parse_dek(body)
        self.contents.positions.setdefault(dek.key, where)
        if self.contents.deks.setdefault(dek.key, dek) != dek:
            self._report.conflicts.append(
                f"{where}: the DEK {dek.id.change_log_name} is another one in an earlier line"
            )

    def _contract(self, where: str, body: Mapping[str, Any]) -> None:
        contract = transferred_contracts.parse_stored_contract(body)
        if self.contents.contracts.setdefault(contract.key, contract) != contract:
            self._report.conflicts.append(f"{where}: the contract {contract.name} is another one in an earlier line")

    def _require_keks(self) -> None:
        """Require the KEK of each DEK, and a live one of a live DEK."""
        for key, dek in self.contents.deks.items():
            kek = self.contents.keks.get(dek.id.kek_name)
            if kek is None or (kek.deleted and not dek.deleted):
                problem = "which no line of the file has" if kek is None else "which is deleted, while the DEK is not"
                raise UsageError(
                    f"{self.contents.positions[key]} of the file: the DEK {dek.id.change_log_name} has the KEK "
                    f"{dek.id.kek_name}, {problem}"
                )

    def _complete(self) -> None:
        contents, report = self.contents, self._report
        self._require_keks()
        for version in contents.versions.values():
            if version.schema not in contents.schemas:
                raise UsageError(
                    f"{contents.positions[version.key]} of the file: version {version.version} of {version.subject} "
                    f"has the id {version.schema_id}, which no line of the file gives a content"
                )
        versions_in_use = {version.schema: key for key, version in contents.versions.items()}
        report.conflicts += [
            f"the id {schema_id} of context {context} is retired and in use, both, by the file "
            f"({contents.positions[context, schema_id]}, {contents.positions[versions_in_use[context, schema_id]]})"
            for context, schema_id in sorted(contents.retired.keys() & versions_in_use.keys())
        ]
        contents.raise_counters()


def _parse_type(body: Mapping[str, Any]) -> SchemaType:
    name = body.get("type", SchemaType.AVRO)
    if name not in set(SchemaType):
        raise InvalidField(f"`type`: {name!r} is not a schema type")
    return SchemaType(name)


_SQLITE: Final = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file of ``contractlog export``."""

    path: str

    def read_contents(self, report: TransferReport) -> RegistryContents:
        """Read the file."""
        try:
            if self.path == "-":
                return read_lines(split_lines(sys.stdin), report)
            with Path(self.path).open(encoding="utf-8") as file:
                return read_lines(split_lines(file), report)
        except UnicodeDecodeError:
            message = f"`{self.path}` is not UTF-8 text, so it is not a file of `contractlog export`"
            raise UsageError(message + ("" if self.path == "-" else _database_hint(self.path))) from None
        except OSError as error:
            live = "; the URL of a live registry begins with http:// or https://" if ":" in self.path else ""
            raise UsageError(f"`{_hide_password(self.path)}` cannot be read: {error.strerror}{live}") from None

    def poll(self, _report: TransferReport) -> RegistryContents | None:
        """Raise ``UsageError``: files do not change."""
        raise UsageError("--follow needs a live registry or a topic; a file does not change")


def _hide_password(path: str) -> str:
    """Return a path for messages: of a mistyped URL, without its user and password."""
    user, at, rest = path.rpartition("@")
    return f"…@{rest}" if at and ":" in user else path


def _database_hint(path: str) -> str:
    """Return the hint for a database that was given instead of an export."""
    with Path(path).open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return ""
    command = shell_command("export", database_url=f"sqlite:///{path}", out="FILE")
    return f"; it is a database: run {command} first"
