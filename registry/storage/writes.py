"""What can be changed in the store, inside the writer's transaction; what may be changed is the services' matter."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select, update

from contractlog.compatibility.names import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import FIRST_CONTEXT, Configured, key_of

__all__ = ["Transaction", "lock"]


def lock(connection: Connection) -> None:
    """Take the lock row: until the transaction ends no other process writes, and journal and ids stay in order."""
    c = tables.contexts.c
    connection.execute(update(tables.contexts).where(c.name == FIRST_CONTEXT).values(next_schema_id=c.next_schema_id))


class Transaction(Snapshot):
    """The state under the lock, and the changes to it; each change writes its line in the journal."""

    def __init__(self, connection: Connection, now: int, actor: str = "anonymous") -> None:
        super().__init__(connection)
        self.now = now
        self.actor = actor
        self.touched: set[tuple[str, int]] = set()  #: ids whose answers changed

    def journal(self, action: str, target: str, *, before: str | None = None, after: str | None = None) -> None:
        """Write down one effect."""
        line = {"at": self.now, "actor": self.actor, "action": action, "target": target}
        self._connection.execute(insert(tables.changes).values(**line, before=before, after=after))

    def soft_delete(self, subject: Subject, subject_id: int, numbers: Iterable[int]) -> None:
        """Mark versions as deleted; ids go on answering."""
        c = tables.versions.c
        chosen = list(numbers)
        where = (c.subject_id == subject_id) & c.version.in_(chosen)
        self._touch(subject_id, chosen)
        self._connection.execute(update(tables.versions).where(where).values(deleted_at=self.now))
        self._changed(subject, subject_id, "version.soft_deleted", chosen)

    def hard_delete(self, subject: Subject, subject_id: int, numbers: Iterable[int]) -> None:
        """Remove versions; ids that no version holds any more are retired for ever."""
        c = tables.versions.c
        chosen = list(numbers)
        ids = self._touch(subject_id, chosen)
        where = (c.subject_id == subject_id) & c.version.in_(chosen)
        self._connection.execute(delete(tables.versions).where(where))
        statement = select(c.schema_id).where(c.context == subject.context, c.schema_id.in_(ids))
        kept = set(self._connection.execute(statement).scalars())
        self._retire(subject.context, ids - kept)
        self._changed(subject, subject_id, "version.hard_deleted", chosen)

    def _retire(self, context: str, ids: set[int]) -> None:
        if not ids:
            return
        execute = self._connection.execute
        execute(delete(tables.schemas).where(tables.schemas.c.context == context, tables.schemas.c.id.in_(ids)))
        for table in (tables.contents, tables.schema_references):
            execute(delete(table).where(table.c.context == context, table.c.schema_id.in_(ids)))
        execute(
            insert(tables.retired),
            [{"context": context, "schema_id": one, "at": self.now, "actor": self.actor} for one in sorted(ids)],
        )

    def _touch(self, subject_id: int, numbers: list[int]) -> set[int]:
        c = tables.versions.c
        statement = select(c.context, c.schema_id).where(c.subject_id == subject_id, c.version.in_(numbers))
        rows = self._connection.execute(statement).all()
        self.touched.update((row.context, row.schema_id) for row in rows)
        return {row.schema_id for row in rows}

    def _changed(self, subject: Subject, subject_id: int, action: str, numbers: Iterable[int]) -> None:
        c = tables.subjects.c
        self._connection.execute(update(tables.subjects).where(c.id == subject_id).values(revision=c.revision + 1))
        for number in numbers:
            self.journal(action, f"{subject}/{number}")

    def configure(self, scope: Subject, configured: Configured) -> None:
        """Replace what is set at a scope; nothing set means no row."""
        key = key_of(scope)
        self._connection.execute(delete(tables.settings).where(tables.settings.c.key == key))
        if not configured.empty:
            self._connection.execute(
                insert(tables.settings).values(
                    key=key,
                    context=scope.context,
                    name=scope.name,
                    level=configured.level and configured.level.value,
                    normalize=configured.normalize,
                    compatibility_policy=configured.compatibility_policy and configured.compatibility_policy.value,
                    compatibility_group=configured.compatibility_group,
                    own_policy=configured.own_policy and configured.own_policy.value,
                    mode=configured.mode and configured.mode.value,
                )
            )
        self.journal("settings.changed", str(scope))

    def record_conformance(self, topic: str, part: str, ranges: str, entry: str) -> int:
        """Append an audit result, and return when it was recorded; what its ranges answer already is not told twice.

        A result without ranges repeats only the newest one: nothing else says which audit it came from.
        """
        c = tables.conformance.c
        same = select(c.entry, c.recorded_at).where(c.topic == topic, c.part == part).order_by(c.sequence.desc())
        known = self._connection.execute((same.where(c.ranges == ranges) if ranges else same).limit(1)).first()
        if known is not None and known.entry == entry:
            return int(known.recorded_at)
        values = {"topic": topic, "part": part, "ranges": ranges, "entry": entry, "recorded_at": self.now}
        self._connection.execute(insert(tables.conformance).values(**values))
        self.journal("conformance.recorded", f"{topic}/{part}", after=ranges)
        return self.now
