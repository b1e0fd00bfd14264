"""Positions of webhooks in the change log, and the lease of the node that sends to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import or_, select, update

from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import dialect_insert
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = ["WebhookPosition", "acquire_lease", "add_position", "advance_position", "find_position"]

_W: Final = tables.webhook_positions.c


@dataclass(frozen=True, slots=True)
class WebhookPosition:
    """The entry up to which a webhook has been sent everything, and the lease on what follows."""

    sequence: int
    holder: str
    held_until: int  #: milliseconds since 1970


def find_position(snapshot: Snapshot, name: str) -> WebhookPosition | None:
    """Return the position of a webhook; None if it is new."""
    statement = select(_W.sequence, _W.holder, _W.held_until).where(_W.name == name)
    row = snapshot.connection.execute(statement).first()
    return None if row is None else WebhookPosition(*row)


def add_position(transaction: Transaction, name: str, sequence: int) -> None:
    """Let a new webhook begin after an entry, unless another node has done so."""
    values = {"name": name, "sequence": sequence, "holder": "", "held_until": 0}
    insert = dialect_insert(transaction.connection, tables.webhook_positions)
    transaction.connection.execute(insert.values(**values).on_conflict_do_nothing())


def acquire_lease(transaction: Transaction, name: str, holder: str, until: int) -> int | None:
    """Take or renew the lease of a webhook, and return its position; None if another node has the lease."""
    is_free = or_(_W.holder == holder, _W.held_until < transaction.now)
    statement = update(tables.webhook_positions).where(_W.name == name, is_free).values(holder=holder, held_until=until)
    return transaction.connection.execute(statement.returning(_W.sequence)).scalar()


def advance_position(transaction: Transaction, name: str, holder: str, sequence: int) -> None:
    """Store that everything up to an entry was sent, and end the lease; if it was lost, nothing is stored."""
    is_ours = (_W.name == name) & (_W.holder == holder) & (_W.sequence < sequence)
    transaction.connection.execute(
        update(tables.webhook_positions).where(is_ours).values(sequence=sequence, held_until=0)
    )
