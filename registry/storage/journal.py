"""Queries of the journal: in order, and without gaps, because its numbers are assigned under one lock."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select

from contractlog.compatibility.names import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.model import subject_key
from contractlog.registry.storage.snapshot import Snapshot

__all__ = ["RecordedChange", "find_schema_ids", "list_changes_after", "newest_sequence", "parse_version_target"]

_C = tables.changes.c
_DIGITS: Final = 10
_CHUNK: Final = 200  #: keys per statement


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """An effect, recorded in the transaction that caused it."""

    sequence: int
    at: int
    actor: str
    action: str
    target: str
    before: str | None = None
    after: str | None = None
    details: str | None = None  #: JSON

    @property
    def facts(self) -> dict[str, Any]:
        """The parsed details."""
        found: dict[str, Any] = json.loads(self.details) if self.details else {}
        return found


def newest_sequence(snapshot: Snapshot) -> int:
    """Return the number of the newest entry, 0 before the first."""
    return int(snapshot.connection.execute(select(func.max(_C.sequence))).scalar() or 0)


def list_changes_after(snapshot: Snapshot, since: int, limit: int) -> list[RecordedChange]:
    """List the entries after a number, oldest first."""
    statement = select(tables.changes).where(_C.sequence > since).order_by(_C.sequence).limit(limit)
    return [
        RecordedChange(row.sequence, row.at, row.actor, row.action, row.target, row.before, row.after, row.details)
        for row in snapshot.connection.execute(statement)
    ]


def parse_version_target(change: RecordedChange) -> tuple[Subject, int] | None:
    """Return the version that a change concerns; None if it is about something else."""
    if not change.action.startswith("version."):
        return None
    subject, _, number = change.target.rpartition("/")
    if not (number.isascii() and number.isdigit() and len(number) <= _DIGITS):
        return None
    return Subject.parse(subject), int(number)


def find_schema_ids(snapshot: Snapshot, versions: Iterable[tuple[Subject, int]]) -> dict[tuple[Subject, int], int]:
    """Return the schema ids of versions, live or soft-deleted; hard-deleted versions are left out."""
    requested = set(versions)
    subjects = {subject_key(subject): subject for subject, _ in requested}
    schema_ids: dict[tuple[Subject, int], int] = {}
    for keys in _chunks(sorted(subjects)):
        numbers = {number for subject, number in requested if subject_key(subject) in keys}
        u, v = tables.subjects.c, tables.versions.c
        statement = (
            select(u.key, v.version, v.schema_id)
            .join_from(tables.subjects, tables.versions, v.subject_id == u.id)
            .where(u.key.in_(keys), v.version.in_(numbers))
        )
        rows = snapshot.connection.execute(statement)
        schema_ids.update({(subjects[row.key], row.version): row.schema_id for row in rows})
    return {version: schema_id for version, schema_id in schema_ids.items() if version in requested}


def _chunks(keys: Sequence[str]) -> Iterable[Sequence[str]]:
    return (keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK))
