"""Records of a ``_schemas`` topic for a registry state, as the reference's 8.x writes them."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.contract import Metadata, RuleSet
from contractlog.compatibility.identity import guid
from contractlog.compatibility.names import DEFAULT_CONTEXT
from contractlog.registry.moving.log_records import KeyType, scope_text, written_key
from contractlog.registry.moving.picture import OWN_SETTINGS, Association, HeldSchema, HeldVersion, Picture
from contractlog.registry.moving.report import Report, Strange
from contractlog.registry.moving.understanding import leads_to

__all__ = ["log_of"]

_TENANT: Final = "default"

LogLine = tuple[bytes, bytes, int]  #: key, value, time in milliseconds since 1970


def log_of(picture: Picture, report: Report, now: int) -> Iterator[LogLine]:
    """Yield the records: contexts, settings, modes, schemas after their references, associations."""
    for context in sorted(picture.contexts):
        if context != DEFAULT_CONTEXT:
            value = {"tenant": _TENANT, "context": context}
            yield written_key(KeyType.CONTEXT, further=value), _compact(value), now
    for scope, config in sorted(picture.settings.items()):
        subject = scope_text(scope)
        told = {name: value for name, value in config.items() if name not in OWN_SETTINGS}
        for name in config.keys() - told.keys():
            report.odd(Strange.NOT_EXPRESSIBLE, str(scope), name)
        if told:
            yield written_key(KeyType.CONFIG, subject), _compact(_named(subject) | _sorted_members(told)), now
    for scope, mode in sorted(picture.modes.items()):
        subject = scope_text(scope)
        yield written_key(KeyType.MODE, subject), _compact(_named(subject) | {"mode": mode}), now
    for version in _in_order(picture):
        yield from _schema(version, picture.schemas[version.schema], now)
    for association in picture.associations.values():
        yield _association(association, now)
    _report_counters(picture, report)


def _report_counters(picture: Picture, report: Report) -> None:
    highest: dict[str, int] = {}
    for context, schema_id in picture.schemas:
        highest[context] = max(highest.get(context, 0), schema_id)
    for context, following in picture.contexts.items():
        if following > highest.get(context, 0) + 1:
            where = f"context {context}"
            report.odd(Strange.ID_MAY_RETURN, where, f"{highest.get(context, 0) + 1} to {following - 1}")


def _in_order(picture: Picture) -> Iterator[HeldVersion]:
    """Yield versions by id; a version comes after those it references."""
    done: set[Any] = set()
    for version in sorted(picture.versions.values(), key=lambda one: (one.schema, one.key)):
        pending = [(version, False)]
        while pending:
            one, ready = pending.pop()
            if ready:
                yield one
            elif one.key not in done:
                done.add(one.key)
                pending.append((one, True))
                targets = (leads_to(one.subject.context, r) for r in picture.schemas[one.schema].references)
                pending += [(picture.versions[at], False) for at in targets if at in picture.versions]


def _schema(version: HeldVersion, schema: HeldSchema, now: int) -> Iterator[LogLine]:
    """Yield the registration, and the deletion if there is one.

    A deletion repeats the whole value, with its own time.
    """
    subject = str(version.subject)
    value = {
        "subject": subject,
        "version": version.version,
        "id": schema.id,
        "md5": _md5(schema),
        "schemaType": schema.type.value,
        "references": [reference.body() for reference in schema.references],
        "metadata": None if schema.metadata is None else _metadata(schema.metadata),
        "ruleSet": None if schema.rule_set is None else schema.rule_set.body(),
        "schema": schema.text,
        "deleted": False,
    }
    key = written_key(KeyType.SCHEMA, subject, version.version)
    yield key, _compact(value), now if version.created_at is None else version.created_at
    if version.deleted_at is not None:
        yield key, _compact(value | {"deleted": True}), version.deleted_at


def _md5(schema: HeldSchema) -> str | None:
    """Return the guid as ``md5``, if it cannot be computed from what is written.

    That is the case if metadata came encrypted, or is present but empty.
    """
    metadata, rule_set = schema.metadata, schema.rule_set
    own = schema.guid or guid(schema.text, schema.references, metadata, rule_set)
    written = guid(
        schema.text,
        schema.references,
        metadata if metadata and metadata.body() else None,
        rule_set if rule_set and rule_set.body() else None,
    )
    return None if own == written else base64.b64encode(uuid.UUID(own).bytes).decode()


def _association(one: Association, now: int) -> LogLine:
    names = {
        "tenant": _TENANT,
        "resourceName": one.resource_name,
        "resourceNamespace": one.resource_namespace,
        "resourceType": one.resource_type,
        "associationType": one.association_type,
    }
    value = {
        "guid": one.guid,
        "tenant": _TENANT,
        "resourceName": one.resource_name,
        "resourceNamespace": one.resource_namespace,
        "resourceId": one.resource_id,
        "resourceType": one.resource_type,
        "associationType": one.association_type,
        "subject": str(one.subject),
        "lifecycle": one.lifecycle,
        "frozen": one.frozen,
        "createTs": one.created_at,
    }
    key = written_key(KeyType.ASSOC, str(one.subject), further=names)
    return key, _compact(value), now if one.updated_at is None else one.updated_at


_FORM: Final[Mapping[str, Any]] = {"ensure_ascii": False, "separators": (",", ":")}


def _compact(members: Mapping[str, Any]) -> bytes:
    """Encode a value: None and empty members are omitted, false and 0 are not."""
    told = {name: value for name, value in members.items() if value not in (None, "", [], {})}
    return json.dumps(told, **_FORM).encode()


def _named(subject: str | None) -> dict[str, Any]:
    return {"subject": subject}


def _sorted_members(config: Mapping[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for name, value in config.items():
        if name.endswith("Metadata"):
            written[name] = _metadata(Metadata.from_body(value))
        elif name.endswith("RuleSet"):
            written[name] = RuleSet.from_body(value).body()
        else:
            written[name] = value
    return written


def _metadata(metadata: Metadata) -> dict[str, Any]:
    """Return metadata with all members sorted."""
    members = {
        "tags": {path: sorted(tags) for path, tags in sorted(metadata.tags.items())},
        "properties": dict(sorted(metadata.properties.items())),
        "sensitive": sorted(metadata.sensitive),
    }
    return {name: value for name, value in members.items() if value}
