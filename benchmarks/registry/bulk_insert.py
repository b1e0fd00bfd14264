"""Bulk insertion of many schemas into a database, with ten versions per subject."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy import Connection, insert, update

from contractlog.compatibility.content_identity import compute_guid
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.database import upgrade
from contractlog.registry.storage import tables
from contractlog.registry.storage.engines import open_engines, parse_url
from contractlog.registry.storage.store_values import subject_key

VERSIONS = 10
BATCH_SIZE = 20_000


def insert_schemas(database_url: str, schemas: int) -> None:
    """Insert this many schemas into an empty database, and mark all as indexed for search."""
    upgrade(database_url)
    engines = open_engines(parse_url(database_url))
    with engines.writer.begin() as connection:
        for first in range(1, schemas + 1, BATCH_SIZE):
            _insert_rows(connection, range(first, min(first + BATCH_SIZE, schemas + 1)))
        connection.execute(update(tables.contexts).values(next_schema_id=schemas + 1))
        connection.execute(insert(tables.marks).values(name="search", sequence=0))  # as if all had been indexed
    engines.dispose()


def get_schema_text(schema_id: int) -> str:
    """Return the text of an inserted schema."""
    return _format_schema((schema_id - 1) // VERSIONS + 1, (schema_id - 1) % VERSIONS + 1)


def _insert_rows(connection: Connection, ids: range) -> None:
    rows: dict[Any, list[dict[str, Any]]] = {
        tables.subjects: [],
        tables.schemas: [],
        tables.contents: [],
        tables.versions: [],
    }
    for schema_id in ids:
        subject_id, number = (schema_id - 1) // VERSIONS + 1, (schema_id - 1) % VERSIONS + 1
        name = f"subject-{subject_id}-value"
        if number == 1:
            rows[tables.subjects].append(
                {
                    "id": subject_id,
                    "key": subject_key(Subject(".", name)),
                    "context": ".",
                    "name": name,
                    "revision": VERSIONS,
                }
            )
        text = _format_schema(subject_id, number)
        digest = hashlib.sha256(text.encode()).hexdigest()
        rows[tables.schemas].append(
            {
                "context": ".",
                "id": schema_id,
                "hash": digest,
                "normalized_hash": digest,
                "guid": compute_guid(text, (), None, None),
                "type": "AVRO",
                "text": text,
                "created_at": 0,
            }
        )
        rows[tables.contents].append({"context": ".", "hash": digest, "schema_id": schema_id})
        rows[tables.versions].append(
            {"subject_id": subject_id, "version": number, "context": ".", "schema_id": schema_id, "created_at": 0}
        )
    for table, values in rows.items():
        if values:
            connection.execute(insert(table), values)


def _format_schema(subject: int, number: int) -> str:
    fields = [{"name": f"field_{index}", "type": ["null", "long"], "default": None} for index in range(number)]
    return json.dumps(
        {"type": "record", "name": "Order", "namespace": f"ns{subject}", "fields": fields}, separators=(",", ":")
    )
