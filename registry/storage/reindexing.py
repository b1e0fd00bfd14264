"""Schemas with hashes of an older canonical form, and their replacement."""

from __future__ import annotations

from sqlalchemy import delete, insert, literal, null, select, update

from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.storage import tables
from contractlog.registry.storage.reads import Snapshot, registered
from contractlog.registry.storage.writes import Transaction

__all__ = ["outdated", "rehash"]

_S, _C = tables.schemas.c, tables.contents.c


def outdated(snapshot: Snapshot, form: int, limit: int) -> list[RegisteredSchema]:
    """List schemas with hashes of another form; their subject has a context, but no name."""
    nowhere = (literal("").label("name"), null().label("version"), null().label("deleted_at"))
    statement = (
        select(tables.schemas, _S.context.label("subject_context"), *nowhere)
        .where(_S.canonical_form != form)
        .order_by(_S.context, _S.id)
        .limit(limit)
    )
    return [registered(row) for row in snapshot.connection.execute(statement)]


def rehash(transaction: Transaction, context: str, schema_id: int, hashes: tuple[str, str], form: int) -> None:
    """Store a schema's new hashes. If two contents have become equal, new registrations get the lower id."""
    execute = transaction.connection.execute
    of_context = _C.context == context
    own = execute(select(_C.hash).where(of_context, _C.schema_id == schema_id)).scalars().all()
    execute(delete(tables.contents).where(of_context, _C.schema_id == schema_id))
    taken = execute(select(_C.schema_id).where(of_context, _C.hash == hashes[0])).scalar()
    if own and (taken is None or taken > schema_id):
        execute(delete(tables.contents).where(of_context, _C.hash == hashes[0]))
        execute(insert(tables.contents).values(context=context, hash=hashes[0], schema_id=schema_id))
    execute(
        update(tables.schemas)
        .where(_S.context == context, _S.id == schema_id)
        .values(hash=hashes[0], normalized_hash=hashes[1], canonical_form=form)
    )
