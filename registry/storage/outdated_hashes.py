"""Schemas with hashes of an older canonical form, and their replacement."""

from __future__ import annotations

from sqlalchemy import delete, insert, literal, null, select, update

from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.storage import tables
from contractlog.registry.storage.snapshot import Snapshot, to_registered_schema
from contractlog.registry.storage.transaction import Transaction

__all__ = ["find_outdated", "update_hashes"]

_S, _C = tables.schemas.c, tables.contents.c


def find_outdated(snapshot: Snapshot, form: int, limit: int) -> list[RegisteredSchema]:
    """List schemas with hashes of another form; their subject has a context, but no name."""
    nowhere = (literal("").label("name"), null().label("version"), null().label("deleted_at"))
    statement = (
        select(tables.schemas, _S.context.label("subject_context"), *nowhere)
        .where(_S.canonical_form != form)
        .order_by(_S.context, _S.id)
        .limit(limit)
    )
    return [to_registered_schema(row) for row in snapshot.connection.execute(statement)]


def update_hashes(transaction: Transaction, context: str, schema_id: int, hashes: tuple[str, str], form: int) -> None:
    """Store a schema's new hashes. If two contents have become equal, new registrations get the lower id."""
    execute = transaction.connection.execute
    of_context = _C.context == context
    own_hashes = execute(select(_C.hash).where(of_context, _C.schema_id == schema_id)).scalars().all()
    execute(delete(tables.contents).where(of_context, _C.schema_id == schema_id))
    lowest_id = execute(select(_C.schema_id).where(of_context, _C.hash == hashes[0])).scalar()
    if own_hashes and (lowest_id is None or lowest_id > schema_id):
        execute(delete(tables.contents).where(of_context, _C.hash == hashes[0]))
        execute(insert(tables.contents).values(context=context, hash=hashes[0], schema_id=schema_id))
    execute(
        update(tables.schemas)
        .where(_S.context == context, _S.id == schema_id)
        .values(hash=hashes[0], normalized_hash=hashes[1], canonical_form=form)
    )
