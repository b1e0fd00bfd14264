"""Writing the journal: what a transaction did is written down at its end, under numbers without gaps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, update

from contractlog.registry.storage import tables
from contractlog.registry.storage.values import JOURNAL

__all__ = ["Line", "write_down"]


@dataclass(frozen=True, slots=True)
class Line:
    """One effect: who did what to what. ``before`` and ``after`` are hashes of contents, or of settings."""

    actor: str
    action: str
    target: str
    before: str | None = None
    after: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def write_down(connection: Connection, lines: Sequence[Line], now: int) -> None:
    """Append lines to the journal; the row that numbers them stays locked until the transaction ends."""
    if not lines:
        return
    c = tables.journal.c
    statement = update(tables.journal).where(c.name == JOURNAL).values(next_sequence=c.next_sequence + len(lines))
    following = connection.execute(statement.returning(c.next_sequence)).scalar_one()
    first = following - len(lines)
    connection.execute(
        insert(tables.changes),
        [
            {
                "sequence": first + place,
                "at": now,
                "actor": line.actor,
                "action": line.action,
                "target": line.target,
                "before": line.before,
                "after": line.after,
                "details": json.dumps(line.details, separators=(",", ":")) if line.details else None,
            }
            for place, line in enumerate(lines)
        ],
    )
