"""Read the state of a registry from its database."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Row

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.registry.storage import bulk_transfer
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.transfer.scope_settings import columns_to_config
from contractlog.registry.transfer.snapshot import (
    RegistrySnapshot,
    RetiredId,
    SnapshotAssociation,
    SnapshotSchema,
    SnapshotVersion,
)

__all__ = ["read_database"]


def read_database(snapshot: Snapshot) -> RegistrySnapshot:
    """Read everything that is exported."""
    result = RegistrySnapshot({row.name: row.next_schema_id for row in bulk_transfer.stream_contexts(snapshot)})
    for row in bulk_transfer.stream_schemas(snapshot):
        result.schemas[row.context, row.id] = _schema(row)
    for row in bulk_transfer.stream_versions(snapshot):
        version = SnapshotVersion(
            Subject(row.context, row.name), row.version, row.schema_id, row.created_at, row.deleted_at
        )
        result.versions[version.key] = version
    for row in bulk_transfer.stream_settings(snapshot):
        scope = Subject(row.context, row.name)
        config = columns_to_config(dict(row._mapping))  # noqa: SLF001 - SQLAlchemy's public name for it
        if config:
            result.settings[scope] = config
        if row.mode is not None:
            result.modes[scope] = row.mode
    for row in bulk_transfer.stream_associations(snapshot):
        result.associations[row.guid] = _association(row)
    for row in bulk_transfer.stream_retired(snapshot):
        result.retired[row.context, row.schema_id] = RetiredId(row.at, row.actor, row.hash)
    return result


def _schema(row: Row[Any]) -> SnapshotSchema:
    return SnapshotSchema(
        context=row.context,
        id=row.id,
        type=SchemaType(row.type),
        text=row.text,
        references=tuple(map(Reference.from_body, json.loads(row.references))) if row.references else (),
        metadata=Metadata.from_body(json.loads(row.metadata)) if row.metadata else None,
        rule_set=RuleSet.from_body(json.loads(row.rule_set)) if row.rule_set else None,
        guid=row.guid,
        submitted=row.submitted,
        created_at=row.created_at,
        reused=bool(row.reused),
    )


def _association(row: Row[Any]) -> SnapshotAssociation:
    return SnapshotAssociation(
        guid=row.guid,
        subject=Subject(row.context, row.subject),
        resource_id=row.resource_id,
        resource_name=row.resource_name,
        resource_namespace=row.resource_namespace,
        resource_type=row.resource_type,
        association_type=row.association_type,
        lifecycle=row.lifecycle,
        frozen=row.frozen,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
