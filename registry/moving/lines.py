"""JSON lines of a registry state: the file of ``contractlog export``; see ``docs/migration.md``.

The first line describes the export, the last one counts the lines. The lines between contain only the state, in a fixed
order: two registries with the same state have the same lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.names import MAX_ID, Subject
from contractlog.compatibility.schema import SchemaType
from contractlog.registry.moving import members
from contractlog.registry.moving.members import Unfit
from contractlog.registry.moving.picture import Association, HeldSchema, HeldVersion, Picture, Retired
from contractlog.registry.moving.report import Report, Strange
from contractlog.registry.moving.scopes import known_config, known_mode, require_known
from contractlog.registry.moving.storable import unstorable

__all__ = ["FORMAT", "read_lines", "state_lines", "written"]

FORMAT: Final = "contractlog.export/1"


def written(picture: Picture, header: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of an export: header, state and end."""
    yield _line({"format": FORMAT, **header})
    count = 2
    for line in state_lines(picture):
        count += 1
        yield line
    yield _line({"kind": "end", "lines": count})


def state_lines(picture: Picture) -> Iterator[str]:
    """Yield the state: contexts, schemas, versions, settings, modes, associations, retired ids."""
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
    """Parse the lines that ``written`` yields.

    Raises:
        UsageError: a line is invalid, or the file ends early.
    """
    reader = _Reader(report)
    count, ended = 0, False
    for count, line in enumerate(lines, 1):
        if not line.strip():
            raise UsageError(f"line {count} of the file is empty; an export has none")
        if ended:
            raise UsageError(f"line {count} of the file follows its end")
        try:
            ended = reader.read(count, _decoded(line))
        except UsageError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UsageError(_unread(count, error)) from None
    if not count:
        raise UsageError("the file is empty; an export has at least two lines")
    if not ended:
        raise UsageError(f"the file ends early, after {count:,} lines: an export closes with a line of kind `end`")
    return reader.picture


def _decoded(line: str) -> Any:
    body = json.loads(line)
    if "\\u" in line or not line.isascii():
        members.require_unicode(body)
    return body


def _unread(number: int, error: Exception) -> str:
    """Describe why a line cannot be parsed; an invalid first line means that the file is no export."""
    if number == 1:
        return f"this is no file of `contractlog export`: its first line is no JSON that says `{FORMAT}`"
    if isinstance(error, json.JSONDecodeError):
        why = f"it is no JSON ({error.msg}, column {error.colno}); the file was changed or damaged"
    elif isinstance(error, KeyError):
        why = f"it has no `{error.args[0]}`"
    elif isinstance(error, Unfit):
        why = str(error)
    elif isinstance(error, RecursionError):
        why = "it is nested too deep"
    else:
        why = f"a member is of another kind than it should be ({error})"
    return f"line {number} of the file cannot be read: {why}"


class _Reader:
    """Parser that builds the state line by line."""

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
        """Parse a line; return whether it was the last one."""
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

    def _context(self, where: str, body: Mapping[str, Any]) -> None:
        name = members.read_context(body, "name")
        self.picture.contexts[name] = members.read_number(body, "next_id", lowest=1, most=MAX_ID + 1)
        self.picture.places[name] = where

    def _schema(self, where: str, body: Mapping[str, Any]) -> None:
        schema = HeldSchema(
            context=members.read_context(body, "context"),
            id=members.read_id(body),
            type=_type(body),
            text=members.read_string(body, "schema"),
            references=members.read_references(body),
            metadata=members.metadata_of(body.get("metadata")),
            rule_set=members.rule_set_of(body.get("ruleSet")),
            guid=None if body.get("guid") is None else members.guid_of(body["guid"]),
            submitted=None if body.get("submitted") is None else members.read_string(body, "submitted"),
            created_at=members.read_time(body, "created"),
            reused=members.read_flag(body, "reused", default=True),
        )
        reason = unstorable(schema)
        if reason:
            raise UsageError(f"{where} of the file: {reason}")
        self.picture.places.setdefault(schema.key, where)
        before = self.picture.schemas.setdefault(schema.key, schema)
        if before != schema:
            self._report.conflicts.append(
                f"{where}: the id {schema.id} of context {schema.context} has another content in an earlier line"
            )

    def _version(self, where: str, body: Mapping[str, Any]) -> None:
        version = HeldVersion(
            members.version_subject(body["subject"]),
            members.read_version(body),
            members.read_id(body),
            members.read_time(body, "created"),
            members.read_time(body, "deleted"),
        )
        if version.created_at is None:
            self._report.odd(Strange.NO_TIMESTAMP, where, f"{version.subject}/{version.version}")
        self.picture.places.setdefault(version.key, where)
        if self.picture.versions.setdefault(version.key, version) != version:
            self._report.conflicts.append(
                f"{where}: version {version.version} of {version.subject} has another id in an earlier line"
            )

    def _settings(self, where: str, body: Mapping[str, Any]) -> None:
        require_known(body["config"])
        config = known_config(body["config"], where, self._report)
        if config:
            self.picture.settings[members.subject_of(body["scope"], "scope")] = config

    def _mode(self, where: str, body: Mapping[str, Any]) -> None:
        mode = known_mode(body["mode"], where, self._report)
        if mode is None:
            raise Unfit(f"`mode`: {body['mode']!r} is no mode that this release knows")
        self.picture.modes[members.subject_of(body["scope"], "scope")] = mode

    def _association(self, _: str, body: Mapping[str, Any]) -> None:
        one = Association(
            guid=members.guid_of(body["guid"]),
            subject=members.version_subject(body["subject"]),
            **members.read_binding(body),
            frozen=members.read_flag(body, "frozen"),
            created_at=members.read_time(body, "created"),
            updated_at=members.read_time(body, "updated"),
        )
        self.picture.associations[one.guid] = one

    def _retire(self, where: str, body: Mapping[str, Any]) -> None:
        key = members.read_context(body, "context"), members.read_id(body)
        actor = members.read_text(body, "actor", default="unknown")
        self.picture.retired[key] = Retired(members.read_time(body, "at"), actor, members.read_hash(body, "hash"))
        self.picture.places[key] = where

    def _complete(self) -> None:
        picture, report = self.picture, self._report
        for version in picture.versions.values():
            if version.schema not in picture.schemas:
                raise UsageError(
                    f"{picture.places[version.key]} of the file: version {version.version} of {version.subject} has "
                    f"the id {version.schema_id}, which no line of the file gives a content"
                )
        held = {version.schema: key for key, version in picture.versions.items()}
        report.conflicts += [
            f"the id {schema_id} of context {context} is retired and in use, both, by the file "
            f"({picture.places[context, schema_id]}, {picture.places[held[context, schema_id]]})"
            for context, schema_id in sorted(picture.retired.keys() & held.keys())
        ]
        picture.count_ids()


def _type(body: Mapping[str, Any]) -> SchemaType:
    name = body.get("type", SchemaType.AVRO)
    if name not in set(SchemaType):
        raise Unfit(f"`type`: {name!r} is no schema type")
    return SchemaType(name)
