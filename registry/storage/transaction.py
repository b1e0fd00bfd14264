"""Changes of the store inside the writer's transaction; services decide which changes are permitted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, insert, select, update

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.change_log import ChangeLogEntry, hash_settings, mask_settings
from contractlog.registry.storage.name_and_id_lookup import list_ids
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import ScopeSettings, subject_key

__all__ = ["Transaction"]

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Transaction(Snapshot):
    """The state under the locks, and changes of it; each change adds a change log entry."""

    def __init__(self, connection: Connection, now: int, actor: str = "anonymous") -> None:
        super().__init__(connection)
        self.now = now
        self.actor = actor
        self.touched: set[tuple[str, int]] = set()  #: ids whose responses changed
        self.entries: list[ChangeLogEntry] = []  #: change log entries, written at the end

    def record_change(
        self,
        action: str,
        target: str,
        *,
        before: str | None = None,
        after: str | None = None,
        details: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """Add a change log entry; it is numbered and written when the transaction ends."""
        self.entries.append(ChangeLogEntry(self.actor, action, target, before, after, details))

    def soft_delete(self, subject: Subject, subject_id: int, numbers: Iterable[int]) -> None:
        """Soft-delete versions; lookups by id still find them."""
        c = tables.versions.c
        chosen = list(numbers)
        where = (c.subject_id == subject_id) & c.version.in_(chosen)
        rows = self._touch(subject_id, chosen)
        self.connection.execute(update(tables.versions).where(where).values(deleted_at=self.now))
        self._record_changes(subject, subject_id, "version.soft_deleted", rows)

    def hard_delete(self, subject: Subject, subject_id: int, numbers: Iterable[int]) -> None:
        """Hard-delete versions; ids without any version left are never assigned again."""
        c = tables.versions.c
        chosen = list(numbers)
        rows = self._touch(subject_id, chosen)
        where = (c.subject_id == subject_id) & c.version.in_(chosen)
        self.connection.execute(delete(tables.versions).where(where))
        self.retire(subject.context, {row.schema_id for row in rows})
        self._record_changes(subject, subject_id, "version.hard_deleted", rows)

    def retire(self, context: str, ids: set[int]) -> None:
        """Delete the schemas of those of these ids that no version has any more, and record the ids as used."""
        c, s = tables.versions.c, tables.schemas.c
        execute = self.connection.execute
        in_use = select(c.schema_id).where(c.context == context, c.schema_id.in_(ids))
        ids = ids - set(execute(in_use).scalars())
        if not ids:
            return
        hashes = {row.id: row.hash for row in execute(select(s.id, s.hash).where(s.context == context, s.id.in_(ids)))}
        execute(delete(tables.schemas).where(tables.schemas.c.context == context, tables.schemas.c.id.in_(ids)))
        for table in (tables.contents, tables.schema_references, tables.search_terms):
            execute(delete(table).where(table.c.context == context, table.c.schema_id.in_(ids)))
        execute(
            insert(tables.retired),
            [
                {
                    "context": context,
                    "schema_id": schema_id,
                    "at": self.now,
                    "actor": self.actor,
                    "hash": hashes.get(schema_id),
                }
                for schema_id in sorted(ids)
            ],
        )

    def _touch(self, subject_id: int, numbers: list[int]) -> list[Row[Any]]:
        c, s = tables.versions.c, tables.schemas.c
        statement = (
            select(c.version, c.context, c.schema_id, s.hash)
            .join(tables.schemas, (s.context == c.context) & (s.id == c.schema_id))
            .where(c.subject_id == subject_id, c.version.in_(numbers))
            .order_by(c.version)
        )
        rows: list[Row[Any]] = list(self.connection.execute(statement))
        self.touched.update((row.context, row.schema_id) for row in rows)
        return rows

    def _record_changes(self, subject: Subject, subject_id: int, action: str, rows: Iterable[Row[Any]]) -> None:
        c = tables.subjects.c
        self.connection.execute(update(tables.subjects).where(c.id == subject_id).values(revision=c.revision + 1))
        for row in rows:
            self.record_change(action, f"{subject}/{row.version}", before=row.hash, details={"id": row.schema_id})

    def configure(self, scope: Subject, configured: ScopeSettings) -> None:
        """Replace the settings of a scope; empty settings have no row."""
        if scope.name:
            self.touched |= list_ids(self, scope)  # its name may now refer to another subject, or no longer do so
        key, before = subject_key(scope), hash_settings(self.read_settings([scope])[scope])
        self.connection.execute(delete(tables.settings).where(tables.settings.c.key == key))
        if not configured.empty:
            columns = {
                name: json.dumps(value) if isinstance(value, dict) else value
                for name, value in configured.members().items()
            }
            self.connection.execute(
                insert(tables.settings).values(key=key, context=scope.context, name=scope.name, **columns)
            )
        details = {"set": mask_settings(configured)}
        self.record_change(
            "settings.changed", str(scope), before=before, after=hash_settings(configured), details=details
        )
