"""Journal entries: collected by a transaction, and written at its end under gapless numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, update

from contractlog.registry.storage import tables
from contractlog.registry.storage.model import JOURNAL_COUNTER

__all__ = ["JournalEntry", "write_entries"]


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One effect: actor, action and target. ``before`` and ``after`` are hashes of contents or settings."""

    actor: str
    action: str
    target: str
    before: str | None = None
    after: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def write_entries(connection: Connection, lines: Sequence[JournalEntry], now: int) -> None:
    """Append entries to the journal; the row of the counter stays locked until the transaction ends."""
    if not lines:
        return
    c = tables.journal.c
    statement = (
        update(tables.journal).where(c.name == JOURNAL_COUNTER).values(next_sequence=c.next_sequence + len(lines))
    )
    following = connection.execute(statement.returning(c.next_sequence)).scalar_one()
    first = following - len(lines)
    connection.execute(
        insert(tables.changes),
        [
            {
                "sequence": first + index,
                "at": now,
                "actor": line.actor,
                "action": line.action,
                "target": line.target,
                "before": line.before,
                "after": line.after,
                "details": json.dumps(line.details, separators=(",", ":")) if line.details else None,
            }
            for index, line in enumerate(lines)
        ],
    )
