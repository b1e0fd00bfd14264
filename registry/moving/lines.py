"""A picture as lines of JSON, the file of ``contractlog export``; ``docs/moving.md`` is its documentation.

The first line tells of the export, the last one counts the lines. Those between are the state alone, in one order: two
registries with the same state have the same lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from uuid import UUID

from contractlog.compatibility.contract import Metadata, RuleSet
from contractlog.compatibility.errors import InvalidSubject, UsageError
from contractlog.compatibility.names import MAX_VERSION, Subject
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.registry.moving.picture import Association, HeldSchema, HeldVersion, Picture, Retired
from contractlog.registry.moving.report import Report, Strange
from contractlog.registry.moving.scopes import known_config, known_mode
from contractlog.registry.moving.storable import unstorable

__all__ = ["FORMAT", "read_lines", "state_lines", "written"]

FORMAT: Final = "contractlog.export/1"


def written(picture: Picture, header: Mapping[str, Any]) -> Iterator[str]:
    """Write header, state and end, one line each."""
    yield _line({"format": FORMAT, **header})
    count = 2
    for line in state_lines(picture):
        count += 1
        yield line
    yield _line({"kind": "end", "lines": count})


def state_lines(picture: Picture) -> Iterator[str]:
    """Write the state: contexts, schemas, versions, settings, modes, associations, retired ids."""
    for name, following in sorted(picture.contexts.items()):
        yield _line({"kind": "context", "name": name, "next_id": following})
    for schema in _ordered(picture.schemas):
        yield _line(_of_schema(schema))
    for version in _ordered(picture.versions):
        yield _line(_of_version(version))
    for scope, config in sorted(picture.settings.items()):
        yield _line({"kind": "settings", "scope": _scope(scope), "config": config})
    for scope, mode in sorted(picture.modes.items()):
        yield _line({"kind": "mode", "scope": _scope(scope), "mode": mode})
    for association in _ordered(picture.associations):
        yield _line(_of_association(association))
    for (context, schema_id), retired in sorted(picture.retired.items()):
        told = {"at": retired.at, "actor": retired.actor, "hash": retired.hash}
        yield _line({"kind": "retired", "context": context, "id": schema_id, **told})


def _ordered(items: Mapping[Any, Any]) -> list[Any]:
    return [items[key] for key in sorted(items)]


def _line(members: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in members.items() if value is not None}, ensure_ascii=True)


def _scope(scope: Subject) -> str:
    return f":{scope.context}:{scope.name}" if not scope.name else str(scope)


def _of_schema(schema: HeldSchema) -> dict[str, Any]:
    return {
        "kind": "schema",
        "context": schema.context,
        "id": schema.id,
        "guid": schema.guid,
        "type": schema.type.value,
        "references": [one.body() for one in schema.references] or None,
        "metadata": None if schema.metadata is None else schema.metadata.body(),
        "ruleSet": None if schema.rule_set is None else schema.rule_set.body(),
        "schema": schema.text,
        "submitted": schema.submitted,
        "created": schema.created_at,
        "reused": None if schema.reused else False,
    }


def _of_version(version: HeldVersion) -> dict[str, Any]:
    return {
        "kind": "version",
        "subject": str(version.subject),
        "version": version.version,
        "id": version.schema_id,
        "created": version.created_at,
        "deleted": version.deleted_at,
    }


def _of_association(one: Association) -> dict[str, Any]:
    return {
        "kind": "association",
        "guid": one.guid,
        "subject": str(one.subject),
        "resourceId": one.resource_id,
        "resourceName": one.resource_name,
        "resourceNamespace": one.resource_namespace,
        "resourceType": one.resource_type,
        "associationType": one.association_type,
        "lifecycle": one.lifecycle,
        "frozen": one.frozen,
        "created": one.created_at,
        "updated": one.updated_at,
    }


def read_lines(lines: Iterable[str], report: Report) -> Picture:
    """Read what ``written`` wrote.

    Raises:
        UsageError: a line cannot be read, or the file ends early.
    """
    reader = _Reader(report)
    count, ended = 0, False
    for count, line in enumerate(lines, 1):
        if not line.strip():
            raise UsageError(f"line {count} of the file is empty; an export has none")
        if ended:
            raise UsageError(f"line {count} of the file follows its end")
        try:
            ended = reader.read(count, json.loads(line))
        except UsageError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(_unread(count, error)) from None
    if not count:
        raise UsageError("the file is empty; an export has at least two lines")
    if not ended:
        raise UsageError(f"the file ends early, after {count:,} lines: an export closes with a line of kind `end`")
    return reader.picture


def _unread(number: int, error: Exception) -> str:
    """Say why a line cannot be read; in the first one it is the file that is another one."""
    if number == 1:
        return f"this is no file of `contractlog export`: its first line is no JSON that says `{FORMAT}`"
    if isinstance(error, json.JSONDecodeError):
        why = f"it is no JSON ({error.msg}, column {error.colno}); the file was changed or damaged"
    elif isinstance(error, KeyError):
        why = f"it has no `{error.args[0]}`"
    elif isinstance(error, _Unfit):
        why = str(error)
    else:
        why = f"a member is of another kind than it should be ({error})"
    return f"line {number} of the file cannot be read: {why}"


class _Reader:
    """Takes lines one by one."""

    def __init__(self, report: Report) -> None:
        self.picture = Picture()
        self._report = report
        self._kinds: Mapping[str, Callable[[str, Mapping[str, Any]], None]] = {
            "context": self._context,
            "schema": self._schema,
            "version": self._version,
            "settings": self._settings,
            "mode": self._mode,
            "association": self._association,
            "retired": self._retire,
        }

    def read(self, number: int, body: Mapping[str, Any]) -> bool:
        """Take a line; whether it was the last one."""
        if number == 1:
            if body.get("format") != FORMAT:
                raise UsageError(
                    f"the first line does not say `{FORMAT}`: this is no file of `contractlog export`, or of another "
                    "release"
                )
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

    def _context(self, _: str, body: Mapping[str, Any]) -> None:
        self.picture.contexts[str(body["name"])] = _number(body, "next_id", lowest=1, most=MAX_VERSION + 1)

    def _schema(self, where: str, body: Mapping[str, Any]) -> None:
        metadata, rule_set = body.get("metadata"), body.get("ruleSet")
        schema = HeldSchema(
            context=str(body["context"]),
            id=_number(body, "id", lowest=0),
            type=SchemaType(body.get("type", SchemaType.AVRO)),
            text=str(body["schema"]),
            references=tuple(map(Reference.from_body, body.get("references") or ())),
            metadata=None if metadata is None else Metadata.from_body(metadata),
            rule_set=None if rule_set is None else RuleSet.from_body(rule_set),
            guid=None if body.get("guid") is None else str(UUID(body["guid"])),
            submitted=body.get("submitted"),
            created_at=body.get("created"),
            reused=bool(body.get("reused", True)),
        )
        reason = unstorable(schema)
        if reason:
            raise UsageError(f"{where} of the file: {reason}")
        before = self.picture.schemas.setdefault(schema.key, schema)
        if before != schema:
            self._report.conflicts.append(
                f"{where}: the id {schema.id} of context {schema.context} has another content in an earlier line"
            )

    def _version(self, where: str, body: Mapping[str, Any]) -> None:
        version = HeldVersion(
            _subject(body["subject"]),
            _number(body, "version", lowest=1),
            _number(body, "id", lowest=0),
            body.get("created"),
            body.get("deleted"),
        )
        if version.created_at is None:
            self._report.odd(Strange.NO_TIMESTAMP, where, f"{version.subject}/{version.version}")
        if self.picture.versions.setdefault(version.key, version) != version:
            self._report.conflicts.append(
                f"{where}: version {version.version} of {version.subject} has another id in an earlier line"
            )

    def _settings(self, where: str, body: Mapping[str, Any]) -> None:
        config = known_config(body["config"], where, self._report)
        if config:
            self.picture.settings[_subject(body["scope"])] = config

    def _mode(self, where: str, body: Mapping[str, Any]) -> None:
        mode = known_mode(body["mode"], where, self._report)
        if mode is not None:
            self.picture.modes[_subject(body["scope"])] = mode

    def _association(self, _: str, body: Mapping[str, Any]) -> None:
        one = Association(
            guid=str(body["guid"]),
            subject=_subject(body["subject"]),
            resource_id=str(body["resourceId"]),
            resource_name=str(body["resourceName"]),
            resource_namespace=str(body["resourceNamespace"]),
            resource_type=str(body["resourceType"]),
            association_type=str(body["associationType"]),
            lifecycle=str(body["lifecycle"]),
            frozen=bool(body["frozen"]),
            created_at=body.get("created"),
            updated_at=body.get("updated"),
        )
        self.picture.associations[one.guid] = one

    def _retire(self, _: str, body: Mapping[str, Any]) -> None:
        key = str(body["context"]), _number(body, "id", lowest=0)
        self.picture.retired[key] = Retired(body.get("at"), str(body.get("actor", "unknown")), body.get("hash"))

    def _complete(self) -> None:
        picture, report = self.picture, self._report
        for version in picture.versions.values():
            if version.schema not in picture.schemas:
                raise UsageError(
                    f"version {version.version} of {version.subject} has the id {version.schema_id}, "
                    "which no line of the file gives a content"
                )
        held = {version.schema for version in picture.versions.values()}
        report.conflicts += [
            f"the id {schema_id} of context {context} is retired and in use, both, by the file"
            for context, schema_id in sorted(picture.retired.keys() & held)
        ]
        picture.count_ids()


class _Unfit(ValueError):
    """A member is not what it should be; the line is told with it."""


def _number(body: Mapping[str, Any], name: str, *, lowest: int, most: int = MAX_VERSION) -> int:
    value = body[name]
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= most:
        raise _Unfit(f"`{name}`: {value!r} is no number from {lowest} to {most}")
    return value


def _subject(text: Any) -> Subject:
    try:
        return Subject.parse(str(text)).validated()
    except InvalidSubject as error:
        raise _Unfit(error.message) from None
