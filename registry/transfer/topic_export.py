"""Records of a ``_schemas`` topic for a registry state, as the reference's 8.x writes them."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.content_identity import compute_guid
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.names import DEFAULT_CONTEXT
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.schema_identity import reference_target
from contractlog.registry.transfer.snapshot import (
    CONTRACTLOG_CONFIG_NAMES,
    RegistrySnapshot,
    SnapshotAssociation,
    SnapshotSchema,
    SnapshotVersion,
)
from contractlog.registry.transfer.topic_records import KeyType, encode_key, scope_subject

__all__ = ["build_records"]

_TENANT: Final = "default"

TopicMessage = tuple[bytes, bytes, int]  #: key, value, time in milliseconds since 1970


def build_records(snapshot: RegistrySnapshot, report: TransferReport, now: int) -> Iterator[TopicMessage]:
    """Yield the records: contexts, settings, modes, schemas after their references, associations."""
    for context in sorted(snapshot.contexts):
        if context != DEFAULT_CONTEXT:
            value = {"tenant": _TENANT, "context": context}
            yield encode_key(KeyType.CONTEXT, further=value), _encode_value(value), now
    for scope, config in sorted(snapshot.settings.items()):
        subject = scope_subject(scope)
        settings = {name: value for name, value in config.items() if name not in CONTRACTLOG_CONFIG_NAMES}
        for name in config.keys() - settings.keys():
            report.odd(OddityKind.NOT_EXPRESSIBLE, str(scope), name)
        if settings:
            yield (
                encode_key(KeyType.CONFIG, subject),
                _encode_value(_subject_body(subject) | _sort_config(settings)),
                now,
            )
    for scope, mode in sorted(snapshot.modes.items()):
        subject = scope_subject(scope)
        yield encode_key(KeyType.MODE, subject), _encode_value(_subject_body(subject) | {"mode": mode}), now
    for version in _sort_by_references(snapshot):
        yield from _schema_records(version, snapshot.schemas[version.schema], now)
    for association in snapshot.associations.values():
        yield _association_record(association, now)
    _report_counters(snapshot, report)


def _report_counters(snapshot: RegistrySnapshot, report: TransferReport) -> None:
    highest: dict[str, int] = {}
    for context, schema_id in snapshot.schemas:
        highest[context] = max(highest.get(context, 0), schema_id)
    for context, following in snapshot.contexts.items():
        if following > highest.get(context, 0) + 1:
            where = f"context {context}"
            report.odd(OddityKind.ID_MAY_RETURN, where, f"{highest.get(context, 0) + 1} to {following - 1}")


def _sort_by_references(snapshot: RegistrySnapshot) -> Iterator[SnapshotVersion]:
    """Yield versions by id; a version comes after those it references."""
    done: set[Any] = set()
    for version in sorted(snapshot.versions.values(), key=lambda one: (one.schema, one.key)):
        pending = [(version, False)]
        while pending:
            one, ready = pending.pop()
            if ready:
                yield one
            elif one.key not in done:
                done.add(one.key)
                pending.append((one, True))
                targets = (reference_target(one.subject.context, r) for r in snapshot.schemas[one.schema].references)
                pending += [(snapshot.versions[at], False) for at in targets if at in snapshot.versions]


def _schema_records(version: SnapshotVersion, schema: SnapshotSchema, now: int) -> Iterator[TopicMessage]:
    """Yield the registration, and the deletion if there is one.

    A deletion repeats the whole value, with its own time.
    """
    subject = str(version.subject)
    value = {
        "subject": subject,
        "version": version.version,
        "id": schema.id,
        "md5": _encode_md5(schema),
        "schemaType": schema.type.value,
        "references": [reference.body() for reference in schema.references],
        "metadata": None if schema.metadata is None else _sort_metadata(schema.metadata),
        "ruleSet": None if schema.rule_set is None else schema.rule_set.body(),
        "schema": schema.text,
        "deleted": False,
    }
    key = encode_key(KeyType.SCHEMA, subject, version.version)
    yield key, _encode_value(value), now if version.created_at is None else version.created_at
    if version.deleted_at is not None:
        yield key, _encode_value(value | {"deleted": True}), version.deleted_at


def _encode_md5(schema: SnapshotSchema) -> str | None:
    """Return the guid as ``md5``, if it cannot be computed from what is written.

    That is the case if metadata came encrypted, or is present but empty.
    """
    metadata, rule_set = schema.metadata, schema.rule_set
    own = schema.guid or compute_guid(schema.text, schema.references, metadata, rule_set)
    written = compute_guid(
        schema.text,
        schema.references,
        metadata if metadata and metadata.body() else None,
        rule_set if rule_set and rule_set.body() else None,
    )
    return None if own == written else base64.b64encode(uuid.UUID(own).bytes).decode()


def _association_record(one: SnapshotAssociation, now: int) -> TopicMessage:
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
    key = encode_key(KeyType.ASSOC, str(one.subject), further=names)
    return key, _encode_value(value), now if one.updated_at is None else one.updated_at


_JSON_OPTIONS: Final[Mapping[str, Any]] = {"ensure_ascii": False, "separators": (",", ":")}


def _encode_value(members: Mapping[str, Any]) -> bytes:
    """Encode a value: None and empty members are omitted, false and 0 are not."""
    settings = {name: value for name, value in members.items() if value not in (None, "", [], {})}
    return json.dumps(settings, **_JSON_OPTIONS).encode()


def _subject_body(subject: str | None) -> dict[str, Any]:
    return {"subject": subject}


def _sort_config(config: Mapping[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for name, value in config.items():
        if name.endswith("Metadata"):
            written[name] = _sort_metadata(Metadata.from_body(value))
        elif name.endswith("RuleSet"):
            written[name] = RuleSet.from_body(value).body()
        else:
            written[name] = value
    return written


def _sort_metadata(metadata: Metadata) -> dict[str, Any]:
    """Return metadata with all members sorted."""
    members = {
        "tags": {path: sorted(tags) for path, tags in sorted(metadata.tags.items())},
        "properties": dict(sorted(metadata.properties.items())),
        "sensitive": sorted(metadata.sensitive),
    }
    return {name: value for name, value in members.items() if value}
