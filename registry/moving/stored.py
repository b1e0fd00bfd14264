"""Read the state of a registry from its database."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Row

from contractlog.compatibility.contract import Metadata, RuleSet
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.registry.moving.picture import Association, HeldSchema, HeldVersion, Picture, Retired
from contractlog.registry.moving.scopes import config_of
from contractlog.registry.storage import transfer
from contractlog.registry.storage.reads import Snapshot

__all__ = ["pictured"]


def pictured(snapshot: Snapshot) -> Picture:
    """Read everything that is exported."""
    picture = Picture({row.name: row.next_schema_id for row in transfer.all_contexts(snapshot)})
    for row in transfer.all_schemas(snapshot):
        picture.schemas[row.context, row.id] = _schema(row)
    for row in transfer.all_versions(snapshot):
        version = HeldVersion(
            Subject(row.context, row.name), row.version, row.schema_id, row.created_at, row.deleted_at
        )
        picture.versions[version.key] = version
    for row in transfer.all_settings(snapshot):
        scope = Subject(row.context, row.name)
        config = config_of(dict(row._mapping))  # noqa: SLF001 - SQLAlchemy's public name for it
        if config:
            picture.settings[scope] = config
        if row.mode is not None:
            picture.modes[scope] = row.mode
    for row in transfer.all_associations(snapshot):
        picture.associations[row.guid] = _association(row)
    for row in transfer.all_retired(snapshot):
        picture.retired[row.context, row.schema_id] = Retired(row.at, row.actor, row.hash)
    return picture


def _schema(row: Row[Any]) -> HeldSchema:
    return HeldSchema(
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


def _association(row: Row[Any]) -> Association:
    return Association(
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
